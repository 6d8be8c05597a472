"""The sidecar agents/openai.yaml, field by field."""

from __future__ import annotations

import pytest

from metier.model import Sidecar, Tool
from metier.standard.needs import UNREADABLE
from metier.standard.sidecar import MAX_BYTES, read_sidecar

DEFAULTS = Sidecar({}, (), allow_implicit=True, products=(), diagnostics=())


def read(text: str) -> Sidecar:
    return read_sidecar(text.encode())


def codes(sidecar: Sidecar) -> list[str]:
    return [note.code for note in sidecar.diagnostics]


def test_no_file_means_defaults() -> None:  # CX-19
    assert read_sidecar(None) == DEFAULTS


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "{}", "unknown: 5\n", "interface:\npolicy:\ndependencies:\n"]
)
def test_an_empty_file_means_defaults(text: str) -> None:  # CX-14, CX-19
    assert read(text) == DEFAULTS


def test_everything_is_read_on_one_line() -> None:  # CX-6, CX-9
    sidecar = read(
        "interface:\n"
        "  display_name: ' My\n\n    Skill '\n"
        "  short_description: |\n    Two\n    lines\n"
        "  icon_small: ./assets/small.png\n"
        "  icon_large: assets/a b/large.svg\n"
        "  brand_color: '#12aBcD'\n"
        "  default_prompt: Do it\n"
        "  more: ignored\n"
        "dependencies:\n"
        "  tools:\n"
        "    - type: mcp\n"
        "      value: github\n"
        "      description: GitHub\n"
        "      transport: streamable_http\n"
        "      command: run\n"
        "      url: https://example.org/mcp\n"
        "      oauth: {callbackPort: 5}\n"
        "    - {type: env_var, value: TOKEN}\n"
        "policy:\n"
        "  allow_implicit_invocation: false\n"
        "  products: [CODEX, ' ChatGPT ', codex]\n"
    )

    assert (
        Sidecar(
            interface={
                "display_name": "My Skill",
                "short_description": "Two lines",
                "icon_small": "assets/small.png",
                "icon_large": "assets/a b/large.svg",
                "brand_color": "#12aBcD",
                "default_prompt": "Do it",
            },
            tools=(
                Tool(
                    "mcp", "github", "GitHub", "streamable_http", "run", "https://example.org/mcp"
                ),
                Tool("env_var", "TOKEN"),
            ),
            allow_implicit=False,
            products=("codex", "chatgpt"),
            diagnostics=(),
        )
        == sidecar
    )


def test_json_is_yaml_too() -> None:  # CX-6
    sidecar = read(
        '{"interface": {"display_name": "A"},\n\t"policy": {"allow_implicit_invocation": false}}'
    )

    assert ({"display_name": "A"}, False, ()) == (
        sidecar.interface,
        sidecar.allow_implicit,
        sidecar.diagnostics,
    )


@pytest.mark.parametrize(
    ("data", "words", "place"),
    [
        (b"a: [\n", "not valid YAML", (2, 1)),
        (b"interface:\n  a: \xff\n", "not UTF-8", (2, 1)),
        (b"a: \x00\n", "control character U+0000", (1, 4)),
        (b"- a\n", "not a mapping", (1, 1)),
        (b"text", "not a mapping", (1, 1)),
        (b"#" * (MAX_BYTES + 1), "larger than 64 KiB", (1, 1)),
        (b"[" * 60_000, "nested deeper", (1, 33)),
        (b"a: 1\n---\nb: 2\n", "more than one document", (2, 1)),
        (
            b"policy: {allow_implicit_invocation: true}\na: " + b"[" * 60_000,
            "nested deeper",
            (2, 35),
        ),
    ],
)
def test_an_unreadable_file_is_ignored_but_may_not_widen(
    data: bytes, words: str, place: tuple[int, int]
) -> None:  # CX-14, MT-11
    sidecar = read_sidecar(data)

    (note,) = sidecar.diagnostics
    assert ("SK080", "warning", "agents/openai.yaml") == (note.code, note.severity, note.path)
    assert place == (note.line, note.column)
    assert words in note.message
    assert "only when asked for by name" in note.message
    assert DEFAULTS._replace(allow_implicit=False) == sidecar._replace(diagnostics=())


