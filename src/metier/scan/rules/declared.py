"""What a skill declares against what it does (SC700 to SC719)."""

from __future__ import annotations

from metier.scan.rule import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        "SC700",
        "medium",
        "escalation",
        "The skill runs programs, but does not ask for the tool that runs them",
        "What it asks for is what the user agreed to",
        "Add the tool to `allowed-tools`, or drop the commands",
    ),
    Rule(
        "SC701",
        "medium",
        "escalation",
        "The skill reads secrets from the environment that it does not declare",
        "A key that a skill does not mention is a key that it should not have",
        "Declare the variable, or do not read it",
    ),
    Rule(
        "SC702",
        "high",
        "escalation",
        "The skill says it works without a network, and uses one",
        "What it says of itself is not true",
        "Ask what the connection is for",
    ),
    Rule(
        "SC703",
        "low",
        "escalation",
        "The skill asks for tools without any limit",
        "An unlimited tool can do everything the agent can",
        "Name the commands that are needed, such as `Bash(git:*)`",
    ),
    Rule(
        "SC704",
        "medium",
        "escalation",
        "The skill asks for reading only, and writes",
        "What it says of itself is not true",
        "Ask for the tool that writes, or do not write",
    ),
    Rule(
        "SC705",
        "high",
        "escalation",
        "The skill asks for reading only, and reads credentials and talks to the network",
        "Nothing that it declares calls for either",
        "Do not use the skill",
    ),
)
