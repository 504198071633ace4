"""Wire the data path: check, journal, decode, normalise, assemble, score, redact, sample, store.

Each stage is given the next one, or what it needs of it, as an argument. How the threads
and ports around it live and die is in ``process.py``.
"""

from __future__ import annotations

import functools
import logging
import os
import random
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alerts.console.routes import Console, Learning
from alerts.detectors.detection import Detection
from alerts.detectors.gauges import gauges as detector_gauges
from alerts.detectors.rebaselining import Whose
from alerts.detectors.settings import check_floors, settings_of
from alerts.exporter import Exporter, metrics_app
from alerts.failure_rate import FailureRates
from alerts.labels import Labels
from alerts.notifier import webhook_notifier
from alerts.quality import QualityMeter
from collector import serve_file
from collector.assembler import Assembler
from collector.banner import banner, base_url
from collector.concluding import Concluding
from collector.config import Config
from collector.config_file import with_addresses
from collector.data_path import DataPath
from collector.decided_spans import DecidedSpans
from collector.decision import Decider
from collector.errors import ConfigError
from collector.guard import grant_of
from collector.handoff import Handoff
from collector.ingest_gate import IngestGate
from collector.journal import Journal
from collector.journal_keys import cipher_of
from collector.kafka.claims import Claims
from collector.memory import Memory
from collector.message_keys import MessageKeys
from collector.normalise import Normaliser
from collector.notebook import Notebook
from collector.people_ports import people_ports
from collector.pins import Pins
from collector.pipeline import Pipeline
from collector.process import Process, serve_until_told
from collector.proxy.journaling import keeping
from collector.proxy.ports import proxy_ports
from collector.reading import Reader
from collector.receivers.otlp_ports import otlp_ports
from collector.recovery import restore
from collector.redaction import pseudonym_key, redactor_of, strict_redactor
from collector.redaction_counts import RedactionCounts
from collector.safe_rows import SafeRows
from collector.sampler import Sampler, versions_in
from collector.servers import Port
from collector.shipping import Shipping
from collector.stitcher import Stitcher
from collector.stores.clickhouse import open_store
from collector.stores.rows import rows_of
from collector.stores.tenancy import of_tenant
from collector.stores.writer import StoreWriter
from collector.tally import Tally
from collector.tokens import Tokens
from collector.version import __version__
from collector.work import Work
from scorers.registry import configured
from scorers.runner import Runner, score_id

if TYPE_CHECKING:
    from alerts.evaluation_event import EvaluationEvents

WINDOW_LIMIT = 50_000
"""Decided episodes held for late spans; over it the oldest are let go early, once they are stored."""
RATES_S = 30.0
"""Seconds between two readings of the failure rates."""
WRITER_BYTES = 64 * 1024 * 1024


