# Compiler options of every target, in one interface library.
add_library(rl_options INTERFACE)
target_include_directories(rl_options INTERFACE ${CMAKE_SOURCE_DIR}) # the one include root
target_compile_definitions(rl_options INTERFACE _GNU_SOURCE)
target_compile_options(rl_options INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wvla -Wconversion -Wno-sign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wimplicit-fallthrough -Wformat=2 -Wpointer-arith -Wwrite-strings -Wundef
    -fstack-protector-strong>
  $<$<AND:$<BOOL:${RL_WERROR}>,$<COMPILE_LANGUAGE:C>>:-Werror>)
if(RL_SANITIZE)
  target_compile_options(rl_options INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-fsanitize=${RL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>)
  target_link_options(rl_options INTERFACE -fsanitize=${RL_SANITIZE})
endif()
if(RL_COVERAGE)
  target_compile_options(rl_options INTERFACE $<$<COMPILE_LANGUAGE:C>:--coverage>)
  target_link_options(rl_options INTERFACE --coverage)
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.14)

set(RL_HAVE_CUDA OFF)
if(RL_CUDA)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER) # look again: the toolkit may have come, or come into PATH, since the last time
    unset(CMAKE_CUDA_COMPILER CACHE)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES OFF)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(RL_HAVE_CUDA ON)
  endif()
endif()
if(RL_HAVE_CUDA)
  message(STATUS "rooflined: cuda backend with CUDA ${CUDAToolkit_VERSION}")
else()
  message(STATUS "rooflined: no CUDA compiler found or wanted, all but the cuda backend is built")
endif()

# rl_room(target [EXCEPT file…] [PUBLIC library…] [PRIVATE library…])
# One static library of all C files of the folder that calls it. What a room may use is what it links here; the list of
# rooms and which may include which is tests/style/rooms.
function(rl_room target)
  cmake_parse_arguments(room "" "" "EXCEPT;PUBLIC;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  if(room_EXCEPT)
    list(REMOVE_ITEM sources ${room_EXCEPT})
  endif()
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC rl_options ${room_PUBLIC} PRIVATE ${room_PRIVATE})
endfunction()
