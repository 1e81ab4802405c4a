# How layers, the libraries, the program, tests and benchmarks are put together. Sources are found, not listed: a file in
# a layer's folder, or in a folder below it, belongs to the layer, *_test.cc to its tests.

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
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
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

# The library lib<name> of the layers that no library before it holds: target <name>_lib.
set(PUNT_LAYERS_IN_LIBRARIES "")
function(punt_add_library name)
  set(objects "")
  foreach(layer IN LISTS PUNT_LAYERS)
    if(NOT layer IN_LIST PUNT_LAYERS_IN_LIBRARIES)
      list(APPEND objects $<TARGET_OBJECTS:punt_${layer}>)
    endif()
  endforeach()
  set(PUNT_LAYERS_IN_LIBRARIES ${PUNT_LAYERS} PARENT_SCOPE)
  add_library(${name}_lib ${objects})
  set_target_properties(${name}_lib PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)
  add_library(punt::${name} ALIAS ${name}_lib)
  target_compile_features(${name}_lib PUBLIC cxx_std_20)
  target_include_directories(${name}_lib PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name}_lib PRIVATE ${PUNT_LIBRARIES})
  if(PUNT_SANITIZE)
    target_link_options(${name}_lib PUBLIC -fsanitize=${PUNT_SANITIZE})
  endif()
endfunction()

function(punt_add_program)
  punt_sources(sources src/app)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(punt_app OBJECT ${sources})
  target_include_directories(punt_app PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(punt_app PRIVATE PUNT_VERSION="${PROJECT_VERSION}")
  target_link_libraries(punt_app PRIVATE CLI11::CLI11 CURL::libcurl OpenSSL::Crypto nlohmann_json::nlohmann_json ${PUNT_LIBRARIES})
  punt_compile_settings(punt_app)

  add_executable(punt ${PROJECT_SOURCE_DIR}/src/app/main.cc)
  target_include_directories(punt PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(punt PRIVATE PUNT_VERSION="${PROJECT_VERSION}")
  target_link_libraries(punt PRIVATE punt_app punt_serve punt_eval_lib punt_lib punt_httplib CURL::libcurl OpenSSL::Crypto CLI11::CLI11 fmt::fmt)
  punt_compile_settings(punt)
endfunction()

# Instruction sets that punt's own kernels are compiled for, best first: names of PUNT_ISA.
set(PUNT_LEVELS portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(PUNT_LEVELS avx512_vnni avx512 avx2 sse4 ssse3 portable)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(PUNT_LEVELS neon)
endif()

# Tests of what these kernels compute, whole networks included. They run once more for every instruction set, all of a
# program's in one go. Sanitized builds do not: levels differ in registers, which sanitizers do not look at, and the tests
# of kernels go through all of them by themselves.
set(PUNT_LEVEL_TESTS
  src/kernels/attention_kernels_test.cc src/kernels/linear_kernels_test.cc src/kernels/scaled_blocks_test.cc
  src/model/linear_test.cc src/model/expert_products_test.cc
  src/model/layer_states_test.cc src/model/odd_heads_test.cc src/model/parity_test.cc src/model/quantised_test.cc
  src/denoise/neural_cache_test.cc src/denoise/neural_denoiser_test.cc src/denoise/neural_session_test.cc
  src/kernels/row_kernels_test.cc
  tests/neural_twin_test.cc tests/row_twin_test.cc tests/session_twin_test.cc)

# One test program per folder that has *_test.cc files; every TEST in it is a ctest of its own.
function(punt_add_tests)
  include(GoogleTest)
  add_library(punt_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/test_main.cc)
  target_include_directories(punt_test_main PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(punt_test_main PRIVATE GTest::gtest fmt::fmt)
  punt_compile_settings(punt_test_main)
  # g++ 12 sees uninitialised members inside std::regex when it is instrumented.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/rules_test.cc ${PROJECT_SOURCE_DIR}/src/constrain/regex_test.cc
    ${PROJECT_SOURCE_DIR}/src/constrain/protein_language_test.cc
    ${PROJECT_SOURCE_DIR}/src/writer/answer_constraint_test.cc
    ${PROJECT_SOURCE_DIR}/src/weights/hf_folder_test.cc ${PROJECT_SOURCE_DIR}/src/tasks/ifeval/ifeval_checks_test.cc
    ${PROJECT_SOURCE_DIR}/src/tasks/code/program_data_test.cc
    PROPERTIES COMPILE_OPTIONS
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
  foreach(layer IN LISTS PUNT_LAYERS ITEMS app)
    file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*_test.cc)
    if(NOT tests OR (layer STREQUAL app AND NOT PUNT_BUILD_PROGRAM))
      continue()
    endif()
    add_executable(${layer}_tests ${tests})
    punt_link_layers(${layer}_tests ${layer})
    if(layer STREQUAL app)
      target_link_libraries(${layer}_tests PRIVATE punt_app CLI11::CLI11 CURL::libcurl OpenSSL::Crypto)
    endif()
    if(layer STREQUAL app OR layer STREQUAL serve)
      target_link_libraries(${layer}_tests PRIVATE punt_httplib)
    endif()
    punt_finish_test(${layer}_tests)
    punt_add_level_tests(${layer}_tests src/${layer})
  endforeach()

  file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.cc)
  if(tests)
    add_executable(system_tests ${tests})
    punt_link_layers(system_tests tasks)
    punt_finish_test(system_tests)
    punt_add_level_tests(system_tests tests)
  endif()
  if(NOT PUNT_BUILD_PROGRAM)
    return()
  endif()

  # Scripts get the program, the source and the build folder in their environment.
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.sh)
  find_program(PUNT_PYTHON python3)
  if(PUNT_PYTHON)
    file(GLOB python_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.py)
    list(APPEND scripts ${python_scripts})
  endif()
  if(PUNT_SANITIZE)
    # Those that parse what others wrote, and the server. The others go over the same code with more arithmetic: minutes
    # that tell sanitizers nothing new.
    list(FILTER scripts INCLUDE REGEX
      "/(cli|cli_convert|cli_tokenize|cli_trace|cli_serve|cli_serve_faults|cli_score|serve_attacks)_test\\.(sh|py)$")
  endif()
  if(PUNT_SANITIZE STREQUAL thread)
    list(FILTER scripts INCLUDE REGEX "/(cli_serve_test\\.sh|serve_attacks_test\\.py)$")  # the command with threads of its own making
  endif()
  string(REPLACE ";" " " PUNT_LEVELS_TEXT "${PUNT_LEVELS}")
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    set(shell bash)
    if(script MATCHES "\\.py$")
      set(shell ${PUNT_PYTHON})
    endif()
    add_test(NAME ${name} COMMAND ${shell} ${script})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT
      "PUNT=$<TARGET_FILE:punt>;PUNT_SOURCE_DIR=${PROJECT_SOURCE_DIR};PUNT_BUILD_DIR=${PROJECT_BINARY_DIR};PUNT_SANITIZE=${PUNT_SANITIZE};PUNT_CXX=${CMAKE_CXX_COMPILER};PUNT_LEVELS=${PUNT_LEVELS_TEXT}")
  endforeach()
