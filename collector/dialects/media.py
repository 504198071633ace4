"""Put a digest in the place of images, audio and files, so that text stays text.

A picture inside a message is kept as ``[image image/png sha256:0a1b2c3d4e5f 5321 bytes]``: the
same picture has the same digest everywhere, and nobody stores a megabyte of base64. What only
points somewhere (a URL, a file id) keeps its pointer.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import NamedTuple

from collector.model import JsonValue

KINDS = ("image", "audio", "video", "document", "file")
"""What a block is called; the first of these that its type or media type begins with."""
PAYLOAD = frozenset(
    (
        "data",
        "bytes",
        "content",
        "file_data",
        "fileData",
        "b64_json",
        "base64",
        "url",
        "uri",
        "file_uri",
        "fileUri",
        "file_id",
        "fileId",
        "image_url",
        "image",
        "audio",
        "video",
        "document",
        "input_audio",
        "inline_data",
        "inlineData",
        "source",
        "file",
        "s3Location",
        "media",
    ),
)
"""Keys under which the content, or the way to it, is found; they nest."""
MEDIA_TYPE = ("mime_type", "media_type", "mediaType", "mimeType", "format")
NAME = ("filename", "file_name", "name", "title")
MARKS = frozenset(
    (
        "image_url",
        "input_image",
        "input_audio",
        "input_file",
        "inline_data",
        "inlineData",
        "file_data",
        "fileData",
        "image",
        "audio",
        "video",
        "document",
    ),
)
"""Keys that tell untyped blocks of Google and Bedrock apart from others."""
DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/=_-]{32,})")
LONG_RUN = re.compile(r"[A-Za-z0-9+/]{1024,}={0,2}")
POINTER = re.compile(r"[a-z][a-z0-9+.-]{1,20}:(?!.*base64,)\S", re.IGNORECASE | re.DOTALL).match
SHORT = 64
"""Characters up to which a payload is taken for an id."""
FEWEST_SIGNS = 24
"""Different characters that base64 of so many bytes has at the least."""
LONGEST_POINTER = 300
DEEPEST = 6


class Found(NamedTuple):
    """What was found in a block of media."""

    payload: str = ""
    media_type: str = ""
    name: str = ""


def is_media(kind: str) -> bool:
    """Tell whether a block's type is that of an image, audio or a file."""
    return kind in {"blob", "uri", "media", "input_file"} or kind.removeprefix("input_").startswith(
        KINDS
    )


def placeholder(block: dict[str, JsonValue]) -> str:
    """Say in one line what a block of media is."""
    found = _search(block, DEEPEST)
    inline = DATA_URL.match(found.payload)
    media_type = found.media_type or (inline[1] if inline else "") or ""
    words = [_kind(block, media_type), media_type, found.name]
    if inline:
        words.append(_digest(inline[2]))
    elif len(found.payload) > SHORT and not POINTER(found.payload):
        words.append(_digest(found.payload))
    else:
        words.append(found.payload[:LONGEST_POINTER])
    return f"[{' '.join(word for word in words if word)}]"


def without_media(text: str) -> str:
    """Replace what is base64 inside a text."""
    if len(text) <= SHORT:
        return text
    if ";base64," in text:
        text = DATA_URL.sub(lambda found: f"[{found[1] or 'data'} {_digest(found[2])}]", text)
    return LONG_RUN.sub(_run, text) if len(text) >= 1024 else text


def _run(found: re.Match[str]) -> str:
    run = found[0]
    return run if len(set(run[:512])) < FEWEST_SIGNS else f"[base64 {_digest(run)}]"


def _search(value: JsonValue, depth: int) -> Found:
    """Look for content, media type and name in a block and the blocks inside it."""
    if not isinstance(value, dict) or depth == 0:
        return Found()
    payload = media_type = name = ""
    for key, inner in value.items():
        if isinstance(inner, str):
            if key in PAYLOAD and len(inner) > len(payload):
                payload = inner
            elif key in MEDIA_TYPE:
                media_type = media_type or inner
            elif key in NAME:
                name = name or inner
        elif key in PAYLOAD:
            below = _search(inner, depth - 1)
            payload = max(payload, below.payload, key=len)
            media_type = media_type or below.media_type
            name = name or below.name
    return Found(payload, media_type[:100], name[:100])


def _kind(block: dict[str, JsonValue], media_type: str) -> str:
    spoken = (block.get("modality"), block.get("type"), media_type, *block)
    for word in spoken:
        if isinstance(word, str):
            bare = word.removeprefix("input_")
            known = next((kind for kind in KINDS if bare.startswith(kind)), "")
            if known:
                return known
    return "file"


def _digest(payload: str) -> str:
    try:
        content = base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        content = payload.encode(errors="replace")
    return f"sha256:{hashlib.sha256(content).hexdigest()[:12]} {len(content)} bytes"
