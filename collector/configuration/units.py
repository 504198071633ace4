"""Name the types of settings that carry a unit or a bound."""

from __future__ import annotations

from typing import Annotated

import msgspec

Duration = Annotated[float, msgspec.Meta(ge=0, extra={"unit": "duration"})]
"""Seconds; written as ``250ms``, ``3s``, ``15m``, ``24h`` or ``30d``."""

Timeout = Annotated[float, msgspec.Meta(gt=0, extra={"unit": "duration"})]
"""A duration that makes no sense at zero."""

Size = Annotated[int, msgspec.Meta(ge=0, extra={"unit": "size"})]
"""Bytes; written as ``512KiB``, ``64MiB``, ``4GiB`` (or ``MB``, ``GB`` for powers of ten)."""

Limit = Annotated[int, msgspec.Meta(ge=1, extra={"unit": "size"})]
"""A size that makes no sense at zero."""

Rate = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""A share between 0 and 1."""
