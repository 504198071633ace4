"""Keep of pictures, sounds and files what tells them apart, not what they hold."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

from collector.proxy.exchange import Json, Part

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,", re.ASCII)
_LONG = 256
"""Characters from which a text without spaces counts as encoded content."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}", re.ASCII)


def blob(data: str, *, mime_type: str = "", modality: str = "") -> Part:
    """Describe base64 content by its digest and size in bytes."""
    try:
        held = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        held = data.encode(errors="replace")
    described = {
        "type": "blob",
        "modality": modality or mime_type.partition("/")[0],
        "mime_type": mime_type,
        "digest": f"sha256:{hashlib.sha256(held).hexdigest()}",
        "size": len(held),
    }
    return {key: value for key, value in described.items() if value != ""}


def linked(url: str, *, modality: str) -> Part:
    """Describe content by its address; one that holds the content itself becomes a digest."""
    found = _DATA_URL.match(url)
    if found:
        return blob(url[found.end() :], mime_type=found[1] or "", modality=modality)
    return {"type": "uri", "modality": modality, "uri": url}


def without_content(value: Json) -> Json:
    """Replace whatever is encoded in a structure we do not know."""
    if isinstance(value, dict):
        return {key: without_content(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_content(inner) for inner in value]
    if isinstance(value, str) and len(value) > _LONG:
        if found := _DATA_URL.match(value):
            return blob(value[found.end() :], mime_type=found[1] or "")["digest"]
        if _BASE64.fullmatch(value):
            return blob(value)["digest"]
    return value
