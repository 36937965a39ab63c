/* A kernel's own name within what demanglers and profilers print. */
#ifndef GPU_IMPORT_TEXT_NAMES_H
#define GPU_IMPORT_TEXT_NAMES_H

#include "gpu/base/buf.h"

/* "vadd" of "void ns::vadd<4>(float const*)": the function's own name. The name itself where none is found in it; NULL
 * when memory ran out. */
const char *import_base_name(struct rl_arena *arena, const char *name);

#endif
