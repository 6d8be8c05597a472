"""One `Needs` value from every dialect in use: what is taken, what is not, and what a person is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from metier.model import Needs, Sidecar, Tool
from metier.standard.needs import MOST, Ask, asks_of, read_needs, server_identity
from metier.standard.plain_text import normalised


def sidecar(*tools: Tool) -> Sidecar:
    return Sidecar({}, tools, allow_implicit=True, products=(), diagnostics=())


def needs(fields: dict[str, Any], beside: Sidecar | None = None) -> Needs:
    return read_needs(fields, {}, beside)[1] or Needs()


def requires(**table: Any) -> dict[str, Any]:
    return {"metadata": {"openclaw": {"requires": table}}}


DIALECTS: list[tuple[dict[str, Any], Needs]] = [
    ({"required_environment_variables": ["A_KEY", {"name": "B_KEY"}, {"env_var": "C_KEY"}]}, Needs(env=("A_KEY", "B_KEY", "C_KEY"))),
    ({"setup": {"collect_secrets": [{"env_var": "A_KEY"}]}}, Needs(env=("A_KEY",))),
    ({"prerequisites": {"env_vars": ["A_KEY"], "commands": ["curl", "jq"]}}, Needs(env=("A_KEY",), commands=("curl", "jq"))),
    ({"required_credential_files": ["token.json", {"path": ".config/x"}]}, Needs(files=("token.json", ".config/x"))),
    ({"x-requires-secrets": "github-token, ZEPH_SECRET_OTHER"}, Needs(env=("GITHUB_TOKEN", "OTHER"))),
    (requires(env=["A_KEY"], bins=["rg"], anyBins=["a", "b"]), Needs(env=("A_KEY",), commands=("rg", "a|b"))),
    ({"metadata": {"otto": {"requires": {"bins": ["rg"]}}}}, Needs(commands=("rg",))),
    ({"requires": {"mcp": ["rube"]}}, Needs(servers=("rube",))),
    ({"requires": {"env": ["A_KEY"], "binaries": ["python3"]}}, Needs(env=("A_KEY",), commands=("python3",))),
    (requires(skills=["gws-gmail"], tools=["exec"], pip=["Requests>=2"]),
     Needs(tools=("exec",), packages=("requests",), skills=("gws-gmail",))),
    ({"requires_skills": ["one"], "depends-on": "two three"}, Needs(skills=("one", "two", "three"))),
    ({"metadata": {"hermes": {"requires_skills": ["one"]}}}, Needs(skills=("one",))),
    ({"compatibility": "Requires git and the Foo MCP server. macOS only."},
     Needs(commands=("git",), servers=("Foo",), systems=("macos",))),
    ({"compatibility": ["requires git"]}, Needs()),
    ({"requires": "Blender 4.3+"}, Needs()),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "expected"), DIALECTS)
def test_every_dialect_is_read_into_one_value(fields: dict[str, Any], expected: Needs) -> None:
    assert expected == needs(fields)


@pytest.mark.parametrize(
    ("written", "packages", "commands"),
    [
        (["ray[data]", "pyarrow", "torch>=2.0"], ("ray", "pyarrow", "torch"), ()),
        ("[ray[data, train], pandas]", ("ray", "pandas"), ()),
        ("pandas, numpy==1.2; python_version < '3.12'", ("pandas",), ()),
        (
            ["pywin32>=300; sys_platform == 'win32'", "colorama ; os_name == 'nt'", "rich"],
            ("rich",),
            (),
        ),
        *((word, (), ()) for word in ("false", "no", "true", "yes", "none", "None", "n/a", "off")),
        ({"python": ["3.11"]}, (), ()),
        ({"python": ["3.11", "pandas"]}, ("pandas",), ()),
        (["railway-cli", "rich"], ("rich",), ()),
        ({"python": ">=3.11", "packages": ["pandas>=2.0"]}, ("pandas",), ()),
        (["python>=3.8", "Python", "none", ""], (), ()),
        (["SciencePlots", "Foo_Bar.baz"], ("scienceplots", "foo-bar-baz"), ()),
        (["ffmpeg", "requests"], ("requests",), ("ffmpeg",)),
        (["remotion>=4.0.0", "react>=18.0.0"], (), ()),
        ("[@motion-canvas/core>=3.0.0, vite]", (), ()),
        ("Needs a recent Python", (), ()),
        ([{"name": "x"}, 3, None], (), ()),
        ("x" * 5_000, (), ()),
    ],
)
def test_dependencies_are_python_packages_unless_they_are_plainly_something_else(
    written: Any, packages: tuple[str, ...], commands: tuple[str, ...]
) -> None:
    assert Needs(packages=packages, commands=commands) == needs({"dependencies": written})


def test_the_sidecar_s_tools_are_variables_servers_and_help() -> None:  # CX-50
    tools = (
        Tool("env_var", "A_KEY", "The key"),
        Tool("cli", "gh", "GitHub's command"),
        Tool("mcp", "docs", url="https://docs.example/mcp"),
        Tool("mcp", "local", transport="stdio", command="serve"),
        Tool("mcp", "bare"),
    )

    found = needs({}, sidecar(*tools))

    servers = (
        "docs|mcp__streamable_http__https://docs.example/mcp",
        "local|mcp__stdio__serve",
        "bare",
    )
    assert (
        Needs(env=("A_KEY",), servers=servers, help="A_KEY: The key\ngh: GitHub's command") == found
    )


@pytest.mark.parametrize(
    ("tool", "identity"),
    [
        (Tool("mcp", "x", url="https://x"), "mcp__streamable_http__https://x"),
        (
            Tool("mcp", "x", transport="stdio", command="x serve", url="https://x"),
            "mcp__stdio__x serve",
        ),
        (Tool("mcp", "x", transport="stdio", url="https://x"), ""),
        (Tool("mcp", "x", command="x"), ""),
    ],
)
def test_a_server_is_known_by_its_transport_and_place(tool: Tool, identity: str) -> None:  # CX-50
    assert identity == server_identity(tool)


def test_no_piece_of_help_is_a_book() -> None:
    tools = sidecar(Tool("cli", "gh", "long " * 1_000))

    pieces = needs({"setup": {"help": "x" * 5_000}}, tools).help.split("\n")

    assert [500, 500] == [len(piece) for piece in pieces]


def test_an_install_step_is_help_and_nothing_else() -> None:
    step = {"kind": "brew", "formula": "rm -rf /", "bins": ["x"], "label": "Install x (brew)"}
    vendor = {"install": [step, {"kind": "uv", "package": "pyyaml"}, "npm install", {"kind": 3}]}

    assert Needs(help="Install x (brew)\nuv install pyyaml") == needs(
        {"metadata": {"openclaw": vendor}}
    )


def test_the_first_declaration_of_a_variable_wins_and_odd_names_are_none() -> None:  # HE-19
    fields = {
        "required_environment_variables": [
            {
                "name": "A_KEY",
                "prompt": "First",
                "help": "Where",
                "url": "https://a",
                "required_for": "all",
                "optional": "true",
            },
            "1BAD",
            "B-AD",
            "",
            {"prompt": "nameless"},
            7,
            "Ä",
        ],
        "setup": {
            "collect_secrets": [
                {"env_var": "A_KEY", "prompt": "Second"},
                {"env_var": "B_KEY", "provider_url": "https://b", "secret": "false"},
            ]
        },
        "prerequisites": {"env_vars": ["B_KEY", "C_KEY"]},
    }

    asks = asks_of(fields, None)

    assert (
        Ask("A_KEY", "First", "Where", "https://a", "all", optional=True),
        Ask("B_KEY", url="https://b", secret=False),
        Ask("C_KEY"),
    ) == asks
    assert Needs(env=("B_KEY", "C_KEY"), help="B_KEY: https://b") == needs(fields)


def test_a_vendor_s_main_variable_is_declared_but_not_needed() -> None:
    fields = {"metadata": {"openclaw": {"primaryEnv": "A_KEY", "requires": {"env": ["B_KEY"]}}}}

    assert (Ask("B_KEY"), Ask("A_KEY", optional=True)) == asks_of(fields, None)
    assert ("B_KEY",) == needs(fields).env


@pytest.mark.parametrize(
    "odd",
    [
        3,
        None,
        True,
        {},
        [],
        [[]],
        {"a": {}},
        [None],
        "\0",
        "\ud800",
        [["x"] * 3],
        {"requires": {"requires": 1}},
    ],
)
@pytest.mark.parametrize(
    "key",
    [
        "required_environment_variables",
        "setup",
        "prerequisites",
        "required_credential_files",
        "dependencies",
        "requires",
        "requires_skills",
        "depends-on",
        "x-requires-secrets",
        "compatibility",
        "metadata",
    ],
)
def test_no_value_of_any_field_breaks_it(key: str, odd: Any) -> None:
    found = needs(
        {key: odd, "metadata": {"openclaw": odd, "hermes": odd} if key != "metadata" else odd}
    )

    assert all(
        isinstance(word, str)
        for some in found
        for word in ((some,) if isinstance(some, str) else some)
    )


def test_a_flood_of_needs_is_cut() -> None:
    found = needs(
        {
            "dependencies": [f"p{number}" for number in range(10_000)],
            "depends-on": [f"s{number}" for number in range(10_000)],
        }
    )

    assert (MOST, MOST) == (len(found.packages), len(found.skills))


@pytest.mark.parametrize(
    ("name", "form"), [("Foo_Bar", "foo-bar"), ("a.-_b", "a-b"), ("PyYAML", "pyyaml"), ("", "")]
)
def test_names_of_distributions_have_one_form(name: str, form: str) -> None:
    assert form == normalised(name)