endfunction()

function(punt_finish_test target)
  target_compile_definitions(${target} PRIVATE PUNT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE GTest::gtest punt_test_main)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()

# The tests of PUNT_LEVEL_TESTS that are in `target`, whose sources are in `folder`, for each instruction set: ctests
# isa_<name>_<target>. Where the processor has no such instructions, they count as skipped.
function(punt_add_level_tests target folder)
  set(filter "")
  foreach(file IN LISTS PUNT_LEVEL_TESTS)
    get_filename_component(path ${file} DIRECTORY)
    if(NOT path STREQUAL folder)
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${file} tests REGEX "^(TYPED_)?TEST(_[FP])?\\(")
    foreach(test IN LISTS tests)
      string(REGEX REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+),.*" "\\1" suite "${test}")
      list(APPEND filter "${suite}.*" "${suite}/*" "*/${suite}.*")
    endforeach()
  endforeach()
  if(NOT filter OR PUNT_SANITIZE)
    return()
  endif()
  list(REMOVE_DUPLICATES filter)
  string(REPLACE ";" ":" filter "${filter}")
  foreach(level IN LISTS PUNT_LEVELS)
    add_test(NAME isa_${level}_${target} COMMAND ${target} --gtest_brief=1 --gtest_filter=${filter})
    set_tests_properties(isa_${level}_${target} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT
                         "PUNT_ISA=${level}")
  endforeach()
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
    punt_link_layers(${name} tasks)
    if(name STREQUAL onednn_tool)
      target_link_libraries(${name} PRIVATE DNNL::dnnl)
    endif()
    add_dependencies(bench_tools ${name})
  endforeach()
endfunction()

# What parses requests, of src/serve.
set(PUNT_REQUEST_FILES api_error.cc chat_messages.cc chat_tools.cc completion_request.cc constraint_fields.cc json_body.cc
    json_fields.cc prompt_list.cc request_settings.cc responses_request.cc)

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
    elseif(name MATCHES "^request_head")
      target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/serve/api_error.cc
        ${PROJECT_SOURCE_DIR}/src/serve/request_head.cc)
      punt_link_layers(${name} base)
    elseif(name MATCHES "^tool_calls")
      target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/serve/tool_calls.cc)
      punt_link_layers(${name} base)
    elseif(name MATCHES "^(json_schema|regex)")
      punt_link_layers(${name} constrain)
    else()
      punt_link_layers(${name} text)
    endif()
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
  endforeach()
endfunction()
