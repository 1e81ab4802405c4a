# cpp-httplib, the HTTP of punt serve: the copy that llama.cpp's source carries (scripts/install-llama --httplib). It is
# compiled with the program, so that sanitizers see into it. PUNT_HTTPLIB_DIR names a folder with one's own.
punt_llama_source(folder PUNT_HTTPLIB_DIR --httplib "httplib.h and httplib.cpp" "cpp-httplib")
add_library(punt_httplib STATIC ${folder}/httplib.cpp)
target_include_directories(punt_httplib SYSTEM PUBLIC ${folder})
target_compile_definitions(punt_httplib PUBLIC CPPHTTPLIB_ZLIB_SUPPORT)
target_link_libraries(punt_httplib PUBLIC ZLIB::ZLIB Threads::Threads)
target_compile_options(punt_httplib PRIVATE -w)
if(PUNT_SANITIZE)
  target_compile_options(punt_httplib PRIVATE -fsanitize=${PUNT_SANITIZE} -fno-omit-frame-pointer)
endif()
