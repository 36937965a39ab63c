rl_unit_test(test_catalogue rl_catalogue)

# Needs a GPU: `ctest -L gpu`. Skipped, and said so, where there is none.
if(RL_HAVE_CUDA)
  add_executable(test_kernels gpu/test_kernels.c)
  target_link_libraries(test_kernels PRIVATE rl_kernels CUDA::cudart_static PkgConfig::CMOCKA m)
  target_compile_options(test_kernels PRIVATE -Wno-missing-prototypes)
  add_test(NAME gpu.test_kernels COMMAND test_kernels)
  set_tests_properties(gpu.test_kernels PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
