#!/usr/bin/env python3
"""What attackers send to punt serve, and what must come of it.

  PUNT=build/release/punt PUNT_SOURCE_DIR=. tests/serve_attacks_test.py

Most of it is tables, to be added to: bytes that must be refused (one answer, then the connection ends, and nothing of what
stands behind the head is ever taken for a request), bytes that must be served, headers that browsers send for strange
pages, ways around the key, floods that must not cost memory. Below them: clients that are slow, that take all places, that
close one side or both. Needs nothing but Python's standard library; addresses are those of the loopback.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

PUNT = os.environ["PUNT"]
SOURCE = os.environ["PUNT_SOURCE_DIR"]
SANITIZED = bool(os.environ.get("PUNT_SANITIZE"))  # sanitizers keep memory that was given back
GOLDEN = os.path.join(SOURCE, "tests/golden/llada")
STORIES = os.path.join(SOURCE, "models/stories.gguf")
PATIENCE = 120  # seconds: for a machine that is busy
failures = []


def check(condition, name, detail=""):
    if not condition:
        failures.append(name)
        print(f"FAILED: {name} {detail}", flush=True)


# ---- the server, and a client that sends what it likes

class Server:
    def __init__(self, name, *flags, model=GOLDEN):
        self.folder = tempfile.mkdtemp(prefix="punt-attacks-")
        self.ready = os.path.join(self.folder, "ready")
        self.log_path = os.path.join(self.folder, name + ".log")
        self.process = subprocess.Popen(
            [PUNT, "serve", "--port", "0", "--threads", "1", "--model", model, "--ready-file", self.ready, *flags],
            stdout=subprocess.DEVNULL, stderr=open(self.log_path, "w"))

    def await_ready(self):
        for _ in range(PATIENCE * 10):
            if os.path.exists(self.ready):
                break
            if self.process.poll() is not None:
                sys.exit(f"serve ended: {open(self.log_path).read()}")
            time.sleep(0.1)
        self.port = int(open(self.ready).read().strip().rsplit(":", 1)[1])
        return self

    def connect(self, source="127.0.0.1"):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE, source_address=(source, 0))

    def connect_to(self, address):
        return socket.create_connection((address, self.port), timeout=PATIENCE)

    def log(self):
        return open(self.log_path).read()

    def peak(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024  # MB

    def metrics(self, key=""):
        head = f"GET /metrics HTTP/1.1\r\nHost: localhost\r\n{key}Connection: close\r\n\r\n"
        return send(self, head.encode()).decode()

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.metrics(), re.M)
        return float(found.group(1)) if found else 0

    def stop(self):
        self.process.terminate()
        check(self.process.wait(PATIENCE) == 0, "the server ends well")


def receive(connection):
    """All that comes until the server closes."""
    answer = b""
    try:
        while piece := connection.recv(65536):
            answer += piece
    except ConnectionError:
        pass
    except TimeoutError:
        answer += b"[no end]"
    return answer


def send(server, data, pieces=1):
    with server.connect() as connection:
        size = max(1, -(-len(data) // pieces))
        try:
            for at in range(0, len(data), size):
                connection.sendall(data[at:at + size])
                if pieces > 1:
                    time.sleep(0.002)
        except ConnectionError:
            pass  # refused before its end
        return receive(connection)


def statuses(answer):
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]


def head_of(method="GET", path="/v1/models", version="1.1", headers="", host="Host: localhost\r\n"):
    return f"{method} {path} HTTP/{version}\r\n{host}{headers}\r\n".encode()


# ---- what must be refused: name, bytes, status. INNER is what an attacker hides: it must never be answered.

INNER = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Inner: 1\r\n\r\n"
BODY = b'{"prompt": "the ", "max_tokens": 4, "seed": 1}'


def post(headers, body=INNER, **more):
    return head_of("POST", "/v1/completions", headers=headers, **more) + body


N = len(INNER)
REFUSED = [
    ("two lengths, the first 0", post(f"Content-Length: 0\r\nContent-Length: {N}\r\n"), 400),
    ("two lengths, the second 0", post(f"Content-Length: {N}\r\nContent-Length: 0\r\n"), 400),
    ("two equal lengths", post(f"Content-Length: {N}\r\nContent-Length: {N}\r\n"), 400),
    ("a list of lengths", post(f"Content-Length: {N}, 5\r\n"), 400),
    ("a length with letters", post(f"Content-Length: {N}abc\r\n"), 400),
    ("a signed length", post(f"Content-Length: +{N}\r\n"), 400),
    ("a negative length", post("Content-Length: -1\r\n"), 400),
    ("a hexadecimal length", post(f"Content-Length: {N:#x}\r\n"), 400),
    ("a length as a power", post("Content-Length: 1e3\r\n"), 400),
    ("an empty length", post("Content-Length: \r\n"), 400),
    ("a length with a space inside", post("Content-Length: 1 2\r\n"), 400),
    ("a length beyond 64 bits", post("Content-Length: 18446744073709551616\r\n"), 400),
    ("length and chunks", post(f"Content-Length: {N}\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + INNER), 400),
    ("length 0 and chunks", post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + INNER), 400),
    ("chunks and length", post(f"Transfer-Encoding: chunked\r\nContent-Length: {N}\r\n", b"0\r\n\r\n" + INNER), 400),
    ("an unknown coding", post("Transfer-Encoding: xchunked\r\n"), 400),
    ("identity as a coding", post("Transfer-Encoding: identity\r\n"), 400),
    ("two codings", post("Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n" + INNER), 400),
    ("chunked twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + INNER), 400),
    ("chunked, then another", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n", b"0\r\n\r\n" + INNER), 400),
    ("chunks in HTTP/1.0", post("Transfer-Encoding: chunked\r\n", b"0\r\n\r\n" + INNER, version="1.0"), 400),
    ("a space before the colon", post("Transfer-Encoding : chunked\r\n", b"0\r\n\r\n" + INNER), 400),
    ("a tab before the colon", post("Content-Length\t: 5\r\n"), 400),
    ("a folded header", post(f"X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: {N}\r\n"), 400),
    ("a folded length", post(f"Content-Length:\r\n {N}\r\n"), 400),
    ("a header without a name", post(f": a\r\nContent-Length: {N}\r\n"), 400),
    ("a header without a colon", post(f"Content-Length {N}\r\n"), 400),
    ("a bare LF between headers", post(f"X: a\nContent-Length: {N}\r\n"), 400),
    ("a bare CR in a header", post(f"X: a\rContent-Length: {N}\r\n"), 400),
    ("bare LFs only", b"GET /v1/models HTTP/1.1\nHost: localhost\n\n" + INNER, 400),
    ("a NUL in a header", post(f"X: a\0b\r\nContent-Length: {N}\r\n"), 400),
    ("a NUL in a name", post(f"Content-Length\0: {N}\r\n"), 400),
    ("a NUL in the target", head_of(path="/v1/models\0") + INNER, 400),
    ("a fragment in the target", head_of(path="/v1/models#a") + INNER, 400),
    ("two spaces in the request line", head_of(path=" /v1/models") + INNER, 400),
    ("no version", b"GET /v1/models\r\nHost: localhost\r\n\r\n" + INNER, 400),
    ("a version with more digits", head_of(version="1.10") + INNER, 400),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + INNER, 505),
    ("no host", head_of(host="") + INNER, 400),
    ("two hosts", head_of(headers="Host: localhost\r\n") + INNER, 400),
    ("a target without a slash", head_of(path="v1/models") + INNER, 400),
    ("a long target", head_of("POST", "/" + "a" * 9000, headers=f"Content-Length: {N}\r\n") + INNER, 414),
    ("a long header", post(f"X: {'a' * 70000}\r\nContent-Length: {N}\r\n"), 431),
    ("many headers", post("X: a\r\n" * 150 + f"Content-Length: {N}\r\n"), 431),
    ("no length", post(""), 411),
    ("an unknown path", head_of("POST", "/nothing", headers=f"Content-Length: {N}\r\n") + INNER, 404),
    ("a method that is not there", head_of("PUT", "/v1/completions", headers=f"Content-Length: {N}\r\n") + INNER, 405),
    ("a method that nobody has", head_of("BREW", "/health", headers=f"Content-Length: {N}\r\n") + INNER, 405),
    ("options, with a body", head_of("OPTIONS", "/health", headers=f"Content-Length: {N}\r\n") + INNER, 405),
    ("a large body", post("Content-Length: 99999999999\r\n"), 413),
    ("a compressed body", post(f"Content-Encoding: gzip\r\nContent-Length: {N}\r\n"), 415),
    ("a form with files", post(f"Content-Type: multipart/form-data; boundary=a\r\nContent-Length: {N}\r\n"), 415),
    ("an expectation", post(f"Expect: miracles\r\nContent-Length: {N}\r\n"), 417),
    ("a strange host", head_of(host="Host: evil.example\r\n", headers=f"Content-Length: {N}\r\n") + INNER, 403),
    ("chunks: a size that is none", post("Transfer-Encoding: chunked\r\n", b"xyz\r\n" + INNER), 400),
    ("chunks: a signed size", post("Transfer-Encoding: chunked\r\n", b"-1\r\n" + INNER), 400),
    ("chunks: a size with 0x", post("Transfer-Encoding: chunked\r\n", b"0x5\r\nabcde\r\n0\r\n\r\n" + INNER), 400),
    ("chunks: an empty size", post("Transfer-Encoding: chunked\r\n", b"\r\n" + INNER), 400),
    ("chunks: a huge size", post("Transfer-Encoding: chunked\r\n", b"ffffffffffffffff\r\n" + INNER), 400),
    ("chunks: a size over the limit", post("Transfer-Encoding: chunked\r\n", b"ffffffff\r\n" + INNER), 413),
    ("chunks: longer than told", post("Transfer-Encoding: chunked\r\n", b"2\r\nabc\r\n0\r\n\r\n" + INNER), 400),
    ("chunks: a bare LF", post("Transfer-Encoding: chunked\r\n", b"2\nab\r\n0\r\n\r\n" + INNER), 400),
    ("chunks: a bare CR in an extension", post("Transfer-Encoding: chunked\r\n", b"2;a\rb\r\nab\r\n0\r\n\r\n" + INNER), 400),
    ("chunks: a long extension", post("Transfer-Encoding: chunked\r\n", b"2;" + b"a" * 9000 + b"\r\nab\r\n0\r\n\r\n"), 400),
    ("chunks: a malformed trailer", post("Transfer-Encoding: chunked\r\n", b"0\r\nX : a\r\n\r\n" + INNER), 400),
    ("chunks: long trailers", post("Transfer-Encoding: chunked\r\n", b"0\r\n" + b"X: a\r\n" * 9000 + b"\r\n"), 431),
]


def test_refused(server):
    for name, data, status in REFUSED:
        for pieces in (1, 7):
            answer = send(server, data, pieces)
            check(statuses(answer) == [status], name, f"({pieces} pieces): {statuses(answer)}, not {status}: {answer[:300]}")
            check(b"[no end]" not in answer and re.search(rb"\r\nConnection: close\r\n", answer), f"{name}: the end", answer[:300])
    check(server.metric('punt_requests_total{path="/v1/models",status="200"}') == 0, "nothing hidden was answered")
    check("X-Inner" not in server.log(), "nothing hidden in the log")


# ---- what must be served: name, bytes, the statuses

def chunked(body, size, extension=b"", trailer=b""):
    pieces = [body[at:at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces) + b"0\r\n" + trailer + b"\r\n"


CLOSE = "Connection: close\r\n"
SIZED = f"Content-Length: {len(BODY)}\r\n"
LARGE = b'{"prompt": "the ", "max_tokens": 4, "user": "' + b"a" * 500_000 + b'"}'
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
SERVED = [
    ("a request", post(SIZED + CLOSE, BODY), [200]),
    ("four in a row", head_of() * 2 + post(SIZED, BODY) + head_of(headers=CLOSE), [200] * 4),
    ("curl -d, small", post(FORM + SIZED + CLOSE, BODY), [200]),
    ("curl -d, large", post(FORM + f"Content-Length: {len(LARGE)}\r\n" + CLOSE, LARGE), [200]),
    ("no type", post(SIZED + CLOSE, BODY), [200]),
    ("chunks", post("Transfer-Encoding: chunked\r\n" + CLOSE, chunked(BODY, 5)), [200]),
    ("large chunks", post("Transfer-Encoding: Chunked\r\n" + CLOSE, chunked(LARGE, 70_000)), [200]),
    ("chunks of a byte", post("Transfer-Encoding: chunked\r\n" + CLOSE, chunked(BODY, 1)), [200]),
    ("chunks with extensions and trailers",
     post("Transfer-Encoding: chunked\r\n" + CLOSE, chunked(BODY, 9, b" ; a=b", b"X: a\r\nY: b\r\n")), [200]),
    ("chunks, then a request", post("Transfer-Encoding: chunked\r\n", chunked(BODY, 9)) + head_of(headers=CLOSE), [200, 200]),
    ("HTTP/1.0", head_of(version="1.0", host=""), [200]),
    ("HTTP/1.0 ends behind its answer", head_of(version="1.0", headers="Connection: keep-alive\r\n") + INNER, [200]),
    ("an empty line in front", b"\r\n" + head_of(headers=CLOSE), [200]),
    ("the whole address as a target", head_of(path="http://localhost:1/v1/models?a=b", headers=CLOSE), [200]),
    ("IPv6 as a host", head_of(host="Host: [::1]:80\r\n", headers=CLOSE), [200]),
    ("a name of the loopback with a port", head_of(host="Host: LOCALHOST:81\r\n", headers=CLOSE), [200]),
    ("a body for GET", head_of(headers="Content-Length: 3\r\n") + b"abc" + head_of(headers=CLOSE), [200, 200]),
    ("an error does not end it", post("Content-Length: 1\r\n", b"{") + head_of(headers=CLOSE), [400, 200]),
    ("ranges are not looked at", head_of(path="/", headers="Range: bytes=0-,0-,0-\r\n" + CLOSE), [200]),
    ("a malformed range", post("Range: x\r\n" + SIZED, BODY) + head_of(headers=CLOSE), [200, 200]),
    ("a malformed Accept", head_of(headers="Accept: ;;;q=x\r\n" + CLOSE), [200]),
    ("a favicon", head_of(path="/favicon.ico", headers=CLOSE), [204]),
    ("head", head_of("HEAD", "/health", headers=CLOSE), [200]),
    ("an upgrade that nobody offers", head_of(headers="Upgrade: websocket\r\nConnection: Upgrade, close\r\n"
                                                      "Sec-WebSocket-Key: a\r\nSec-WebSocket-Version: 13\r\n"), [200]),
]


def test_served(server):
    for name, data, wanted in SERVED:
        for pieces in (1, 5):
            answer = send(server, data, pieces)
            check(statuses(answer) == wanted, name, f"({pieces} pieces): {statuses(answer)}, not {wanted}: {answer[:300]}")
    whole = send(server, head_of(path="/", headers=CLOSE))
    for header in ("Range: bytes=0-9\r\n", "Range: bytes=" + ",".join(["0-"] * 1500) + "\r\n"):
        answer = send(server, head_of(path="/", headers=header + CLOSE))
        check(len(answer) == len(whole) and b"Content-Range" not in answer, "a range of a page", answer[:300])
        answer = send(server, post(header + SIZED + CLOSE, BODY))
        check(b'"finish_reason"' in answer, "a range of an answer", answer[:300])
    stream = json.dumps({"prompt": "the ", "max_tokens": 4, "stream": True}).encode()
    answer = send(server, post(f"Content-Length: {len(stream)}\r\n", stream, version="1.0"))
    check(b"chunked" not in answer and answer.endswith(b"data: [DONE]\n\n"), "a stream of HTTP/1.0", answer)
    answer = send(server, head_of("BREW", "/v1/models"))
    check(b"\r\nAllow: GET, HEAD\r\n" in answer, "405 says what is allowed", answer)
    answer = send(server, head_of(headers="X-Request-Id: mine-1.a\r\n" + CLOSE))
    check(b"\r\nX-Request-Id: mine-1.a\r\n" in answer and "mine-1.a" in server.log(), "the client's id", answer[:300])
    answer = send(server, head_of(headers='X-Request-Id: a"<b>\r\n' + CLOSE))
    check(re.search(rb"\r\nX-Request-Id: req-[0-9a-f]+\r\n", answer), "an id of our own", answer[:300])


def test_expect(server):
    with server.connect() as connection:
        connection.sendall(post(SIZED + CLOSE + "Expect: 100-continue\r\n", b""))
        check(statuses(connection.recv(1000)) == [100], "100 before the body")
        connection.sendall(BODY)
        check(statuses(receive(connection)) == [200], "200 behind it")
    answer = send(server, post("Content-Length: 99999999\r\nExpect: 100-continue\r\n", b""))
    check(statuses(answer) == [413], "no 100 for what is refused", answer[:300])


def test_keep_alive(server):
    with server.connect() as connection:
        for _ in range(10):
            connection.sendall(head_of(path="/health"))
            answer = b""
            while b'"ok"' not in answer and (piece := connection.recv(4000)):
                answer += piece
            check(statuses(answer) == [200] and re.search(rb"\r\nKeep-Alive: timeout=\d+\r\n", answer), "kept alive", answer)


def test_tls(server):
    answer = send(server, bytes.fromhex("16030100c8010000c40303") + os.urandom(100))
    check(answer == b"", "a TLS handshake is closed at once", answer)
    check('"error":"tls"' in server.log(), "a TLS handshake is in the log")


# ---- pages of other sites: name, headers, whether they are served. `own` is the server's own address.

JSON = "Content-Type: application/json\r\n"
PAGES = [
    ("our own page", "Host: {own}\r\nOrigin: http://{own}\r\nSec-Fetch-Site: same-origin\r\n" + JSON, True),
    ("our own page behind a proxy with TLS", "Host: localhost\r\nOrigin: https://localhost\r\n" + JSON, True),
    ("our own page, not JSON", "Host: {own}\r\nOrigin: http://{own}\r\nContent-Type: text/plain\r\n", False),
    ("our own page, no type", "Host: {own}\r\nOrigin: http://{own}\r\n", False),
    ("another site", "Host: {own}\r\nOrigin: http://evil.example\r\n" + JSON, False),
    ("another port", "Host: {own}\r\nOrigin: http://localhost:1\r\n" + JSON, False),
    ("a file or a sandbox", "Host: {own}\r\nOrigin: null\r\n" + JSON, False),
    ("no Origin, but cross-site", "Host: {own}\r\nSec-Fetch-Site: cross-site\r\n" + JSON, False),
    ("two origins", "Host: {own}\r\nOrigin: http://{own}\r\nOrigin: http://evil.example\r\n" + JSON, False),
    ("a rebound name", "Host: rebind.example:8080\r\nOrigin: http://rebind.example:8080\r\n" + JSON, False),
    ("a rebound name without Origin", "Host: rebind.example\r\n" + JSON, False),
    ("a name that ends like ours", "Host: localhost.evil.example\r\n", False),
    ("a name that begins like ours", "Host: 127.0.0.1.evil.example\r\n", False),
    ("a program", "Host: localhost\r\n", True),
    ("a program that says what it sends", "Host: 127.0.0.1:1\r\n" + JSON, True),
]


def test_pages(server, cors, named):
    for name, headers, is_served in PAGES:
        headers = headers.replace("{own}", f"127.0.0.1:{server.port}")
        answer = send(server, post(headers + SIZED + CLOSE, BODY, host=""))
        check((statuses(answer) == [200]) == is_served, name, answer[:300])
        check(b"Access-Control" not in answer, f"{name}: CORS without --cors", answer[:300])
    link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n" + CLOSE
    check(statuses(send(server, head_of(path="/", headers=link))) == [200], "a link to the viewer")
    check(statuses(send(server, head_of(path="/metrics", headers=link))) == [403], "a link to something else")
    check(statuses(send(server, head_of("OPTIONS", "/v1/completions", headers="Origin: http://a.example\r\n"))) == [403],
          "a preflight without --cors")
    for host, status in (("punt.example", 200), ("PUNT.example:8443", 200), ("localhost", 200), ("evil.example", 403)):
        answer = send(named, head_of(host=f"Host: {host}\r\n", headers=CLOSE))
        check(statuses(answer) == [status], f"--allow-host: {host}", answer[:300])
    test_cors(cors)


# ---- a server that listens everywhere: where a connection comes in, the name in Host, with and without a key

HOSTS = [  # name, on the loopback, elsewhere without a key, elsewhere with one
    ("localhost", 200, 200, 200),
    ("127.0.0.1:1", 200, 200, 200),
    ("evil.example", 403, 403, 200),
    ("127.0.0.1.evil.example", 403, 403, 200),
    ("192.0.2.1", 403, 200, 200),
    ("[2001:db8::1]:80", 403, 200, 200),
    (socket.gethostname(), 200, 200, 200),
    (socket.gethostname().split(".")[0].upper() + ".local:80", 200, 200, 200),
    (socket.gethostname() + ".evil.example", 403, 403, 200),
]


def own_address():
    """One that is not on the loopback; None without a network. Nothing is sent."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            address = probe.getsockname()[0]
    except OSError:
        return None
    return None if address.startswith("127.") else address


