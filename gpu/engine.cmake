# rl_engine: what to measure, for how long, and what it means; over any backend, no CUDA.
add_library(rl_engine STATIC stop.c engine.c engine_sample.c engine_ceilings.c engine_rows.c engine_counts.c engine_checks.c)
target_link_libraries(rl_engine PUBLIC rl_record rl_catalogue)