@pytest.mark.parametrize(
    ("key", "limit"), [("display_name", 64), ("short_description", 1024), ("default_prompt", 1024)]
)
def test_interface_limits_count_characters(key: str, limit: int) -> None:  # CX-2, CX-15
    fits = read(f"interface:\n  {key}: {'💡' * limit}\n")
    over = read(f"interface:\n  {key}: {'💡' * (limit + 1)}\n")

    assert ({key: "💡" * limit}, []) == (fits.interface, codes(fits))
    assert ({}, ["SK081"]) == (over.interface, codes(over))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("display_name: ''", "SK081"),  # CX-15
        ("display_name:", "SK081"),
        ("display_name: [a]", "SK081"),
        ("short_description: {a: b}", "SK081"),
        ("icon_small: ''", "SK081"),
        ("icon_small: [assets/a.png]", "SK081"),
        ("icon_small: /assets/a.png", "SK082"),  # CX-16
        ("icon_small: assets/../../a.png", "SK082"),
        ("icon_small: ../assets/a.png", "SK082"),
        ("icon_small: images/a.png", "SK082"),
        ("icon_small: assets", "SK082"),
        ("icon_small: assetsx/a.png", "SK082"),
        ("icon_small: https://example.org/a.png", "SK082"),
        ("icon_small: 'assets\\..\\a.png'", "SK082"),
        ("icon_small: 'C:/assets/a.png'", "SK082"),
        ('icon_small: "assets/a\\nb.png"', "SK082"),
        ("brand_color: red", "SK083"),  # CX-17
        ("brand_color: '#fff'", "SK083"),
        ("brand_color: '#12345g'", "SK083"),
        ("brand_color: '#1234567'", "SK083"),
        ("brand_color: ''", "SK081"),
    ],
)
def test_a_bad_interface_field_fails_by_itself(line: str, code: str) -> None:  # CX-15
    sidecar = read(f"interface:\n  default_prompt: stays\n  {line}\n")

    assert ({"default_prompt": "stays"}, True) == (sidecar.interface, sidecar.allow_implicit)
    assert [(code, 3)] == [(note.code, note.line) for note in sidecar.diagnostics]
    assert sidecar.diagnostics[0].column > 3


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("./assets/a.png", "assets/a.png"),
        ("assets//x/./a.png", "assets/x/a.png"),
        ("assets/a..b", "assets/a..b"),
    ],
)
def test_icon_paths_are_made_plain(path: str, expected: str) -> None:  # CX-16
    assert {"icon_large": expected} == read(f"interface: {{icon_large: {path}}}").interface


@pytest.mark.parametrize(
    "text", ["interface: text\n", "dependencies: [a]\n", "dependencies: {tools: text}\n"]
)
def test_a_section_of_the_wrong_shape_is_ignored(text: str) -> None:  # CX-14
    sidecar = read(text)

    assert (["SK081"], DEFAULTS) == (codes(sidecar), sidecar._replace(diagnostics=()))


@pytest.mark.parametrize(
    ("item", "extra"),
    [
        ("{value: x}", []),  # CX-18
        ("{type: mcp}", []),
        ("{}", []),
        ("text", []),
        ("[type, value]", []),
        ("{type: '', value: x}", ["SK081"]),
        ("{type: [a], value: x}", ["SK081"]),
        (f"{{type: {'t' * 65}, value: x}}", ["SK081"]),  # CX-2
        (f"{{type: mcp, value: {'v' * 1025}}}", ["SK081"]),
    ],
)
def test_a_tool_without_type_or_value_is_dropped_alone(
    item: str, extra: list[str]
) -> None:  # CX-18
    sidecar = read(f"dependencies:\n  tools:\n    - {{type: mcp, value: kept}}\n    - {item}\n")

    assert (Tool("mcp", "kept"),) == sidecar.tools
    assert [*extra, "SK084"] == codes(sidecar)
    assert {4} == {note.line for note in sidecar.diagnostics}


