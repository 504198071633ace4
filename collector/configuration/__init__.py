"""The sections of ``outrider.yaml``, one struct each."""