def test_everywhere(server, keyed):
    def status(to, address, host):
        with to.connect_to(address) as connection:
            connection.sendall(head_of(path="/metrics", host=f"Host: {host}\r\n", headers="X-Api-Key: sekret\r\n" + CLOSE))
            return statuses(receive(connection))

    address = own_address()
    if address is None:
        print("only the loopback here: other addresses not tested")
    for host, on_loopback, elsewhere, with_key in HOSTS:
        for to in (server, keyed):
            check(status(to, "127.0.0.1", host) == [on_loopback], f"everywhere, on the loopback: {host}")
        if address is not None:
            check(status(server, address, host) == [elsewhere], f"everywhere, at {address}: {host}")
            check(status(keyed, address, host) == [with_key], f"everywhere with a key, at {address}: {host}")


def test_cors(server):
    names = "authorization,content-type,x-stainless-lang,x-stainless-retry-count,x-title"
    preflight = ("Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\nSec-Fetch-Site: cross-site\r\n"
                 f"Access-Control-Request-Headers: {names}\r\n" + CLOSE)
    answer = send(server, head_of("OPTIONS", "/v1/chat/completions", headers=preflight)).decode()
    allowed = re.search(r"\r\nAccess-Control-Allow-Headers: (.*)\r\n", answer)
    check(statuses(answer.encode()) == [204] and allowed and set(names.split(",")) == set(allowed.group(1).split(", ")),
          "a preflight", answer)
    check("\r\nAccess-Control-Max-Age: " in answer, "a preflight is remembered", answer)
    bad = "Origin: https://app.example\r\nAccess-Control-Request-Headers: a b, <c>\r\n" + CLOSE
    answer = send(server, head_of("OPTIONS", "/v1/chat/completions", headers=bad))
    check(b"<c>" not in answer, "a preflight with no list of names", answer)
    page = "Origin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n"
    for name, data, status in [
            ("served", post(page + JSON + SIZED + CLOSE, BODY), 200),
            ("not JSON", post(page + "Content-Type: text/plain\r\n" + SIZED, BODY), 415),
            ("no key", b"", 401), ("malformed", b"GET / HTTP/1.1\r\nX : a\r\n\r\n", 400),
            ("404", head_of(path="/nothing", headers=page), 404), ("405", head_of("PUT", headers=page), 405),
            ("411", post(page + JSON, b""), 411), ("413", post(page + JSON + "Content-Length: 99999999\r\n"), 413),
            ("bad JSON", post(page + JSON + "Content-Length: 1\r\n" + CLOSE, b"{"), 400)]:
        key = b"X-Api-Key: sekret\r\n" if status not in (400, 401) or name == "bad JSON" else b""
        data = (data or post(page + JSON + SIZED, BODY)).replace(b"\r\nHost: localhost\r\n", b"\r\nHost: localhost\r\n" + key, 1)
        answer = send(server, data)
        check(statuses(answer) == [status] and b"\r\nAccess-Control-Allow-Origin: *\r\n" in answer, f"CORS: {name}", answer[:400])


