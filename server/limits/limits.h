/* Every quantity that a client, a measuring process or a file can make grow, with its limit. Going over one is a clear
 * 4xx (or a failed job), never a cut or clamped value. */
#ifndef SERVER_LIMITS_LIMITS_H
#define SERVER_LIMITS_LIMITS_H

#define LIMIT_BODY_BYTES              (64u * 1024u) /* a JSON request body: 413 */
#define LIMIT_HEADER_BYTES            (32u * 1024u) /* 431 */
#define LIMIT_HEADERS                 100u          /* header lines: 431 */
#define LIMIT_COOKIES                 128u /* of all Cookie headers: 431. None is read, but browsers send them */
#define LIMIT_COOKIE_BYTES            (16u * 1024u) /* likewise */
#define LIMIT_CHUNK_EXTENSION_BYTES   1024u         /* of all chunks of a body: 400 */
#define LIMIT_URL_BYTES               (52u * 1024u) /* 414: a name of LIMIT_UNIT_BYTES, each of them escaped, and the rest */
#define LIMIT_QUERY_PARAMS            24u
#define LIMIT_JSON_DEPTH              16u
#define LIMIT_TOKEN_CHARACTERS        512u /* of an Authorization header */
#define LIMIT_KEY_CHARACTERS          128u /* of an Idempotency-Key */
#define LIMIT_CONNECTIONS             256u
#define LIMIT_CONNECTIONS_PER_CALLER  128u
#define LIMIT_DESCRIPTORS_MIN         32u /* open files that the process must be allowed: a start takes 12, a job 10 more */
#define LIMIT_SURPLUS_CONNECTIONS     64u  /* over those, answered 503; more wait unanswered */
#define LIMIT_SURPLUS_MS              2000 /* that such a one may take to send its request */
#define LIMIT_LINGERING               64u  /* closed connections whose last bytes are still drained */
#define LIMIT_LINGER_MS               3000
#define LIMIT_LINGER_BYTES            (64u * 1024u * 1024u)
#define LIMIT_REQUEST_MS              15000 /* absolute, from the end of a request's head to the last of its body */
#define LIMIT_IDLE_S                  20    /* keep-alive */
#define LIMIT_QUEUED_JOBS             64
#define LIMIT_OPEN_JOBS_PER_PRINCIPAL 32
#define LIMIT_DEVICES                 64u   /* that a probe may tell of; more break the protocol */
#define LIMIT_PROBE_EVERY_MS          60000 /* between probes; a driver change does not wait */
#define LIMIT_STORE_TRY_MS            500   /* to the second try to store a job's end; then twice as long each time */
#define LIMIT_STORE_AGAIN_MS          5000  /* at most; and between attempts to start a job */
#define LIMIT_STORE_WATCH_MS          1000  /* between looks whether the database's files are in place */
#define LIMIT_SPOOL_RUNS              64u /* measured runs on disk that the store could not take; more wait in memory */
#define LIMIT_SPOOL_BYTES             (INT64_C(64) * 1024 * 1024)
#define LIMIT_PAGE_ROWS               200 /* limit= of a list; default 50 */
#define LIMIT_DEFAULT_ROWS            50
#define LIMIT_NOTE_BYTES              4096u
#define LIMIT_DEVICE_CHARACTERS       128u /* of query parameters */
#define LIMIT_DRIVER_CHARACTERS       32u
#define LIMIT_CUDA_CHARACTERS         16u
#define LIMIT_UNIT_BYTES              16384u        /* a kernel's name in an address: as long as imports store them */
#define LIMIT_EXPORTS                 8u            /* being sent at once: 503 */
#define LIMIT_EXPORT_PIECE_BYTES      (64u * 1024u) /* an export's memory is a piece and a run */
#define LIMIT_VIEWS                   2u            /* texts, exports and comparisons of large runs; more wait */
/* Of a run's document; a larger one is parsed on a worker thread. A verification has 61 kB (2026-11-29), and 96 KiB
 * take some 3.5 ms of the loop (server/answers/run.h). */
