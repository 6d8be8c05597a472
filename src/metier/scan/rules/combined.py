"""Rules of the whole: what no single place shows."""

from __future__ import annotations

from metier.scan.rule import Rule

RULES: tuple[Rule, ...] = (
    Rule("SC801", "medium", "injection", "This passage reads like those of malicious skills",
         "Its words and what they are combined with were learnt from labelled skills; the weight is the passage's, not one word's.",
         "Read the passage: does the skill's task need it?"),
    Rule("SC802", "info", "structure", "Not every file could be judged",
         "A file is larger than is read closely, or there are more files than are read.", "Judge the rest by hand."),
)  # fmt: skip
