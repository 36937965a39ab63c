# The cuda backend's side that needs no GPU, and its test on a real one (label gpu).
foreach(variant IN ITEMS whole old broken)
  string(TOUPPER ${variant} VARIANT)
  add_library(fake_nvml_${variant} MODULE unit/fake_nvml.c)
  target_link_libraries(fake_nvml_${variant} PRIVATE rl_options)
  target_compile_definitions(fake_nvml_${variant} PRIVATE FAKE_NVML_${VARIANT})
endforeach()
# what a library exports is declared by those who look it up
set_source_files_properties(unit/fake_nvml.c PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
rl_unit_test(test_nvml rl_gpu_node)
add_dependencies(test_nvml fake_nvml_whole fake_nvml_old fake_nvml_broken)
target_compile_definitions(test_nvml PRIVATE FAKE_NVML_PATH="$<TARGET_FILE:fake_nvml_whole>"
  FAKE_NVML_OLD_PATH="$<TARGET_FILE:fake_nvml_old>" FAKE_NVML_BROKEN_PATH="$<TARGET_FILE:fake_nvml_broken>")
rl_unit_test(test_gpu_node rl_gpu_node)
