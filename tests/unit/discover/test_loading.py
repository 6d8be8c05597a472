"""One agent's way with a SKILL.md, field by field of its `Loading`."""

from __future__ import annotations

from typing import Any

import pytest

from metier.discover.agents import AGENTS, Agent
from metier.discover.loading import as_loaded, closed_gate, read_as
from metier.model import Diagnostic, Entry, FieldRule, Gates, Loading

FENCE = r"---\n([\s\S]*?)\n---\n"
BOTH = (FieldRule("name"), FieldRule("description"))
PLAIN = Loading(fence=FENCE, fields=BOTH)


def head(*lines: str) -> bytes:
    return "\n".join(["---", *lines, "---", "", "Body.", ""]).encode()


def left_out(loading: Loading, data: bytes) -> str:
    return read_as(loading, data, "folder").left_out


def test_an_ordinary_file_is_read() -> None:
    found = read_as(PLAIN, head("name: one", "description: Does  it."), "folder")

    assert ("one", "Does  it.", "") == (found.name, found.description, found.left_out)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Body.\n", "no frontmatter"),
        (head("name: one"), "no description"),
        (head("description: Does it."), "no name"),
        (head("name: one", "description:"), "no description"),
        (head("name: one", 'description: " "'), "description is empty"),
        (head("name: 42", "description: Does it."), "name is a number, not text"),
        (head("name: true", "description: Does it."), "name is a flag, not text"),
        (head("name: [a]", "description: Does it."), "name is a list, not text"),
        (head("name: one", "description: {a: b}"), "description is a map, not text"),
        (head("name: one", "description: [a"), "not valid YAML"),
        (head("- a"), "holds no fields"),
        (head("name: one", "description: *nothing"), "alias"),
    ],
)
def test_what_is_missing_or_wrong_is_said(data: bytes, said: str) -> None:
    assert said in left_out(PLAIN, data)


def test_a_file_without_frontmatter_is_loaded_where_the_agent_loads_it() -> None:
    found = read_as(PLAIN._replace(bare=True, fields=()), b"# Words\n", "folder")

    assert ("folder", "") == (found.name, found.left_out)


@pytest.mark.parametrize(
    ("repair", "line", "expected"),
    [
        ("", "Use when: asked", "not valid YAML"),
        ("quote", "Use when: asked", ""),
        ("quote", "[open", ""),
        ("quote", "%percent", "not valid YAML"),
        ("colon", "Use when: asked", ""),
        ("colon", "[open", "not valid YAML"),
        ("lines", "[open", ""),
        ("pairs", "[open", ""),
    ],
)
def test_each_mends_what_is_not_yaml_in_its_own_way(repair: str, line: str, expected: str) -> None:
    loading = PLAIN._replace(repair=repair, mended="[{@`")

    said = left_out(loading, head("name: one", f"description: {line}"))

    assert (expected in said) if expected else said == ""


@pytest.mark.parametrize(
    ("once", "lines", "loads"),
    [
        ((), ("name: one", "name: two", "description: x y"), True),
        (("name",), ("name: one", "name: two", "description: x y"), False),
        (("name",), ("name: one", "description: x y", "metadata:", "  a: b", "  a: c"), True),
        (("*",), ("name: one", "description: x y", "metadata:", "  a: b", "  a: c"), False),
    ],
)
def test_a_field_that_is_given_twice(
    once: tuple[str, ...], lines: tuple[str, ...], loads: bool
) -> None:
    assert loads == (not left_out(PLAIN._replace(once=once), head(*lines)))


def test_the_last_of_two_values_counts_where_it_does() -> None:
    data = head("name: one", "name: two", "description: Does it.")

    assert ("one", "two") == tuple(
        read_as(PLAIN._replace(last_value=last), data, "folder").name for last in (False, True)
    )


