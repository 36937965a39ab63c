# The cuda backend's side that needs no GPU, and its test on a real one (label gpu).
foreach(variant IN ITEMS whole old broken)
  string(TOUPPER ${variant} VARIANT)
  add_library(fake_nvml_${variant} MODULE unit/node/fake_nvml.c)
  target_link_libraries(fake_nvml_${variant} PRIVATE rl_options)
  target_compile_definitions(fake_nvml_${variant} PRIVATE FAKE_NVML_${VARIANT})
endforeach()
# what a library exports is declared by those who look it up
set_source_files_properties(unit/node/fake_nvml.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
rl_unit_test(test_nvml rl_node)
add_dependencies(test_nvml fake_nvml_whole fake_nvml_old fake_nvml_broken)
target_compile_definitions(test_nvml PRIVATE FAKE_NVML_PATH="$<TARGET_FILE:fake_nvml_whole>"
  FAKE_NVML_OLD_PATH="$<TARGET_FILE:fake_nvml_old>" FAKE_NVML_BROKEN_PATH="$<TARGET_FILE:fake_nvml_broken>")
rl_unit_test(test_gpu_node rl_node)

if(RL_HAVE_CUDA)
  # over a stand-in for CUDA's runtime, the kernels and the counters, so built from its files and not from the library
  rl_unit_test(test_cuda_sequence rl_node)
  target_sources(test_cuda_sequence PRIVATE unit/cuda/fake_cuda.c ${CMAKE_SOURCE_DIR}/gpu/cuda/errors.c ${CMAKE_SOURCE_DIR}/gpu/cuda/work.c
    ${CMAKE_SOURCE_DIR}/gpu/cuda/time.c ${CMAKE_SOURCE_DIR}/gpu/cuda/count.c)
  target_include_directories(test_cuda_sequence SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  # the stand-ins' prototypes are CUDA's
  set_source_files_properties(unit/cuda/fake_cuda.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)

  rl_unit_test(test_cuda_errors rl_cuda)
  list(JOIN RL_CUDA_ARCHS "," RL_CUDA_ARCH_LIST)
  target_compile_definitions(test_cuda_errors PRIVATE RL_CUDA_ARCH_LIST=${RL_CUDA_ARCH_LIST})

  add_executable(test_backend_cuda gpu/test_backend_cuda.c)
  target_link_libraries(test_backend_cuda PRIVATE rl_cuda m)
  add_test(NAME gpu.backend_cuda COMMAND test_backend_cuda)
  set_tests_properties(gpu.backend_cuda PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 300)
else()
  rl_unit_test(test_no_cuda rl_cuda)
endif()
