"""Where skills may come from and who may publish them: a table of sources and patterns."""

from __future__ import annotations

from itertools import product

import pytest

from metier.trust.source_rules import (
    NotPublisher,
    PolicyLine,
    Publisher,
    PublisherRule,
    SourceRules,
    judge_source,
    matches,
    publisher_of,
    source_place,
)

KEY, OTHER = f"ed25519:{'a' * 32}", f"ed25519:{'b' * 32}"


@pytest.mark.parametrize(
    ("pattern", "source", "covered"),
    [
        ("example/*", "https://github.com/example/skills", True),
        ("https://github.com/example/*", "https://github.com/example/skills", True),
        ("github.com/example/skills", "https://github.com/example/skills", True),
        ("example/skills", "https://github.com/example/skills-evil", False),
        ("example/*", "https://github.com/example2/skills", False),
        ("example/*", "https://github.com/Example/skills", False),
        ("*", "https://github.com/example/skills", True),  # its owner, and all that lies below
        ("**", "mcp+https://host/mcp", True),
        ("https://host", "https://host/a/b", True),
        ("https://host", "https://host.evil/a", False),
        ("https://host", "https://host:8443/a", False),
        ("https://host", "https://host@evil/a", False),
        ("https://*.example.com/x", "https://a.example.com/x", True),
        ("https://*.example.com/x", "https://evil.com/a.example.com/x", False),
        ("https://**/x", "https://a/b/c/x", True),
        ("oci://host/team/**", "oci://host/team/pdf:1.0", True),
        ("oci://host/team/pdf", "oci://host/team/pdf@sha256:0", True),
        ("oci://host", "oci://host:5000/team/pdf", False),
        ("oci://host/team/pdf", "oci://host/team/pdfx:1", False),
        ("/srv/skills", "/srv/skills/pdf", True),
        ("/srv/skills", "/srv/skills/../../etc", False),
        ("example/skills", "https://github.com/example/skills/commit/0123", False),
        ("example/skills", "https://github.com/example/skills%2f..", False),
        ("git@host:team/*", "git@host:team/skills", True),
    ],
)
def test_a_pattern_covers_what_it_names_and_what_lies_below(
    pattern: str, source: str, *, covered: bool
) -> None:
    place = source_place(source)

    assert covered == bool(place and matches(pattern, place))


def test_a_pattern_of_many_stars_takes_no_longer_than_its_length_allows() -> None:
    assert not matches("**a" * 90, "a" * 2_000 + "b")


def line(text: str) -> tuple[PolicyLine, ...]:
    return (PolicyLine(text, "/p.toml:1"),)


SOURCE = "https://github.com/example/skills"
RULES = {
    "nothing": SourceRules("user", "/u"),
    "allows it": SourceRules("user", "/u", allow=line("example/*"), allow_place="/u:1"),
    "allows another": SourceRules("user", "/u", allow=line("other/*"), allow_place="/u:1"),
    "allows none": SourceRules("user", "/u", allow=(), allow_place="/u:1"),
    "denies it": SourceRules("user", "/u", deny=line("EXAMPLE/skills")),
    "denies another": SourceRules("user", "/u", deny=line("other/*")),
    "wants it signed": SourceRules("user", "/u", signed=line("**")),
    "publisher": SourceRules(
        "user", "/u", publishers=(PublisherRule("example/*", (KEY,), "/u:1"),)
    ),
    "publisher elsewhere": SourceRules(
        "user", "/u", publishers=(PublisherRule("other/*", (KEY,), "/u:1"),)
    ),
}
REFUSED = {
    "nothing": (),
    "allows it": (),
    "allows another": ("", KEY, OTHER),
    "allows none": ("", KEY, OTHER),
    "denies it": ("", KEY, OTHER),
    "denies another": (),
    "wants it signed": ("",),
    "publisher": ("", OTHER),
    "publisher elsewhere": (),
}
"""For which signers of a skill from `SOURCE` each file's rules refuse it."""


@pytest.mark.parametrize("key", ["", KEY, OTHER])
def test_each_file_narrows_and_none_widens_what_another_says(key: str) -> None:
    for name, rules in RULES.items():
        assert (key in REFUSED[name]) == judge_source([rules], SOURCE, key).refused, name
    for one, two, three in product(RULES, repeat=3):
        alone = [judge_source([RULES[name]], SOURCE, key).refused for name in (one, two, three)]
        together = judge_source([RULES[name] for name in (one, two, three)], SOURCE, key)
        # A signature that one file does not count may be missing in another: never the other way.
        assert together.refused >= any(alone), (one, two, three)


