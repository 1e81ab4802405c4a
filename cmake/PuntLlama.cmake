# llama.cpp: ggml for graphs, libllama for vocabularies. PUNT_LLAMA_DIR names an installation; without it the one
# that scripts/install-llama builds into the per-user cache is used.
set(PUNT_LLAMA_DIR "" CACHE PATH "Prefix of an installed llama.cpp (default: built into a per-user cache)")
option(PUNT_CUDA "Build ggml with CUDA" OFF)
option(PUNT_VULKAN "Build ggml with Vulkan" OFF)
option(PUNT_METAL "Build ggml with Metal" OFF)
option(PUNT_RPC "Build ggml with RPC" OFF)

# `path`: what scripts/install-llama prints, given the arguments that follow; without it there is nothing to build.
function(punt_install_llama path trouble)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/install-llama ${ARGN}
                  OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${trouble}; see the lines above")
  endif()
  set(${path} ${printed} PARENT_SCOPE)
endfunction()

if(PUNT_LLAMA_DIR)
  set(PUNT_LLAMA_PREFIX ${PUNT_LLAMA_DIR})
else()
  set(options "")
  foreach(backend CUDA VULKAN METAL RPC)
    if(PUNT_${backend})
      list(APPEND options -DGGML_${backend}=ON)
    endif()
  endforeach()
  punt_install_llama(PUNT_LLAMA_PREFIX "llama.cpp is missing and could not be built" ${options})
endif()
# The packages below remember their libraries: forget them when the prefix is another one.
if(NOT PUNT_LLAMA_PREFIX STREQUAL "${PUNT_LLAMA_SEEN}")
  unset(ggml_DIR CACHE)
  unset(llama_DIR CACHE)
  foreach(library llama GGML GGML_BASE ggml-cpu ggml-blas ggml-cuda ggml-vulkan ggml-metal ggml-rpc)
    unset(${library}_LIBRARY CACHE)
  endforeach()
  set(PUNT_LLAMA_SEEN ${PUNT_LLAMA_PREFIX} CACHE INTERNAL "")
endif()
find_package(ggml REQUIRED PATHS ${PUNT_LLAMA_PREFIX} NO_DEFAULT_PATH)
find_package(llama REQUIRED PATHS ${PUNT_LLAMA_PREFIX} NO_DEFAULT_PATH)

# `folder`: a part of llama.cpp's source that is compiled with punt. The cache variable `override` names one's own; without
# it scripts/install-llama `flag` unpacks it into the per-user cache.
function(punt_llama_source folder override flag contents what)
  set(${override} "" CACHE PATH "Folder of ${contents} (default: fetched into a per-user cache)")
  set(found ${${override}})
  if(NOT found)
    punt_install_llama(found "${what} is missing and could not be fetched" ${flag})
  endif()
  set(${folder} ${found} PARENT_SCOPE)
endfunction()
