"""Requests that must be refused, as bytes: malformed ones, those that two readers would cut at different places, and those over a limit. Each with
the status and error code of its answer, or with (None, None) where the connection ends without one because the request never does. After every
answer the connection ends: nothing that follows is taken for a request."""
import collections

Case = collections.namedtuple("Case", "name data status code")

JOB = b'{"suite":"verify"}'
NO_JOB = b'{"suite":"nobody"}'  # as long: the body of the malformed ones, since a proxy may rightly mend a blank and pass such a one on
# What a request that was smuggled would do: make a job. It follows each malformed request, and lies in some of the bodies.
CANARY = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(JOB) + JOB
GOOD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
BAD = (400, "bad_request")
LINE = b"GET /healthz HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
POST = b"POST /api/v1/jobs HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
UPLOAD_LIMIT = 33 * 1024 * 1024


def shown(data):
    return repr(data)[2:-1] if len(data) <= 40 else "%s... (%d)" % (repr(data[:20])[2:-1], len(data))


def request_lines():
    for line in (b"GET  /healthz HTTP/1.1", b"GET /healthz  HTTP/1.1", b"GET\t/healthz\tHTTP/1.1", b" GET /healthz HTTP/1.1", b"GET /healthz HTTP/1.1 ",
                 b"GET /healthz HTTP/1.1\t", b"GET /health z HTTP/1.1", b"GET /healthz HTTP/1.1 HTTP/1.1", b"GET", b"GET /healthz", b"GET ", b"GET  HTTP/1.1", b"/healthz HTTP/1.1",
                 b"GET /healthz http/1.1", b"GET /healthz HTTP/1.1x", b"GET /healthz HTTP/1,1", b"GET /healthz HTTP/ 1.1", b"GET /healthz HTTP/1.", b"GET /healthz HTTP/.1",
                 b"GET /healthz HTTP/01.1", b"GET /healthz HTTP/1.01", b"GET /healthz HTTPS/1.1", b"GET /healthz HTTP 1.1", b"GET /healthz HTTP/1.1/", b"GET /healthz HTTP/-1.1",
                 b"GET /healthz HTTP/x.y", b"GET /healthz ICY/1.1", b"GET /healthz HTT\x00P/1.1", b"GET /healthz HTTP/1.1\x00", b"GET /healthz\x00 HTTP/1.1", b"GET /healthz\x00x HTTP/1.1",
                 b"GET\x00 /healthz HTTP/1.1", b"\x00GET /healthz HTTP/1.1", b"GET healthz HTTP/1.1", b"GET http://evil/healthz HTTP/1.1", b"GET https://localhost/healthz HTTP/1.1",
                 b"CONNECT localhost:80 HTTP/1.1", b"\xef\xbb\xbfGET /healthz HTTP/1.1", b"SSH-2.0-OpenSSH_9.2", b"HELO localhost", b"{\"jsonrpc\": \"2.0\"}"):
        yield "line " + shown(line), line + b"\r\n" + HOST + b"\r\n", *BAD
    for byte in b"\"(),/:;<=>?@[\\]{}\x01\x0b\x1b\x7f\x80\xff":
        yield "method with 0x%02x" % byte, b"GE%cT /healthz HTTP/1.1\r\n" % byte + HOST + b"\r\n", *BAD
    for version in (b"0.9", b"1.2", b"1.9", b"2.0", b"3.0", b"9.9"):
        yield "version " + shown(version), b"GET /healthz HTTP/" + version + b"\r\n" + HOST + b"\r\n", 505, "http_version"
    yield "preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "http_version"
    yield "a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200, *BAD
    yield "method of 33", b"G" * 33 + b" /healthz HTTP/1.1\r\n" + HOST + b"\r\n", 501, "not_implemented"
    yield "method of 100,000", b"G" * 100000, 501, "not_implemented"
    yield "nine empty lines", b"\r\n" * 9 + GOOD, *BAD
    yield "line feeds first", b"\n\n" + GOOD, *BAD
    yield "carriage returns first", b"\r\r\n" + GOOD, *BAD
    yield "line ends in LF", b"GET /healthz HTTP/1.1\n" + HOST + b"\r\n", *BAD
    yield "line ends in CR", b"GET /healthz HTTP/1.1\r" + HOST + b"\r\n", *BAD
    yield "line ends in CR CR LF", b"GET /healthz HTTP/1.1\r\r\n" + HOST + b"\r\n", *BAD
    yield "LF alone everywhere", GOOD.replace(b"\r\n", b"\n"), *BAD
    yield "CR alone everywhere", GOOD.replace(b"\r\n", b"\r"), *BAD


