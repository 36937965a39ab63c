# rl_compare: judging one set of runs against another. Pure: no store, no HTTP.
set(RL_COMPARE compare_stats.c compare_family.c compare_sides.c compare_flags.c compare_gather.c compare_work.c compare.c compare_cause.c compare_words.c compare_json.c)
list(TRANSFORM RL_COMPARE PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
add_library(rl_compare STATIC ${RL_COMPARE})
target_link_libraries(rl_compare PUBLIC rl_work rl_record rl_base PkgConfig::JANSSON)
