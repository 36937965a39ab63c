# The daemon's HTTP side: its rules as plain functions, and the real program over sockets.
rl_unit_test(test_http_rules rl_http_rules)
rl_unit_test(test_multipart rl_http_rules)

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  foreach(name IN ITEMS http_bad_input http_routes http_jobs http_access http_limits http_history http_compare http_exports http_place http_imported_runs program)
    add_test(NAME api.${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/api/test_${name}.py)
    set_tests_properties(api.${name} PROPERTIES LABELS api TIMEOUT 300 ENVIRONMENT RL_BIN=$<TARGET_FILE:rooflined>)
  endforeach()
else()
  message(WARNING "rooflined: no python3, the HTTP tests are left out")
endif()