def targets():
    for byte in b"\x00\x01\x08\x09\x0b\x0c\x1f#\x7f\x80\xe9\xff":
        yield "address with 0x%02x" % byte, b"GET /a%cb HTTP/1.1\r\n" % byte + HOST + b"\r\n", *BAD
    for path in (b"/%", b"/%2", b"/%zz", b"/%00", b"/healthz%00", b"/%0a", b"/%0d%0aX:1", b"/%7f", b"/%ff", b"/%c0%ae", b"/../etc/passwd", b"/a/..", b"/./a", b"/%2e%2e/x", b"/.%2E",
                 b"/healthz?a", b"/healthz?=1", b"/healthz?a=1&a=2", b"/healthz?a=%", b"/healthz?a=%00", b"/healthz?&"):
        yield "address " + shown(path), b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"\r\n", *BAD
    for count in (25, 100, 1999, 2500, 3000, 20000, 50000):
        yield "%d ampersands" % count, b"GET /?" + b"&" * count + b" HTTP/1.1\r\n" + HOST + b"\r\n", *BAD
        yield "%d parameters" % count, (b"GET /?" + b"&".join(b"%x=" % i for i in range(count + 1)))[:53000] + b" HTTP/1.1\r\n" + HOST + b"\r\n", *BAD
    for size in (53248, 60000, 128 * 1024, 1000000):
        yield "address of %d" % size, b"GET /" + b"x" * size + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "uri_too_long"
    yield "an address that never ends", b"GET /" + b"x" * 200000, 414, "uri_too_long"


def header_lines():
    for line in (b" X: folded", b"\tX: folded", b"X: a\r\n folded", b"X: a\r\n\tfolded", b"X: a\r\n \r\n", b"X:\r\n a", b"Content-Length:\r\n 41", b"Content-: 2\r\n Length", b"Content-\r\n Length: 2",
                 b"Authoriz: Bearer x\r\n ation", b"Transfer-Encoding:\r\n chunked", b"Host:\r\n localhost", b"Content-Length : 5", b"Content-Length\t: 5", b"Transfer-Encoding : chunked",
                 b"Host : evil", b"Host\x00: evil", b": no name", b":", b" : x", b"no colon", b"X", b"GET /nope HTTP/1.1", b"a b: c", b"X\xff: a", b"\xc3\xa9: a", b"X(: a", b"X[: a", b"X/: a",
                 b"X=: a", b"X@: a", b"X,: a", b"X;: a", b"X\\: a", b"X\": a", b"X{: a", b"\x00: a", b"X\x00Y: a", b"X: a\rb", b"X: a\r\r", b"X: a\nContent-Length: 5", b"X: a\n", b"\rX: a", b"\nX: a",
                 b"Host: localhost\x00.evil", b"X-Forwarded-For: 1\x00", b"Cookie: a=\x00"):
        yield "header " + shown(line), LINE + HOST + line + b"\r\n\r\n", *BAD
    for byte in [*range(1, 9), 11, 12, *range(14, 32), 127]:
        yield "value with 0x%02x" % byte, LINE + HOST + b"X: a%cb\r\n\r\n" % byte, *BAD
    yield "first line folded", LINE + b" Host: localhost\r\n\r\n", *BAD
    yield "end of headers in LF", LINE + HOST + b"\n", *BAD
    yield "end of headers in CR", LINE + HOST + b"\rX", *BAD
    yield "header ends in LF", LINE + b"Host: localhost\n\r\n", *BAD
    for name in (b"Host: localhost", b"host: localhost", b"Host: evil"):
        yield "second " + shown(name), LINE + HOST + name + b"\r\n\r\n", *BAD
    for name in (b"Content-Type: application/json", b"Authorization: Bearer x", b"Origin: http://localhost", b"Idempotency-Key: k", b"Content-Encoding: identity", b"If-Match: \"a\"", b"If-None-Match: \"a\""):
        yield "twice " + shown(name), LINE + HOST + (name + b"\r\n") * 2 + b"\r\n", *BAD
    for host in (b"", b"Host:\r\n", b"Host: \t\r\n"):
        yield "host " + shown(host), LINE + host + b"\r\n", *BAD
    for host in (b"localhost:x", b"localhost:", b"localhost:0", b"localhost, evil", b"localhost evil", b"localhost@evil", b"localhost/", b"http://localhost", b"[::1", b"[]", b"[localhost]", b"::1", b":80", b"\xc3\xa9"):
        yield "host " + shown(host), LINE + b"Host: " + host + b"\r\n\r\n", *BAD
    for host in (b"evil", b"localhost.evil", b"localhost,evil", b"[::2]:80"):  # whom /healthz answers
        yield "host " + shown(host), b"GET /api/v1/jobs HTTP/1.1\r\nHost: " + host + b"\r\n\r\n", 403, "bad_host"


