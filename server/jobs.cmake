# rl_jobs: from an accepted request, or an upload, to a stored run. Knows no HTTP.
find_package(Threads REQUIRED)
add_library(rl_jobs STATIC
  ${CMAKE_CURRENT_LIST_DIR}/loop.c
  ${CMAKE_CURRENT_LIST_DIR}/transcript.c
  ${CMAKE_CURRENT_LIST_DIR}/job_spec.c
  ${CMAKE_CURRENT_LIST_DIR}/spawn.c
  ${CMAKE_CURRENT_LIST_DIR}/supervise.c
  ${CMAKE_CURRENT_LIST_DIR}/supervise_lines.c
  ${CMAKE_CURRENT_LIST_DIR}/run_accept.c
  ${CMAKE_CURRENT_LIST_DIR}/run_lend.c
  ${CMAKE_CURRENT_LIST_DIR}/import_process.c
  ${CMAKE_CURRENT_LIST_DIR}/import_accept.c
  ${CMAKE_CURRENT_LIST_DIR}/aside.c
  ${CMAKE_CURRENT_LIST_DIR}/import_judge.c
  ${CMAKE_CURRENT_LIST_DIR}/import_hash.c
  ${CMAKE_CURRENT_LIST_DIR}/imports.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs_run.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs_end.c
  ${CMAKE_CURRENT_LIST_DIR}/spool.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs_probe.c
  ${CMAKE_CURRENT_LIST_DIR}/jobs_view.c)
target_link_libraries(rl_jobs PUBLIC rl_db rl_wire rl_record rl_catalogue rl_base PkgConfig::JANSSON PRIVATE rl_hash Threads::Threads)

# The client. transcript.c makes text from the daemon safe for a terminal.
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.81)
add_executable(rooflinectl
  ${CMAKE_CURRENT_LIST_DIR}/ctl_main.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_http.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_submit.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_list.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_history.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_compare.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_export.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_import.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_said.c
  ${CMAKE_CURRENT_LIST_DIR}/ctl_ncu.c
  ${CMAKE_CURRENT_LIST_DIR}/transcript.c)
target_link_libraries(rooflinectl PRIVATE rl_base PkgConfig::JANSSON PkgConfig::CURL)
