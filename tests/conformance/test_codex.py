"""Codex, the format of a skill: what its file and its sidecar say (CX-1 to CX-20)."""

from __future__ import annotations

import os

import pytest
from conformance.folders import (
    DESCRIPTION,
    Place,
    body,
    cards,
    codes,
    names,
    only,
    plugin,
    skill,
    write,
)

from metier.standard.document import read_document
from metier.standard.sidecar import read_sidecar

BULB = "\U0001f4a1"


# --- CX-1: names of files and folders


@pytest.mark.rows("CX-1")
@pytest.mark.parametrize(
    ("folder", "scope"),
    [("project/.agents/skills", "project"), ("home/.agents/skills", "user")],
)
def test_skills_lie_in_the_agents_folder_of_project_and_home(
    place: Place, folder: str, scope: str
) -> None:
    skill(place.base / folder / "pdf")

    found = place.scopes().skills()

    assert [("pdf", scope)] == [(card.name, card.scope) for card in found]


@pytest.mark.rows("CX-1", "MT-26")
def test_a_file_in_other_case_is_loaded_with_a_diagnostic_unlike_codex(
    place: Place,
) -> None:
    skill(place.root / "pdf")
    (place.root / "pdf/SKILL.md").rename(place.root / "pdf/skill.md")

    found = only(place.open())

    assert ("visible", ["SK002"]) == (found.state, codes(found.diagnostics))


@pytest.mark.rows("CX-1")
def test_the_sidecar_is_read_from_its_own_place_only(place: Place) -> None:
    hidden = "policy: {allow_implicit_invocation: false}\n"
    skill(place.root / "right", files={"agents/openai.yaml": hidden})
    skill(place.root / "wrong", files={"openai.yaml": hidden, "agents/other.yaml": hidden})

    assert ["wrong"] == names(place.open().skills())


# --- CX-2: lengths are counted in characters, not in bytes


@pytest.mark.rows("CX-2")
@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("a" * 64, DESCRIPTION, []),
        ("a" * 65, DESCRIPTION, ["SK032"]),
        ("é" * 64, DESCRIPTION, []),
        ("é" * 65, DESCRIPTION, ["SK032"]),
        ("pdf", BULB * 1024, []),
        ("pdf", BULB * 1025, ["SK041"]),
    ],
)
def test_lengths_count_characters(
    place: Place, name: str, description: str, expected: list[str]
) -> None:
    skill(place.root / name, description=description)

    found = only(place.open())

    assert (expected, "visible") == (codes(found.diagnostics), found.state)


@pytest.mark.rows("CX-2")
@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("interface: {{display_name: '{}'}}", 64),
        ("interface: {{short_description: '{}'}}", 1024),
        ("interface: {{default_prompt: '{}'}}", 1024),
        ("dependencies: {{tools: [{{type: mcp, value: v, description: '{}'}}]}}", 1024),
        ("dependencies: {{tools: [{{type: mcp, value: v, command: '{}'}}]}}", 1024),
        ("dependencies: {{tools: [{{type: mcp, value: v, url: '{}'}}]}}", 1024),
        ("dependencies: {{tools: [{{type: mcp, value: v, transport: '{}'}}]}}", 64),
    ],
)
def test_sidecar_lengths_count_characters(text: str, limit: int) -> None:
    fits = read_sidecar(text.format(BULB * limit).encode())
    too_long = read_sidecar(text.format(BULB * (limit + 1)).encode())

    assert [] == codes(fits.diagnostics)
    assert ["SK081"] == codes(too_long.diagnostics)


@pytest.mark.rows("CX-2", "CX-18")
@pytest.mark.parametrize(("key", "limit"), [("type", 64), ("value", 1024)])
def test_a_dependency_with_an_over_long_type_or_value_is_dropped(key: str, limit: int) -> None:
    fields = {"type": "mcp", "value": "v", key: BULB * (limit + 1)}

    found = read_sidecar(f"dependencies: {{tools: [{fields}]}}".encode())

    assert ((), ["SK081", "SK084"]) == (found.tools, codes(found.diagnostics))


# --- CX-5: the fields of the frontmatter


