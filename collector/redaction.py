"""Build the gate from the configuration and its key."""

from __future__ import annotations

from pathlib import Path

import msgspec

from collector.config import RedactConfig
from collector.content_policy import ContentPolicy
from collector.field_rules import FieldRules
from collector.key_file import key_in
from collector.redactor import Redactor

KEY_FILE = "pseudonym.key"
"""In the data directory, for its owner alone."""


def redactor_of(config: RedactConfig, key: bytes = b"") -> Redactor:
    """Return what records, and all that is said about them, pass before they leave.

    Args:
        config: The section ``redact``.
        key: Of the pseudonyms; without one, as where no data directory is, they are plain hashes.
    """
    whole = config.content == "full"
    rules = FieldRules(config.fields, key=key) if config.fields else None
    content = config.content != "metadata_only"
    return Redactor(
        () if whole else config.kinds,
        {} if whole else config.patterns,
        key=key,
        policy=ContentPolicy(content=content, rules=rules) if rules or not content else None,
    )


def strict_redactor(config: RedactConfig, key: bytes = b"") -> Redactor:
    """Return what log lines, metric labels and the proxy's export pass, where the store keeps all."""
    if config.content != "full":
        return redactor_of(config, key)
    return redactor_of(msgspec.structs.replace(config, content="redacted"), key)


def pseudonym_key(config: RedactConfig, data_dir: Path) -> bytes:
    """Return the configured key, else that of the data directory, made when there is none.

    Raises:
        ConfigError: The directory is not writable, or the file is not ours.
    """
    return config.pseudonym_key.encode() or key_in(data_dir / KEY_FILE)
