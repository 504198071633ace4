"""Brokers that want TLS and a password are read from, and wrong passwords are told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from tests.e2e.kafka.broker import Broker
from tests.e2e.kafka.conftest import topics_on
from tests.e2e.kafka.exporter import keyed
from tests.e2e.served import Served, eventually
from tests.e2e.traffic import synthetic
from tests.faults.books import planned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required user_ines='tea%cosy';"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Make an authority that nobody trusts but who is told to."""
    return trustme.CA()


@pytest.fixture(scope="module")
def secure_broker(
    authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    """Run a broker that asks for a password, over TLS."""
    directory = tmp_path_factory.mktemp("secure")
    certificate = authority.issue_cert("127.0.0.1")
    key = load_pem_private_key(certificate.private_key_pem.bytes(), None).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
    store = directory / "broker.pem"
    store.write_bytes(key + chain)
    with Broker(
        directory / "broker",
        ssl_keystore_type="PEM",
        ssl_keystore_location=str(store),
        sasl_enabled_mechanisms="PLAIN",
        listener_name_secure_plain_sasl_jaas_config=LOGIN.replace("'", '"'),
    ) as running:
        yield running


@pytest.mark.parametrize(("password", "right"), [("tea%cosy", True), ("wrong", False)])
def test_a_broker_with_tls_and_a_password_is_read(
    tmp_path: Path, authority: trustme.CA, secure_broker: Broker, password: str, right: bool
) -> None:
    """With the right password conversations arrive; with a wrong one it is said and counted."""
    topics = topics_on(secure_broker, partitions=1)
    conversations = synthetic(4, seed=601)
    secure_broker.write(topics.traces, keyed(r.body for r in planned(conversations)))
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    settings = topics.settings(
        KAFKA__BOOTSTRAP=secure_broker.secure_bootstrap,
        KAFKA__SECURITY="sasl_ssl",
        KAFKA__CA_FILE=str(tmp_path / "ca.pem"),
        KAFKA__USER="ines",
        KAFKA__PASSWORD=password,
    )
    with Served(tmp_path / "data", **settings) as served:
        if right:
            served.settled(len(conversations))
        else:
            eventually(lambda: served.value("kafka_errors_total") > 0, "it is counted")
            assert served.value("kafka_connected") == 0
            assert "wrong" not in served.errors.read_text()
            assert "Kafka" in served.errors.read_text()
