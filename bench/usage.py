"""Read what a process and its descendants used, from /proc (Linux)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int, *, proc: Path = PROC) -> float:
    """Return the CPU seconds of a process tree, those of its ended and reaped children included."""
    ticks = 0
    for member in tree(pid, proc=proc):
        with suppress(OSError):
            # After the name, which may hold anything: state is field 3, utime to cstime 14 to 17.
            fields = (proc / str(member) / "stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def peak_bytes(pid: int, *, proc: Path = PROC) -> int:
    """Return the peak resident memory (VmHWM), summed over the processes that are alive now."""
    total = 0
    for member in tree(pid, proc=proc):
        with suppress(OSError):
            for line in (proc / str(member) / "status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    total += int(line.split()[1]) * 1024
    return total


def forget_peak(pid: int, *, proc: Path = PROC) -> None:
    """Let the peaks of a process tree begin anew, where the kernel allows it."""
    for member in tree(pid, proc=proc):
        with suppress(OSError):
            (proc / str(member) / "clear_refs").write_text("5")


def tree(pid: int, *, proc: Path = PROC) -> Iterator[int]:
    """Yield a process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in proc.iterdir():
        if entry.name.isdecimal():
            with suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    waiting = [pid]
    while waiting:
        member = waiting.pop()
        yield member
        waiting.extend(children.get(member, ()))


def disk_bytes(directory: Path) -> int:
    """Return the size of all files under a directory, but for those that vanish meanwhile."""
    total = 0
    for folder, _, files in os.walk(directory):  # rglob raises when a folder vanishes
        for name in files:
            with suppress(OSError):
                total += os.lstat(f"{folder}/{name}").st_size
    return total
