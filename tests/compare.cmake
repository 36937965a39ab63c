# Judging runs against runs: the statistics against scipy, the rules, and how often they are wrong.
rl_unit_test(test_compare_stats rl_compare)
rl_unit_test(test_compare rl_compare)
