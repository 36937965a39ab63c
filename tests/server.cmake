# The daemon, by part.
include(server_jobs.cmake OPTIONAL)
include(server_http.cmake OPTIONAL)
