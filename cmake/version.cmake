# "0.1.0+g1a2b3c4": the version and, in a git checkout, the commit that was configured.
set(RL_BUILD_ID ${PROJECT_VERSION})
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE RL_GIT_HASH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(RL_GIT_HASH)
    set(RL_BUILD_ID ${PROJECT_VERSION}+g${RL_GIT_HASH})
  endif()
endif()
target_compile_definitions(rl_options INTERFACE RL_BUILD_ID="${RL_BUILD_ID}")
