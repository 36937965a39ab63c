# The measuring program's logic without a card: the stopping rule, and the engine over a scriptable backend.
rl_unit_test(test_stop rl_engine)
rl_unit_test(test_engine rl_engine)
rl_unit_test(test_engine_checks rl_engine)
rl_unit_test(test_engine_counts rl_engine)
foreach(name IN ITEMS test_engine test_engine_checks test_engine_counts)
  target_sources(${name} PRIVATE unit/fake_backend.c)
endforeach()
