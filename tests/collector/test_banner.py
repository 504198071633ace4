"""A started process says where it is and how to use it."""

from collector.banner import banner, base_url
from collector.config import AuthConfig, Config, KafkaConfig, ReceiveConfig, TlsConfig


def exports(text: str) -> list[str]:
    """Return the lines to paste into a shell."""
    return [line.strip() for line in text.splitlines() if line.strip().startswith("export ")]


def test_shows_addresses_and_three_lines() -> None:
    """The snippet is three lines, and every address is a URL one can open."""
    text = banner(Config())
    assert exports(text) == [
        "export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318",
        "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
        "export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ]
    assert "http://127.0.0.1:9464/metrics" in text
    assert "http://127.0.0.1:8090" in text


def test_never_shows_the_token() -> None:
    """With a token there is a line for the header, with a placeholder in it."""
    text = banner(Config(auth=AuthConfig(token="s3cret-value")))  # noqa: S106 - an invented one
    assert "s3cret-value" not in text
    assert "OTEL_EXPORTER_OTLP_HEADERS" in exports(text)[3]


def test_all_interfaces_are_reached_by_loopback() -> None:
    """An address that cannot be connected to is shown as one that can."""
    config = Config(receive=ReceiveConfig(http="0.0.0.0:4318"))
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318" in banner(config)
    assert base_url("[::1]:8090") == "http://[::1]:8090"
    assert base_url("shop.example:80") == "http://shop.example:80"


def test_grpc_and_tls() -> None:
    """The gRPC port is shown where there is one, and TLS shows in the URLs."""
    assert "OTLP/gRPC  http://127.0.0.1:4317\n" in banner(Config())
    tls = TlsConfig(cert_file="c.pem", key_file="k.pem")
    text = banner(Config(receive=ReceiveConfig(grpc="", tls=tls)))
    assert "gRPC" not in text
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:4318" in text


def test_kafka_is_shown_where_it_is_read() -> None:
    """Brokers and group stand among the addresses, and nothing where none are set."""
    assert "Kafka" not in banner(Config())
    text = banner(Config(kafka=KafkaConfig(bootstrap="b-1:9092,b-2:9092", group="shop")))
    assert "Kafka      b-1:9092,b-2:9092, group shop\n" in text
