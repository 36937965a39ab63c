/* roofline-import's end of the daemon's importing protocol; gpu/import/IMPORT.md specifies it. */
#ifndef GPU_WIRE_IMPORT_H
#define GPU_WIRE_IMPORT_H

#define IMPORT_PROGRAM      "roofline-import"
#define IMPORT_PROTOCOL     1
#define IMPORT_FD           3
#define IMPORT_REQUEST_MAX  ((size_t)16 << 10)
#define IMPORT_DOCUMENT_MAX ((size_t)16 << 20) /* bytes of a line, a run's document included */

/* Serves one request on descriptor 3 and returns the exit status. */
int import_serve(void);

#endif
