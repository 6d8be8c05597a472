"""Rules of the whole: what a skill declares against what it does (SC700 to SC719), and what no
single place shows (SC800 to SC819).
"""

from __future__ import annotations

from metier.scan.model import ScanRule

RULES = (
    ScanRule(
        "SC700",
        "medium",
        "escalation",
        "The skill runs programs, but does not ask for the tool that runs them",
        "What it asks for is what the user agreed to",
        "Add the tool to `allowed-tools`, or drop the commands",
    ),
    ScanRule(
        "SC701",
        "medium",
        "escalation",
        "The skill reads secrets from the environment that it does not declare",
        "A key that a skill does not mention is a key that it should not have",
        "Declare the variable, or do not read it",
    ),
    ScanRule(
        "SC702",
        "medium",
        "escalation",
        "The skill says it works without a network, and uses one",
        "What it says of itself is not true",
        "Ask what the connection is for",
    ),
    ScanRule(
        "SC703",
        "low",
        "escalation",
        "The skill asks for tools without any limit",
        "An unlimited tool can do everything the agent can",
        "Name the commands that are needed, such as `Bash(git:*)`",
    ),
    ScanRule(
        "SC704",
        "medium",
        "escalation",
        "The skill asks for reading only, and writes",
        "What it says of itself is not true",
        "Ask for the tool that writes, or do not write",
    ),
    ScanRule(
        "SC705",
        "medium",
        "escalation",
        "The skill asks for reading only, and reads credentials and talks to the network",
        "Nothing that it declares calls for either",
        "Do not use the skill",
    ),
    ScanRule(
        "SC801",
        "medium",
        "injection",
        "Reads like text from a malicious skill",
        "A classifier trained on known-malicious skills flagged this passage. It judges the whole "
        "passage and can be wrong. On its own it never makes a skill dangerous.",
        "Does the passage have you hide something, send something away, or do what the skill's task "
        "doesn't need? If not, waive it: metier waive --help",
    ),
    ScanRule(
        "SC802",
        "info",
        "structure",
        "Not every file could be judged",
        "A file is larger than is read closely, or there are more files than are read.",
        "Judge the rest by hand.",
    ),
    ScanRule(
        "SC803",
        "medium",
        "injection",
        "Your own model rates this passage harmful",
        "This is the opinion of the model in scan.judge, which can be wrong. On its own it never "
        "makes a skill dangerous.",
        "Read the passage: does the skill's task need it?",
    ),
    ScanRule(
        "SC804",
        "medium",
        "injection",
        "The skill's text misled your own model",
        "The model in scan.judge answers test questions correctly, but not with this skill's text "
        "beside them. The text misled it, so its answer was thrown away.",
        "Read the skill for text that speaks to whoever reviews it.",
    ),
)
