# The job engine: loop, validation, supervision with a scripted measuring process, what comes back.
add_executable(fake_measure tools/fake_measure.c)
target_link_libraries(fake_measure PRIVATE rl_options)

rl_unit_test(test_loop rl_jobs)
rl_unit_test(test_job_spec rl_jobs)
rl_unit_test(test_supervise rl_jobs)
add_dependencies(test_supervise fake_measure)
target_compile_definitions(test_supervise PRIVATE FAKE_MEASURE="$<TARGET_FILE:fake_measure>")
