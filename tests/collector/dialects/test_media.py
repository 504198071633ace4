"""Test that images, audio and files become a line of text."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from collector.dialects.blocks import result_text
from collector.dialects.media import placeholder, without_media
from collector.dialects.messages import normal
from collector.model import Message

CONTENT = bytes(range(256)) * 8
DATA = base64.b64encode(CONTENT).decode()
URL = f"data:image/png;base64,{DATA}"


def digest_of(text: str) -> str:
    """Return the words that a placeholder ends in."""
    return text.removesuffix("]").split("sha256:")[1]


@pytest.mark.parametrize(
    ("block", "begins"),
    [
        ({"type": "image_url", "image_url": {"url": URL}}, "[image image/png "),
        ({"type": "input_image", "image_url": URL}, "[image image/png "),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "a/b", "data": DATA}},
            "[image a/b ",
        ),
        (
            {"type": "blob", "mime_type": "audio/wav", "modality": "audio", "content": DATA},
            "[audio audio/wav ",
        ),
        ({"inlineData": {"mimeType": "image/png", "data": DATA}}, "[image image/png "),
        ({"image": {"format": "png", "source": {"bytes": DATA}}}, "[image png "),
        ({"type": "input_audio", "input_audio": {"data": DATA, "format": "mp3"}}, "[audio mp3 "),
        (
            {"type": "file", "file": {"filename": "menu.pdf", "file_data": DATA}},
            "[file menu.pdf ",
        ),
        ({"type": "file", "mediaType": "image/gif", "data": DATA}, "[file image/gif "),
    ],
)
def test_content_becomes_a_digest(block: dict[str, Any], begins: str) -> None:
    """The same bytes have the same digest, whatever convention they came in."""
    said = normal({"role": "user", "content": [block]})[0].text
    assert said.startswith(begins)
    assert digest_of(said) == digest_of(placeholder({"type": "image", "data": DATA}))
    assert said.endswith(" 2048 bytes]")


def test_pointers_are_kept() -> None:
    """A URL or a file's id says where the content is."""
    assert placeholder({"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}) == (
        "[image https://x.test/a.png]"
    )
    assert placeholder({"type": "input_file", "file_id": "file-7"}) == "[file file-7]"
    uri: dict[str, Any] = {"type": "uri", "modality": "video", "uri": "gs://films/1.mp4"}
    assert placeholder(uri) == "[video gs://films/1.mp4]"


def test_a_text_document_is_its_text() -> None:
    """A document whose source is text says what it says, and a transcript stands for audio."""
    source = {"type": "text", "media_type": "text/plain", "data": "Breakfast is at 8."}
    message: Any = {"role": "user", "content": [{"type": "document", "source": source}]}
    assert normal(message) == (Message(role="user", text="Breakfast is at 8."),)
    spoken: Any = {
        "type": "blob",
        "modality": "audio",
        "content": DATA,
        "transcript": "Good morning",
    }
    assert normal({"role": "user", "parts": [spoken]})[0].text == "Good morning"


def test_base64_inside_text_is_replaced() -> None:
    """Tools return pictures inside JSON and inside words; ordinary long words stay."""
    assert without_media(f"See {URL}!").startswith("See [image/png sha256:")
    assert without_media("x" * 5_000) == "x" * 5_000
    returned = result_text({"picture": DATA})
    assert len(returned) < 100
    shown = result_text([{"type": "text", "text": "Here"}, {"type": "image", "data": DATA}])
    assert shown.startswith("Here\n[image sha256:")
