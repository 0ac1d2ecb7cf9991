"""An HTTP server that plays a script in a vendor's wire format, and counts what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.vendors.script import Breaks, Fault, Says, Step

Scripted = Step | Callable[[dict[str, Any]], Step]


@dataclass(frozen=True)
class Asked:
    """One request as it came in. `breach` is the rule of the vendor that it broke, if any."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    breach: str | None


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers that hang up: some tests are about that."""


class FakeVendor:
    """Base of the fakes: subclasses say what a request may hold and how replies look on the wire.

    A request that breaks a rule of the vendor is refused with 400 and takes no step, as the vendor
    would. When the script is over, the last step is played again.
    """

    path = ""
    good_key = "test-key"

    def __init__(self, script: Sequence[Scripted]) -> None:
        self._script = list(script)
        self.asked: list[Asked] = []
        self.listed: list[str] = []  # questions for the list of models
        self.mistakes: list[Exception] = []  # of the script itself; raised at the end
        self._lock = threading.Lock()
        self.hang = threading.Event()

    # --- what subclasses say --------------------------------------------------------------------

    def breach_of(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        raise NotImplementedError

    def events(self, says: Says, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield the frames of a whole reply."""
        raise NotImplementedError

    def beginning(self, text: str, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield the frames of a reply whose first words are `text`, up to there."""
        raise NotImplementedError

    def error_event(self, kind: str) -> str:
        raise NotImplementedError

    def error_body(self, fault: Fault) -> dict[str, Any]:
        raise NotImplementedError

    # --- the server -----------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def breaches(self) -> list[str]:
        return [asked.breach for asked in self.asked if asked.breach]

    def __enter__(self) -> FakeVendor:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                with suppress(BrokenPipeError, ConnectionResetError):
                    fake._answer(self)

            def do_GET(self) -> None:
                fake._list(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang.set()
        self._server.shutdown()
        self._server.server_close()
        if self.mistakes:
            raise self.mistakes[0]

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        size = int(handler.headers.get("Content-Length", 0))
        body = json.loads(handler.rfile.read(size))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        breach = self.breach_of(body, headers)
        if handler.path.split("?")[0] != self.path:
            breach = f"there is nothing at {handler.path}"
        with self._lock:
            self.asked.append(Asked(handler.path, headers, body, breach))
            step = Fault(400, "bad_request", breach) if breach else self._next(body)
        match step:
            case Fault():
                self._fail(handler, step)
            case Says():
                self._send(handler, self.events(step, body))
            case Breaks():
                self._break(handler, step, body)

    def _list(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer the question for models: with 401 when the key is not `good_key`."""
        self.listed.append(handler.path)
        if self.good_key not in str(handler.headers):
            self._fail(handler, Fault(401, message="the key is not valid"))
            return
        content = json.dumps({"object": "list", "data": [], "has_more": False}).encode()
        handler.send_response(200 if handler.path.split("?")[0] == "/v1/models" else 404)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def _next(self, body: dict[str, Any]) -> Step:
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if not callable(step):
            return step
        try:
            return step(body)
        except Exception as error:
            self.mistakes.append(error)
            return Fault(400, message=f"the script failed: {error!r}")

    def _fail(self, handler: BaseHTTPRequestHandler, fault: Fault) -> None:
        content = json.dumps(self.error_body(fault)).encode()
        handler.send_response(fault.status)
        for name, value in {"Content-Type": "application/json", **fault.headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def _send(self, handler: BaseHTTPRequestHandler, frames: Iterator[str]) -> None:
        self._open(handler)
        for frame in frames:
            self._chunk(handler, frame)
        handler.wfile.write(b"0\r\n\r\n")

    def _break(
        self, handler: BaseHTTPRequestHandler, step: Breaks, body: Mapping[str, Any]
    ) -> None:
        self._open(handler)
        for frame in self.beginning(step.text, body):
            self._chunk(handler, frame)
        match step.how:
            case "error":
                self._chunk(handler, self.error_event(step.kind))
                handler.wfile.write(b"0\r\n\r\n")
            case "noise":
                self._chunk(handler, "event: message\ndata: {no json\n\n")
                handler.wfile.write(b"0\r\n\r\n")
            case "clean":
                handler.wfile.write(b"0\r\n\r\n")
            case "hang":
                self.hang.wait(30)
        handler.close_connection = step.how in {"drop", "hang"}  # inside a chunked body

    @staticmethod
    def _open(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()

    @staticmethod
    def _chunk(handler: BaseHTTPRequestHandler, frame: str) -> None:
        data = frame.encode()
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.wfile.flush()
