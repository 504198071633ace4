"""What a process tree used is read from /proc."""

import os
from pathlib import Path

from bench.outrider import samples
from bench.usage import cpu_seconds, disk_bytes, peak_bytes, tree

TICKS = os.sysconf("SC_CLK_TCK")


def process(proc: Path, pid: int, parent: int, *, ticks: int, peak_kib: int) -> None:
    """Write what the kernel would say of a process."""
    folder = proc / str(pid)
    folder.mkdir()
    times = f"{ticks} {ticks} {ticks} {ticks}"
    (folder / "stat").write_text(f"{pid} (a (b) c) S {parent} 0 0 0 0 0 0 0 0 0 {times} 0 0\n")
    (folder / "status").write_text(f"Name:\ta\nVmHWM:\t{peak_kib} kB\n")


def test_a_tree_is_summed_and_strangers_are_not(tmp_path: Path) -> None:
    """Children and theirs count; other processes do not."""
    process(tmp_path, 10, 1, ticks=TICKS, peak_kib=1)
    process(tmp_path, 11, 10, ticks=TICKS, peak_kib=2)
    process(tmp_path, 12, 11, ticks=TICKS, peak_kib=4)
    process(tmp_path, 13, 1, ticks=TICKS, peak_kib=8)
    (tmp_path / "self").mkdir()
    assert sorted(tree(10, proc=tmp_path)) == [10, 11, 12]
    assert cpu_seconds(10, proc=tmp_path) == 12.0
    assert peak_bytes(10, proc=tmp_path) == 7 * 1024


def test_this_process_used_something() -> None:
    """The real /proc is read as well."""
    assert cpu_seconds(os.getpid()) > 0
    assert peak_bytes(os.getpid()) > 0


def test_files_are_summed(tmp_path: Path) -> None:
    """Those in folders count too."""
    (tmp_path / "in").mkdir()
    (tmp_path / "a").write_bytes(bytes(3))
    (tmp_path / "in" / "b").write_bytes(bytes(4))
    assert disk_bytes(tmp_path) == 7


def test_metrics_are_read_by_series() -> None:
    """Comments are skipped; labels stay part of the name."""
    text = '# HELP a b\na 1\nrows_total{table="otel_traces"} 2.0\n'
    assert samples(text) == {"a": 1.0, 'rows_total{table="otel_traces"}': 2.0}
