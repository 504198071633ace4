"""Hold what each sign against a statement weighs, as bench/learn_faithfulness.py has learned it.

Learned from answers that people labelled: SummEdits, Q2 and Factcheck-GPT (Apache-2.0), HaluEval
(MIT), WiCE (ODC-BY 1.0) and BEGIN (CC-BY-4.0; the part that rests on Topical-Chat under
CDLA-Sharing-1.0, which puts no terms on results). No text of theirs is here.
"""

from __future__ import annotations

from collections.abc import Mapping

SHARPNESS = 2.0
"""How much the worst statement outweighs the others when the weights are learned."""
LIMIT = 5.314
"""The load at which a statement is worth one half."""
WEIGHTS: Mapping[str, float] = {
    "apart": 0.512,
    "contrast": 0.465,
    "degree": 0.619,
    "denial_added": 0.411,
    "denial_dropped": 0.309,
    "denial_lifted": 0.626,
    "denial_new": 0.0,
    "denies": 0.347,
    "denies_alone": 0.195,
    "kin": -0.277,
    "length": 0.255,
    "name": 1.133,
    "narrower": -0.148,
    "noun_share": 1.734,
    "number": 1.295,
    "number_moved": 0.399,
    "opposite": 0.135,
    "opposite_closely": 0.683,
    "other_modal": 0.256,
    "quantifier": 0.128,
    "quotation": 0.775,
    "repeated": 0.111,
    "reversed": 1.473,
    "rounded": 0.498,
    "short": -0.453,
    "small_number": 0.157,
    "surer": 0.48,
    "synonym": -0.363,
    "turned": 0.287,
    "turned_closely": 0.834,
    "unit": 0.945,
    "unlike": 0.336,
    "unsupported": 2.327,
    "clash": 4.0,
    "foreign": 2.0,
    "sides": 1.0,
}
