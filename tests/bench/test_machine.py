"""The machine is described from what the kernel says."""

from pathlib import Path

from bench.machine import cpu_model, disk_of, machine, sync_time


def test_the_processor_has_a_name() -> None:
    """The first model name counts."""
    assert cpu_model("processor : 0\nmodel name\t: Loom 9000\nmodel name\t: other\n") == "Loom 9000"


def test_the_disk_is_that_of_the_longest_mount() -> None:
    """A path belongs to the mount nearest above it."""
    mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/x xfs rw 0 0\n"
    assert disk_of(Path("/tmp/x/y"), mounts) == "/dev/b, xfs"  # noqa: S108 - only a name
    assert disk_of(Path("/home"), mounts) == "/dev/a, ext4"


def test_this_machine_can_be_described(tmp_path: Path) -> None:
    """Every field is there."""
    here = machine(tmp_path)
    assert here.cores > 0
    assert here.memory_bytes > 0
    assert here.disk != "unknown"


def test_syncs_are_timed_on_the_given_clock(tmp_path: Path) -> None:
    """The median of what the clock says."""
    ticks = iter(range(1_000))
    assert sync_time(tmp_path, seconds=lambda: float(next(ticks))) == 1.0
