"""Test retrieved passages in every shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects.documents import documents_of
from collector.model import Document, JsonValue

BATH = "Rooms have baths."


@pytest.mark.parametrize(
    "value",
    [
        [{"page_content": BATH, "metadata": {"score": 0.5}}],
        {"documents": [{"content": BATH, "score": 0.5}]},
        {"documents": [[{"document": BATH, "score": "0.5"}]]},
        {"nodes": [{"node": {"text": BATH}, "score": 0.5}]},
        {"matches": [{"score": 0.5, "metadata": {"text": BATH}}]},
        {"retrievalResults": [{"content": {"text": BATH, "type": "TEXT"}, "score": 0.5}]},
        {"data": [{"content": [{"type": "text", "text": BATH}], "score": 0.5}]},
        [{"lc": 1, "kwargs": {"page_content": BATH, "metadata": {"score": 0.5}}}],
    ],
)
def test_passages_of_many_frameworks_come_out_the_same(value: Any) -> None:
    """Text and score are found wherever frameworks and databases keep them."""
    assert documents_of(json.dumps(value)) == (Document(text=BATH, score=0.5),)


def test_text_alone_is_a_passage() -> None:
    """Lists of texts, or one text, are passages without ids and scores."""
    texts: list[JsonValue] = [BATH, "__REDACTED__", "", None, 5]
    assert documents_of(texts) == (Document(text=BATH),)
    assert documents_of(BATH) == (Document(text=BATH),)


def test_a_list_that_was_cut_is_read_as_far_as_it_goes() -> None:
    """The passages before the cut are whole."""
    text = json.dumps([{"content": BATH, "id": "a"}, {"content": "Breakfast is at 8.", "id": "b"}])
    kept = documents_of(text[:-15])
    assert kept[0] == Document(id="a", text=BATH)
    assert kept[1].text.startswith("Breakfast")