def header_limits():
    yield "101 headers", LINE + HOST + b"X: a\r\n" * 100 + b"\r\n", 431, "too_many_headers"
    yield "2,000 headers", LINE + HOST + b"".join(b"X-%d: a\r\n" % i for i in range(2000)) + b"\r\n", 431, "too_many_headers"
    yield "3,000 headers of a letter", LINE + HOST + b"a:\r\n" * 3000 + b"\r\n", 431, "too_many_headers"
    yield "a header of 33 kB", LINE + HOST + b"X: " + b"v" * 33000 + b"\r\n\r\n", 431, "too_many_headers"
    yield "a header of 1 MB", LINE + HOST + b"X: " + b"v" * 1000000 + b"\r\n\r\n", 431, "too_many_headers"
    yield "a name of 33 kB", LINE + HOST + b"n" * 33000 + b": v\r\n\r\n", 431, "too_many_headers"
    yield "headers of 33 kB", LINE + HOST + b"".join(b"X-%d: %s\r\n" % (i, b"v" * 1000) for i in range(33)) + b"\r\n", 431, "too_many_headers"
    yield "129 cookies", LINE + HOST + b"Cookie: " + b"; ".join([b"a=b"] * 129) + b"\r\n\r\n", 431, "too_many_headers"
    yield "16,000 cookies", LINE + HOST + b"Cookie: " + b";" * 16000 + b"\r\n\r\n", 431, "too_many_headers"
    yield "cookies of 17 kB", LINE + HOST + b"Cookie: a=" + b"b" * 17000 + b"\r\n\r\n", 431, "too_many_headers"


def lengths():
    for value in (b"+18", b"-1", b"-0", b"0x12", b"18x", b"18, 18", b"18,18", b"1 8", b"", b" ", b"18 ", b"18\t", b"1e2", b"18.0", b"18;", b"\"18\"", b"abc", b"\xd9\xa1\xd9\xa8", b"\xa018",
                  b"2\x009", b"18\x00", b"\x0018", b"0b1", b"018h", b"eighteen", b"#18", b"18,", b",18", b"1_8"):
        yield "length " + shown(value), POST + b"Content-Length: " + value + b"\r\n\r\n" + NO_JOB, *BAD
    for value in (UPLOAD_LIMIT + 1, 2**31, 2**32 + 18, 2**63 - 1, 2**63, 2**64, 2**64 + 18, int("9" * 30), int("1" + "0" * 3000)):
        yield "length %.30s" % value, POST + b"Content-Length: %d\r\n\r\n" % value + NO_JOB, 413, "too_large"
    yield "length over that of a job", POST + b"Content-Length: 10000000\r\n\r\n" + NO_JOB, 413, "too_large"
    yield "length, waiting for 100", POST + b"Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n", 413, "too_large"
    yield "length not a number, waiting for 100", POST + b"Expect: 100-continue\r\nContent-Length: x\r\n\r\n", *BAD
    for second in (b"18", b"5", b"0", b""):
        yield "second length " + shown(second), POST + b"Content-Length: 18\r\nContent-Length: " + second + b"\r\n\r\n" + NO_JOB, *BAD
    yield "second length in small letters", POST + b"Content-Length: 18\r\ncontent-length: 18\r\n\r\n" + NO_JOB, *BAD


def codings():
    for value in (b"xchunked", b"gzip, chunked", b"chunked, gzip", b"identity", b"chunked, identity", b"chunked, chunked", b"chunked ", b"chunked\t", b"chunked;q=1", b", chunked", b"chunked,", b"", b"chunke",
                  b"chunkedd", b"\"chunked\"", b"chun ked", b"\xa0chunked", b"gzip", b"br", b"cow", b"x" * 2000):
        yield "coding " + shown(value), POST + b"Transfer-Encoding: " + value + b"\r\n\r\n0\r\n\r\n", 501, "not_implemented"
    for value in (b"chunked\x00x", b"\x00chunked", b"\x0bchunked", b"chunked\x0c", b"chu\rnked"):
        yield "coding " + shown(value), POST + b"Transfer-Encoding: " + value + b"\r\n\r\n0\r\n\r\n", *BAD
    yield "two codings", POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", *BAD
    yield "a second coding", POST + b"Transfer-Encoding: chunked\r\ntransfer-encoding: cow\r\n\r\n0\r\n\r\n", *BAD
    smuggled = b"0\r\n\r\n" + CANARY
    for method in (b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"OPTIONS"):
        head = POST.replace(b"POST", method)
        yield "length and coding, " + shown(method), head + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n" % len(smuggled) + smuggled, *BAD
        yield "coding and length, " + shown(method), head + b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n" % len(smuggled) + smuggled, *BAD
        if method == b"DELETE":  # of all jobs
            yield "a body for DELETE", head + b"Content-Length: %d\r\n\r\n" % len(CANARY) + CANARY, 405, "method_not_allowed"
        elif method not in (b"POST", b"PUT"):
            yield "a body for " + shown(method), head + b"Content-Length: %d\r\n\r\n" % len(CANARY) + CANARY, *BAD
            yield "chunks for " + shown(method), head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(CANARY) + CANARY + b"\r\n0\r\n\r\n", *BAD
    yield "chunks in HTTP/1.0", CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"12\r\n" + NO_JOB + b"\r\n0\r\n\r\n", *BAD
    yield "length 0 and coding", POST + b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled, *BAD


