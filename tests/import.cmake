# Imports: their rules by unit tests, the program by hand and over its protocol. None of these without libcsv.
rl_unit_test(test_record_import rl_suites)
if(TARGET rl_import)
  foreach(name IN ITEMS text ncu lines values timings times power merge)
    rl_unit_test(test_import_${name} rl_import)
  endforeach()
  add_executable(test_import_record unit/import/test_import_record.c)
  target_link_libraries(test_import_record PRIVATE rl_import PkgConfig::CMOCKA)
  target_compile_options(test_import_record PRIVATE -Wno-missing-prototypes)
  add_dependencies(test_import_record test_recordings)
  add_test(NAME unit.test_import_record
    COMMAND test_import_record ${CMAKE_SOURCE_DIR}/deploy/records/t4.json ${RL_TEST_DATA}/base.jsonl)
  add_test(NAME cli.import
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_import.py $<TARGET_FILE:roofline-import> ${CMAKE_CURRENT_SOURCE_DIR}/data/import
      ${CMAKE_SOURCE_DIR}/deploy/records/t4.json ${RL_TEST_DATA}/base.jsonl ${CMAKE_SOURCE_DIR}/deploy/recordings/nvidia-h200.jsonl)
  set_tests_properties(cli.import PROPERTIES TIMEOUT 600)
  if(TARGET rooflined AND TARGET rooflinectl)
    add_test(NAME cli.field_times COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_field_times.py)
    set_tests_properties(cli.field_times PROPERTIES TIMEOUT 600 ENVIRONMENT RL_BIN=$<TARGET_FILE:rooflined>)
  endif()
endif()
