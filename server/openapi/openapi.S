/* The API's description as bytes of the program: OPENAPI_FILE is given by server/openapi/CMakeLists.txt. */
    .section .rodata
    .global openapi_json
    .global openapi_json_end
openapi_json:
    .incbin OPENAPI_FILE
openapi_json_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
