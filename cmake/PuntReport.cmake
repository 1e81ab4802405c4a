# What HTML reports carry within them: Chart.js, from scripts/install-plot, and the files of web/report. They are
# compiled into the program, so that a report needs nothing but itself.
set(PUNT_PLOT_FILE "" CACHE FILEPATH "chart.umd.min.js (default: fetched into a per-user cache)")
if(PUNT_PLOT_FILE)
  set(PUNT_PLOT_SCRIPT ${PUNT_PLOT_FILE})
else()
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/install-plot
                  OUTPUT_VARIABLE PUNT_PLOT_SCRIPT OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "Chart.js is missing and could not be fetched; see the lines above")
  endif()
endif()

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

punt_embed(punt_eval ChartScript ${PUNT_PLOT_SCRIPT})
punt_embed(punt_eval ReportScript ${PROJECT_SOURCE_DIR}/web/report/report.js)
punt_embed(punt_eval ReportStyle ${PROJECT_SOURCE_DIR}/web/report/report.css)
