"""Somebody else's embedding models: Voyage's, and any server that speaks OpenAI's embeddings.

One attempt is one POST; retries, pauses, the breaker and the places are the gateway's. Texts come
with personal data masked already. Nothing is asked when an object is made.
"""

from __future__ import annotations

import copy
import hashlib
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, partial
from time import perf_counter
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from dsupport.contract.errors import PortError
from dsupport.lib.gateway import CallPolicy, Gateway, Room, gateway, read_retry_after
from dsupport.lib.prices import Price, Tokens, find_price, usage_of
from knowledge.errors import EmbeddingRefused
from knowledge.ports import Attempted

_AT_ONCE = 64  # texts of one request; the makers take more, a small server may not
_LONGEST = 20_000  # characters of a text; passages are far shorter, and models take 8,000 tokens
_DEADLINE = 20.0  # seconds for one request with its attempts: a customer waits for a search
_CONNECT_SECONDS = 5.0
_POLICY = CallPolicy(attempts=3, timeout=10.0, backoff=0.3, longest_backoff=4.0)
_PASSING = frozenset({"rate_limited", "server_error", "timeout", "unreachable"})
_STATUS = {
    401: "key_refused",
    402: "spend_limit",
    403: "key_refused",
    404: "unknown_model",
    429: "rate_limited",
}
_QUERY, _DOCUMENT = "query", "document"


@dataclass(frozen=True, slots=True)
class Account:
    """Where to ask and as whom. `dims` is what the model gives; it is asked for where it can be."""

    key: str
    base_url: str
    model: str
    dims: int
    prices: Mapping[str, Price] = field(default_factory=dict)


class Hosted(ABC):
    """One model of one service. Safe to share by threads."""

    name: str
    public_url: str  # where the maker serves it; another place makes another id

    def __init__(
        self, account: Account, *, by: Gateway = gateway, room: Room | None = None
    ) -> None:
        self._account = account
        self._gateway = by
        self._room = room or Room(settings.DSUPPORT_MODEL_CONCURRENCY)
        self._book: Callable[[Attempted], None] = lambda _attempted: None
        self.dims = account.dims
        self.id = _id_of(self.name, account, self.public_url)

    def billed(self, book: Callable[[Attempted], None]) -> Self:
        """Return the same model, whose attempts are told to `book`, failed ones too."""
        other = copy.copy(self)
        other._book = book
        return other

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        return self._embed(texts, _QUERY)

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return self._embed(texts, _DOCUMENT)

    def problems(self) -> list[str]:
        """Return what keeps the model from being asked, or from being counted; in words."""
        found = []
        if not self._account.key and self._at_home:
            found.append(
                f"The embedding service {self.name} has no key; searches fail. Set its key."
            )
        if find_price(self._account.model, self._account.prices) is None and self._at_home:
            found.append(
                f"The embedding model {self._account.model} has no price; it counts as free. "
                "Name it in DSUPPORT_PRICES."
            )
        return found

    @property
    def _at_home(self) -> bool:
        return self._account.base_url.rstrip("/") == self.public_url

    @abstractmethod
    def _body(self, texts: Sequence[str], purpose: str) -> dict[str, Any]: ...

    def _embed(self, texts: Sequence[str], purpose: str) -> list[list[float]]:
        if not all(text.strip() for text in texts):
            raise EmbeddingRefused("an empty text has no meaning to compare")
        cut = [text[:_LONGEST] for text in texts]
        batches = [cut[start : start + _AT_ONCE] for start in range(0, len(cut), _AT_ONCE)]
        return [vector for batch in batches for vector in self._ask(batch, purpose)]

    def _ask(self, texts: Sequence[str], purpose: str) -> list[list[float]]:
        if not self._account.key and self._at_home:
            raise _failure("no_key", f"{self.name} has no key; set it, or unset DSUPPORT_EMBEDDER.")
        with self._room.place(_DEADLINE):
            return self._gateway.call(
                f"embeddings of {self.name}",
                partial(self._attempt, texts, purpose),
                policy=_POLICY,
                deadline=_DEADLINE,
            )

    def _attempt(self, texts: Sequence[str], purpose: str, seconds: float) -> list[list[float]]:
        began = perf_counter()
        tokens = sum(len(text.encode()) for text in texts) // 4  # until the service has counted
        code = ""
        try:
            vectors, counted = self._post(self._body(texts, purpose), len(texts), seconds)
            tokens = counted or tokens
            return vectors
        except PortError as error:
            code = error.code
            raise
        finally:
            cost = self._cost(tokens)
            took = round((perf_counter() - began) * 1000)
            self._book(Attempted(self.id, purpose, len(texts), tokens, cost, code, took))

    def _post(
        self, body: Mapping[str, Any], count: int, seconds: float
    ) -> tuple[list[list[float]], int]:
        headers = {"Authorization": f"Bearer {self._account.key}"} if self._account.key else {}
        timeout = httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        url = f"{self._account.base_url.rstrip('/')}/embeddings"
        try:
            answer = _client(os.getpid()).post(url, json=body, headers=headers, timeout=timeout)
        except httpx2.TimeoutException as error:
            raise _failure("timeout", f"{self.name} did not answer in time.") from error
        except httpx2.TransportError as error:
            raise _failure("unreachable", f"{self.name} cannot be reached: {error}") from error
        if answer.status_code != 200:
            raise _refusal(self.name, answer)
        try:
            return _read(answer.json(), count)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _failure(
                "server_error", f"{self.name} sent what is no list of vectors."
            ) from error

    def _cost(self, tokens: int) -> int:
        return usage_of(Tokens(input=tokens), self._account.model, self._account.prices).cost


