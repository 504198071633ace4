"""Read retrieved passages, from OTel's ids and scores to LangChain's documents."""

from __future__ import annotations

from collector.dialects.attributes import MASKS, Keys, Value, as_number, decoded, plain
from collector.dialects.blocks import string
from collector.model import Document, JsonValue

LISTS: Keys = ("documents", "output", "results", "matches")
TEXT: Keys = ("content", "page_content", "pageContent", "text")
ID: Keys = ("id", "document_id", "uri", "url")
SCORE: Keys = ("score", "relevance_score", "similarity")


def documents_of(value: Value) -> tuple[Document, ...]:
    """Read a list of documents, or an object that holds one."""
    found = decoded(value)
    if isinstance(found, dict):
        whole: list[JsonValue] = [found]
        found = next((found[key] for key in LISTS if isinstance(found.get(key), list)), whole)
    if not isinstance(found, list):
        return ()
    return tuple(document for item in found if (document := _document(item)) is not None)


def _document(item: JsonValue) -> Document | None:
    if isinstance(item, str):
        return Document(text=item) if item and item not in MASKS else None
    if not isinstance(item, dict):
        return None
    inner = item.get("document")
    if isinstance(inner, dict):
        item = item | inner
    metadata = decoded(item.get("metadata"))
    scores = (item, metadata if isinstance(metadata, dict) else {})
    scored = (as_number(place.get(key)) for place in scores for key in SCORE)
    text = string(item, TEXT)
    return Document(
        id=next(filter(None, (plain(item.get(key)) for key in ID)), ""),
        text="" if text in MASKS else text,
        score=next((score for score in scored if score is not None), None),
    )
