"""Read retrieved passages, from OTel's ids and scores to LangChain's documents."""

from __future__ import annotations

from collector.dialects.attributes import MASKS, Keys, Value, as_number, decoded, plain
from collector.dialects.blocks import string
from collector.dialects.media import without_media
from collector.dialects.mending import mended
from collector.model import Document, JsonValue

LISTS: Keys = (
    "documents",
    "retrieval_documents",
    "source_documents",
    "output",
    "results",
    "matches",
    "docs",
    "nodes",
    "retrievalResults",
    "chunks",
    "passages",
    "hits",
    "points",
    "data",
    "result",
)
TEXT: Keys = (
    "content",
    "page_content",
    "pageContent",
    "text",
    "document",
    "chunk",
    "passage",
    "snippet",
)
ID: Keys = ("id", "document_id", "doc_id", "id_", "node_id", "uri", "url", "file_id", "filename")
SCORE: Keys = ("score", "relevance_score", "similarity", "similarity_score")
INNER: Keys = ("document", "node", "kwargs", "payload", "_source")
"""Where the passage itself lies, beside its score."""


def documents_of(value: Value) -> tuple[Document, ...]:
    """Read a list of documents, or an object that holds one."""
    found = decoded(value)
    if isinstance(found, str):
        left = mended(found)
        found = found if left is None else left
    if isinstance(found, dict):
        whole: list[JsonValue] = [found]
        found = next((found[key] for key in LISTS if isinstance(found.get(key), list)), whole)
    if isinstance(found, str):
        # A retriever may hand over nothing but text.
        found = [found]
    if not isinstance(found, list):
        return ()
    flat: list[JsonValue] = []
    for item in found:
        flat += item if isinstance(item, list) else [item]
    return tuple(document for item in flat if (document := _document(item)) is not None)


def _document(item: JsonValue) -> Document | None:
    if isinstance(item, str):
        return Document(text=without_media(item)) if item and item not in MASKS else None
    if not isinstance(item, dict):
        return None
    for key in INNER:
        inner = item.get(key)
        if isinstance(inner, dict):
            item = item | inner
    metadata = decoded(item.get("metadata"))
    places = (item, metadata if isinstance(metadata, dict) else {})
    scored = (as_number(place.get(key)) for place in places for key in SCORE)
    text = next(filter(None, (_text(place.get(key)) for place in places for key in TEXT)), "")
    return Document(
        id=next(filter(None, (plain(item.get(key)) for key in ID)), ""),
        text="" if text in MASKS else without_media(text),
        score=next((score for score in scored if score is not None), None),
    )


def _text(value: JsonValue) -> str:
    """Return a passage's text: as it is, in an object, or in blocks."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return string(value, TEXT)
    if isinstance(value, list):
        return "\n".join(filter(None, (_text(item) for item in value if isinstance(item, dict))))
    return ""
