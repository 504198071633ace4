"""Run the systems that Outrider is measured beside, each by its own package, on SQLite.

Both are started as their documentation says for one machine, with nothing tuned; only what
would reach for the internet is off.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from bench.environments import Environments
from bench.failure import UnavailableError
from bench.loopback import get
from bench.senders import Endpoint
from bench.server import Server, environment, free_port


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How one peer is installed and started."""

    name: str
    package: str
    """Name of the distribution."""
    database: str
    """The SQLite file, in the directory of the data."""
    health: str
    """Path that answers 200 when it is ready."""
    command: Callable[[Path, Path, int], Sequence[str]]
    """Of the environment's ``bin``, the data directory and the port."""
    variables: Callable[[Path, int], Mapping[str, str]]
    """Environment variables, of the data directory and the port."""
    headers: Mapping[str, str] = {}


PHOENIX = Recipe(
    name="Phoenix",
    package="arize-phoenix",
    database="phoenix.db",
    health="/healthz",
    command=lambda binaries, _directory, _port: [str(binaries / "phoenix"), "serve"],
    variables=lambda directory, port: {
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_WORKING_DIR": str(directory),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    },
)
MLFLOW = Recipe(
    name="MLflow",
    package="mlflow",
    database="mlflow.db",
    health="/health",
    command=lambda binaries, directory, port: [
        str(binaries / "mlflow"),
        "server",
        "--host=127.0.0.1",
        f"--port={port}",
        f"--backend-store-uri=sqlite:///{directory / 'mlflow.db'}",
        f"--artifacts-destination={directory / 'artifacts'}",
    ],
    variables=lambda _directory, _port: {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    },
    headers={"x-mlflow-experiment-id": "0"},
)


class Peer:
    """A system that is installed into an environment of its own."""

    def __init__(self, recipe: Recipe, environments: Environments) -> None:
        self.name = recipe.name
        self._recipe = recipe
        self._environments = environments
        self._binaries = Path()

    def prepare(self) -> str:
        """Install it, unless it is there, and return its version."""
        self._binaries, version = self._environments.installed(self._recipe.package)
        return version

    def start(self, directory: Path) -> _Running:
        """Start it on a free port."""
        recipe, port = self._recipe, free_port()
        variables = dict(recipe.variables(directory, port))
        variables = environment(directory, variables)
        variables["PATH"] = f"{self._binaries}:{variables['PATH']}"
        server = Server(
            recipe.command(self._binaries, directory, port), directory=directory, env=variables
        )
        try:
            server.wait_until(lambda: get(port, recipe.health)[0] == 200)
        except UnavailableError:
            server.stop()
            raise
        endpoint = Endpoint(url=f"http://127.0.0.1:{port}/v1/traces", headers=recipe.headers)
        return _Running(server, endpoint, directory / recipe.database)

    def stored(self, directory: Path) -> int:
        """Count the spans in the database."""
        return _spans(directory / self._recipe.database)


class _Running:
    """One instance."""

    def __init__(self, server: Server, endpoint: Endpoint, database: Path) -> None:
        self._server = server
        self._database = database
        self.endpoint = endpoint

    @property
    def pid(self) -> int:
        return self._server.pid

    def durable(self) -> int:
        """Return the spans that a second connection reads."""
        return _spans(self._database)

    def stop(self) -> None:
        self._server.stop()


def _spans(database: Path) -> int:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=60.0)
    try:
        count: int = connection.execute("SELECT count(*) FROM spans").fetchone()[0]
        return count
    finally:
        connection.close()