@pytest.mark.rows("CX-5")
def test_fields_that_codex_ignores_are_kept_as_written(place: Place) -> None:
    skill(
        place.root / "pdf",
        fields="version: 1.10\nmetadata:\n  short-description: Forms\n  on: yes\n",
    )

    shown = body(place.open(), "pdf")

    # Other readers make a boolean of the key 'on'; here it is text, and that is said.
    assert ["SK025"] == codes(only(place.open()).diagnostics)
    assert "1.10" == shown.fields["version"]
    assert {"short-description": "Forms", "on": "yes"} == shown.fields["metadata"]


# --- CX-6: the fields of the sidecar

SIDECAR = """\
interface:
  display_name: PDF forms
  short_description: Fill them in
  icon_small: ./assets/small.png
  icon_large: assets/large.svg
  brand_color: "#12aBcD"
  default_prompt: Fill in this form
dependencies:
  tools:
    - {type: mcp, value: github, description: Issues, transport: stdio, command: gh-mcp, url: "https://example.org"}
policy:
  allow_implicit_invocation: false
  products: [codex, CHATGPT, atlas]
"""
SIDECAR_AS_JSON = """\
{"interface": {"display_name": "PDF forms", "short_description": "Fill them in", "icon_small": "./assets/small.png",
 "icon_large": "assets/large.svg", "brand_color": "#12aBcD", "default_prompt": "Fill in this form"},
 "dependencies": {"tools": [{"type": "mcp", "value": "github", "description": "Issues", "transport": "stdio",
 "command": "gh-mcp", "url": "https://example.org"}]},
 "policy": {"allow_implicit_invocation": false, "products": ["codex", "CHATGPT", "atlas"]}}
"""


@pytest.mark.rows("CX-6")
@pytest.mark.parametrize("text", [SIDECAR, SIDECAR_AS_JSON])
def test_every_field_of_the_sidecar_is_read_from_yaml_and_json(text: str) -> None:
    found = read_sidecar(text.encode())

    assert () == found.diagnostics
    assert {
        "display_name": "PDF forms",
        "short_description": "Fill them in",
        "icon_small": "assets/small.png",
        "icon_large": "assets/large.svg",
        "brand_color": "#12aBcD",
        "default_prompt": "Fill in this form",
    } == found.interface
    assert (("mcp", "github", "Issues", "stdio", "gh-mcp", "https://example.org"),) == found.tools
    assert (False, ("codex", "chatgpt", "atlas")) == (found.allow_implicit, found.products)


@pytest.mark.rows("CX-6")
def test_a_long_sidecar_is_read_whole(place: Place) -> None:
    tools = "".join(
        f"    - {{type: cli, value: tool{n}, description: '{'x' * 900}'}}\n" for n in range(8)
    )
    text = f"dependencies:\n  tools:\n{tools}policy:\n  products: [nobody]\n"
    skill(place.root / "pdf", files={"agents/openai.yaml": text})

    found = only(place.open())

    assert [] == codes(found.diagnostics)
    assert ("hidden", "gate: products = nobody, and no product is asking") == (
        found.state,
        found.reasons[0],
    )
    # `check` reads the sidecar for itself: it must not stop at the first few kilobytes either.
    assert [] == codes(place.open().check([str(place.root)])[0].diagnostics)


@pytest.mark.rows("CX-6")
def test_a_long_sidecar_is_read_whole_for_what_a_skill_needs(place: Place) -> None:
    tools = "".join(
        f"    - {{type: cli, value: tool{n}, description: '{'x' * 900}'}}\n" for n in range(8)
    )
    text = f"dependencies:\n  tools:\n{tools}    - {{type: env_var, value: PDF_KEY}}\n"
    skill(place.root / "pdf", files={"agents/openai.yaml": text})

    library = place.open()

    # So does `show`: what it says is missing must be what the list says.
    assert "setup_needed" == only(library).readiness
    assert ["PDF_KEY"] == body(library, "pdf").missing["env"]


# --- CX-7: the fences

