"""A real HTTP server on this machine for the tests of clients, with what it was asked."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    path: str
    headers: Message
    body: bytes

    def form(self) -> dict[str, bytes]:
        """Return the fields of a multipart form."""
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        parts = BytesParser(policy=HTTP).parsebytes(head + self.body).iter_parts()
        return {
            str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True)
            for part in parts
        }


@dataclass(slots=True)
class LocalServer:
    url: str
    asked: list[Asked] = field(default_factory=list)


Answer = Callable[[BaseHTTPRequestHandler, Asked], None]


@contextmanager
def serving(answer: Answer) -> Iterator[LocalServer]:
    """Serve on a free port while the block runs; `answer` writes each answer."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = Asked(path=self.path, headers=self.headers, body=body)
            local.asked.append(asked)
            answer(self, asked)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    local = LocalServer(url=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield local
    finally:
        server.shutdown()
        server.server_close()


def send(
    handler: BaseHTTPRequestHandler, status: int, data: bytes, content_type: str, **headers: str
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", content_type)
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def send_chunks(handler: BaseHTTPRequestHandler, chunks: list[bytes], *, breaks_off: bool = False) -> None:
    """Answer as upstream's FastAPI server does: chunked, no content type, no length."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for chunk in chunks:
        handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
    if breaks_off:
        handler.close_connection = True
    else:
        handler.wfile.write(b"0\r\n\r\n")


def tones(*lengths_s: float, rate_hz: int = 24_000, gap_s: float = 0.3) -> np.ndarray:
    """Return tones of 440 Hz at 0.25 with digital silence before, between and after them."""
    gap = np.zeros(int(gap_s * rate_hz), dtype=np.float32)
    parts = [gap]
    for length_s in lengths_s:
        n = int(length_s * rate_hz)
        parts += [(0.25 * np.cos(2 * np.pi * 440 * np.arange(n) / rate_hz)).astype(np.float32), gap]
    return np.concatenate(parts)


def pcm16(samples: np.ndarray) -> bytes:
    return np.rint(samples * 32768).clip(-32768, 32767).astype("<i2").tobytes()
