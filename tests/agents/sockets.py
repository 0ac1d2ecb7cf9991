"""A WebSocket client that speaks ASGI straight to the application."""

from __future__ import annotations

from typing import Any

from asgiref.testing import ApplicationCommunicator


class SocketClient:
    """Opens one socket, sends text frames and reads what comes."""

    def __init__(self, application: Any, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        scope = {
            "type": "websocket",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": headers,
            "subprotocols": [],
        }
        self._wire = ApplicationCommunicator(application, scope)

    async def connect(self) -> bool:
        """Return whether the handshake was accepted."""
        await self._wire.send_input({"type": "websocket.connect"})
        answer = await self._wire.receive_output(timeout=3)
        return bool(answer["type"] == "websocket.accept")

    async def send(self, text: str) -> None:
        await self._wire.send_input({"type": "websocket.receive", "text": text})

    async def receive(self) -> dict[str, Any]:
        """Return the next message of the application: a frame or a close."""
        message: dict[str, Any] = await self._wire.receive_output(timeout=3)
        return message

    async def is_quiet(self, seconds: float = 0.3) -> bool:
        return bool(await self._wire.receive_nothing(timeout=seconds))

    async def disconnect(self) -> None:
        await self._wire.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._wire.wait(timeout=3)
