"""The imports follow the data, and files keep to the house rules that a machine can read."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("collector", "scorers", "alerts")
SHELL = ("collector.app", "collector.cli", "collector.commands")
"""The only modules that see all three packages."""
MAY_IMPORT = {
    "scorers": ("scorers", "collector.model", "collector.errors", "collector.builder"),
    "alerts": (
        "alerts",
        "scorers",
        "collector.model",
        "collector.totals",
        "collector.errors",
        "collector.stamps",
    ),
    "collector": ("collector",),
}
LONGEST = 400
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "misc", "core"}


def files(*folders: str) -> list[Path]:
    """List the Python files under some folders, by path from the root."""
    return sorted(p.relative_to(ROOT) for f in folders for p in (ROOT / f).rglob("*.py"))


def module_of(path: Path) -> str:
    """Return the dotted name of a file."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> Iterator[str]:
    """Yield every module of ours that a file imports, wherever in the file it does."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            module = node.module or ""
            names = [
                f"{module}.{a.name}" if is_module(f"{module}.{a.name}") else module
                for a in node.names
            ]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] in PACKAGES)


def is_module(name: str) -> bool:
    """Tell whether a dotted name is a file or a folder of ours."""
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def within(module: str, allowed: tuple[str, ...]) -> bool:
    """Tell whether a module is one of those allowed, or inside one."""
    return any(module == a or module.startswith(f"{a}.") for a in allowed)


@pytest.mark.parametrize("path", files(*PACKAGES), ids=str)
def test_imports_follow_the_arrow(path: Path) -> None:
    """`collector.model` feeds `scorers`, which feed `alerts`; only the shell sees all three."""
    module = module_of(path)
    if within(module, SHELL):
        return
    allowed = MAY_IMPORT[module.split(".")[0]]
    against = sorted({name for name in imports(path) if not within(name, allowed)})
    assert not against, f"{module} imports {', '.join(against)} against the arrow"


@pytest.mark.parametrize("path", files(*PACKAGES), ids=str)
def test_only_the_shell_imports_the_shell(path: Path) -> None:
    """No stage knows how it is wired or started."""
    module = module_of(path)
    assert within(module, SHELL) or not [n for n in imports(path) if within(n, SHELL)]


@pytest.mark.parametrize("path", files(*PACKAGES, "tests", "bench"), ids=str)
def test_files_are_documented_nouns_of_one_idea(path: Path) -> None:
    """Every module says what it is, is named for it, and stays short."""
    text = (ROOT / path).read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring"
    assert path.stem not in FORBIDDEN_NAMES
    lines = text.count("\n")
    assert lines <= LONGEST, f"{path} has {lines} lines; split it"


def test_the_test_would_notice(tmp_path: Path) -> None:
    """An import inside a function counts like one at the top."""
    path = tmp_path / "x.py"
    path.write_text("def f():\n    from alerts import metrics\n    import scorers.runner\n")
    assert set(imports(path)) & {"alerts", "alerts.metrics"}
    assert "scorers.runner" in set(imports(path))
