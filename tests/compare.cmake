# Judging runs against runs: the statistics against scipy, the rules, and how often they are wrong.
foreach(name IN ITEMS test_compare_stats test_compare test_compare_answer test_compare_flags test_compare_work test_compare_large test_compare_trials)
  rl_unit_test(${name} rl_compare)
endforeach()
target_compile_definitions(test_compare_trials PRIVATE DATA="${CMAKE_CURRENT_SOURCE_DIR}/data")