class Voyage(Hosted):
    """Voyage's models; they are told whether a text is a question or a passage."""

    name = "voyage"
    public_url = "https://api.voyageai.com/v1"

    def __init__(self, account: Account | None = None, **more: Any) -> None:
        super().__init__(account or read_account("voyage"), **more)

    def _body(self, texts: Sequence[str], purpose: str) -> dict[str, Any]:
        return {
            "model": self._account.model,
            "input": list(texts),
            "input_type": purpose,
            "output_dimension": self.dims,
            "truncation": True,
        }


class OpenAICompatible(Hosted):
    """OpenAI's models, and those of servers that speak like it (Ollama, vLLM, llama.cpp)."""

    name = "openai"
    public_url = "https://api.openai.com/v1"

    def __init__(self, account: Account | None = None, **more: Any) -> None:
        super().__init__(account or read_account("openai"), **more)

    def _body(self, texts: Sequence[str], purpose: str) -> dict[str, Any]:
        body = {"model": self._account.model, "input": list(texts), "encoding_format": "float"}
        # Models that cannot be shortened refuse to be told their size.
        shortens = self._account.model.startswith("text-embedding-3")
        return {**body, "dimensions": self.dims} if shortens else body


def read_account(service: str) -> Account:
    """Return a service's account from the settings."""
    prices = {
        name: Price(input=Decimal(price["input"]), output=Decimal(0))
        for name, price in settings.DSUPPORT_PRICES.items()
    }
    return Account(**settings.DSUPPORT_EMBEDDINGS[service], prices=prices)


def forget_connections() -> None:
    """Close what this process has open; the next request opens anew."""
    _client(os.getpid()).close()
    _client.cache_clear()


@cache
def _client(_pid: int) -> httpx2.Client:
    """Return this process's client: connections do not survive a fork."""
    return httpx2.Client(follow_redirects=False)


def _id_of(name: str, account: Account, public_url: str) -> str:
    found = f"{name}/{account.model}/{account.dims}"
    if account.base_url.rstrip("/") != public_url:
        found += f"@{urlsplit(account.base_url).netloc}"
    if len(found) <= 80:
        return found
    return f"{found[:67]}~{hashlib.sha256(found.encode()).hexdigest()[:12]}"


def _read(document: Any, count: int) -> tuple[list[list[float]], int]:
    """Return the vectors in the order of the texts, at unit length, and the tokens counted."""
    rows = sorted(document["data"], key=lambda row: int(row["index"]))
    if [int(row["index"]) for row in rows] != list(range(count)):
        raise ValueError("vectors are missing or told twice")
    usage = document.get("usage") or {}
    tokens = int(usage.get("total_tokens") or 0)
    return [_to_unit([float(n) for n in row["embedding"]]) for row in rows], max(tokens, 0)


def _to_unit(vector: list[float]) -> list[float]:
    """Return the vector at unit length; one without a direction as it is, to be refused."""
    length = math.sqrt(sum(number * number for number in vector))
    if not 0 < length < math.inf:
        return vector
    return [number / length for number in vector]


def _refusal(name: str, answer: httpx2.Response) -> PortError:
    status = answer.status_code
    code = "rate_limited" if status == httpx2.codes.TOO_MANY_REQUESTS else _STATUS.get(status)
    code = code or (
        "server_error" if status >= httpx2.codes.INTERNAL_SERVER_ERROR else "bad_request"
    )
    wait = read_retry_after(answer.headers.get("retry-after"))
    return _failure(code, f"{name} answered {status}: {answer.text[:200]}", wait)


def _failure(code: str, message: str, retry_after: float | None = None) -> PortError:
    return PortError(message, code=code, retryable=code in _PASSING, retry_after=retry_after)
