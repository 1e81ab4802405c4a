# How layers, the library, the program, tests and benchmarks are put together. Sources are found, not
# listed: a file in a layer's folder belongs to the layer, *_test.cc to its tests.

# Designated initialisers name what differs and leave the rest at its default: not worth a warning.
set(PUNT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers)
if(PUNT_WERROR)
  list(APPEND PUNT_WARNINGS -Werror)
endif()

set(PUNT_LAYERS "")
set(PUNT_LIBRARIES fmt::fmt hwy::hwy Threads::Threads llama ggml::all PkgConfig::utf8proc ZLIB::ZLIB)

function(punt_compile_settings target)
  target_compile_options(${target} PRIVATE ${PUNT_WARNINGS})
  if(PUNT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${PUNT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${PUNT_SANITIZE})
  endif()
endfunction()

function(punt_sources result folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(punt_add_layer name)
  punt_sources(sources src/${name})
  add_library(punt_${name} OBJECT ${sources})
  if(PUNT_SANITIZE)
    # Kernels are loops over registers: checked in full, a story takes five minutes. Addresses stay checked.
    list(FILTER sources INCLUDE REGEX "_kernels[_a-z]*\\.cc$")
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=undefined;-fno-sanitize-address-use-after-scope")
  endif()
  target_include_directories(punt_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(punt_${name} PRIVATE ${PUNT_LIBRARIES} nlohmann_json::nlohmann_json)
  punt_compile_settings(punt_${name})
  set(PUNT_LAYERS ${PUNT_LAYERS} ${name} PARENT_SCOPE)
endfunction()

# Links `target` with the objects of all layers up to and including `last`, as if they were a library.
function(punt_link_layers target last)
  foreach(layer IN LISTS PUNT_LAYERS)
    target_link_libraries(${target} PRIVATE punt_${layer})
    if(layer STREQUAL last)
      break()
    endif()
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE ${PUNT_LIBRARIES} nlohmann_json::nlohmann_json)
  punt_compile_settings(${target})
endfunction()

function(punt_add_library)
  set(objects "")
  foreach(layer IN LISTS PUNT_LAYERS)
    list(APPEND objects $<TARGET_OBJECTS:punt_${layer}>)
  endforeach()
  add_library(punt_lib ${objects})
  set_target_properties(punt_lib PROPERTIES OUTPUT_NAME punt EXPORT_NAME punt VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)
  add_library(punt::punt ALIAS punt_lib)
  target_compile_features(punt_lib PUBLIC cxx_std_20)
  target_include_directories(punt_lib PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(punt_lib PRIVATE ${PUNT_LIBRARIES})
  if(PUNT_SANITIZE)
    target_link_options(punt_lib PUBLIC -fsanitize=${PUNT_SANITIZE})
  endif()
endfunction()

function(punt_add_program)
  punt_sources(sources src/app)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(punt_app OBJECT ${sources})
  target_include_directories(punt_app PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(punt_app PRIVATE PUNT_VERSION="${PROJECT_VERSION}")
  target_link_libraries(punt_app PRIVATE CLI11::CLI11 CURL::libcurl nlohmann_json::nlohmann_json ${PUNT_LIBRARIES})
  punt_compile_settings(punt_app)

  add_executable(punt ${PROJECT_SOURCE_DIR}/src/app/main.cc)
  target_include_directories(punt PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(punt PRIVATE PUNT_VERSION="${PROJECT_VERSION}")
  target_link_libraries(punt PRIVATE punt_app punt_serve punt_lib punt_httplib CURL::libcurl CLI11::CLI11 fmt::fmt)
  punt_compile_settings(punt)
endfunction()

# One test program per folder that has *_test.cc files; every TEST in it is a ctest of its own.
function(punt_add_tests)
  include(GoogleTest)
  # g++ 12 sees uninitialised members inside std::regex when it is instrumented.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/rules_test.cc
    ${PROJECT_SOURCE_DIR}/src/weights/hf_folder_test.cc ${PROJECT_SOURCE_DIR}/src/eval/ifeval_checks_test.cc
    ${PROJECT_SOURCE_DIR}/src/eval/program_data_test.cc
    PROPERTIES COMPILE_OPTIONS
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
  foreach(layer IN LISTS PUNT_LAYERS ITEMS app)
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*_test.cc)
    if(NOT tests OR (layer STREQUAL app AND NOT PUNT_BUILD_PROGRAM))
      continue()
    endif()
    add_executable(${layer}_tests ${tests})
    punt_link_layers(${layer}_tests ${layer})
    if(layer STREQUAL app)
      target_link_libraries(${layer}_tests PRIVATE punt_app CLI11::CLI11 CURL::libcurl)
    endif()
    if(layer STREQUAL app OR layer STREQUAL serve)
      target_link_libraries(${layer}_tests PRIVATE punt_httplib)
    endif()
    punt_finish_test(${layer}_tests)
  endforeach()

  file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.cc)
  if(tests)
    add_executable(system_tests ${tests})
    punt_link_layers(system_tests eval)
    punt_finish_test(system_tests)
  endif()
  if(NOT PUNT_BUILD_PROGRAM)
    return()
  endif()

  # Shell tests get the program, the source and the build folder in their environment.
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.sh)
  if(PUNT_SANITIZE)
    # Its commands are those of the other tests, on whole models: minutes of arithmetic that tell sanitizers nothing new.
    list(FILTER scripts EXCLUDE REGEX "/readme_test\\.sh$")
  endif()
  if(PUNT_SANITIZE STREQUAL thread)
    list(FILTER scripts INCLUDE REGEX "/cli_serve_test\\.sh$")  # the command with threads of its own making
  endif()
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME ${name} COMMAND bash ${script})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT
      "PUNT=$<TARGET_FILE:punt>;PUNT_SOURCE_DIR=${PROJECT_SOURCE_DIR};PUNT_BUILD_DIR=${PROJECT_BINARY_DIR};PUNT_SANITIZE=${PUNT_SANITIZE};PUNT_CXX=${CMAKE_CXX_COMPILER}")
  endforeach()
