"""Hold what each sign against a statement weighs, as bench/learn_faithfulness.py has learned it.

Learned from answers that people labelled: SummEdits, Q2 and Factcheck-GPT (Apache-2.0), HaluEval
(MIT), WiCE (ODC-BY 1.0) and BEGIN (CC-BY-4.0; the part that rests on Topical-Chat under
CDLA-Sharing-1.0, which puts no terms on results). No text of theirs is here.
"""

from __future__ import annotations

from collections.abc import Mapping

SHARPNESS = 2.0
"""How much the worst statement outweighs the others when the weights are learned."""
LIMIT = 5.312
"""The load at which a statement is worth one half."""
WEIGHTS: Mapping[str, float] = {
    "apart": 0.584,
    "beyond": 0.255,
    "contrast": 0.442,
    "degree": 0.62,
    "denial_added": 0.432,
    "denial_dropped": 0.301,
    "denial_lifted": 0.635,
    "denial_new": 0.0,
    "denies": 0.354,
    "denies_alone": 0.172,
    "kin": -0.282,
    "length": 0.225,
    "name": 1.123,
    "narrower": -0.155,
    "noun": 0.087,
    "number": 1.221,
    "number_moved": 0.398,
    "opposite": 0.141,
    "opposite_closely": 0.659,
    "other_modal": 0.283,
    "quantifier": 0.137,
    "quotation": 0.765,
    "repeated": 0.122,
    "reversed": 1.481,
    "rounded": 0.506,
    "short": -0.532,
    "small_number": 0.135,
    "surer": 0.507,
    "synonym": -0.382,
    "turned": 0.263,
    "turned_closely": 0.841,
    "unit": 0.94,
    "unlike": 0.345,
    "unsupported": 2.25,
    "clash": 4.0,
    "foreign": 2.0,
    "sides": 1.0,
}
