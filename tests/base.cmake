rl_unit_test(test_base rl_base rl_hash)
rl_unit_test(test_io rl_base)

# Machines that build rarely have a locale with a decimal comma: one is made, where localedef has its character sets.
# It warns about the categories left out and then exits with 1, so that only its output counts.
set(comma_locale ${CMAKE_CURRENT_BINARY_DIR}/locale)
file(MAKE_DIRECTORY ${comma_locale})
execute_process(COMMAND localedef -c -i ${CMAKE_CURRENT_SOURCE_DIR}/data/comma_locale -f ANSI_X3.4-1968 ${comma_locale}/de_DE
  OUTPUT_QUIET ERROR_QUIET)
if(EXISTS ${comma_locale}/de_DE/LC_NUMERIC)
  set_tests_properties(unit.test_base PROPERTIES ENVIRONMENT LOCPATH=${comma_locale})
endif()

if(RL_FUZZ)
  add_subdirectory(fuzz)
endif()
