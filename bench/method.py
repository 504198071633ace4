"""Say how the figures were taken, for whoever doubts them."""

METHOD = """\
## How it is measured

- Requests are prepared beforehand, so every system is sent the same bytes: at most {spans} spans each, closed at
  {kib} KiB, over {senders} connections at full speed, not compressed. The sender runs on the same machine and takes its
  share of it; what it can do alone stands under each table.
- Runs are taken in pairs, Outrider and then the peer, round after round. Each time the system is started on an empty
  directory, sent a few conversations to warm up, and then the loads that both are sent, one after the other.
- *acknowledged*: up to the last answer. Outrider has then written the request to its journal and synced the disk;
  Phoenix has put the spans into a queue in memory; MLflow has committed them to its database.
- *done*: up to the moment when all that was sent can be read from the database and all work on it is finished. Outrider
  has put every conversation together, scored it by all rules, redacted it and stored it in the embedded ClickHouse; its
  default waits are in the figure, one second after the end of a conversation and up to one more to fill a batch, which
  weigh on a short load. Phoenix and MLflow have the rows in their SQLite database; they score nothing. Phoenix does not
  ask SQLite to sync the disk.
- After each run the system is stopped and the spans in its database are counted; a run in which one is missing does not
  count, and is listed.
- CPU time and memory are those of all processes of a system (VmHWM, summed, so that pages which processes share count in
  each). MLflow starts four workers by default. *on disk* is all that stands in its directory afterwards, the warm-up and
  the load before in the same session included.
- Peers run as `phoenix serve` and `mlflow server` do by default on SQLite. Only their telemetry and other requests to the
  internet are off.

`make bench` repeats it, on Linux. It installs the newest peers outside the tree when they are not there yet, in
`~/.cache/outrider-bench`; remove that directory to take newer ones. `.venv/bin/python -m bench --help` tells how to leave
the peers out or take less. Real conversations are taken from the directory `OUTRIDER_CORPORA`; without it, invented ones
of about the same size stand in, and the page says so.
"""
