if(TARGET rl_import)
  rl_fuzz_target(fuzz_csv rl_import)
  rl_fuzz_target(fuzz_jsonl rl_import)
endif()
