# The store's tests look inside: they include db/core/internal.h, and with it sqlite3.h.
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
foreach(test IN ITEMS test_store_open test_store_migrate test_store_jobs test_store_runs test_store_list test_store_faults
    test_store_history test_store_matrix test_store_trend test_store_work test_store_draws test_store_said test_store_export
    test_store_labels test_store_lend)
  rl_unit_test(${test} rl_db PkgConfig::SQLITE PkgConfig::JANSSON)
endforeach()
target_link_options(test_store_open PRIVATE -Wl,--wrap=fcntl)
target_compile_definitions(test_store_open PRIVATE SCHEMA_MD="${CMAKE_SOURCE_DIR}/db/SCHEMA.md")
foreach(test IN ITEMS test_store_faults test_store_migrate)
  target_sources(${test} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/db/faulty_vfs.c)
endforeach()
target_link_libraries(test_store_history PRIVATE PkgConfig::ZLIB)
target_link_libraries(test_store_work PRIVATE PkgConfig::ZLIB)
# Written on 2026-11-30 by the last build of version 4: twelve imports of one kernel in two sizes, a record, a replayed run.
target_compile_definitions(test_store_work PRIVATE VERSION4="${CMAKE_SOURCE_DIR}/tests/data/store_version4.db.gz")
# Written on 2026-11-29 by the last build of version 1: four replayed runs of an H200.
target_compile_definitions(test_store_history PRIVATE VERSION1="${CMAKE_SOURCE_DIR}/tests/data/store_version1.db.gz")

# A million runs and how long questions about them take; never part of a test run: ninja history_generate history_bench.
# bench/http_bench.py asks the daemon the same over HTTP.
foreach(program IN ITEMS generate bench)
  add_executable(history_${program} EXCLUDE_FROM_ALL bench/bench_run.c bench/bench_run.h)
  target_link_libraries(history_${program} PRIVATE rl_db PkgConfig::SQLITE PkgConfig::JANSSON)
endforeach()
target_sources(history_generate PRIVATE bench/generate.c)
target_sources(history_bench PRIVATE bench/history_bench.c)
