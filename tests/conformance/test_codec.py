"""CODEC, code skills: one Python file is one skill, read by its syntax tree (CO-1 to CO-9)."""

from __future__ import annotations

import pytest
from conformance.folders import Place, body, cards, codes, names, only, skill, write

from metier.standard.code import custom_triggers, read_code

RUN = "def run(task):\n    return task\n"


# --- CO-1: what is a code skill

FILES = [
    ("weather.py", RUN, "visible"),
    ("weather.py", "async def run(task):\n    return task\n", "visible"),
    ("weather.py", "SKILL_TRIGGERS = ['weather']\n" + RUN, "visible"),
    ("_private.py", RUN, None),
    (".hidden.py", RUN, None),
    ("weather.txt", RUN, None),
    ("helper.py", "def other():\n    pass\n", None),
    ("nested.py", "class A:\n    def run(self):\n        pass\n", None),
    ("nested.py", "if True:\n    def run(task):\n        pass\n", None),
    # Unlike CODEC: metadata without a run is plainly meant as a skill, so it is a row with a reason.
    ("weather.py", "SKILL_NAME = 'weather'\n", "invalid"),
]


@pytest.mark.rows("CO-1")
@pytest.mark.parametrize(("file", "text", "state"), FILES)
def test_a_code_skill_is_a_python_file_with_a_run_at_the_top(
    place: Place, file: str, text: str, state: str | None
) -> None:

    write(place.root / file, text)

    found = place.open().skills(all=True)

    assert ([(state, "code", str(place.root / file))] if state else []) == [
        (card.state, card.kind, card.path) for card in found
    ]


@pytest.mark.rows("CO-1")
def test_code_skills_lie_flat_in_the_root(place: Place) -> None:
    write(place.root / "group/weather.py", RUN)
    skill(place.root / "pdf", files={"scripts/fill.py": RUN, "tool.py": RUN})

    assert ["pdf"] == names(place.open().skills(all=True))


@pytest.mark.rows("CO-1")
def test_code_skills_come_in_the_order_of_their_files(place: Place) -> None:
    for name in ("z", "a", "m"):
        write(place.root / f"{name}.py", RUN)

    assert ["a", "m", "z"] == names(place.open().skills())


# --- CO-2: metadata is never imported

METADATA = """
import subprocess, nowhere_to_be_found
open({mark!r}, 'w').write('run')
SKILL_NAME = "weather"
SKILL_DESCRIPTION: str = "Tells the weather."
SKILL_TRIGGERS = ["weather", "forecast"]
SKILL_MCP_EXPOSE = True
SKILL_OBSERVATION_TRIGGER = {{"type": "time", "pattern": "* * * * *"}}
SKILL_NEEDS_OBSERVATION = True
SKILL_DESTRUCTIVE: bool = True
SKILL_PERMISSIONS = ("network",)
raise SystemExit

async def run(task): ...
"""


@pytest.mark.rows("CO-2")
def test_metadata_is_read_without_running_a_line(place: Place) -> None:
    mark = place.base / "was-run"
    write(place.root / "w.py", METADATA.format(mark=str(mark)))

    found = only(place.open())
    shown = body(place.open(), "weather")

    assert not mark.exists()
    assert ("weather", "Tells the weather.", ()) == (
        found.name,
        found.description,
        found.diagnostics,
    )
    assert {
        "triggers": ["weather", "forecast"],
        "destructive": True,
        "mcp_expose": True,
        "permissions": ["network"],
        "async": True,
        "observation_trigger": {"type": "time", "pattern": "* * * * *"},
        "needs_observation": True,
    } == shown.fields


@pytest.mark.rows("CO-2")
def test_annotated_assignments_are_seen_unlike_codec() -> None:
    facts = read_code(
        b"SKILL_NAME: str = 'weather'\nSKILL_TRIGGERS: list[str] = ['w']\n" + RUN.encode(), "w"
    )

    assert facts is not None
    assert ("weather", ("w",), ()) == (facts.name, facts.triggers, facts.diagnostics)


VALUES = [
    ("SKILL_NAME = make_name()", "SK092"),
    ("SKILL_DESCRIPTION = 'a' + other", "SK092"),
    ("SKILL_TRIGGERS = [x for x in y]", "SK092"),
    ("SKILL_NAME = 5", "SK093"),
    ("SKILL_TRIGGERS = 'weather'", "SK093"),
    # MT-11: what restricts and cannot be read is taken at its most restrictive.
    ("SKILL_DESTRUCTIVE = is_bad()", "SK094"),
    ("SKILL_MCP_EXPOSE = 'yes'", "SK094"),
]


@pytest.mark.rows("CO-2", "MT-11")
@pytest.mark.parametrize(("line", "code"), VALUES)
def test_a_value_that_is_no_literal_is_said_unlike_codec(
    place: Place, line: str, code: str
) -> None:
    write(place.root / "weather.py", f"{line}\n{RUN}")

    found = only(place.open())

    assert ("weather", "weather", "visible", [code]) == (
        found.name,
        found.description,
        found.state,
        codes(found.diagnostics),
    )


@pytest.mark.rows("CO-2", "MT-11")
def test_restricting_metadata_that_cannot_be_read_restricts() -> None:
    facts = read_code(b"SKILL_DESTRUCTIVE = f()\nSKILL_MCP_EXPOSE = g()\n" + RUN.encode(), "w")

    assert facts is not None
    assert (True, False) == (facts.destructive, facts.expose)


