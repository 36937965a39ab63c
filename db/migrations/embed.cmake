# cmake -DOUTPUT=FILE.c -DMIGRATIONS=a.sql;b.sql -P embed.cmake: the migrations as one C file. As bytes, not as string
# literals: those have a length limit and rules of escaping.
set(arrays "")
set(entries "")
set(count 0)
foreach(path IN LISTS MIGRATIONS)
  math(EXPR count "${count} + 1")
  get_filename_component(name ${path} NAME_WE)
  string(LENGTH "${count}" digits)
  math(EXPR zeros "4 - ${digits}")
  string(REPEAT "0" ${zeros} padding)
  if(NOT name MATCHES "^${padding}${count}_[a-z0-9_]+$")
    message(FATAL_ERROR "migration ${name} has to be number ${padding}${count}: no gaps, no two of one number")
  endif()
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "static const char sql_${count}[] = {${bytes}0x00};\n")
  string(APPEND entries "    {\"${name}\", sql_${count}},\n")
endforeach()
file(WRITE ${OUTPUT}
  "#include \"db/migrate.h\"\n\n${arrays}\nconst struct store_migration store_migrations[] = {\n${entries}};\n"
  "const int store_migration_count = ${count};\n")
