# The measuring program: recordings, replay, the command line and its end of the protocol, without a GPU.
add_executable(synthetic_recording tools/synthetic_recording.c unit/engine/fake_backend.c)
target_link_libraries(synthetic_recording PRIVATE rl_engine rl_recording)

# tests/data of the build: a recording of the tests' model card, and the fault recordings laid over it. Tests that must not
# depend on which recordings ship use these: ${RL_TEST_DATA}/base.jsonl and ${RL_TEST_DATA}/faults/*.jsonl.
set(RL_TEST_DATA ${CMAKE_BINARY_DIR}/tests/data)
file(GLOB fault_recordings CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/faults/*.jsonl)
add_custom_command(OUTPUT ${RL_TEST_DATA}/base.jsonl
  COMMAND ${CMAKE_COMMAND} -E make_directory ${RL_TEST_DATA}/faults
  COMMAND synthetic_recording ${RL_TEST_DATA}/base.jsonl
  COMMAND ${CMAKE_COMMAND} -E copy ${fault_recordings} ${RL_TEST_DATA}/faults
  DEPENDS synthetic_recording ${fault_recordings})
add_custom_target(test_recordings ALL DEPENDS ${RL_TEST_DATA}/base.jsonl)

rl_unit_test(test_cli rl_record rl_catalogue)
target_sources(test_cli PRIVATE ${CMAKE_SOURCE_DIR}/gpu/measure/cli.c)
rl_unit_test(test_recording rl_recording)

# What breaks things on purpose: README.md. roofline-measure itself knows nothing of it.
set(faults ${CMAKE_CURRENT_SOURCE_DIR}/tools/faults.c ${CMAKE_CURRENT_SOURCE_DIR}/tools/faulty_backend.c
  ${CMAKE_CURRENT_SOURCE_DIR}/tools/faulty_file.c)
rl_unit_test(test_faults rl_recording)
target_sources(test_faults PRIVATE ${faults})
function(rl_faulty_program name) # all of roofline-measure but its cuda backend, with faults
  add_executable(${name} tools/faulty_measure.c ${faults} ${ARGN})
  target_link_libraries(${name} PRIVATE rl_measure)
  target_link_options(${name} PRIVATE -Wl,--wrap=gpu_backend_open_replay -Wl,--wrap=rl_write_all)
endfunction()
rl_faulty_program(faulty_measure)
target_link_libraries(faulty_measure PRIVATE rl_cuda rl_counters)
rl_faulty_program(measure_stand_in tools/stand_in_cuda.c)
set_source_files_properties(tools/stand_in_cuda.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)

add_executable(test_replay unit/recording/test_replay.c unit/engine/fake_backend.c ${faults})
target_link_libraries(test_replay PRIVATE rl_engine rl_recording rl_suites PkgConfig::CMOCKA)
target_compile_options(test_replay PRIVATE -Wno-missing-prototypes)
add_dependencies(test_replay test_recordings)
add_test(NAME unit.test_replay COMMAND test_replay ${RL_TEST_DATA}/base.jsonl)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(name IN ITEMS command_line protocol)
  add_test(NAME cli.${name}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_${name}.py $<TARGET_FILE:roofline-measure>
      $<TARGET_FILE:faulty_measure> ${RL_TEST_DATA})
  set_tests_properties(cli.${name} PROPERTIES TIMEOUT 600)
endforeach()
add_test(NAME cli.stand_in
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_stand_in.py $<TARGET_FILE:measure_stand_in> ${RL_TEST_DATA})
set_tests_properties(cli.stand_in PROPERTIES TIMEOUT 600)
add_test(NAME cli.shipped
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_shipped.py $<TARGET_FILE:roofline-measure>
    ${CMAKE_SOURCE_DIR}/deploy/recordings)
set_tests_properties(cli.shipped PROPERTIES SKIP_RETURN_CODE 77)
file(GLOB shipped_recordings CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/deploy/recordings/*.jsonl)
add_test(NAME cli.derived
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_derived.py $<TARGET_FILE:roofline-measure> ${RL_TEST_DATA}/base.jsonl
    ${shipped_recordings})
set_tests_properties(cli.derived PROPERTIES TIMEOUT 600)