def data_path(
    config: Config,
    data_dir: Path,
    *,
    clock_ns: Callable[[], int],
) -> DataPath:
    """Build the stages; nothing runs yet.

    Raises:
        ConfigError: a scorer option, the data directory or the store's settings are wrong.
    """
    scorers = configured(config.scorers)
    key = pseudonym_key(config.redact, data_dir)
    ingest = redactor_of(config.redact, key) if config.redact.at_ingest else None
    journal = Journal.open(
        data_dir / "journal.db",
        max_bytes=config.journal.max_size,
        seen_limit=config.journal.seen_limit,
        clock_ns=clock_ns,
        cipher=cipher_of(config.journal.encryption_key),
        clean=IngestGate(ingest) if ingest else None,
    )
    store = open_store(config.store, data_dir, at_first_use=True)
    tally, work, pins, keys = Tally(), Work(), Pins(), MessageKeys()
    redactor = redactor_of(config.redact, key)
    label_text = strict_redactor(config.redact, key).text
    labels = Labels(config.telemetry.label_limit, journal.totals(), redact=label_text)
    sampler = Sampler(config.sample, seen_versions=versions_in(journal.totals()))
    meter = QualityMeter(labels)
    events = _events(config, tally=tally, clock_ns=clock_ns)
    memory = Memory(conversation=journal.conversation, tip=journal.tip)
    seen = DecidedSpans(journal.decided, work)

    reader = Reader(Normaliser(), read=journal.read, count=work.count)
    stitcher = Stitcher(
        keys=keys,
        remembered=memory,
        count=lambda method, result: work.count("stitch_total", method=method, result=result),
        merged=lambda source, target: assembler.merged(source, target),  # noqa: PLW0108 - made below
    )
    assembler = Assembler(config.assemble, stitcher, seen=seen, pin=pins.pin, unpin=pins.unpin)
    decider = Decider(
        keys=keys,
        judge=Runner(scorers, clock_ns=clock_ns, seconds=time.perf_counter),
        sample=sampler,
        measure=meter,
        redactor=redactor,
        rows_of=rows_of,
        score_id=score_id,
        producer=journal.producer,
        sequence=journal.observation_sequence,
        clock_ns=clock_ns,
    )
    writer = StoreWriter(
        store,
        stored=lambda ids: shipping.stored(ids),  # noqa: PLW0108 - made below
        count=lambda name, amount, pairs: tally.count(name, amount, dict(pairs)),
        batch_episodes=config.store.batch_episodes,
        flush_interval_s=config.store.flush_interval,
        queue_bytes=WRITER_BYTES,
        prepare=lambda: store.migrate(ttl_days=config.store.ttl_days),
    )

    def outbox(after: int, limit: int) -> list[Any]:
        return journal.outbox(limit, after=after)

    shipping = Shipping(
        outlet=writer,
        outbox=outbox,
        reader=reader,
        span_rows=SafeRows(redactor, count=tally.count),
        assembler=assembler,
        pins=pins,
        limit=WRITER_BYTES,
    )

    def recover() -> None:
        restore(
            episodes=journal.episodes(),
            outbox=outbox,
            memory=memory,
            stitcher=stitcher,
            assembler=assembler,
            shipping=shipping,
            pins=pins,
        )
        claims.recover()

    # What was taken out before the journal is not handed on beside it.
    handoff = Handoff(limit=0 if ingest else config.journal.queue_size)
    claims = Claims(
        journal=journal,
        assembler=assembler,
        shipping=shipping,
        pins=pins,
        count=work.count,
        enabled=bool(config.kafka.bootstrap),
    )
    concluding = Concluding(
        assembler=assembler,
        decider=decider,
        reader=reader,
        pins=pins,
        work=work,
        keep_trace=sampler.keep_trace,
        late_window=config.assemble.late_window,
        window_limit=WINDOW_LIMIT,
    )
    pipeline = Pipeline(
        journal=journal,
        commit=lambda transaction: journal.commit(transaction).result(),
        handoff=handoff,
        reader=reader,
        stitcher=stitcher,
        assembler=assembler,
        concluding=concluding,
        shipping=shipping,
        pins=pins,
        claims=claims,
        notebook=Notebook(redactor=redactor, seen=seen, work=work, admit=labels.admit),
        work=work,
        counted=(tally.drain, RedactionCounts(redactor, *([ingest] if ingest else []))),
        emit=events.emit if events else lambda _: None,
        late_window=config.assemble.late_window,
        most_decided=2 * WINDOW_LIMIT,
        clock=lambda: clock_ns() / 1e9,
    )
    rates = FailureRates(
        store.query, labels=labels, clock=lambda: clock_ns() / 1e9, count=tally.count
    )
    check_floors(config.detect, {scorer.name for scorer in scorers})
    watching = settings_of(config.detect, scorers=len(scorers))
    detection = Detection(
        watching,
        scorers={(scorer.name, scorer.version) for scorer in scorers},
        ready=store.has_tables,
        query=store.query,
        write=store.insert,
        clock_ns=clock_ns,
        seconds=time.monotonic,
        count=lambda name, amount, pairs: tally.count(name, amount, dict(pairs)),
        producer=journal.producer,
        produced=lambda: decider.sequence,
    )
    notifier = webhook_notifier(
        config.alerts.webhook,
        token=config.alerts.webhook_token,
        severity=config.alerts.severity,
        max_age_s=config.alerts.max_age,
        console=config.alerts.console_url
        or base_url(config.console.address, tls=bool(config.console.tls.cert_file)),
        ready=store.has_tables,
        query=store.query,
        write=store.insert,
        clock_ns=clock_ns,
        count=tally.count,
        random=random.random,
    )

    kafka = None
    if config.kafka.bootstrap:
        from collector.kafka.reader import kafka_reader  # noqa: PLC0415 - half a second to load

        kafka = kafka_reader(
            config,
            journal=journal,
            handoff=handoff,
            claims=claims,
            assembler=assembler,
            stitcher=stitcher,
            unstored=lambda: shipping.unstored,
            closed=pipeline.closed,
            query=store.query,
            redactor=redactor,
            count=tally.count,
            clock_ns=clock_ns,
        )

    return DataPath(
        journal=journal,
        handoff=handoff,
        tally=tally,
        assembler=assembler,
        recover=recover,
        pipeline=pipeline,
        shipping=shipping,
        writer=writer,
        store=store,
        exemplars=lambda: meter.exemplars,
        gauges=lambda: {
            **rates.gauges(),
            **detector_gauges(detection.views(), settings=watching, labels=labels),
            **(
                {("detector_behind_observations", ()): detection.behind} if detection.loaded else {}
            ),
            **(notifier.gauges() if notifier else {}),
            **(kafka.gauges() if kafka else {}),
        },
        alarms=lambda: detection.views() if detection.loaded else None,
        relearn=lambda agent, scorer, environment: detection.orders.give(
            Whose(agent=agent, scorer=scorer, environment=environment)
        ),
        background=[
            detection.run,
            lambda stop: rates.run(lambda: stop.wait(RATES_S)),
            *([events.run] if events else []),
            *([notifier.run] if notifier else []),
        ],
        sources=[kafka.run] if kafka else [],
    )


