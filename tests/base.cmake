rl_unit_test(test_base rl_base rl_hash)
if(RL_FUZZ)
  add_subdirectory(fuzz)
endif()
