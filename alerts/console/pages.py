"""Render pages from the templates; whatever is put into one is text and never markup."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

from alerts.console import words
from alerts.console.answers import data_block, html_answer
from alerts.console.assets import Assets

_TITLES = {
    400: "That request makes no sense",
    403: "That is not for you",
    404: "There is nothing here",
    405: "That is not done here",
    503: "The store does not answer",
}


class Pages:
    """Hold the templates.

    Args:
        assets: Knows where scripts and styles are.
        clock_ns: Present Unix time in nanoseconds, which every page shows.
        login: Whether people log in, and so can log out.
    """

    def __init__(self, assets: Assets, *, clock_ns: Callable[[], int], login: bool = False) -> None:
        self._clock_ns = clock_ns
        self._environment = Environment(
            loader=PackageLoader("alerts.console"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_shown,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            clock=words.clock,
            count=words.count,
            duration=words.duration,
            evidence=words.evidence,
            iso=words.iso,
            moment=words.moment,
            percent=words.percent,
            size=words.size,
            to_the_second=words.to_the_second,
        )
        self._environment.globals.update(
            asset=assets.url,
            between=words.between,
            conversation_href=words.conversation_href,
            href=words.href,
            interval=words.interval,
            login=login,
            measured=words.measured,
            style_ids=cache(assets.style_ids),
        )

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Answer with a page."""
        values = {"now_ns": self._clock_ns(), **values}
        return html_answer(self._environment.get_template(template).render(values), status)

    def error(self, status: int, message: str) -> Response:
        """Answer with a page that says what went wrong."""
        return self.page(
            "error.html",
            status=status,
            here="",
            title=_TITLES.get(status, "Something went wrong"),
            code=status,
            message=message,
        )


def embedded(value: Any) -> Markup:
    """Write data for the page's script into a block that nothing in it can end."""
    return Markup(data_block(value))  # noqa: S704 - holds no <, > or &


def _shown(value: Any) -> Any:
    """Make what is about to be written readable; it is escaped after this."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return words.readable(value)
    return value
