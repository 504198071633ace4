"""Hold what each sign against a statement weighs, as bench/learn_faithfulness.py has learned it.

Learned from answers that people labelled: SummEdits, Q2 and Factcheck-GPT (Apache-2.0), HaluEval
(MIT), WiCE (ODC-BY 1.0) and BEGIN (CC-BY-4.0; the part that rests on Topical-Chat under
CDLA-Sharing-1.0, which puts no terms on results). No text of theirs is here.
"""

from __future__ import annotations

from collections.abc import Mapping

SHARPNESS = 2.0
"""How much the worst statement outweighs the others when the weights are learned."""
LIMIT = 5.311
"""The load at which a statement is worth one half."""
WEIGHTS: Mapping[str, float] = {
    "apart": 0.577,
    "beyond": 0.245,
    "contrast": 0.439,
    "degree": 0.618,
    "denial_added": 0.42,
    "denial_dropped": 0.309,
    "denial_lifted": 0.643,
    "denial_new": 0.0,
    "denies": 0.343,
    "denies_alone": 0.183,
    "kin": -0.282,
    "length": 0.23,
    "name": 1.121,
    "narrower": -0.155,
    "noun": 0.086,
    "number": 1.22,
    "number_moved": 0.395,
    "opposite": 0.14,
    "opposite_closely": 0.707,
    "other_modal": 0.282,
    "quantifier": 0.138,
    "quotation": 0.765,
    "repeated": 0.12,
    "reversed": 1.474,
    "rounded": 0.504,
    "short": -0.524,
    "small_number": 0.134,
    "surer": 0.502,
    "synonym": -0.381,
    "turned": 0.258,
    "turned_closely": 0.843,
    "unit": 0.936,
    "unlike": 0.339,
    "unsupported": 2.269,
    "clash": 4.0,
    "foreign": 2.0,
    "sides": 1.0,
}