endfunction()

function(punt_finish_test target)
  target_compile_definitions(${target} PRIVATE PUNT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()

function(punt_add_benchmarks)
  file(GLOB benches CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*_bench.cc)
  foreach(bench IN LISTS benches)
    get_filename_component(name ${bench} NAME_WE)
    add_executable(${name} ${bench})
    punt_link_layers(${name} analyze)
    target_link_libraries(${name} PRIVATE benchmark::benchmark benchmark::benchmark_main)
  endforeach()
  # Programs that benchmark scripts call; bench_tools is all of them.
  add_custom_target(bench_tools)
  find_package(dnnl QUIET CONFIG)
  file(GLOB tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*_tool.cc)
  foreach(tool IN LISTS tools)
    get_filename_component(name ${tool} NAME_WE)
    if(name STREQUAL onednn_tool AND NOT dnnl_FOUND)
      continue()  # measures a library that punt does not use
    endif()
    add_executable(${name} ${tool})
    punt_link_layers(${name} eval)
    if(name STREQUAL onednn_tool)
      target_link_libraries(${name} PRIVATE DNNL::dnnl)
    endif()
    add_dependencies(bench_tools ${name})
  endforeach()
endfunction()

# What parses requests, of src/serve.
set(PUNT_REQUEST_FILES api_error.cc chat_messages.cc completion_request.cc json_body.cc json_fields.cc prompt_list.cc
    request_settings.cc)

# libFuzzer targets fuzz/*_fuzz.cc; scripts/fuzz builds and runs them. clang only.
function(punt_add_fuzzers)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PUNT_BUILD_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  add_custom_target(fuzzers)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cc)
  foreach(fuzzer IN LISTS fuzzers)
    get_filename_component(name ${fuzzer} NAME_WE)
    add_executable(${name} ${fuzzer})
    if(name MATCHES "^completion")
      # Without the sockets: those are the program's alone.
      list(TRANSFORM PUNT_REQUEST_FILES PREPEND ${PROJECT_SOURCE_DIR}/src/serve/ OUTPUT_VARIABLE sources)
      target_sources(${name} PRIVATE ${sources})
      punt_link_layers(${name} generate)
    else()
      punt_link_layers(${name} text)
    endif()
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
  endforeach()
endfunction()