def chunks():
    for size in (b"zz", b"-1", b"+5", b"0x5", b"0X5", b"", b" 5", b"5 ", b"5\t", b"5 ;a", b";a", b"g", b"5g", b"_5", b"5_0", b"\x005", b"5\x00", b"5,", b"5.", b"\"5\"", b"\xd9\xa5", b"0" * 17, b"0" * 17 + b"5"):
        yield "chunk size " + shown(size), CHUNKED + size + b"\r\nhello\r\n0\r\n\r\n", *BAD
    for size in (b"2100001", b"ffffffff", b"100000005", b"7fffffffffffffff", b"ffffffffffffffff", b"10000000000000005", b"f" * 100):
        yield "chunk size " + shown(size), CHUNKED + size + b"\r\nhello\r\n0\r\n\r\n", 413, "too_large"
    for body in (b"5\nhello\r\n0\r\n\r\n", b"5\rhello\r\n0\r\n\r\n", b"5\r\rhello\r\n0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n", b"5\r\nhello\r0\r\n\r\n", b"5\r\nhello0\r\n\r\n", b"5\r\nhello!\r\n0\r\n\r\n",
                 b"5\r\nhello \r\n0\r\n\r\n", b"5\r\nhello\r\r\n0\r\n\r\n", b"5\r\nhello\r\n\r\n0\r\n\r\n", b"\r\n5\r\nhello\r\n0\r\n\r\n", b"4\r\nhello\r\n0\r\n\r\n", b"0\n\r\n", b"0\r\n\n", b"0\r\n\rX",
                 b"0\r\r\n\r\n", b"0\r\n\r\r\n"):
        yield "chunks " + shown(body), CHUNKED + body, *BAD
    for extension in (b";\x00", b";a=\x01", b";a\n", b";a\rb", b";a=\x7f", b";\xff", b";" + b"e" * 1100, b";" + b"e" * 200000):
        yield "extension " + shown(extension), CHUNKED + b"5" + extension + b"\r\nhello\r\n0\r\n\r\n", *BAD
    yield "many extensions", CHUNKED + b"1;aaaaaaaa\r\nx\r\n" * 200 + b"0\r\n\r\n", *BAD
    yield "more than a job's body in chunks", CHUNKED + b"20000\r\n" + b" " * 0x20000 + b"\r\n0\r\n\r\n", 413, "too_large"


def trailers():
    for line in (b" X: a", b"X: a\r\n b", b"no colon", b": a", b"X : a", b"X: a\x00", b"X: \x01", b"X\x7f: a", b"X: a\n", b"X: a\rb", b"Content-Length: 5", b"content-length: 0", b"Transfer-Encoding: chunked", b"Host: evil"):
        yield "trailer " + shown(line), CHUNKED + b"0\r\n" + line + b"\r\n\r\n", *BAD
    yield "trailers of 33 kB", CHUNKED + b"0\r\nX: " + b"t" * 33000 + b"\r\n\r\n", 431, "too_many_headers"
    yield "100 trailers", CHUNKED + b"0\r\n" + b"X: t\r\n" * 100 + b"\r\n", 431, "too_many_headers"


def half_requests():
    """Which the client ends within: nobody can tell what they would have been, and the connection ends without an answer."""
    for data in (b"", b"G", b"GET", b"GET /healthz", b"GET /healthz HTTP/1.1", LINE, LINE + b"Host: local", LINE + HOST, LINE + HOST + b"\r", POST + b"Content-Length: 18\r\n\r\n", POST + b"Content-Length: 18\r\n\r\n{",
                 CHUNKED, CHUNKED + b"5", CHUNKED + b"5\r\nhel", CHUNKED + b"5\r\nhello", CHUNKED + b"5\r\nhello\r\n", CHUNKED + b"5\r\nhello\r\n0", CHUNKED + b"5\r\nhello\r\n0\r\n", CHUNKED + b"0\r\nX: a\r\n",
                 b"\r\n", b"\r\n\r\n"):
        yield "half " + shown(data), data, None, None


def cases():
    made = [Case(*item) for part in (request_lines, targets, header_lines, header_limits, lengths, codings, chunks, trailers, half_requests) for item in part()]
    assert len({case.name for case in made}) == len(made), collections.Counter(case.name for case in made).most_common(3)
    return made