FENCES = [
    ("---\nname: pdf\ndescription: d\n---\nbody\n", "visible", []),
    ("---\r\nname: pdf\r\ndescription: d\r\n---\r\nbody\r\n", "visible", []),
    ("---\nname: pdf\ndescription: d\n---", "visible", []),
    ("--- \nname: pdf\ndescription: d\n---\t\nbody\n", "visible", []),
    ("---\nname: pdf\ndescription: a --- b\n---\nbody\n", "visible", []),
    ("---\nname: pdf\ndescription: d\n---\nbody\n---\nmore: 1\n---\n", "visible", []),
    ("\ufeff---\nname: pdf\ndescription: d\n---\nbody\n", "visible", ["SK008"]),
    ("\n \n---\nname: pdf\ndescription: d\n---\nbody\n", "visible", ["SK014"]),
    ("---\nname: pdf\ndescription: d\n  ---\nbody\n", "invalid", ["SK012"]),
    ("---\nname: pdf\ndescription: d\n", "invalid", ["SK011"]),
    ("--- name: pdf\ndescription: d\n---\nbody\n", "invalid", ["SK012"]),
    (" ---\nname: pdf\ndescription: d\n---\nbody\n", "invalid", ["SK012"]),
    ("---\n---\nbody\n", "hidden", ["SK013"]),
    ("name: pdf\ndescription: d\n", "hidden", ["SK010"]),
    ("", "hidden", ["SK010"]),
]


@pytest.mark.rows("CX-7", "MT-10")
@pytest.mark.parametrize(("text", "state", "expected"), FENCES)
def test_fences_are_alone_at_the_left_and_everything_else_is_diagnosed(
    place: Place, text: str, state: str, expected: list[str]
) -> None:
    write(place.root / "pdf/SKILL.md", text)

    found = only(place.open())

    assert ("pdf", state, expected) == (found.name, found.state, codes(found.diagnostics))


# --- CX-8: what can be wrong with the file, each with a code and a place

FAULTS = [
    (b"no fences\n", "SK010", 1, 1),
    (b"---\nname: pdf\ndescription: [a\n---\n", "SK021", 3, 14),
    (b"---\nname: pdf\ndescription: 'a\n---\n", "SK020", 4, 1),
    (b"---\nname: pdf\nlicense: MIT\n---\n", "SK040", 1, 1),
    (b"---\nname: pdf\ndescription: " + b"x" * 1025 + b"\n---\n", "SK041", 3, 14),
    (b"---\nname: " + b"x" * 65 + b"\ndescription: d\n---\n", "SK032", 2, 7),
]


@pytest.mark.rows("CX-8")
@pytest.mark.parametrize(("data", "code", "line", "column"), FAULTS)
def test_each_fault_has_a_code_a_line_and_a_column(
    place: Place, data: bytes, code: str, line: int, column: int
) -> None:
    write(place.root / "pdf/SKILL.md", data)

    note = only(place.open()).diagnostics[0]

    assert (code, line, column) == (note.code, note.line, note.column)
    assert note.message
    assert note.hint


@pytest.mark.rows("CX-8")
@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser can read every file")
def test_a_file_that_may_not_be_read_is_a_row(place: Place) -> None:
    (skill(place.root / "pdf") / "SKILL.md").chmod(0)

    found = only(place.open())

    assert ("invalid", ["SK004"]) == (found.state, codes(found.diagnostics))


# --- CX-9: one line


@pytest.mark.rows("CX-9")
@pytest.mark.parametrize(
    "text", ['"  a\\n\\n b\\t c "', "|\n  a\n\n  b  c", ">-\n  a\n  b\n  c", "a\n  b\n  c"]
)
def test_a_description_of_several_lines_becomes_one(place: Place, text: str) -> None:
    write(place.root / "pdf/SKILL.md", f"---\nname: pdf\ndescription: {text}\n---\n")

    assert "a b c" == only(place.open()).description


@pytest.mark.rows("CX-9", "MT-7")
def test_a_name_of_several_lines_becomes_one(place: Place) -> None:
    write(place.root / "pdf/SKILL.md", "---\nname: |\n  pdf\n   forms \ndescription: d\n---\n")

    assert "pdf forms" == only(place.open()).name


@pytest.mark.rows("CX-9")
def test_sidecar_texts_become_one_line() -> None:
    found = read_sidecar(b'interface: {display_name: " a\\n b ", default_prompt: "c\\t d"}')

    assert {"display_name": "a b", "default_prompt": "c d"} == found.interface


# --- CX-10: what is missing


@pytest.mark.rows("CX-10")
@pytest.mark.parametrize("line", ["", "name:\n", "name: ''\n", "name: '  '\n", "name: ~\n"])
def test_a_missing_name_is_taken_from_the_folder(place: Place, line: str) -> None:
    write(place.root / "pdf/SKILL.md", f"---\n{line}description: d\n---\n")

    found = only(place.open())

    assert ("pdf", "visible", ["SK030"]) == (found.name, found.state, codes(found.diagnostics))


