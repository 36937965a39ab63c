/* roofline-import's end of the daemon's importing protocol; IMPORT.md specifies it. */
#ifndef GPU_IMPORT_SERVE_H
#define GPU_IMPORT_SERVE_H

#define IMPORT_PROGRAM      "roofline-import"
#define IMPORT_PROTOCOL     1
#define IMPORT_FD           3
#define IMPORT_REQUEST_MAX  (16u * 1024u)
#define IMPORT_DOCUMENT_MAX (16u * 1024u * 1024u) /* bytes of a line, a run's document included */

/* Serves one request on descriptor 3 and returns the exit status. */
int import_serve(void);

#endif
