# Answers of today's and yesterday's databases, recordings and files, member for member: golden/README.md.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND TARGET rooflined AND TARGET rooflinectl AND TARGET roofline-import)
  add_test(NAME golden.answers COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/golden/check
    --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --data ${RL_TEST_DATA})
  set_tests_properties(golden.answers PROPERTIES LABELS golden TIMEOUT 600)
  add_test(NAME golden.differences COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/golden/test_goldens.py)
  set_tests_properties(golden.differences PROPERTIES LABELS golden TIMEOUT 60)
endif()
