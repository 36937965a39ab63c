# rl_http: everything of the daemon that speaks HTTP, libmicrohttpd in two files of it. rooflined: the program.
enable_language(ASM)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd>=0.9.75)
set(RL_HTTP_DIR ${CMAKE_CURRENT_LIST_DIR})

# Request rules without a connection: what unit tests and the fuzzer link.
set(RL_HTTP_RULES multipart.c http_pace.c places.c http_screen.c http_target.c http_fields.c http_answer.c json_body.c auth.c)
list(TRANSFORM RL_HTTP_RULES PREPEND ${RL_HTTP_DIR}/)
add_library(rl_http_rules STATIC ${RL_HTTP_RULES})
target_link_libraries(rl_http_rules PUBLIC rl_base PkgConfig::JANSSON PRIVATE rl_hash)

set(RL_HTTP http_mhd.c http_recv.c http_intake.c http_probe.c http_send.c http_connection.c http_room.c http_wait.c http_admit.c linger.c turns.c routes.c routes_params.c routes_jobs.c routes_runs.c route_turn.c run_view.c
  routes_export.c routes_note.c routes_said.c routes_history.c routes_trend.c routes_imports.c routes_compare.c compare_draws.c compare_answer.c routes_catalogue.c routes_health.c static_files.c
  listen.c openapi.S)
list(TRANSFORM RL_HTTP PREPEND ${RL_HTTP_DIR}/)
add_library(rl_http STATIC ${RL_HTTP})
set_source_files_properties(${RL_HTTP_DIR}/openapi.S PROPERTIES
  COMPILE_DEFINITIONS "OPENAPI_FILE=\"${RL_HTTP_DIR}/openapi.json\""
  OBJECT_DEPENDS ${RL_HTTP_DIR}/openapi.json)
target_link_libraries(rl_http PUBLIC rl_http_rules rl_jobs rl_compare rl_db rl_record rl_catalogue rl_base
  PRIVATE rl_hash PkgConfig::MICROHTTPD)

add_executable(rooflined ${RL_HTTP_DIR}/main.c ${RL_HTTP_DIR}/options.c)
target_link_libraries(rooflined PRIVATE rl_http)
