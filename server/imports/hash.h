/* The hash of an upload's text, whatever its line ends: the same data saved by another editor or sent through another
 * system is the same import. LF, CRLF and CR count alike; a byte order mark at the beginning and line ends at the end
 * do not count. A compressed file is hashed as it is. */
#ifndef SERVER_IMPORTS_HASH_H
#define SERVER_IMPORTS_HASH_H

#include <stddef.h>

struct import_hash;

struct import_hash *import_hash_new(void);       /* NULL when memory ran out */
void import_hash_free(struct import_hash *hash); /* accepts NULL */
/* The next bytes, in pieces of any size: the result does not depend on them. */
void import_hash_add(struct import_hash *hash, const char *data, size_t len);
void import_hash_end(struct import_hash *hash, char hex[65]);

#endif
