"""Know the opposites that turn a statement round when one stands in for the other."""

from __future__ import annotations

from types import MappingProxyType

from scorers.rules.stems import stem

_PAIRS = """
before after; more less; more fewer; most least; increase decrease; rise fall; rise drop; up down; high low;
higher lower; large small; big small; first last; early late; earlier later; old new; older newer; young old;
all some; all none; always never; many few; some none; can cannot; able unable; accept reject; accept decline;
agree refuse; agree disagree; allow forbid; allow prevent; allow prohibit; win lose; won lost; success
failure; succeed fail; success unsuccess; start end; begin end; start stop; open close; opened closed; buy
sell; bought sold; enter leave; arrive leave; push pull; male female; men women; father mother; son daughter;
brother sister; husband wife; boy girl; king queen; north south; east west; inside outside; include exclude;
support oppose; positive negative; good bad; better worse; best worst; strong weak; easy hard; easy difficult;
simple complex; fast slow; cheap expensive; rich poor; true false; same different; similar different; public
private; internal external; major minor; maximum minimum; above below; over under; limited abundant; limited
unlimited; scarce abundant; present absent; confirm deny; love hate; remember forget; happy sad; alive dead;
live die; born died; day night; morning evening; summer winter; future past; ancient modern; domestic foreign;
local global; national international; reduce enhance; reduce increase; improve worsen; improve degrade;
supervised unsupervised; known unknown; likely unlikely; possible impossible; common rare; hot cold; light
dark; single multiple; gain loss; profit loss; attack defend; victory defeat; guilty innocent; legal illegal;
safe dangerous; healthy sick; visible invisible; sufficient insufficient; consistent inconsistent; complete
incomplete; direct indirect; formal informal; active passive; permanent temporary; approve reject; grant deny;
hire fire; lend borrow; teach learn; presence absence; encourage discourage; efficient inefficient; deep
shallow; wide narrow; thick thin; heavy light; long short; tall short
"""


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _PAIRS.split(";"):
        one, other = map(stem, pair.split())
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITES = MappingProxyType(_table())
"""Stem -> the stems of its opposites."""
