"""A server that speaks the embeddings format, counts what it is asked and fails as it is told."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from knowledge.adapters.memory import HashEmbedder


@dataclass(frozen=True)
class Fault:
    """One answer that is no list of vectors: a status, or a body that breaks the format."""

    status: int = 200
    body: bytes = b'{"error": {"message": "no"}}'
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False


class FakeEmbeddings:
    """Answers with twice the hashed vector, so that unit length is the adapter's own work."""

    dims = HashEmbedder.dims

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.down_from: int | None = None  # requests from this one on are refused with 503
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._hang = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeEmbeddings:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                with suppress(BrokenPipeError, ConnectionResetError):
                    fake._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._hang.set()
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.asked.append({"path": handler.path, **body})
        self.keys.append(handler.headers.get("Authorization", ""))
        fault = self._fault()
        if fault is not None and fault.hang:
            self._hang.wait(10)
        answer = fault.body if fault else json.dumps(self._vectors(body["input"])).encode()
        handler.send_response(fault.status if fault else 200)
        for name, value in (fault.headers if fault else {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer)))
        handler.end_headers()
        handler.wfile.write(answer)

    def _fault(self) -> Fault | None:
        if self.down_from is not None and len(self.asked) > self.down_from:
            return Fault(503)
        return self.faults.pop(0) if self.faults else None

    def _vectors(self, texts: list[str]) -> dict[str, Any]:
        vectors = HashEmbedder().embed_documents(texts)
        rows = [
            {"index": place, "embedding": [2 * number for number in vector]}
            for place, vector in enumerate(vectors)
        ]
        tokens = sum(len(text.split()) for text in texts)
        return {"data": rows[::-1], "usage": {"total_tokens": tokens}}
