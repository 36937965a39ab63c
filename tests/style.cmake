# The arrows between rooms, from the objects of this build; what a script can see without one is tests/style/check.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME style.rooms COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/style/rooms ${CMAKE_BINARY_DIR})
  set_tests_properties(style.rooms PROPERTIES TIMEOUT 300)
endif()
