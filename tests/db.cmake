# The store's tests look inside: they include db/store_internal.h, and with it sqlite3.h.
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
foreach(test IN ITEMS test_store_open test_store_jobs test_store_runs test_store_list test_store_faults)
  rl_unit_test(${test} rl_db PkgConfig::SQLITE PkgConfig::JANSSON)
endforeach()
target_compile_definitions(test_store_open PRIVATE SCHEMA_MD="${CMAKE_SOURCE_DIR}/db/SCHEMA.md")
target_sources(test_store_faults PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/faulty_vfs.c)