@pytest.mark.rows("CX-10")
def test_a_name_that_nothing_gives_is_skill() -> None:
    document = read_document(b"---\ndescription: d\n---\n", folder="")

    assert document is not None
    assert "skill" == document.name


@pytest.mark.rows("CX-10", "MT-9")
@pytest.mark.parametrize("line", ["", "description:\n", "description: ''\n", "description: ' '\n"])
def test_a_missing_description_is_taken_from_the_body_unlike_codex(place: Place, line: str) -> None:
    write(place.root / "pdf/SKILL.md", f"---\nname: pdf\n{line}---\n\n# Title\n\nFills in forms.\n")

    found = only(place.open())

    assert ("Fills in forms.", "visible", ["SK040"]) == (
        found.description,
        found.state,
        codes(found.diagnostics),
    )


@pytest.mark.rows("CX-10", "MT-8")
@pytest.mark.parametrize("fields", ["", f"metadata:\n  short-description: {'x' * 1025}\n"])
def test_a_short_description_never_rejects_a_skill_unlike_codex(place: Place, fields: str) -> None:
    skill(place.root / "pdf", fields=fields)

    assert "visible" == only(place.open()).state


# --- CX-11: the limit holds for the name itself


@pytest.mark.rows("CX-11")
def test_the_plugins_name_does_not_count_against_the_limit_unlike_codex(
    place: Place,
) -> None:
    plugin(place.root / "p", "p" * 60)
    skill(place.root / "p/skills" / ("a" * 64))

    found = only(place.open())

    assert (f"{'p' * 60}:{'a' * 64}", []) == (found.name, codes(found.diagnostics))


# --- CX-13: repair

REPAIRS = [
    ("description: Use when: a form", "Use when: a form"),
    ("description: it's this: that # note", "it's this: that"),
    ("description: [not closed", "[not closed"),
    ("description: {also} not", "{also} not"),
    ("description: @mention", "@mention"),
    ("description: `code` here", "`code` here"),
]


@pytest.mark.rows("CX-13")
@pytest.mark.parametrize(("line", "expected"), REPAIRS)
def test_a_value_that_needed_quotes_is_read_as_if_it_had_them(
    place: Place, line: str, expected: str
) -> None:
    write(place.root / "pdf/SKILL.md", f"---\nname: pdf\n{line}\n---\n")

    found = only(place.open())

    assert (expected, "visible", ["SK021"]) == (
        found.description,
        found.state,
        codes(found.diagnostics),
    )


# --- CX-14 to CX-19: the sidecar, field by field


@pytest.mark.rows("CX-14", "MT-11")
@pytest.mark.parametrize(
    "data",
    [b"interface: [", b"\xff\xfe", b"just text", b"- a\n", b"a: &x [*x]\nb: [" + b"[" * 5000],
)
def test_an_unreadable_sidecar_leaves_the_skill_but_no_more_than_its_name(
    place: Place, data: bytes
) -> None:
    # CX-14: the skill still loads. MT-11: its policy restricts and cannot be read, so it is not offered by itself.
    skill(place.root / "pdf", files={"agents/openai.yaml": data})

    library = place.open()
    found = only(library)

    assert ["SK080"] == codes(found.diagnostics)
    assert ("hidden", "agents/openai.yaml") == (found.state, found.diagnostics[0].path)
    assert found.reasons[0].startswith("hidden from models")
    assert "Do it." == body(library, "pdf").content.strip()


INTERFACE = [
    # CX-15: each field fails by itself
    ("display_name: ''", "SK081", {"default_prompt": "go"}),
    ("display_name: {a: b}", "SK081", {"default_prompt": "go"}),
    (f"short_description: {'x' * 1025}", "SK081", {"default_prompt": "go"}),
    # CX-16: icons lie under assets/
    ("icon_small: /etc/icon.png", "SK082", {"default_prompt": "go"}),
    ("icon_small: assets/../../icon.png", "SK082", {"default_prompt": "go"}),
    ("icon_small: images/icon.png", "SK082", {"default_prompt": "go"}),
    ("icon_small: ''", "SK081", {"default_prompt": "go"}),
    (
        "icon_small: ./assets/not-there.png",
        "",
        {"default_prompt": "go", "icon_small": "assets/not-there.png"},
    ),
    # CX-17: colours are #RRGGBB
    ("brand_color: '#fff'", "SK083", {"default_prompt": "go"}),
    ("brand_color: blue", "SK083", {"default_prompt": "go"}),
    ("brand_color: '#12345G'", "SK083", {"default_prompt": "go"}),
    ("brand_color: '#1234567'", "SK083", {"default_prompt": "go"}),
    ("brand_color: '#a0B1c2'", "", {"default_prompt": "go", "brand_color": "#a0B1c2"}),
]


