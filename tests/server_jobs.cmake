# The job engine: loop, validation, supervision with a scripted measuring process, what comes back.
add_executable(fake_measure tools/fake_measure.c)
target_link_libraries(fake_measure PRIVATE rl_options)

rl_unit_test(test_loop rl_loop)
rl_unit_test(test_job_spec rl_jobs)
rl_unit_test(test_run_accept rl_jobs)
rl_unit_test(test_spool rl_jobs)
foreach(name IN ITEMS malloc calloc realloc strdup fdopendir scandir open)
  target_link_options(test_spool PRIVATE -Wl,--wrap=${name})
endforeach()
foreach(name IN ITEMS test_supervise test_supervise_socket)
  rl_unit_test(${name} rl_process)
  add_dependencies(${name} fake_measure)
  target_compile_definitions(${name} PRIVATE FAKE_MEASURE="$<TARGET_FILE:fake_measure>")
endforeach()

target_link_options(test_supervise PRIVATE -Wl,--wrap=execve)

foreach(name IN ITEMS test_jobs test_jobs_life)
  rl_unit_test(${name} rl_jobs)
  add_dependencies(${name} roofline-measure faulty_measure fake_measure test_recordings)
  target_compile_definitions(${name} PRIVATE ROOFLINE_MEASURE="$<TARGET_FILE:roofline-measure>" DATA="${RL_TEST_DATA}"
    FAULTY_MEASURE="$<TARGET_FILE:faulty_measure>" FAKE_MEASURE="$<TARGET_FILE:fake_measure>")
endforeach()

target_link_options(test_jobs PRIVATE -Wl,--wrap=store_job_count)
target_link_options(test_jobs_life PRIVATE -Wl,--wrap=store_job_get -Wl,--wrap=store_job_transition)

# The client's options that come from a suite.
rl_unit_test(test_ctl_suite rl_suites rl_base PkgConfig::JANSSON)
target_sources(test_ctl_suite PRIVATE ${CMAKE_SOURCE_DIR}/server/ctl/suite.c ${CMAKE_SOURCE_DIR}/server/ctl/read.c)

# 200 kills for each way of starting the measuring process; see the script.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME system.ctl COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/system/ctl_test.py
    --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --data ${RL_TEST_DATA})
  set_tests_properties(system.ctl PROPERTIES LABELS system TIMEOUT 600)
  add_test(NAME system.ctl_export COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/system/ctl_export_test.py
    --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --data ${RL_TEST_DATA})
  set_tests_properties(system.ctl_export PROPERTIES LABELS system TIMEOUT 600)
  add_library(stepped_clock MODULE tools/stepped_clock.c)
  # The short form; the long one by hand, as its head says.
  add_test(NAME system.endurance COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/system/endurance.py
    --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --data ${RL_TEST_DATA} --export ${CMAKE_CURRENT_SOURCE_DIR}/data/import/long.csv
    --clock $<TARGET_FILE:stepped_clock>)
  set_tests_properties(system.endurance PROPERTIES LABELS system TIMEOUT 900)
  add_test(NAME system.store COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/system/store_test.py
    --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --data ${RL_TEST_DATA})
  set_tests_properties(system.store PROPERTIES LABELS system TIMEOUT 600)
  foreach(way IN ITEMS exec socket)
    add_test(NAME system.kill_${way} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/system/kill_test.py
      --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --data ${RL_TEST_DATA} --way ${way} --count 200)
    set_tests_properties(system.kill_${way} PROPERTIES LABELS system TIMEOUT 900)
  endforeach()
endif()
