# rl_counters: hardware counters. With the toolkit: CUPTI by dlopen, found by rpath; without: a build that says so.
if(RL_HAVE_CUDA)
  add_library(rl_counters STATIC metric_table.c counters_plan.c counters_cupti.c cupti_api.c)
  # compat/string: cupti_profiler_host.h of CUDA 13.0 includes <string> and is otherwise C.
  target_include_directories(rl_counters PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/compat)
  target_include_directories(rl_counters SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_CUPTI_INCLUDE_DIR})
  target_link_libraries(rl_counters PUBLIC rl_record CUDA::cudart_static ${CMAKE_DL_LIBS})
  # libcupti finds libnvperf_host and libnvperf_target by plain dlopen, which honours the program's DT_RPATH but not its
  # DT_RUNPATH, since libcupti has neither: hence --disable-new-dtags. The two usual places follow, for a program that
  # was built elsewhere.
  target_link_options(rl_counters INTERFACE -Wl,--disable-new-dtags -Wl,-rpath,${CUDAToolkit_LIBRARY_DIR}
    -Wl,-rpath,/usr/local/cuda/lib64 -Wl,-rpath,/usr/local/cuda/extras/CUPTI/lib64)
else()
  add_library(rl_counters STATIC metric_table.c counters_none.c)
  target_link_libraries(rl_counters PUBLIC rl_record)
endif()