# --- CO-3: what cannot be read


@pytest.mark.rows("CO-3")
@pytest.mark.parametrize(
    "data",
    [
        b"def run(:\n",
        b"SKILL_NAME = '\xff'\ndef run(t): pass\n",
        b"SKILL_NAME='a'\0\ndef run(t): pass\n",
        b"SKILL_NAME = " + b"(" * 5000 + b"\ndef run(t): pass\n",
    ],
)
def test_a_file_that_does_not_parse_is_a_row_never_skipped(place: Place, data: bytes) -> None:
    write(place.root / "weather.py", data)
    write(place.root / "other.py", RUN)

    found = cards(place.open())

    assert ("invalid", ["SK090"]) == (
        found["weather.py"].state,
        codes(found["weather.py"].diagnostics),
    )
    assert "visible" == found["other.py"].state


# --- CO-4: names


NAMES = [("", "weather"), ("SKILL_NAME = 'Wetter'\n", "Wetter"), ("SKILL_NAME = ''\n", "weather")]


@pytest.mark.rows("CO-4")
@pytest.mark.parametrize(("line", "expected"), NAMES)
def test_the_name_is_the_declared_one_else_the_files(
    place: Place, line: str, expected: str
) -> None:
    write(place.root / "weather.py", line + RUN)

    assert expected == only(place.open()).name


@pytest.mark.rows("CO-4", "MT-1")
def test_of_two_code_skills_with_one_name_the_first_counts_and_the_other_is_shadowed(
    place: Place,
) -> None:
    # CO-4, MT-1: CODEC takes the last one without a word.
    for file in ("a.py", "b.py"):
        write(place.root / file, "SKILL_NAME = 'same'\n" + RUN)

    found = place.open().skills(all=True)

    assert [("a.py", "visible"), ("b.py", "shadowed")] == [
        (card.path.rpartition("/")[2], card.state) for card in found
    ]
    assert (str(place.root / "b.py"),) == found[0].shadows


# --- CO-5, CO-6: looking again


@pytest.mark.rows("CO-5", "CO-6")
def test_an_edited_code_skill_is_read_again_and_a_deleted_one_is_gone(
    place: Place,
) -> None:
    write(place.root / "a.py", "SKILL_DESCRIPTION = 'old'\n" + RUN)
    write(place.root / "b.py", RUN)
    library = place.open()
    library.skills()

    write(place.root / "a.py", "SKILL_DESCRIPTION = 'new one'\n" + RUN)
    (place.root / "b.py").unlink()
    library.reload()

    assert ["new one"] == [card.description for card in library.skills(all=True)]
    assert "new one" in body(library, "a").content


@pytest.mark.rows("CO-5")
def test_a_missing_folder_holds_no_code_skills(place: Place) -> None:
    assert [] == place.open(place.base / "missing").skills(all=True)


# --- CO-7: hashes


@pytest.mark.rows("CO-7")
@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"skills": 5}', '{"schema": 1, "skills": {"a.py": "00"}}']
)
def test_a_manifest_of_hashes_grants_nothing_and_breaks_nothing(place: Place, text: str) -> None:
    write(place.root / ".manifest.json", text)
    write(place.root / "a.py", RUN)

    library = place.open()

    assert (["a"], []) == (names(library.skills(all=True)), library.problems())


@pytest.mark.rows("CO-7")
def test_the_digest_binds_a_files_bytes_to_its_name_unlike_codec(place: Place) -> None:
    write(place.root / "a.py", RUN)
    write(place.root / "b.py", RUN)
    write(place.base / "other/a.py", RUN)

    a, b, moved = place.open(place.root, place.base / "other").skills(all=True, digests=True)

    assert a.digest == moved.digest
    assert a.digest != b.digest


# --- CO-8: the user's own triggers

TRIGGERS = [
    (b'{"weather": {"triggers": ["rain", 5]}}', {"weather": ("rain", "5")}),
    (b'{"weather": {"triggers": []}}', {}),
    (b'{"weather": {}}', {}),
    (b'{"weather": ["rain"]}', {}),
    (b"[1]", {}),
    (b"{not json", {}),
    (b"", {}),
]


@pytest.mark.rows("CO-8", "CO-6")
@pytest.mark.parametrize(("data", "expected"), TRIGGERS)
def test_custom_triggers_replace_when_there_are_any_and_a_malformed_file_has_none(
    data: bytes, expected: dict[str, tuple[str, ...]]
) -> None:
    assert expected == custom_triggers(data)


# --- CO-9: defaults


@pytest.mark.rows("CO-9")
def test_what_a_code_skill_does_not_say_has_a_default(place: Place) -> None:
    write(place.root / "weather.py", RUN)

    shown = body(place.open(), "weather")

    assert ("weather", "weather") == (shown.name, shown.description)
    assert {
        "triggers": [],
        "destructive": False,
        "mcp_expose": None,
        "permissions": [],
        "async": False,
        "observation_trigger": None,
        "needs_observation": False,
    } == shown.fields


@pytest.mark.rows("CO-9")
def test_there_is_no_observation_trigger_unless_one_is_declared() -> None:
    facts = read_code(RUN.encode(), "weather")

    assert facts is not None
    assert (None, False) == (facts.observation, facts.needs_observation)
