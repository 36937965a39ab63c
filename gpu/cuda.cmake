# rl_gpu_node: the node's side, without CUDA: NVML by dlopen, locks, the environment, the null backend.
# rl_gpu_cuda: the cuda backend; where there is no CUDA compiler, a stand-in that says so.
add_library(rl_gpu_node STATIC nvml.c nvml_values.c environment.c gpu_lock.c backend_null.c)
target_link_libraries(rl_gpu_node PUBLIC rl_record rl_catalogue ${CMAKE_DL_LIBS})

if(RL_HAVE_CUDA)
  add_library(rl_gpu_cuda STATIC backend_cuda.c cuda_errors.c cuda_identify.c cuda_work.c cuda_time.c cuda_count.c)
  target_link_libraries(rl_gpu_cuda PUBLIC rl_gpu_node rl_counters rl_kernels CUDA::cudart_static m)
  list(JOIN RL_CUDA_ARCHS "," RL_CUDA_ARCH_LIST)
  target_compile_definitions(rl_gpu_cuda PRIVATE RL_CUDA_ARCH_LIST=${RL_CUDA_ARCH_LIST})
else()
  add_library(rl_gpu_cuda STATIC backend_nocuda.c)
  target_link_libraries(rl_gpu_cuda PUBLIC rl_gpu_node)
endif()
