# The Jinja engine of llama.cpp's source (scripts/install-llama --jinja), which chat templates run on. It is compiled
# into the layer `text`, so that the library stands alone and sanitizers see into it. PUNT_JINJA_DIR names a folder with
# one's own.
punt_llama_source(folder PUNT_JINJA_DIR --jinja "jinja/ and unicode.h" "The Jinja engine")
set(PUNT_JINJA_SEEN ${folder} CACHE INTERNAL "where the Jinja engine was found")
set(sources ${folder}/jinja/lexer.cpp ${folder}/jinja/parser.cpp ${folder}/jinja/runtime.cpp ${folder}/jinja/string.cpp
    ${folder}/jinja/value.cpp ${folder}/unicode.cpp)
# The engine knows a JSON library by this header alone; found first, it stands for llama.cpp's wrapper.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/jinja/json.h CONTENT
     "#pragma once\n#include <nlohmann/json.hpp>\nusing common_json = nlohmann::ordered_json;\n")
set(options -w)
if(PUNT_SANITIZE MATCHES "undefined")
  list(APPEND options -fno-sanitize=undefined)
endif()
set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${options}" COMPILE_DEFINITIONS NDEBUG)
target_sources(punt_text PRIVATE ${sources})
target_include_directories(punt_text SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/jinja ${folder})
# Names of our own: a program that links llama.cpp's common as well has two copies that must not be mixed.
target_compile_definitions(punt_text PRIVATE jinja=punt_jinja g_jinja_debug=punt_jinja_debug
  utf8_parse_result=punt_utf8_parse_result common_utf8_sequence_length=punt_utf8_sequence_length
  common_utf8_is_complete=punt_utf8_is_complete common_parse_utf8_codepoint=punt_parse_utf8_codepoint
  common_unicode_cpts_to_utf8=punt_unicode_cpts_to_utf8 common_unicode_cpt_to_utf8=punt_unicode_cpt_to_utf8)