def test_what_is_refused_names_the_line_and_what_is_allowed_too() -> None:
    no = judge_source([RULES["denies it"]], SOURCE)
    yes = judge_source([RULES["allows it"]], SOURCE)

    assert [("user", "/p.toml", 1, "sources.deny")] == [one[:4] for one in no.because]
    assert "policy: skills from" in no.because[0].told
    assert "(/p.toml:1)" in no.because[0].told
    assert [("sources.allow", 1)] == [(one.rule, one.line) for one in yes.because]


def test_a_pull_request_and_an_odd_source_are_never_the_allowed_one() -> None:
    assert judge_source([RULES["allows it"]], SOURCE, ref="pull/7/head").refused
    assert judge_source([RULES["allows it"]], f"{SOURCE}/../../x/y").refused
    assert judge_source([RULES["denies another"]], f"{SOURCE}%2f").refused
    assert not judge_source([RULES["allows none"]], "").refused  # trust.local_default decides
    assert not judge_source([RULES["allows none"]], "metier:shipped").refused


def test_a_key_publishes_what_its_rules_name_and_nothing_else() -> None:
    rules = [RULES["publisher"]]

    assert isinstance(publisher_of(rules, SOURCE, KEY), Publisher)
    stranger = publisher_of(rules, SOURCE, OTHER)
    beyond = publisher_of(rules, "oci://host/team/pdf", KEY)
    assert isinstance(stranger, NotPublisher)
    assert isinstance(beyond, NotPublisher)
    assert (True, False) == (stranger.refused, beyond.refused)
    assert isinstance(publisher_of(rules, "oci://host/team/pdf", OTHER), Publisher)
    assert isinstance(publisher_of(rules, "mcp+https://host/mcp", ""), NotPublisher)


@pytest.mark.parametrize(
    ("pattern", "source"),
    [
        ("evil/skills", "archive:https://github.com/evil/skills/archive/refs/heads/main.zip"),
        ("evil/skills", "https://codeload.github.com/evil/skills/zip/refs/heads/main"),
        ("evil/*", "https://raw.githubusercontent.com/evil/skills/main/pdf/SKILL.md"),
        ("https://github.com/evil/*", "file:https://github.com/Evil/skills/x/SKILL.md"),
        ("https://host/evil/**", "git@host:evil/x.git"),
        ("https://host/evil/x", "ssh://git@host/evil/x.git"),
        ("https://host/evil", "http://host/evil/x"),
        ("https://host/evil", "https://host./evil/x"),
        ("https://host/evil", "mcp+https://host/evil/mcp"),
        ("git@host:evil/x", "git@host:evil/x.git"),
        ("git@host:evil/*", "https://host/evil/x"),
        ("git+https://host/x.git", "https://host/x.git"),
        ("github:evil/skills", "https://github.com/evil/skills"),
        ("marketplace:evil/skills", "https://github.com/evil/skills"),
        ("/srv/evil", "file:///srv/evil/skills.git"),
        ("clawhub:evil", "clawhub:https://clawhub.ai/evil"),
        ("clawhub:**", "clawhub:https://clawhub.ai/evil"),
        ("mcp+https://host/mcp", "mcp+https://HOST/mcp"),
        ("oci://host/evil", "oci://host/evil/pdf:1"),
        ("oci://host:443/evil/pdf", "oci://host/evil/pdf:1"),
        ("https://*.evil.com", "git@git.evil.com:a/b"),
    ],
)
def test_a_denial_covers_a_source_however_it_is_reached(pattern: str, source: str) -> None:
    denying = SourceRules("user", "/u", deny=line(pattern))
    signed = SourceRules("user", "/u", signed=line(pattern))

    assert judge_source([denying], source).refused
    assert judge_source([signed], source).refused


@pytest.mark.parametrize(
    ("pattern", "source"),
    [
        ("evil/skills", "https://github.com/evil/skills-2"),
        ("evil/skills", "https://host/evil/skills"),
        ("*/skills", "https://host/skills"),
        ("https://host/evil", "git@host:evil2/x"),
        ("/srv/evil", "file:///srv/evil2"),
        ("https://host", "https://host2/x"),
        ("https://host:8443/x", "https://host/x"),
        ("clawhub:evil", "clawhub:https://clawhub.ai/evil2"),
    ],
)
def test_a_denial_covers_nothing_else(pattern: str, source: str) -> None:
    assert not judge_source([SourceRules("user", "/u", deny=line(pattern))], source).refused