@pytest.mark.parametrize(
    ("rule", "value", "loads"),
    [
        (FieldRule("name", most=3), "four", False),
        (FieldRule("name", most=4), "four", True),
        (FieldRule("name", pattern=r"[a-z]+\Z"), "One", False),
        (FieldRule("name", ("text", "number")), "42", True),
        (FieldRule("name", required=False), "", True),
        (FieldRule("name", ("text", "nothing"), null_is_missing=False), "null", True),
        (FieldRule("name", null_is_missing=False), "null", False),
        (FieldRule("name", empty=True), '""', True),
        (FieldRule("name", spaces=True), '"  "', True),
    ],
)
def test_a_rule_for_one_field(rule: FieldRule, value: str, loads: bool) -> None:
    assert loads == (not left_out(Loading(fence=FENCE, fields=(rule,)), head(f"name: {value}")))


def test_bytes_that_are_not_text() -> None:
    data = head("name: one", "description: Does it.") + b"\xe9\n"

    assert "not valid UTF-8" in left_out(PLAIN._replace(utf8=True), data)
    assert "" == left_out(PLAIN, data)
    assert "" == read_as(PLAIN._replace(utf8=True), data[:-1], "folder", complete=False).left_out


def test_line_ends_and_how_much_is_read() -> None:
    data = head("name: one", "description: Does it.").replace(b"\n", b"\r")

    assert "no frontmatter" in left_out(PLAIN, data)
    assert "" == left_out(PLAIN._replace(newlines=True), data)
    assert "no frontmatter" in left_out(PLAIN._replace(newlines=True, reads=20), data)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("null", "None"), ("true", "True"), ("yes", "True"), ("42", "42"), ("[a, b]", "['a', 'b']")],
)
def test_what_is_not_text_becomes_what_python_writes(value: str, expected: str) -> None:
    rule = FieldRule("name", ("text", "number", "flag", "list", "nothing"), null_is_missing=False)
    loading = Loading(fence=FENCE, fields=(rule,), python_words=True)

    assert expected == read_as(loading, head(f"name: {value}"), "folder").name


def test_tabs_and_tags() -> None:
    tab = head("name: one", "description: Does it.", "metadata:", "\tkey: value")
    tag = head("name: one", "description: !own Does it.")

    assert ["not valid YAML" in left_out(PLAIN, tab), left_out(PLAIN._replace(tabs=True), tab)] == [
        True,
        "",
    ]
    assert ["", True] == [left_out(PLAIN, tag), "tag" in left_out(PLAIN._replace(tags=False), tag)]


@pytest.mark.parametrize(
    ("value", "closed"),
    [("true", True), ("True", True), ("yes", False), ("false", False)],
)
def test_a_field_closes_by_the_values_that_the_agent_knows(value: str, closed: bool) -> None:
    loading = Loading(closing=(("hide.me", ("true",)),))

    assert closed == bool(closed_gate(loading, {"hide": {"me": value}}))


@pytest.mark.parametrize(
    ("paths", "closed"), [(["*.rs"], True), ("src/*.py", True), (["**"], False), ([], False)]
)
def test_patterns_close_unless_they_match_everything(paths: object, closed: bool) -> None:
    assert closed == bool(closed_gate(Loading(closing=(("paths", ()),)), {"paths": paths}))


def entry(**more: Any) -> Entry:
    made = Entry("skill-md", "/r/folder", "SKILL.md", "", "one", "Does it well.", "", "")
    return made._replace(**more)


NOTE = Diagnostic("SK035", "error", "", "SKILL.md", 1, 1, "")
ORDINARY = head("name: one", "description: Does it well.")


def test_a_name_is_the_folders_or_cut_or_cleaned_where_it_is() -> None:
    def name(loading: Loading, **more: Any) -> str:
        return as_loaded(loading, entry(**more), ORDINARY, complete=True).name

    assert "one" == name(PLAIN)
    assert "folder" == name(PLAIN._replace(named_by_folder=True))
    assert "plug:folder" == name(
        PLAIN._replace(named_by_folder=True), name="plug:one", plugin="plug"
    )
    assert "on" == name(PLAIN._replace(longest_name=2))
    assert "-ne" == name(PLAIN._replace(replaced="o"))


def test_what_strangers_write_into_names_and_descriptions_is_one_short_line() -> None:
    data = head('name: "one\\n\\ttwo\\e[31m"', f"description: {'long ' * 500}")

    found = as_loaded(PLAIN, entry(diagnostics=(NOTE,)), data, complete=True)

    assert "\n" not in found.name
    assert "\t" not in found.name
    assert len(found.description) <= 1024
    assert found.tokens > 100


