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

punt_embed(punt_eval ChartScript ${PUNT_PLOT_SCRIPT})
punt_embed(punt_eval ReportScript ${PROJECT_SOURCE_DIR}/web/report/report.js)
punt_embed(punt_eval ReportStyle ${PROJECT_SOURCE_DIR}/web/report/report.css)
