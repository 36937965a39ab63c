# rl_import: what imports are made of, no CUDA; roofline-import: the program. libcsv reads CSV.
find_path(CSV_INCLUDE_DIR csv.h)
find_library(CSV_LIBRARY csv)
find_library(Z_LIBRARY z REQUIRED)
if(CSV_INCLUDE_DIR AND CSV_LIBRARY)
  add_library(rl_import STATIC import.c import_text.c import_csv.c import_number.c import_metric.c import_refuse.c import_ncu.c import_table.c
    import_launches.c import_timings.c import_gzip.c import_json.c import_plain.c import_trace.c import_nsys.c import_nvbench.c
    import_spelling.c import_events.c import_events_match.c import_match.c import_power.c import_energy.c import_samples.c import_merge.c import_values.c import_flop.c import_tell.c import_lines.c import_names.c
    import_identity.c import_record.c import_recording.c)
  target_link_libraries(rl_import PUBLIC rl_record rl_catalogue rl_replay rl_engine PRIVATE rl_hash ${CSV_LIBRARY} ${Z_LIBRARY})
  target_include_directories(rl_import PRIVATE ${CSV_INCLUDE_DIR})

  add_executable(roofline-import import_main.c import_serve.c)
  target_link_libraries(roofline-import PRIVATE rl_import)
else()
  message(WARNING "rooflined: libcsv (Debian: libcsv-dev) is not there, so that roofline-import is not built")
endif()
