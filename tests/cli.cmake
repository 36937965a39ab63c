# The measuring program: recordings, replay, the command line and its end of the protocol, without a GPU.
add_executable(synthetic_recording tools/synthetic_recording.c unit/fake_backend.c)
target_link_libraries(synthetic_recording PRIVATE rl_engine rl_replay)
target_include_directories(synthetic_recording PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
