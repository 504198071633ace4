"""Describe the machine that figures were taken on."""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

_SYNCS = 50


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What figures depend on."""

    cpu: str
    cores: int
    memory_bytes: int
    kernel: str
    python: str
    disk: str
    """Device and file system that the data went to."""
    sync_s: float
    """Median time to write 4 KiB to it durably."""
    load_average: float
    """One minute, before the first run."""


def machine(scratch: Path, *, proc: Path = Path("/proc")) -> Machine:
    """Read what this machine is; ``scratch`` is where the data goes."""
    return Machine(
        cpu=cpu_model((proc / "cpuinfo").read_text()),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        disk=disk_of(scratch.resolve(), (proc / "mounts").read_text()),
        sync_s=sync_time(scratch),
        load_average=os.getloadavg()[0],
    )


def cpu_model(cpuinfo: str) -> str:
    """Return the processor's name out of ``/proc/cpuinfo``."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def disk_of(path: Path, mounts: str) -> str:
    """Return device and file system of a path out of ``/proc/mounts``."""
    best, found = "", "unknown"
    for line in mounts.splitlines():
        device, where, kind, *_ = line.split()
        if path.is_relative_to(where) and len(where) >= len(best):
            best, found = where, f"{device}, {kind}"
    return found


def sync_time(directory: Path, *, seconds: Callable[[], float] = time.perf_counter) -> float:
    """Return the median seconds to append 4 KiB to a file and sync it."""
    took: list[float] = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(_SYNCS):
            began = seconds()
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
            took.append(seconds() - began)
    return statistics.median(took)
