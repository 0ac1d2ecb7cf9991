"""The model behind the reading: regression and nearest examples over sentence vectors, blended.

Regression tells the intents apart best; the nearest examples tell best whether a message is
about the shop at all. Everything is a few small matrices, so a reading costs what the embedding
costs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.understanding.catalogue import HERE, Catalogue, load_catalogue
from agents.understanding.entities import mask
from agents.understanding.regression import Array, fit, softmax, times

SHIPPED = HERE / "model.npz"
RECIPE = "2"  # raise it when anything below changes what comes out
STRENGTH = 20.0
TEMPERATURE = 0.07
NEAREST = 2
SOCIAL = "social"
OTHER = "other"
_FLOOR_PERCENTILE = 95.0
_LEVELS = 127.0


class Embedder(Protocol):
    """What turns sentences into unit vectors."""

    @property
    def id(self) -> str: ...

    @property
    def dims(self) -> int: ...

    def embed_queries(self, texts: list[str]) -> Any: ...


@dataclass(frozen=True)
class IntentModel:
    """A fitted model. `key` names what it was fitted from; `vectors` are whole numbers ±127."""

    key: str
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    owners: NDArray[np.int16]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    floor: float
    classes: int
    other: int

    @cached_property
    def examples(self) -> NDArray[np.float32]:
        """Return the example vectors, one a row, ordered by their intent."""
        return np.asarray(self.vectors * self.scales[:, None], np.float32)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Return where the examples of each intent begin."""
        return np.searchsorted(self.owners, np.arange(self.classes + 1))

    def predict(self, vectors: NDArray[Any]) -> tuple[Array, Array]:
        """Return for each vector the chance of each intent, and how near it is to the shop.

        Nearness is the best cosine with an example that is not off topic, plus a little for the
        chance that the message is not off topic. Below `floor` it is noise.
        """
        asked = np.asarray(vectors, np.float32)
        cosines = times(self.examples, asked.T).T
        top = np.stack(
            [
                _top_mean(cosines[:, a:b])
                for a, b in zip(self.starts, self.starts[1:], strict=False)
            ],
            1,
        )
        chance = 0.5 * softmax(times(asked, self.weights.T) + self.bias) + 0.5 * softmax(
            top / TEMPERATURE
        )
        ours = cosines[:, self.owners != self.other].max(axis=1)
        return chance, np.asarray(ours + 0.3 * (1.0 - chance[:, self.other]), np.float64)


def _top_mean(cosines: NDArray[Any]) -> NDArray[Any]:
    count = min(NEAREST, cosines.shape[1])
    return np.asarray(np.sort(cosines, axis=1)[:, -count:].mean(axis=1))


def model_key(catalogue: Catalogue, embedder_id: str) -> str:
    """Return what a model is good for: these sentences, this embedder, this recipe."""
    return hashlib.sha256(f"{RECIPE}\n{catalogue.digest()}\n{embedder_id}".encode()).hexdigest()


def build(embedder: Embedder, catalogue: Catalogue | None = None) -> IntentModel:
    """Fit a model from the sentences of a catalogue. Takes some seconds, mostly to embed them."""
    catalogue = catalogue or load_catalogue()
    texts = [mask(text) for intent in catalogue.intents for text in intent.examples]
    raw = np.asarray(embedder.embed_queries(texts), np.float64)
    scales = np.asarray(np.abs(raw).max(axis=1) / _LEVELS, np.float32)
    vectors = np.asarray(np.rint(raw / scales[:, None]), np.int8)
    model = fit_model(model_key(catalogue, embedder.id), catalogue, vectors, scales)
    noise = np.asarray(embedder.embed_queries(list(catalogue.off_topic)))
    floor = np.percentile(model.predict(noise)[1], _FLOOR_PERCENTILE)
    return _with_floor(model, float(floor))


def fit_model(
    key: str, catalogue: Catalogue, vectors: NDArray[np.int8], scales: NDArray[np.float32]
) -> IntentModel:
    """Fit the regression to example vectors as they are stored; the floor is still to be set."""
    owners = np.array(
        [index for index, intent in enumerate(catalogue.intents) for _ in intent.examples], np.int64
    )
    data = np.asarray(vectors * scales[:, None], np.float64)
    weights, bias = fit(data, owners, len(catalogue.intents), strength=STRENGTH)
    return IntentModel(
        key=key,
        vectors=vectors,
        scales=scales,
        owners=np.asarray(owners, np.int16),
        weights=np.asarray(weights, np.float32),
        bias=np.asarray(bias, np.float32),
        floor=0.0,
        classes=len(catalogue.intents),
        other=catalogue.labels.index(OTHER),
    )


def _with_floor(model: IntentModel, floor: float) -> IntentModel:
    values = {name: getattr(model, name) for name in IntentModel.__dataclass_fields__}
    return IntentModel(**{**values, "floor": floor})


def save_model(model: IntentModel, path: Path) -> None:
    """Write a model to a file; the package ships one for the default embedder."""
    np.savez_compressed(
        path,
        key=np.array(model.key),
        vectors=model.vectors,
        scales=model.scales,
        owners=model.owners,
        weights=model.weights,
        bias=model.bias,
        numbers=np.array([model.floor, model.classes, model.other]),
    )


def read_model(path: Path) -> IntentModel:
    """Read a model that `save_model` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        floor, classes, other = (float(value) for value in stored["numbers"])
        return IntentModel(
            key=str(stored["key"]),
            vectors=stored["vectors"],
            scales=stored["scales"],
            owners=stored["owners"],
            weights=stored["weights"],
            bias=stored["bias"],
            floor=floor,
            classes=int(classes),
            other=int(other),
        )


_models: dict[str, IntentModel] = {}
_lock = Lock()


def load_model(embedder: Embedder) -> IntentModel:
    """Return the model for an embedder: the shipped one when it fits, else one fitted now.

    Whether the shipped file fits is told by the key it carries, so sentences that were edited or
    another embedder can never be read with the wrong numbers. Kept for the life of the process.
    """
    key = model_key(load_catalogue(), embedder.id)
    with _lock:
        if key not in _models:
            shipped = read_model(SHIPPED) if SHIPPED.exists() else None
            _models[key] = shipped if shipped and shipped.key == key else build(embedder)
        return _models[key]
