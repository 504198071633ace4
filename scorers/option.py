"""Read one option of a scorer as its annotation wants it.

``int``, ``float``, ``bool``, ``str``, ``Literal``, lists and lists of records are understood,
and ``Annotated[…, msgspec.Meta(ge=…, le=…)]`` bounds a number.
"""

from __future__ import annotations

import json
import math
import typing
from typing import Any

import msgspec

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
_BOUNDS = (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="))
_SHOWN = 60
"""Characters of a wrong value in its error."""


def read_option(value: Any, hint: Any) -> Any:
    """Convert a value; text is read as the type wants it, since it may come from the environment.

    Raises:
        ValueError: it does not fit; the text says what is allowed and what was given.
    """
    try:
        read = msgspec.convert(value, hint, strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        if _holds_records(hint):
            raise ValueError(str(error)) from error
        raise _error(value, hint) from error
    if isinstance(read, float) and not math.isfinite(read):
        raise _error(value, hint)
    return read


def allowed(hint: Any) -> str:
    """Say in a few words what an option takes: ``a whole number >= 2``."""
    plain = typing.get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
    if typing.get_origin(plain) is typing.Literal:
        kind = "one of " + ", ".join(map(str, typing.get_args(plain)))
    elif typing.get_origin(plain) in (list, tuple, set, frozenset):
        kind = "a list"
    else:
        kind = _KINDS.get(plain, "another value")
    bounds = [
        f"{sign} {getattr(meta, name)}"
        for meta in getattr(hint, "__metadata__", ())
        if isinstance(meta, msgspec.Meta)
        for name, sign in _BOUNDS
        if getattr(meta, name) is not None
    ]
    return " ".join([kind, " and ".join(bounds)]) if bounds else kind


def _holds_records(hint: Any) -> bool:
    return any(
        isinstance(one, type) and issubclass(one, msgspec.Struct) for one in typing.get_args(hint)
    )


def _error(value: Any, hint: Any) -> ValueError:
    try:
        shown = repr(value) if isinstance(value, str) else json.dumps(value)
    except (TypeError, ValueError):
        shown = str(value)
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
    return ValueError(f"expected {allowed(hint)}, got {shown}")
