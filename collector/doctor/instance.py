"""Ask the running instance itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import msgspec

from collector.doctor.finding import Finding, fail, ok, warn
from collector.serve_file import Running

_WAIT_S = 10.0


def instance(running: Running, *, version: str) -> Iterator[Finding]:
    """Read ``/readyz`` of an instance that serves.

    Args:
        running: What it says of itself.
        version: Our own release.
    """
    if running.version and running.version != version:
        yield warn(
            "instance",
            f"process {running.pid} is release {running.version}, and this is {version}",
            "restart it to upgrade it, or look with its own `outrider doctor`",
        )
    url = f"{running.console_url}/readyz"
    try:
        # Nothing is shown to it, and it is this machine's: whoever answers there will do.
        answer = httpx.get(url, timeout=_WAIT_S, trust_env=False, verify=False)  # noqa: S501
        said: Any = msgspec.json.decode(answer.content)
    except (httpx.HTTPError, msgspec.DecodeError) as error:
        yield fail(
            "instance",
            f"process {running.pid} serves and {url} does not answer ({type(error).__name__})",
            "look into its log; a restart loses nothing that was acknowledged",
        )
        return
    if answer.is_success:
        yield ok("instance", f"process {running.pid} is ready, since {running.started}")
        return
    for problem in said.get("problems") or [f"HTTP {answer.status_code}"]:
        yield warn(
            "instance", f"process {running.pid} is not ready: {problem}", "see the checks below"
        )
