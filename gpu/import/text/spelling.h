/* Kernels' names as different tools print them. */
#ifndef GPU_IMPORT_TEXT_SPELLING_H
#define GPU_IMPORT_TEXT_SPELLING_H

#include "gpu/base/buf.h"

/* What two tools print of one kernel differently is dropped: return type, namespaces, parameter lists, casts, spaces,
 * const, suffixes of numbers; "f<4,1>" of "void ns::f<(int)4, true>(int)". NULL when memory ran out. */
char *import_name_key(struct rl_arena *arena, const char *name);

#endif
