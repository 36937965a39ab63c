# rl_jobs: from an accepted request to a stored run. Knows no HTTP.
add_library(rl_jobs STATIC
  ${CMAKE_CURRENT_LIST_DIR}/loop.c
  ${CMAKE_CURRENT_LIST_DIR}/transcript.c
  ${CMAKE_CURRENT_LIST_DIR}/job_spec.c
  ${CMAKE_CURRENT_LIST_DIR}/spawn.c
  ${CMAKE_CURRENT_LIST_DIR}/supervise.c
  ${CMAKE_CURRENT_LIST_DIR}/run_accept.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs_run.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs_probe.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs_view.c)
target_link_libraries(rl_jobs PUBLIC rl_db rl_wire rl_record rl_catalogue rl_base PkgConfig::JANSSON)
