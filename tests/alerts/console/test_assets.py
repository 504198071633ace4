"""Test the files and the headers of the console."""

from __future__ import annotations

import gzip
import re

import pytest

from alerts.console.answers import POLICY, data_block
from alerts.console.assets import Assets
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import Front, episode, fill, verdict


def test_files_are_kept_and_compressed(store: ClickHouseStore) -> None:
    """Every file that a page names is there, may be kept for ever, and comes compressed."""
    fill(store, episode("a", verdict("a")))
    front = Front(store)
    files = [path for path in front.page("/").attributes("src", "href") if "/static/" in path]

    assert len({path.rpartition("/")[2] for path in files}) == 6
    for path in files:
        answer = front.get(path, **{"accept-encoding": "gzip"})
        assert answer.status_code == 200
        assert answer.headers["content-encoding"] == "gzip"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        plain = front.get(path, **{"accept-encoding": "identity"})
        assert plain.content == answer.content
        assert "content-encoding" not in plain.headers


@pytest.mark.parametrize(
    "path",
    ["/static/0000000000000000/console.css", "/static/x/routes.py", "/static/x/..%2Froutes.py"],
)
def test_other_files(store: ClickHouseStore, path: str) -> None:
    """Anything else, and another version of a file, is not there."""
    assert Front(store).get(path).status_code == 404


def test_the_chart_library_is_found() -> None:
    """The script is taken from the installed package, and its styles for maps are kept out."""
    assets = Assets()

    found = re.fullmatch(r"/static/[0-9a-f]{16}/plotly\.min\.js", assets.url("plotly.min.js"))
    assert found
    digest = assets.url("plotly.min.js").split("/")[2]
    body = gzip.decompress(assets.answer(digest, "plotly.min.js", accepts="gzip").body)
    assert b"plotly.js" in body[:200]
    assert assets.style_ids()


@pytest.mark.parametrize(
    "path", ["/", "/conversations", "/ledger", "/alerts", "/v1/quality", "/v1/alarms", "/nothing"]
)
def test_headers(store: ClickHouseStore, path: str) -> None:
    """Every answer tells a browser to run nothing but the files of this port."""
    headers = Front(store).get(path).headers

    assert headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in POLICY
    assert headers["cache-control"] == "no-store"


def test_a_data_block_cannot_be_ended() -> None:
    """Data for the page's script holds no sign that HTML reads."""
    block = data_block({"a": "</script><!-- & ]]>"})
    assert not set("<>&") & set(block)
