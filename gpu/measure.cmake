# rl_replay: recordings and the backends that need no GPU (replay, recorder). roofline-measure: the program.
find_package(Threads REQUIRED)

add_library(rl_replay STATIC recording.c recording_codec.c recording_members.c recording_read.c recording_write.c count_fields.c
  fault.c backend_replay.c backend_record.c)
target_link_libraries(rl_replay PUBLIC rl_record rl_catalogue)

# All of the program but its cuda backend, so that tests can put a stand-in there.
add_library(rl_measure OBJECT measure_main.c measure_run.c cli.c list.c probe.c serve.c)
target_link_libraries(rl_measure PUBLIC rl_engine rl_replay rl_wire Threads::Threads)
if(RL_HAVE_CUDA)
  target_compile_definitions(rl_measure PRIVATE MEASURE_BACKEND="cuda")
else()
  target_compile_definitions(rl_measure PRIVATE MEASURE_BACKEND="null")
endif()

add_executable(roofline-measure)
target_link_libraries(roofline-measure PRIVATE rl_measure rl_gpu_cuda rl_counters)
