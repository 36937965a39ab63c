# rl_replay: recordings and the backends that need no GPU (replay, recorder). roofline-measure: the program.
find_package(Threads REQUIRED)

add_library(rl_replay STATIC recording.c recording_codec.c recording_members.c recording_read.c recording_write.c fault.c
  backend_replay.c backend_record.c)
target_link_libraries(rl_replay PUBLIC rl_record rl_catalogue)

add_executable(roofline-measure measure_main.c measure_run.c cli.c list.c probe.c serve.c)
target_link_libraries(roofline-measure PRIVATE rl_engine rl_replay rl_wire rl_counters Threads::Threads)
target_link_libraries(roofline-measure PRIVATE rl_gpu_cuda)
if(RL_HAVE_CUDA)
  target_compile_definitions(roofline-measure PRIVATE MEASURE_BACKEND="cuda")
else()
  target_compile_definitions(roofline-measure PRIVATE MEASURE_BACKEND="null")
endif()