def test_a_name_that_is_empty_to_an_agent_is_shown_as_its_folder() -> None:
    rules = (FieldRule("name", empty=True),)

    found = as_loaded(
        Loading(fence=FENCE, fields=rules),
        entry(diagnostics=(NOTE,)),
        head('name: ""'),
        complete=True,
    )

    assert ("folder", "") == (found.name, found.left_out)


@pytest.mark.parametrize("agent", [one for one in AGENTS if one.loading], ids=lambda one: one.id)
@pytest.mark.parametrize(
    "tail", ["\n" * 200_000 + "x", "description: x" + " " * 200_000 + "y\n", "---x\n" * 40_000]
)
def test_no_agents_way_is_slow_on_a_file_without_an_end(agent: Agent, tail: str) -> None:
    assert agent.loading is not None

    read_as(agent.loading, f"---\n{tail}".encode(), "folder")  # minutes, were it quadratic


def test_which_files_count() -> None:
    def why(loading: Loading, **more: Any) -> str:
        return as_loaded(loading, entry(**more), ORDINARY, complete=True).left_out

    assert "" == why(PLAIN)
    assert "called skill.md" in why(PLAIN, file="skill.md")
    assert "" == why(PLAIN._replace(any_case=True), file="skill.md")
    assert "flat" in why(PLAIN, kind="flat-md", file="")
    assert "more than 10 bytes" in why(PLAIN._replace(largest=10), size=11)


def test_gates_that_an_agent_does_not_know_are_open_to_it() -> None:
    data = head("name: one", "description: Does it well.", "platforms: [macos]")
    made = entry(
        gates=Gates(platforms=("macos", "beos"), environments=("docker",), model_hidden="x")
    )

    known = as_loaded(PLAIN._replace(gates=("platforms",)), made, data, complete=True)
    unknown = as_loaded(PLAIN, made, data, complete=True)

    assert (Gates(platforms=("macos",)), None) == (known.gates, unknown.gates)


def test_a_fault_of_metiers_does_not_matter_to_an_agent_that_loads_it() -> None:
    note = Diagnostic("SK011", "error", "", "SKILL.md", 1, 1, "")

    found = as_loaded(
        Loading(fence=FENCE, bare=True), entry(diagnostics=(note,)), b"---\n", complete=True
    )

    assert (True, "") == (found.loaded, found.left_out)


@pytest.mark.parametrize("agent", [one for one in AGENTS if one.loading], ids=lambda one: one.id)
def test_every_agent_that_was_asked_loads_an_ordinary_skill(agent: Agent) -> None:
    assert agent.loading is not None

    for data in (ORDINARY, ORDINARY.replace(b"one", b'"one"'), ORDINARY.replace(b"\n", b"\r\n")):
        assert "" == as_loaded(agent.loading, entry(), data, complete=True).left_out


@pytest.mark.parametrize(
    ("data", "described"),
    [
        (b"# Water the plants\n\nDaily.\n", "Water the plants"),
        (b"\n\n   ## Sub head\n", "Sub head"),
        (b"#NoSpace\n", "#NoSpace"),
        (b"- item\n", "- item"),
        (b"x" * 300, "x" * 97 + "..."),
        (b"", "Skill"),
        (b"---\nname: a\n---\n\n# Title\n\nText.\n", "Title"),
        (b'---\nname: a\ndescription: "  "\n---\nText\nmore\n', "Text"),
        (b"---\nname: a\ndescription: [a, b]\n---\nText\n", "Text"),
        (b"---\nname: a\ndescription: Said.\n---\nText\n", "Said."),
    ],
)
def test_the_first_line_describes_a_skill_to_an_agent_that_goes_by_it(
    data: bytes, described: str
) -> None:
    claude = next(agent for agent in AGENTS if agent.id == "claude-code")
    assert claude.loading is not None

    found = read_as(claude.loading, data, "folder")

    assert (described, "") == (found.description, found.left_out)
    assert "" == read_as(PLAIN, b"# Title\n", "folder").description
