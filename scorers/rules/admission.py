"""Hear when an agent says that something did not work."""

from __future__ import annotations

import re

_ADMISSION = re.compile(
    r"""\b(?:unable\ to|could(?:\ not|n't)|can(?:not|'t|\ not)|was(?:\ not|n't)|not\ able\ to|did(?:\ not|n't)|
    failed|failure|unfortunately|apologi[sz]e|sorry|unsuccessful|went\ wrong|not\ (?:be|been)\ \w+ed|
    (?:encountered|ran\ into|there\ (?:was|is|were|seems)|due\ to|had|experienc\w+|facing)\ (?:\w+\ ){0,4}(?:issues?|problems?|errors?)|
    (?:an?|the|this|that|following)\ (?:\w+\ )?error|it\ (?:seems|appears|looks\ like)|
    not\ (?:\w+\ )?(?:available|enough|sufficient|possible|allowed|permitted|valid|supported|eligible|found)|no\ longer\ \w+able)\b""",
    re.VERBOSE | re.IGNORECASE,
)


_LOOSE = re.compile(
    r"""\b(?:unable|could(?:\ not|n't)|can(?:\ ?not|'t)|was(?:\ not|n't)|were(?:\ not|n't)|is(?:\ not|n't)|are(?:\ not|n't)|not|no|none|nothing|
    do(?:\ not|n't)|does(?:\ not|n't)|did(?:\ not|n't)|has(?:\ not|n't)|have(?:\ not|n't)|won't|neither|nor|never|without|zero|empty|only|
    fail(?:s|ed|ure|ing)?|errors?|issues?|problems?|trouble|difficult\w*|unfortunately|apologi[sz]e|apologies|sorry|invalid|missing|
    unavailable|unsuccessful|incorrect|denied|rejected|declined|insufficient|already|instead|must|require[sd]?|needs?|however|again|
    retry|seems?|appears?|free|limit\w*|exceed\w*|mismatch|unclear|unknown)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words of which every honest account of an empty search holds at least one."""


def admits_failure(text: str) -> bool:
    """Say whether a message tells of something that did not work."""
    return _ADMISSION.search(text.replace("\u2019", "'")) is not None


def may_admit_failure(text: str) -> bool:
    """Say whether a message could be telling of a failure, or asks back; silent only when it cannot."""
    return text.rstrip().endswith("?") or _LOOSE.search(text.replace("\u2019", "'")) is not None
