"""What every embedder promises, held against each one that is shipped."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dsupport.contract.errors import PortError
from knowledge.adapters import minilm
from knowledge.adapters.memory import HashEmbedder
from knowledge.adapters.minilm import MiniLM
from knowledge.embedding import embed_documents, embed_query
from knowledge.errors import EmbeddingRefused
from knowledge.rules.scoring import check_vectors

_LOADED = {MiniLM: MiniLM(), HashEmbedder: HashEmbedder()}
TEXTS = [
    "You can return most items within 30 days of delivery.",
    "Delivery to Germany takes two to four working days.",
    "Für Grüße: ¿qué? 返品 😀 <b>bold</b>",
    "refund " * 400,
]


@pytest.fixture(params=[HashEmbedder, MiniLM], ids=["memory", "minilm"])
def embedder(request):
    return _LOADED[request.param]


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_embedder_texts_give_unit_vectors(embedder):
    for vectors in (embedder.embed_documents(TEXTS), embedder.embed_queries(TEXTS)):
        check_vectors(vectors, count=len(TEXTS), dims=embedder.dims)


def test_embedder_no_texts_gives_no_vectors(embedder):
    assert embedder.embed_documents([]) == []
    assert embedder.embed_queries([]) == []


def test_embedder_same_text_gives_same_vector_whatever_is_beside_it(embedder):
    alone = embedder.embed_documents([TEXTS[0]])[0]
    assert embedder.embed_documents(TEXTS)[0] == alone
    assert embedder.embed_documents(list(reversed(TEXTS)))[-1] == alone


def test_embedder_threads_at_once_give_the_same_vectors(embedder):
    alone = embedder.embed_documents(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: embedder.embed_documents(TEXTS), range(8)))
    assert all(vectors == alone for vectors in found)


def test_embedder_shared_words_are_nearer_than_strange_ones(embedder):
    question = embedder.embed_queries(["how many days to return an item?"])[0]
    near, far = embedder.embed_documents(TEXTS[:2])
    assert cosine(question, near) > cosine(question, far)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_embedder_empty_text_is_refused(embedder, text):
    with pytest.raises(EmbeddingRefused):
        embedder.embed_queries([text])


def test_embedder_ids_differ_between_models():
    assert HashEmbedder.id != MiniLM.id


class Broken:
    """An embedder that answers what it was told to."""

    id = "broken"
    dims = 3

    def __init__(self, vectors):
        self._vectors = vectors

    def embed_documents(self, texts):
        return self._vectors

    embed_queries = embed_documents


@pytest.mark.parametrize(
    "vectors",
    [
        [[0.0, 0.0, 0.0]],
        [[math.nan, 1.0, 0.0]],
        [[math.inf, 0.0, 0.0]],
        [[1.0, 0.0]],
        [[3.0, 4.0, 0.0]],
        [],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    ],
    ids=["zero", "nan", "infinite", "short", "long", "none", "two"],
)
def test_embedding_broken_vectors_are_refused(vectors):
    with pytest.raises(EmbeddingRefused):
        embed_query(Broken(vectors), "a question", tenant_id=1)
    with pytest.raises(EmbeddingRefused):
        embed_documents(Broken(vectors), ["a passage"], tenant_id=1)


def test_minilm_paraphrase_is_nearer_than_off_topic():
    model = _LOADED[MiniLM]
    passage = model.embed_documents(["Refunds reach your card within five days."])[0]
    asked, stray = model.embed_queries(
        ["when do I get my money back?", "who won the game last night?"]
    )
    assert cosine(asked, passage) > cosine(stray, passage) + 0.2


def test_minilm_changed_model_file_is_not_used(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"another model")
    with pytest.raises(PortError) as caught:
        MiniLM(path).embed_queries(["hello"])
    assert caught.value.code == "embedder_file_changed"
    assert not caught.value.retryable


def test_minilm_missing_model_file_is_a_port_error(tmp_path):
    with pytest.raises(PortError) as caught:
        MiniLM(tmp_path / "missing.onnx").embed_queries(["hello"])
    assert caught.value.code == "embedder_unavailable"


def test_minilm_is_loaded_on_first_use_only():
    assert MiniLM()._loaded is None


def test_minilm_vocabulary_is_the_one_that_was_vendored():
    content = minilm._VOCABULARY.read_bytes()
    assert hashlib.sha256(content).hexdigest() in (
        minilm._VOCABULARY.with_name("NOTICE").read_text()
    )
    assert content.count(b"\n") == 30_522


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        # As the reference tokeniser has them, but for [SEP]: text never makes a control token.
        ("Hello, World!", [101, 7592, 1010, 2088, 999, 102]),
        ("unaffable", [101, 14477, 20961, 3468, 102]),
        ("naïve café", [101, 15743, 7668, 102]),
        ("返品", [101, 100, 100, 102]),
        ("[SEP]", [101, 1031, 19802, 1033, 102]),
        ("x" * 101, [101, 100, 102]),
        ("", [101, 102]),
    ],
)
def test_wordpiece_known_texts_give_known_ids(text, ids):
    tokenizer, _ = _LOADED[MiniLM]._load()
    assert tokenizer.encode(text, limit=256) == ids


def test_wordpiece_long_text_is_cut_with_its_end_mark():
    tokenizer, _ = _LOADED[MiniLM]._load()
    ids = tokenizer.encode("word " * 500, limit=256)
    assert len(ids) == 256
    assert (ids[0], ids[-1]) == (101, 102)


def test_local_model_reports_to_nobody(tmp_path):
    """A runtime that reports keeps a device id in the home folder, or says that it cannot."""
    code = "from knowledge.adapters.minilm import MiniLM; MiniLM().embed_queries(['hello'])"
    switched = {"CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in switched}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "telemetry" not in done.stderr
    assert list(tmp_path.rglob("*")) == []