#define LIMIT_VIEW_HERE_BYTES    (96u * 1024u)
#define LIMIT_COMPARE_ROWS       16384u /* of all runs of a side: 413; of its history: older runs are left */
#define LIMIT_COMPARE_KERNELS    64u    /* named of a comparison: 400. Its different rows: COMPARE_ROWS_MAX, 413 */
#define LIMIT_COMPARE_HERE_ROWS  128u   /* of a run; if one has more, the comparison is made on a worker thread */
#define LIMIT_COMPARE_HERE_BYTES (64u * 1024u)  /* of the names of a run's rows, likewise */
#define LIMIT_TRANSCRIPT_BYTES   (256u * 1024u) /* the rest is dropped and the drop is said in the text */
#define LIMIT_STDERR_BYTES       (16u * 1024u)

/* Fairness. A caller is a token, a uid, or an address without either: all of loopback is one, and a /64 of IPv6. What
 * moves slowly is ended; means over a window, which is never longer than the request timeout. */
#define LIMIT_HEAD_MS        5000 /* absolute, of a request's head; never more than the request timeout: 408 */
#define LIMIT_BODY_BYTES_S   1024 /* that a body brings at least, over LIMIT_BODY_WINDOW_MS: 408 */
#define LIMIT_BODY_WINDOW_MS 5000
#define LIMIT_STREAM_BYTES_S (32 * 1024)  /* that a client takes of an export, over the request timeout: it ends */
#define LIMIT_YIELD_BYTES_S  (256 * 1024) /* over a third of the window: who is slower gives way to who has no place */
#define LIMIT_MOMENT_MS      100          /* that an answer is not called slow for */
#define LIMIT_SLOW_TIMES_IDLE                                                                                          \
    100 /* as long as an idle connection has a request waited that is not whole (server/http/room.h) */
#define LIMIT_EXPORTS_EACH 4u /* of LIMIT_EXPORTS, of one caller: 503 */
#define LIMIT_UPLOADS      8u /* bodies of imports that are coming: 429 */
#define LIMIT_UPLOADS_EACH 4u /* of one caller */

/* Imports. A file has at most IMPORT_FILE_MAX bytes (gpu/import/import.h), a form three files, as many bytes in all as
 * two. */
#define LIMIT_UPLOAD_BYTES          (33u * 1024u * 1024u) /* the whole multipart body */
#define LIMIT_UPLOAD_FILE_BYTES     (16u * 1024u * 1024u)
#define LIMIT_UPLOAD_TIMES          8 /* of the request timeout, that one may take to come */
#define LIMIT_UPLOAD_PARTS          16u
#define LIMIT_PART_HEADER_BYTES     2048u
#define LIMIT_PART_NAME_BYTES       64u
#define LIMIT_FILENAME_BYTES        255u
#define LIMIT_IMPORT_FIELD_BYTES    256u
#define LIMIT_IMPORTS               4u /* at once, from the upload's last byte to the answer: 429 */
#define LIMIT_IMPORTS_PER_PRINCIPAL 2u
#define LIMIT_IMPORT_MEMORY_BYTES   (512LL * 1024 * 1024) /* of an importing process */
#define LIMIT_IMPORT_CPU_S          20
#define LIMIT_IMPORT_WALL_S         30
#define LIMIT_IMPORT_ANSWER_MS      (LIMIT_IMPORT_WALL_S * 1000 + 15000) /* that a client is kept waiting */
#define LIMIT_IMPORT_SPARE_MS       2000 /* of these, left to answer that the store could not be written all the time */
#define LIMIT_IMPORT_STORE_TRY_MS   250  /* between tries while another program holds the store */
#define LIMIT_IMPORT_LINE_BYTES     (2u * 1024u * 1024u) /* a run's document: 413 */
#define LIMIT_IMPORT_STREAM_BYTES   (4u * 1024u * 1024u) /* document and samples: 413 */

/* A job, whose phases have the limits of its suite (gpu/suites), and a probe; over them the process is ended with
 * measure_timeout. */
#define LIMIT_JOB_MS             600000
#define LIMIT_PROBE_MS           60000
#define LIMIT_EXIT_AFTER_EOF_MS  2500  /* then TERM (exec) */
#define LIMIT_EXIT_AFTER_TERM_MS 2000  /* then KILL (exec) */
#define LIMIT_STUCK_MS           30000 /* not gone: quarantine */

#endif