@pytest.mark.rows("CX-15", "CX-16", "CX-17")
@pytest.mark.parametrize(("line", "code", "expected"), INTERFACE)
def test_an_interface_field_that_is_wrong_drops_alone(
    line: str, code: str, expected: dict[str, str]
) -> None:
    found = read_sidecar(f"interface:\n  {line}\n  default_prompt: go\n".encode())

    assert (expected, [code] if code else []) == (found.interface, codes(found.diagnostics))


@pytest.mark.rows("CX-15")
def test_an_interface_without_a_field_left_is_gone(place: Place) -> None:
    text = "interface: {display_name: '', brand_color: red}\n"
    skill(place.root / "pdf", files={"agents/openai.yaml": text})

    found = only(place.open())

    assert {} == read_sidecar(text.encode()).interface
    assert ("visible", ["SK081", "SK083"]) == (found.state, codes(found.diagnostics))


@pytest.mark.rows("CX-18")
def test_a_dependency_without_type_or_value_is_dropped_and_the_others_stay() -> None:
    found = read_sidecar(
        b"dependencies: {tools: [{type: mcp}, {value: x}, text, {type: cli, value: gh}]}"
    )

    assert [("cli", "gh")] == [(tool.type, tool.value) for tool in found.tools]
    assert ["SK084", "SK084", "SK084"] == codes(found.diagnostics)


@pytest.mark.rows("CX-18")
@pytest.mark.parametrize(
    "text", ["dependencies: {tools: []}", "dependencies:", "dependencies: {tools: [{type: mcp}]}"]
)
def test_an_empty_list_of_tools_means_no_dependencies(text: str) -> None:
    assert () == read_sidecar(text.encode()).tools


POLICIES = [
    ("policy:\n", "visible"),
    ("policy: {}\n", "visible"),
    ("policy: {products: []}\n", "visible"),
    ("policy: {allow_implicit_invocation: true}\n", "visible"),
    ("policy: {allow_implicit_invocation: false}\n", "hidden"),
    # MT-11: what restricts and cannot be read is taken at its most restrictive.
    ("policy: {allow_implicit_invocation: perhaps}\n", "hidden"),
    ("policy: never\n", "hidden"),
    ("policy: {products: {a: b}}\n", "hidden"),
]


@pytest.mark.rows("CX-19")
@pytest.mark.parametrize(("text", "state"), POLICIES)
def test_implicit_use_is_allowed_unless_the_policy_says_otherwise(
    place: Place, text: str, state: str
) -> None:
    skill(place.root / "pdf", files={"agents/openai.yaml": text})

    assert state == only(place.open()).state


# --- CX-20: products

PRODUCTS = [
    ("", "codex", "visible"),
    ("policy: {products: []}", "codex", "visible"),
    ("policy: {products: [CODEX]}", "codex", "visible"),
    ("policy: {products: [chatgpt, atlas]}", "codex", "hidden"),
    ("policy: {products: [codex]}", None, "hidden"),
    ("policy: {products: []}", None, "visible"),
]


@pytest.mark.rows("CX-20")
@pytest.mark.parametrize(("text", "agent", "state"), PRODUCTS)
def test_a_skill_for_some_products_is_offered_to_those_alone(
    place: Place, text: str, agent: str | None, state: str
) -> None:
    skill(place.root / "pdf", files={"agents/openai.yaml": text})

    found = only(place.open(agent=agent))

    assert state == found.state
    assert all("products" in reason for reason in found.reasons)


@pytest.mark.rows("CX-8")
def test_a_broken_skill_never_hides_its_neighbours(place: Place) -> None:
    write(place.root / "bad/SKILL.md", "---\nname: bad\n")
    skill(place.root / "good")
    (place.root / "piped").mkdir()
    os.mkfifo(place.root / "piped/SKILL.md")

    found = cards(place.open())

    assert {"bad": "invalid", "good": "visible", "piped": "invalid"} == {
        name: card.state for name, card in found.items()
    }
