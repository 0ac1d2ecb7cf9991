"""A model without latency: plays one run of the Messages API for ever, in a process of its own.

    python -m evals.engine.server

Prints its address and ends when its standard input closes. It checks nothing of a request.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_CALLS = (("search_kb", {"query": "return"}), ("search_kb", {"query": "send back"}))
_DRAFT = {"intent": "return_policy", "confidence": 0.9, "sources": [{"doc_id": "returns"}]}


def reply_to(body: Mapping[str, Any]) -> str | Sequence[tuple[str, Mapping[str, str]]]:
    """Play the vendor: look-ups, a draft that code refuses, a better one, a review."""
    if not body.get("tools"):
        return '{"approved": true, "problems": []}'
    turns = sum(1 for message in body["messages"] if message["role"] == "assistant")
    if turns == 0:
        return _CALLS
    days = 500 if turns == 1 else 30
    return json.dumps({**_DRAFT, "answer": f"You have {days} days after delivery."})


def frames(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield a reply as the events of its stream."""
    said = reply_to(body)
    usage = {"input_tokens": 1_000, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _frame("message_start", message=message)
    for index, (block, delta) in enumerate(_blocks(said)):
        yield _frame("content_block_start", index=index, content_block=block)
        yield _frame("content_block_delta", index=index, delta=delta)
        yield _frame("content_block_stop", index=index)
    stop = {"stop_reason": "end_turn" if isinstance(said, str) else "tool_use"}
    yield _frame("message_delta", delta={**stop, "stop_sequence": None}, usage={"output_tokens": 9})
    yield _frame("message_stop")


def _blocks(said: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    if isinstance(said, str):
        yield {"type": "text", "text": ""}, {"type": "text_delta", "text": said}
        return
    for number, (name, arguments) in enumerate(said):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        yield block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}


def _frame(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for frame in frames(body):
            data = frame.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Say nothing: the caller measures."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
