# Files that are compiled into the program, so that it needs nothing beside itself.

# Adds `std::string_view NAME()` in namespace punt to `target`: the bytes of `file`.
function(punt_embed target name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  set(source ${PROJECT_BINARY_DIR}/embedded/${name}.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include <string_view>

namespace punt {
namespace {
constexpr unsigned char kBytes[] = {
@bytes@};
}  // namespace
std::string_view @name@();
std::string_view @name@() { return {reinterpret_cast<const char*>(kBytes), sizeof kBytes}; }
}  // namespace punt
]])
  target_sources(${target} PRIVATE ${source})
endfunction()

# Adds the files of the viewer (web/) to `target`, as the table that src/serve/web_files.h declares.
function(punt_embed_viewer target)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*.html ${PROJECT_SOURCE_DIR}/web/*.css
       ${PROJECT_SOURCE_DIR}/web/*.js ${PROJECT_SOURCE_DIR}/web/*.svg ${PROJECT_SOURCE_DIR}/web/*.jsonl)
  set(declarations "")
  set(rows "")
  foreach(file IN LISTS files)
    get_filename_component(stem ${file} NAME)
    string(MAKE_C_IDENTIFIER "Web_${stem}" name)
    punt_embed(${target} ${name} ${file})
    string(APPEND declarations "std::string_view ${name}();\n")
    if(stem STREQUAL "index.html")
      string(APPEND rows "      {\"/\", \"text/html; charset=utf-8\", ${name}()},\n")
      set(type "text/html; charset=utf-8")
    elseif(stem MATCHES "css$")
      set(type "text/css; charset=utf-8")
    elseif(stem MATCHES "jsonl$")
      set(type "application/jsonl; charset=utf-8")
    elseif(stem MATCHES "js$")
      set(type "text/javascript; charset=utf-8")
    else()
      set(type "image/svg+xml")
    endif()
    string(APPEND rows "      {\"/${stem}\", \"${type}\", ${name}()},\n")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/embedded/web_files.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "serve/web_files.h"

namespace punt {
@declarations@
std::span<const WebFile> ViewerFiles() {
  static const WebFile kFiles[] = {
@rows@  };
  return kFiles;
}
}  // namespace punt
]])
  target_sources(${target} PRIVATE ${source})
endfunction()
