"""Run Apache Kafka's broker as one process: KRaft, one node, everything on loopback.

Maven fetches the jars (``pom.xml``); what it resolved is kept as long as the pom stays the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient

from tests.e2e.served import PATIENCE_S, free_ports

POM = Path(__file__).parent / "pom.xml"
LONGEST_START_S = 120.0


def class_path() -> str:
    """Return the jars, fetched when they are not there yet; fails where Maven is missing."""
    if shutil.which("mvn") is None or shutil.which("java") is None:
        raise AssertionError("the Kafka tests need Java and Maven: run `make debian`")
    digest = hashlib.sha256(POM.read_bytes()).hexdigest()[:16]
    kept = Path(tempfile.gettempdir()) / f"outrider-kafka-{os.getuid()}-{digest}.classpath"
    if kept.exists() and all(Path(jar).exists() for jar in kept.read_text().split(":")):
        return kept.read_text()
    with tempfile.NamedTemporaryFile(dir=kept.parent) as resolved:
        goal = ["dependency:build-classpath", f"-Dmdep.outputFile={resolved.name}"]
        maven = ["mvn", "-q", "-B", "-f", str(POM), *goal]
        subprocess.run(maven, check=True, timeout=600)
        text = Path(resolved.name).read_text().strip()
    mine = kept.with_suffix(f".{os.getpid()}")
    mine.write_text(text)
    mine.replace(kept)
    return text


class Broker:
    """One broker; ``stop`` and ``start`` take it away and bring it back with its data."""

    def __init__(self, directory: Path, **secure: str) -> None:
        """Choose ports and write the configuration.

        ``secure`` are settings, underscores for dots, of a further listener with SASL over TLS.
        """
        self.directory = directory
        self.port, controller, secure_port = free_ports(3)
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.secure_bootstrap = f"127.0.0.1:{secure_port}"
        self._jars = class_path()
        self._process: subprocess.Popen[bytes] | None = None
        self.log = directory / "broker.log"
        self._properties = directory / "server.properties"
        open_to = [f"PLAINTEXT://{self.bootstrap}"]
        if secure:
            open_to.append(f"SECURE://{self.secure_bootstrap}")
        properties = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join([*open_to, f"CONTROLLER://127.0.0.1:{controller}"]),
            "advertised.listeners": ",".join(open_to),
            "listener.security.protocol.map": (
                "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL"
            ),
            "log.dirs": str(directory / "logs"),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "1000",
            "auto.create.topics.enable": "false",
            **{key.replace("_", "."): value for key, value in secure.items()},
        }
        directory.mkdir(parents=True, exist_ok=True)
        self._properties.write_text("".join(f"{k}={v}\n" for k, v in properties.items()))
        self._run("kafka.tools.StorageTool", "format", "-t", "b3V0cmlkZXItdGVzdHMtMQ", "-c")

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it; after a failure, say what it said last."""
        self.stop()
        if error is not None and self.log.exists():
            sys.stderr.write(self.log.read_text()[-2_000:])

    def start(self) -> None:
        """Start it and wait until it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._java("kafka.Kafka", str(self._properties)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
            )
        deadline = time.monotonic() + LONGEST_START_S
        while True:
            assert self._process.poll() is None, self.log.read_text()[-4_000:]
            assert time.monotonic() < deadline, "the broker does not answer"
            # The client library loses sockets when nobody answers.
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)

    def stop(self) -> None:
        """Take it away at once, as a power cut does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def topic(self, *names: str, partitions: int = 1) -> None:
        """Make topics."""
        wanted = {name: {"num_partitions": partitions, "replication_factor": 1} for name in names}
        with_admin(
            self.bootstrap, lambda admin: admin.create_topics(wanted, wait_for_metadata=True)
        )

    def write(
        self, topic: str, messages: Iterable[tuple[bytes | None, bytes | None]], **options: Any
    ) -> None:
        """Write keys and values and wait for them."""
        producer = KafkaProducer(bootstrap_servers=self.bootstrap, acks="all", **options)
        try:
            sent = [producer.send(topic, key=key, value=value) for key, value in messages]
            for future in sent:
                future.get(PATIENCE_S)
        finally:
            producer.close()

    def read(self, topic: str) -> list[Any]:
        """Read a whole topic of one partition."""
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, auto_offset_reset="earliest")
        try:
            partition = TopicPartition(topic, 0)
            consumer.assign([partition])
            end = consumer.end_offsets([partition])[partition]
            found: list[Any] = []
            while len(found) < end:
                found += consumer.poll(timeout_ms=1_000).get(partition, [])
            return found
        finally:
            consumer.close()

    def ends(self, topic: str, partitions: int) -> dict[int, int]:
        """Return the offset after the last message of each partition."""
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap)
        try:
            wanted = [TopicPartition(topic, number) for number in range(partitions)]
            return {found.partition: end for found, end in consumer.end_offsets(wanted).items()}
        finally:
            consumer.close()

    def committed(self, group: str, topic: str, partitions: int) -> dict[int, tuple[int, str]]:
        """Return the group's offset and what was written beside it, by partition."""
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, group_id=group)
        try:
            found = {}
            for number in range(partitions):
                offset = consumer.committed(TopicPartition(topic, number), metadata=True)
                if offset is not None:
                    found[number] = (offset.offset, offset.metadata)
            return found
        finally:
            consumer.close()

    def _java(self, *arguments: str) -> list[str]:
        options = ["-Xmx256m", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        return ["java", *options, "-cp", self._jars, *arguments]

    def _run(self, *arguments: str) -> None:
        with self.log.open("ab") as log:
            subprocess.run(
                [*self._java(*arguments), str(self._properties)],
                check=True,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=LONGEST_START_S,
            )


def with_admin(bootstrap: str, do: Callable[[Any], Any]) -> Any:
    """Let an administrator do something."""
    admin = KafkaAdminClient(
        bootstrap_servers=bootstrap, bootstrap_timeout_ms=5_000, request_timeout_ms=20_000
    )
    try:
        return do(admin)
    finally:
        admin.close()