# ---- ways around the key (it is "se%41ret"): name, path, headers, status

KEYS = [
    ("the key", "/metrics", "Authorization: Bearer se%41ret", 200),
    ("the scheme in lower case", "/metrics", "authorization: bearer se%41ret", 200),
    ("x-api-key", "/metrics", "X-Api-Key: se%41ret", 200),
    ("api-key", "/metrics", "api-key: se%41ret", 200),
    ("what it would decode to", "/metrics", "Authorization: Bearer seAret", 401),
    ("its bytes encoded", "/metrics", "Authorization: Bearer %73e%41ret", 401),
    ("none", "/metrics", "X: a", 401),
    ("an empty one", "/metrics", "Authorization: Bearer ", 401),
    ("a prefix", "/metrics", "Authorization: Bearer se%41re", 401),
    ("more than it", "/metrics", "Authorization: Bearer se%41rett", 401),
    ("twice in one", "/metrics", "Authorization: Bearer se%41retse%41ret", 401),
    ("another scheme", "/metrics", "Authorization: Basic se%41ret", 401),
    ("a wrong and a right one", "/metrics", "Authorization: Bearer x\r\nAuthorization: Bearer se%41ret", 401),
    ("a wrong one and a right x-api-key", "/metrics", "Authorization: Bearer x\r\nX-Api-Key: se%41ret", 401),
    ("in the query", "/metrics?api_key=se%41ret", "X: a", 401),
    ("a NUL behind it", "/metrics", "Authorization: Bearer se%41ret\0", 400),
    ("an encoded path", "/%6detrics", "X: a", 404),
    ("two slashes", "//metrics", "X: a", 404),
    ("a dot", "/./metrics", "X: a", 404),
    ("a way back", "/health/../metrics", "X: a", 404),
    ("an encoded way back", "/health/%2e%2e/metrics", "X: a", 404),
    ("an encoded NUL", "/metrics%00", "X: a", 404),
    ("a slash behind it", "/metrics/", "X: a", 404),
    ("a backslash", "\\metrics", "X: a", 400),
    ("upper case", "/METRICS", "X: a", 404),
    ("the whole address", "http://localhost/metrics", "X: a", 401),
    ("health without it", "/health", "X: a", 200),
]


