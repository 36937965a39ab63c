# rl_compare: judging one set of runs against another. Pure: no store, no HTTP.
add_library(rl_compare STATIC
  ${CMAKE_CURRENT_LIST_DIR}/compare_stats.c
  ${CMAKE_CURRENT_LIST_DIR}/compare_family.c)
target_link_libraries(rl_compare PUBLIC rl_record rl_base PkgConfig::JANSSON)