@pytest.mark.parametrize(
    "field", ["transport: " + "t" * 65, "description: ''", "command: [a]", "url: " + "u" * 1025]
)
def test_a_bad_optional_field_leaves_the_tool(field: str) -> None:  # CX-2, CX-18
    sidecar = read(f"dependencies: {{tools: [{{type: mcp, value: x, {field}}}]}}")

    assert ((Tool("mcp", "x"),), ["SK081"]) == (sidecar.tools, codes(sidecar))


@pytest.mark.parametrize("policy", ["", "{}", "~", "{products: []}", "{other: 5}"])
def test_an_empty_policy_allows(policy: str) -> None:  # CX-19, CX-20
    assert read(f"policy: {policy}\n") == DEFAULTS


@pytest.mark.parametrize("word", ["true", "True", "YES", "on", "'true'"])
def test_true_is_read_in_any_spelling(word: str) -> None:  # CX-19
    assert read(f"policy: {{allow_implicit_invocation: {word}}}") == DEFAULTS


@pytest.mark.parametrize("word", ["false", "FALSE", "no", "Off"])
def test_false_is_read_in_any_spelling(word: str) -> None:  # CX-19
    sidecar = read(f"policy: {{allow_implicit_invocation: {word}}}")

    assert DEFAULTS._replace(allow_implicit=False) == sidecar


@pytest.mark.parametrize(
    "text",
    [
        "policy: never\n",
        "policy: [a]\n",
        "policy: {allow_implicit_invocation: maybe}\n",
        "policy: {allow_implicit_invocation: 1}\n",
        "policy: {allow_implicit_invocation: }\n",
        "policy: {allow_implicit_invocation: [true]}\n",
    ],
)
def test_an_unreadable_policy_is_the_most_restrictive(text: str) -> None:  # MT-11
    sidecar = read(text)

    assert (False, (), ["SK085"]) == (sidecar.allow_implicit, sidecar.products, codes(sidecar))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("policy: {allow_implicit_invocation: true, allow_implicit_invocation: false}\n", "SK022"),
        ("policy: {}\npolicy: {allow_implicit_invocation: false}\n", "SK022"),
        ("x: &x {allow_implicit_invocation: false}\npolicy: *x\n", "SK023"),
        ("x: &x {allow_implicit_invocation: false}\npolicy: {<<: *x}\n", "SK023"),
    ],
)
def test_a_policy_that_two_readers_could_take_two_ways_restricts(
    text: str, code: str
) -> None:  # MT-11
    sidecar = read(text)

    assert (False, [code, "SK085"]) == (sidecar.allow_implicit, codes(sidecar))


def test_a_repeated_key_without_a_policy_restricts_nothing() -> None:
    sidecar = read("interface: {display_name: a, display_name: b}\n")

    assert ({"display_name": "a"}, True, ["SK022"]) == (
        sidecar.interface,
        sidecar.allow_implicit,
        codes(sidecar),
    )


@pytest.mark.parametrize("value", ["codex", "{a: b}", "[codex, [x]]", "['']", "", "[codex, '  ']"])
def test_unreadable_products_match_no_product(value: str) -> None:  # CX-20, MT-11
    sidecar = read(f"policy:\n  products: {value}\n")

    assert ((UNREADABLE,), True, ["SK085"]) == (
        sidecar.products,
        sidecar.allow_implicit,
        codes(sidecar),
    )


def test_every_diagnostic_has_a_place() -> None:
    sidecar = read("interface: 5\ndependencies: {tools: [a, {type: x}]}\npolicy: {products: 5}\n")

    assert [("SK081", 1, 12), ("SK084", 2, 24), ("SK084", 2, 27), ("SK085", 3, 20)] == [
        (note.code, note.line, note.column) for note in sidecar.diagnostics
    ]
