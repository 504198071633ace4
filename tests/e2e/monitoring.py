"""Run Debian's Prometheus and Alertmanager as processes, on free ports and in a hurry."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
import yaml

from alerts.exporter import Exporter, metrics_app
from collector.totals import SeriesKey
from tests.debian import program
from tests.e2e.served import eventually, free_ports


@contextmanager
def exported(gauges: Mapping[SeriesKey, float]) -> Iterator[str]:
    """Serve gauges on /metrics, as they are at each scrape; gives the address."""
    (port,) = free_ports(1)
    app = metrics_app(Exporter(dict, lambda: dict(gauges)))
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        eventually(lambda: server.started, "the exporter listens")
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def alertmanager(directory: Path, config: Mapping[str, Any]) -> Iterator[str]:
    """Run Alertmanager; gives its address."""
    directory.mkdir()
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    path = directory / "alertmanager.yml"
    path.write_text(yaml.safe_dump(dict(config)))
    command = [
        program("prometheus-alertmanager", "alertmanager"),
        f"--config.file={path}",
        f"--storage.path={directory / 'data'}",
        f"--web.listen-address={address}",
        "--cluster.listen-address=",
    ]
    with _running(command, directory / "log", ready=f"http://{address}/-/ready"):
        yield address


@contextmanager
def prometheus(
    directory: Path, rules: Mapping[str, Any], *, target: str, alertmanager: str
) -> Iterator[str]:
    """Run Prometheus, which looks every second; gives its address."""
    directory.mkdir()
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    (directory / "rules.yml").write_text(yaml.safe_dump(dict(rules)))
    path = directory / "prometheus.yml"
    path.write_text(
        yaml.safe_dump(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": ["rules.yml"],
                "scrape_configs": [
                    {"job_name": "outrider", "static_configs": [{"targets": [target]}]}
                ],
                "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
            }
        )
    )
    command = [
        program("prometheus"),
        f"--config.file={path}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address={address}",
        "--rules.alert.resend-delay=1s",
    ]
    with _running(command, directory / "log", ready=f"http://{address}/-/ready"):
        yield address


@contextmanager
def _running(command: list[str], log: Path, *, ready: str) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        with httpx.Client(trust_env=False) as client:

            def answers() -> bool:
                assert process.poll() is None, log.read_text()
                try:
                    return client.get(ready).status_code == 200
                except httpx.TransportError:
                    return False

            eventually(answers, f"{command[0]} is ready")
        yield
    except BaseException:
        sys.stderr.write(log.read_text()[-4_000:])
        raise
    finally:
        process.terminate()
        process.wait()
