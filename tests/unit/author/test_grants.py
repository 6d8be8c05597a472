"""What a skill gets from its own words, and what a change adds to it."""

from __future__ import annotations

import pytest

from metier.author.limits import Grants, grants_of, widened
from metier.model import Document, Sidecar, Tool


def document(**fields: object) -> Document:
    """Give a document with these fields."""
    return Document("skill-md", "x", "", fields, 0, 1, {}, ())


def sidecar(*tools: Tool, implicit: bool = True) -> Sidecar:
    """Give a sidecar with these tools."""
    return Sidecar({}, tools, implicit, (), ())


NOTHING = grants_of(document(), None)


def test_a_plain_skill_gets_nothing() -> None:
    assert "" == widened(NOTHING, NOTHING)
    assert "" == widened(None, NOTHING)
    assert NOTHING == grants_of(None, None)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            document(**{"allowed-tools": "Read"}),
            document(**{"allowed-tools": "Read, Bash(git:*)"}),
            "allowed-tools (Bash(git:*))",
        ),
        (document(**{"allowed-tools": "Read Bash"}), document(**{"allowed-tools": ["Read"]}), ""),
        (
            document(compatibility="Requires git"),
            document(compatibility="Requires git and docker"),
            "commands (docker)",
        ),
        (
            document(**{"disable-model-invocation": "true"}),
            document(),
            "to be offered to the model",
        ),
        (document(), document(**{"disable-model-invocation": "true"}), ""),
        (document(), document(requires_skills=["deploy"]), "other skills (deploy)"),
        (
            document(),
            document(metadata={"hermes": {"config": [{"key": "wiki.path"}]}}),
            "configuration (wiki.path)",
        ),
        (document(metadata={"hermes": {"config": [{"key": "wiki.path"}]}}), document(), ""),
    ],
)
def test_what_is_new_is_named(before: Document, after: Document, said: str) -> None:
    told = widened(grants_of(before, None), grants_of(after, None))

    assert (f"it asks for new permissions: {said}" if said else "") == told


def hooks(*commands: str, event: str = "PreToolUse", **tied: str) -> Document:
    """Give a document with these hooks, all tied to the same."""
    return document(
        hooks={
            event: [
                {**tied, "hooks": [{"type": "command", "command": command} for command in commands]}
            ]
        }
    )


@pytest.mark.parametrize(
    ("before", "after", "waits"),
    [
        (document(), hooks("./check.sh"), True),
        (hooks("./check.sh"), hooks("./other.sh"), True),
        (hooks("./check.sh"), hooks("./check.sh", "./other.sh"), True),
        (hooks("./check.sh", matcher="Bash"), hooks("./check.sh", matcher="*"), True),
        (hooks("./check.sh"), hooks("./check.sh", event="Stop"), True),
        (document(), document(hooks="./check.sh"), True),
        (document(), document(hooks=["./check.sh"]), True),
        (document(), document(hooks={"Stop": "./check.sh"}), True),
        (document(), document(hooks={"Stop": [{"command": "./check.sh"}]}), True),
        (document(), document(hooks={"Stop": {"hooks": "./check.sh"}}), True),
        (hooks("./check.sh", "./other.sh"), hooks("./other.sh"), False),
        (hooks("./check.sh", "./other.sh"), hooks("./other.sh", "./check.sh"), False),
        (hooks("./check.sh"), document(), False),
        (document(), document(hooks=None), False),
        (document(), document(hooks={"Stop": []}), False),
    ],
)
def test_a_hook_that_is_new_or_another_is_more_than_before(
    before: Document, after: Document, waits: bool
) -> None:
    told = widened(grants_of(before, None), grants_of(after, None))

    assert waits == told.startswith("it asks for new permissions: hooks (")


def test_a_new_skill_may_not_have_hooks_or_settings_unseen() -> None:
    wanted = document(
        hooks={"Stop": "./check.sh"}, metadata={"hermes": {"config": [{"key": "wiki.path"}]}}
    )

    assert 'it asks for hooks (Stop "./check.sh"); configuration (wiki.path)' == widened(
        None, grants_of(wanted, None)
    )


def test_a_sidecar_counts_too() -> None:
    server = Tool("mcp", "tracker", "", "", "", "https://tracker.example")
    hidden, open_ = sidecar(implicit=False), sidecar(server)

    told = widened(grants_of(document(), hidden), grants_of(document(), open_))

    assert (
        "MCP servers (tracker|mcp__streamable_http__https://tracker.example); to be offered to the model"
        in told
    )


def test_a_long_list_is_named_in_part_and_on_one_line() -> None:
    many = Grants(
        {**NOTHING.kinds, "commands": frozenset(f"tool{number}\n" for number in range(9))},
        hidden=False,
    )

    assert (
        "it asks for new permissions: commands (tool0?, tool1?, tool2?, tool3?, tool4?, …)"
        == widened(NOTHING, many)
    )
