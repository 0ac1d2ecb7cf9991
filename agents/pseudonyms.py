"""Names for personal data that a vendor need not see: taken out before, put back after. Pure.

E-mails, phone, card and bank numbers are found by their form, a customer's own address by its
words. The same value has the same name in a whole talk, so that a model can refer to it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any

from dsupport.contract.llm import (
    CallPart,
    ChatMessage,
    LLMClient,
    ModelReply,
    ModelRequest,
    Part,
    ResultPart,
    Text,
)
from dsupport.lib.redaction import replace_personal_data

_NAME = re.compile(r"\[(?:EMAIL|PHONE|CARD|IBAN|ADDRESS)_\d+\]")
_SHORTEST = 4  # characters of an address line; less would hit words of every sentence


class Pseudonyms:
    """One talk's names. `private` are lines that belong to the customer, such as a street."""

    def __init__(self, private: Collection[str] = ()) -> None:
        lines = {line.strip() for line in private if len(line.strip()) >= _SHORTEST}
        self._private = [
            re.compile(rf"(?<!\w){re.escape(line)}(?!\w)", re.IGNORECASE)
            for line in sorted(lines, key=len, reverse=True)
        ]
        self._lock = Lock()  # agents of a team ask beside each other
        self._names: dict[str, str] = {}
        self._values: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """Return the text with names in place of personal data."""
        # What a customer has typed may look like one of our names; it would be put back wrongly.
        text = _NAME.sub(lambda match: match.group().replace("_", " "), text)
        for pattern in self._private:
            text = pattern.sub(lambda match: self._name("address", match.group()), text)
        return replace_personal_data(text, self._name)

    def reveal(self, text: str) -> str:
        """Return the text with the values back; names that were never given stay as they are."""
        return _NAME.sub(lambda match: self._values.get(match.group(), match.group()), text)

    def hide_request(self, request: ModelRequest) -> ModelRequest:
        """Return the request as a vendor may see it. Prompt and tools hold nothing of anybody."""
        return replace(
            request,
            messages=tuple(self._hide_message(message) for message in request.messages),
            context=self._through(request.context, self.hide),
        )

    def reveal_reply(self, reply: ModelReply) -> ModelReply:
        return replace(reply, parts=tuple(self._revealed(part) for part in reply.parts))

    def _hide_message(self, message: ChatMessage) -> ChatMessage:
        return replace(message, parts=tuple(self._hidden(part) for part in message.parts))

    def _hidden(self, part: Part) -> Part:
        match part:
            case Text():
                return Text(self.hide(part.text))
            case ResultPart():
                return replace(part, content=self.hide(part.content))
            case CallPart():
                arguments = self._through(part.call.arguments, self.hide)
                return CallPart(replace(part.call, arguments=arguments))
            case _:
                return part

    def _revealed(self, part: Part) -> Part:
        match part:
            case Text():
                return Text(self.reveal(part.text))
            case CallPart():
                arguments = self._through(part.call.arguments, self.reveal)
                return CallPart(replace(part.call, arguments=arguments))
            case _:
                return part

    def _through(self, value: Any, change: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, Mapping):
            return {key: self._through(item, change) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._through(item, change) for item in value]
        return value

    def _name(self, kind: str, value: str) -> str:
        key = f"{kind}:{_folded(value)}"
        with self._lock:
            if key not in self._names:
                number = 1 + sum(1 for other in self._names if other.startswith(f"{kind}:"))
                self._names[key] = f"[{kind.upper()}_{number}]"
                self._values[self._names[key]] = value
            return self._names[key]


def _folded(value: str) -> str:
    return re.sub(r"[\s().-]", "", value).casefold()


class Hiding:
    """The port on a model that sees names in place of personal data."""

    def __init__(self, model: LLMClient, names: Pseudonyms) -> None:
        self._model = model
        self._names = names

    def next(self, request: ModelRequest) -> ModelReply:
        return self._names.reveal_reply(self._model.next(self._names.hide_request(request)))

    def structured(self, request: ModelRequest) -> ModelReply:
        return self._names.reveal_reply(self._model.structured(self._names.hide_request(request)))
