"""Serve scripts and styles under names that change with their content, so that they can be kept."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from alerts.console.answers import HEADERS

_FOLDER = Path(__file__).parent / "static"
_PLOTLY = "plotly.min.js"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_STYLE = re.compile(rb'getElementById\("([0-9a-f]{64})"\)')
"""How the chart library looks for styles of its map charts before it writes them into the page."""
_FOR_EVER = "public, max-age=31536000, immutable"


class Asset(msgspec.Struct, frozen=True, kw_only=True):
    """One file, ready to be sent."""

    kind: str
    digest: str
    plain: bytes
    packed: bytes
    """Compressed with gzip."""


class Assets:
    """Know the console's own files and the chart library's script."""

    def __init__(self, files: Mapping[str, Path] | None = None) -> None:
        """Take the files by name; by default those of this package and plotly's script."""
        self._files = dict(own_files() if files is None else files)
        self._load = cache(self._read)

    def url(self, name: str) -> str:
        """Return the path at which a file is served."""
        return f"/static/{self._load(name).digest}/{name}"

    def style_ids(self) -> list[str]:
        """Return the ids under which the chart library looks for styles that we do not let it write.

        An element of that id keeps it from trying.
        """
        if _PLOTLY not in self._files:
            return []
        return sorted({found.decode() for found in _STYLE.findall(self._load(_PLOTLY).plain)})

    def answer(self, digest: str, name: str, *, accepts: str) -> Response:
        """Send a file.

        Raises:
            HTTPException: there is no such file, or not in this version.
        """
        if name not in self._files or self._load(name).digest != digest:
            raise HTTPException(404, "there is no such file")
        asset = self._load(name)
        headers = {**HEADERS, "cache-control": _FOR_EVER, "vary": "accept-encoding"}
        body = asset.plain
        if "gzip" in accepts:
            body = asset.packed
            headers["content-encoding"] = "gzip"
        return Response(body, 200, headers, media_type=asset.kind)

    def _read(self, name: str) -> Asset:
        path = self._files[name]
        plain = path.read_bytes()
        return Asset(
            kind=_KINDS[path.suffix],
            digest=hashlib.sha256(plain).hexdigest()[:16],
            plain=plain,
            packed=gzip.compress(plain, 6, mtime=0),
        )


def own_files() -> dict[str, Path]:
    """Find the files; the chart library is looked up without being imported, which takes seconds."""
    files = {path.name: path for path in _FOLDER.iterdir() if path.suffix in _KINDS}
    spec = importlib.util.find_spec("plotly")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        script = Path(folder) / "package_data" / _PLOTLY
        if script.is_file():
            files[_PLOTLY] = script
    return files
