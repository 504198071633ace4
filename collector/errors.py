"""Name everything that can go wrong.

::

    OutriderError
    ├── ConfigError            the user's input is wrong; one line, names the key and the fix; exit code 2
    ├── PermanentError         retrying cannot help
    │   ├── MalformedError     bytes that are not what they claim to be            -> HTTP 400
    │   ├── OversizedError     larger than a limit, before or after decompression  -> HTTP 413
    │   ├── SlowError          a body that takes too long to arrive                -> HTTP 408
    │   ├── UnsupportedError   a content type or encoding we do not speak          -> HTTP 415
    │   └── PoisonRowError     the store will never take this row
    ├── InsertRefusedError     the store refuses rows, and whether for their own sake is not known
    ├── StoppedError           told to stop before it was done
    └── RetryableError         the same call may succeed later
        ├── JournalFullError   the journal has reached its size limit              -> HTTP 503
        └── StoreUnavailableError  the store did not take the batch
"""

from __future__ import annotations

RETRY_AFTER_S = 2.0
"""What a sender is told to wait. The OpenTelemetry SDKs' exporters make six attempts and give up after
ten seconds unless told otherwise: in shorter steps they use the attempts up, in longer ones the time."""


class OutriderError(Exception):
    """Be the root of every error that Outrider raises on purpose."""


class ConfigError(OutriderError):
    """The configuration or the command line is wrong; the text names the key and the fix."""


class PermanentError(OutriderError):
    """The same call can never succeed."""


class MalformedError(PermanentError):
    """The bytes are not what their content type says."""


class OversizedError(PermanentError):
    """The input is larger than a limit."""


class SlowError(PermanentError):
    """The sender took too long."""


class UnsupportedError(PermanentError):
    """The content type or encoding is not one we speak."""


class PoisonRowError(PermanentError):
    """The store refuses a row whatever else is in the batch."""


class InsertRefusedError(OutriderError):
    """The store refuses an insert for a reason that a row, the table or the server may have given."""


class StoppedError(OutriderError):
    """Somebody said stop before the work was done; it is done after the next start."""


class RetryableError(OutriderError):
    """The same call may succeed later."""

    def __init__(self, message: str, *, retry_after_s: float = RETRY_AFTER_S) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class JournalFullError(RetryableError):
    """The journal has reached its size limit."""


class StoreUnavailableError(RetryableError):
    """The store did not take the batch; it stays in the journal."""