def serve(config: Config, data_dir: Path, *, clock: Callable[[], int]) -> int:
    """Run until a signal says stop; return the exit code. ``clock`` gives Unix nanoseconds."""
    tokens = Tokens(config.auth)
    path = data_path(config, data_dir, clock_ns=clock)
    process = Process(path, clock_ns=clock, shutdown_s=config.journal.shutdown_timeout)
    log = logging.getLogger("outrider")
    console = Console(
        functools.partial(of_tenant, path.store),
        tenant_of=lambda request: grant_of(request).tenant,
        alarms=path.alarms,
        clock_ns=clock,
        learning=Learning(
            conversations=config.detect.reference_min,
            hours=config.detect.reference_window / 3_600,
        ),
        login=bool(tokens) and not config.console.tls.instead_of_token,
    )
    exporter = Exporter(path.journal.totals, process.gauges, path.exemplars, version=__version__)
    try:
        servers: dict[str, Port] = {
            **proxy_ports(
                config,
                data_dir,
                keep=keeping(path.journal, path.handoff),
                beside=process.beside,
                count=path.tally.count,
            ),
            **people_ports(
                config,
                tokens=tokens,
                pages=console,
                process=process,
                store=path.store,
                relearn=path.relearn,
                metrics=metrics_app(exporter),
                count=path.tally.count,
                clock_ns=clock,
            ),
            # Last, so that whoever gets an answer here gets one at the other ports too.
            **otlp_ports(
                config,
                tokens=tokens,
                accept=process.accept,
                count=path.tally.count,
                clock_ns=clock,
                log=log,
            ),
        }
    except ConfigError:
        process.stop()
        raise
    bound = with_addresses(config, {key: server.address for key, server in servers.items()})
    running = serve_file.running(
        bound, pid=os.getpid(), started=datetime.now(UTC).isoformat(timespec="seconds")
    )

    def announce() -> None:
        serve_file.write(data_dir, running)
        sys.stdout.write(banner(bound))
        sys.stdout.flush()

    try:
        return serve_until_told(process, list(servers.values()), announce=announce)
    finally:
        serve_file.remove(data_dir, pid=running.pid)


def _events(
    config: Config, *, tally: Tally, clock_ns: Callable[[], int]
) -> EvaluationEvents | None:
    """Prepare the events of verdicts, where somebody wants them."""
    if not config.telemetry.otlp_endpoint:
        return None
    from alerts.evaluation_event import (  # noqa: PLC0415 - the SDK takes half a second to load
        EvaluationEvents,
        otlp_exporter,
    )

    return EvaluationEvents(
        otlp_exporter(config.telemetry.otlp_endpoint),
        version=__version__,
        count=tally.count,
        clock_ns=clock_ns,
    )