def test_keys(server):
    for name, path, headers, status in KEYS:
        answer = send(server, head_of(path=path, headers=headers + "\r\n" + CLOSE))
        check(statuses(answer) == [status], f"key: {name}", f"not {status}: {answer[:300]}")
        check((b"\r\nWWW-Authenticate: Bearer\r\n" in answer) == (status == 401), f"key: {name}: WWW-Authenticate", answer)
    # 401 comes before the body.
    with server.connect() as connection:
        connection.sendall(post("Content-Length: 1000000\r\n", b""))
        check(statuses(receive(connection)) == [401], "401 at once")
    check("se%41ret" not in server.log() and "seAret" not in server.log(), "no key in the log")


# ---- floods: name, the beginning, what is repeated. 64 MB of each; the server must not keep them.

FLOOD = 64 << 20
FLOODS = [
    ("an endless target", b"GET /", b"a" * 65536),
    ("an endless header", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"a" * 65536),
    ("endless headers", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"a: b\r\n" * 10000),
    ("empty lines", b"", b"\r\n" * 30000),
    ("a body without a length", b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"a" * 65536),
    ("a body without a key", b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 67108864\r\n\r\n", b"a" * 65536),
    ("chunks without a key", b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
     b"10000\r\n" + b"a" * 65536 + b"\r\n"),
    ("an endless extension", b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: se%41ret\r\nTransfer-Encoding: chunked\r\n\r\n5;",
     b"a" * 65536),
    ("endless trailers", b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: se%41ret\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
     b"a: b\r\n" * 10000),
]


def flood(server, name, beginning, piece):
    with server.connect() as connection:
        sent = 0
        try:
            connection.sendall(beginning)
            while sent < FLOOD:
                connection.sendall(piece)
                sent += len(piece)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # closed by the server: just right
        check(b"[no end]" not in receive(connection), f"flood: {name}: the end")


def test_floods(server):
    before = server.peak()
    threads = [threading.Thread(target=flood, args=(server, *each)) for each in FLOODS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    growth = server.peak() - before
    print(f"floods of {len(FLOODS) * FLOOD >> 20} MB: {growth:.0f} MB more")
    check(SANITIZED or growth < 48, "floods cost memory", f"{growth:.0f} MB")


# ---- slow clients: one answer, 408, and the end, however slowly they go on

def drip(server, name, beginning, longest):
    start = time.monotonic()
    answer = b""
    with server.connect() as connection:
        connection.sendall(beginning)
        connection.settimeout(1)
        while time.monotonic() - start < longest:
            try:
                piece = connection.recv(4000)
                if not piece:
                    break
                answer += piece
            except TimeoutError:
                try:
                    connection.sendall(b"a")
                except OSError:
                    break
            except ConnectionError:
                break
    seconds = time.monotonic() - start
    check(statuses(answer) == [408] and seconds < longest, f"slow: {name}", f"{seconds:.0f} s: {answer[:300]}")


SLOW = [
    ("a target", b"GET /", 40),
    ("a header", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", 40),
    ("a body", post("Content-Length: 100000\r\n", b"{"), 55),
    ("chunks", post("Transfer-Encoding: chunked\r\n", b"10000\r\n"), 55),
]


def start_slow(server):
    threads = [threading.Thread(target=drip, args=(server, *each)) for each in SLOW]
    for thread in threads:
        thread.start()
    return threads


# ---- clients that take all places

def test_places(server):  # 64 places, 16 for an address
    held = []
    for _ in range(40):
        connection = server.connect()
        connection.sendall(b"GET /health HT")
        held.append(connection)
    deadline = time.monotonic() + PATIENCE
    answer = b""
    while time.monotonic() < deadline:  # spare places are taken for moments only
        answer = send(server, head_of(path="/health", headers=CLOSE))
        if statuses(answer) == [200]:
            break
        time.sleep(0.2)
    check(statuses(answer) == [200], "health when an address has all its places", answer)
    seen = []
    while 503 not in seen and time.monotonic() < deadline:
        seen += statuses(send(server, head_of(headers=CLOSE)))
        time.sleep(0.1)
    check(set(seen) == {503}, "the rest is told", seen)
    try:
        other = server.connect("127.0.0.2")
    except OSError:
        print("only one address on the loopback: others' places not tested")
    else:
        with other:
            other.sendall(head_of(headers=CLOSE))
            check(statuses(receive(other)) == [200], "another address has places")
    for connection in held:
        connection.close()
    while statuses(send(server, head_of(headers=CLOSE))) != [200] and time.monotonic() < deadline:
        time.sleep(0.1)
    check(statuses(send(server, head_of(headers=CLOSE))) == [200], "places are given back")
    refused = float(re.search(r"^punt_connections_refused_total (\S+)$", server.metrics(), re.M).group(1))
    check(refused > 0 and '"event":"connection_refused"' in server.log(), "refused connections are counted", refused)


# ---- clients that close one side, or both

def long_request(tokens=100 if SANITIZED else 200, n=1, stream=False):
    body = json.dumps({"prompt": "Once", "max_tokens": tokens, "n": n, "seed": 1, "stream": stream,
                       "diffusion": {"planner": "top-k:k=1"}}).encode()
    return post(f"Content-Length: {len(body)}\r\n" + CLOSE, body)


def test_half_close(server):
    for stream in (False, True):
        with server.connect() as connection:
            connection.sendall(long_request(60, stream=stream))
            connection.shutdown(socket.SHUT_WR)
            answer = receive(connection)
        check(statuses(answer) in ([200], [100, 200]) and b'"finish_reason":"' in answer, "half closed", answer[-300:])
        check(not stream or answer.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"), "half closed: a whole stream", answer[-300:])


def test_gone(server):
    for stream in (False, True):
        before = server.metric("punt_requests_cancelled_total")
        connection = server.connect()
        connection.sendall(long_request(n=16, stream=stream))
        deadline = time.monotonic() + PATIENCE
        while server.metric("punt_requests_running") == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        connection.close()
        # Not the running ones: there are moments between two of them when none runs.
        while server.metric("punt_requests_cancelled_total") <= before and time.monotonic() < deadline:
            time.sleep(0.1)
        check(server.metric("punt_requests_cancelled_total") > before, f"gone, stream {stream}: cancelled")
        while server.metric("punt_requests_running") > 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        check(server.metric("punt_requests_running") == 0, f"gone, stream {stream}: nothing runs on")
    while server.log().count('"status":499') < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    check(server.log().count('"status":499') == 2, "who is gone is in the log", server.log()[-2000:])


def test_turns(server):
    """Two run at once. Eight of one address wait, each under another name; one of another address must not wait for all."""
    ends = []

    def ask(number, source, headers):
        body = json.dumps({"prompt": "Once", "max_tokens": 32, "seed": 1, "diffusion": {"planner": "top-k:k=1"}}).encode()
        with server.connect(source) as connection:
            connection.sendall(post(headers + f"Content-Length: {len(body)}\r\n" + CLOSE, body))
            check(statuses(receive(connection)) == [200], "turns: an answer")
        ends.append(number)

    try:
        server.connect("127.0.0.2").close()
    except OSError:
        print("only one address on the loopback: turns not tested")
        return
    threads = [threading.Thread(target=ask, args=(i, "127.0.0.1", f"Authorization: Bearer {os.urandom(8).hex()}\r\n"))
               for i in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + PATIENCE
    while (server.metric("punt_requests_running") + server.metric("punt_requests_waiting") + len(ends) < 8
           and time.monotonic() < deadline):
        time.sleep(0.02)
    last = threading.Thread(target=ask, args=("other", "127.0.0.2", ""))
    last.start()
    for thread in threads + [last]:
        thread.join()
    check(ends.index("other") < 7, "names that nobody checks do not jump the line", ends)


# ---- everything above is in the log and the metrics

def test_book(server):
    for i in range(50):
        send(server, head_of(path=f"/scan{i}"))
    text = server.metrics()
    counts = re.findall(r'^punt_requests_total\{path="([^"]*)",status="(\d+)"\} \d+$', text, re.M)
    check(not any("scan" in path for path, _ in counts), "paths that nobody serves are one label", counts)
    for status in (400, 403, 404, 405, 408, 411, 413, 414, 415, 417, 431, 505):
        check(any(int(each) == status for _, each in counts), f"{status} is in the metrics", counts)
        check(f'"status":{status},' in server.log(), f"{status} is in the log")
    for line in server.log().splitlines():
        check(isinstance(json.loads(line), dict), "every line of the log is JSON", line)


def main():
    start = time.monotonic()
    servers = {
        "open": Server("open"),
        "keys": Server("keys", "--api-key", "se%41ret", "--max-body", str(1 << 30)),
        "cors": Server("cors", "--cors", "*", "--api-key", "sekret"),
        "named": Server("named", "--allow-host", "punt.example", "--allow-host", "other.example"),
        "wide": Server("wide", "--host", "0.0.0.0"),
        "wide_keyed": Server("wide_keyed", "--host", "0.0.0.0", "--api-key", "sekret"),
        "places": Server("places", "--max-connections", "64"),
        "stories": Server("stories", "--max-running", "2", model=GOLDEN if SANITIZED else STORIES),
    }
    try:
        for server in servers.values():
            server.await_ready()
        slow = start_slow(servers["open"])
        for test, names in [(test_refused, ["open"]), (test_served, ["open"]), (test_expect, ["open"]), (test_tls, ["open"]),
                            (test_keep_alive, ["open"]), (test_pages, ["open", "cors", "named"]), (test_keys, ["keys"]),
                            (test_everywhere, ["wide", "wide_keyed"]),
                            (test_floods, ["keys"]), (test_places, ["places"]), (test_half_close, ["stories"]),
                            (test_gone, ["stories"]), (test_turns, ["stories"])]:
            test(*(servers[name] for name in names))
            print(f"{test.__name__}: {time.monotonic() - start:.0f} s", flush=True)
        for thread in slow:
            thread.join()
        test_book(servers["open"])
        for server in servers.values():
            server.stop()
    finally:
        for server in servers.values():
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
    print("all passed" if not failures else f"{len(failures)} failed", f"in {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
