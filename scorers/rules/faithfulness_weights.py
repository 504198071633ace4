"""Hold what each sign against a statement weighs, as bench/learn_faithfulness.py has learned it.

Learned from answers that people labelled: SummEdits, Q2 and Factcheck-GPT (Apache-2.0), HaluEval
(MIT), WiCE (ODC-BY 1.0) and BEGIN (CC-BY-4.0; the part that rests on Topical-Chat under
CDLA-Sharing-1.0, which puts no terms on results). No text of theirs is here.
"""

from __future__ import annotations

from collections.abc import Mapping

SHARPNESS = 2.0
"""How much the worst statement outweighs the others when the weights are learned."""
LIMIT = 5.181
"""The load at which a statement is worth one half."""
WEIGHTS: Mapping[str, float] = {
    "apart": 0.537,
    "contrast": 0.497,
    "degree": 0.629,
    "denial_added": 0.411,
    "denial_dropped": 0.317,
    "denial_lifted": 0.614,
    "denial_new": 0.0,
    "denies": 0.365,
    "denies_alone": 0.192,
    "kin": -0.283,
    "length": 0.273,
    "name": 1.006,
    "narrower": -0.143,
    "noun_share": 1.748,
    "number": 1.285,
    "number_moved": 0.402,
    "opposite": 0.157,
    "opposite_closely": 0.669,
    "other_modal": 0.266,
    "quantifier": 0.057,
    "quotation": 0.751,
    "repeated": 0.123,
    "reversed": 1.477,
    "rounded": 0.491,
    "short": -0.433,
    "small_number": 0.178,
    "surer": 0.491,
    "synonym": -0.359,
    "turned": 0.178,
    "turned_closely": 0.917,
    "unit": 0.97,
    "unlike": 0.372,
    "unsupported": 2.29,
    "clash": 4.0,
    "foreign": 2.0,
    "sides": 1.0,
}
