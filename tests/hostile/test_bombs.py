"""Files made to exhaust whoever reads them: brackets, aliases, digits, sizes. Each costs a diagnostic and no more."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import run

import metier

if TYPE_CHECKING:
    from conftest import Home, Writer

MEGABYTE = 1 << 20
LAUGHS = "a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)

YAML_BOMBS = {
    "200,000 nested brackets": "k: " + "[" * 200_000,
    "200,000 nested braces": "k: " + "{" * 200_000,
    "closed brackets": "k: " + "[" * 120_000 + "]" * 120_000,
    "100,000 dashes": "k:\n  " + "- " * 100_000 + "x",
    "100,000 question marks": "? " * 100_000,
    "nested maps": "".join(" " * depth + "k:\n" for depth in range(700)),
    "billion laughs": LAUGHS,
    "merge keys": "a: &a {x: 1}\n" + "<<: *a\n" * 20_000,
    "an alias of itself": "a: &a [*a, *a]\nb: {<<: *a}",
    "many anchors": "".join(f"k{n}: &a{n} x\n" for n in range(15_000)),
    "many tags": "".join(f"%TAG !t{n}! tag:x,{n}:\n" for n in range(5_000)) + "---\na: 1",
    "many keys": "".join(f"k{n}: x\n" for n in range(25_000)),
    "one key many times": "name: x\n" * 25_000,
    "one enormous number": "k: " + "9" * 200_000,
    "sexagesimal": "k: " + "1:" * 90_000 + "1",
    "one enormous text": 'k: "' + "x" * 200_000 + '"',
    "a quote that never closes": 'k: "' + "x\n" * 100_000,
    "a block that never ends": "k: |\n" + "  x\n" * 60_000,
    "many documents": "... \na: 1\n" * 10_000,
    "only colons": ":" * 250_000,
    "only spaces": "k:" + " " * 250_000 + "x",
    "only hashes": "#" * 250_000,
    "escapes": 'k: "' + "\\x41" * 60_000 + '"',
    "backslashes": 'k: "' + "\\" * 100_001 + '"',
    "single quotes": "k: '" + "''" * 100_000 + "'",
    "loose colons": "k: " + "a: " * 80_000,
    "loose lines": "k: a: b\n" * 20_000,
    "open flow lines": "k: [a\n" * 20_000,
    "Python objects": "k: !!python/object/apply:os.system ['touch pwned']",
}


@pytest.mark.parametrize("text", YAML_BOMBS.values(), ids=YAML_BOMBS)
def test_a_bomb_in_the_frontmatter_costs_a_diagnostic(
    text: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    skill("root/odd", text=f"---\nname: odd\ndescription: Odd.\n{text}\n---\nBody.\n")

    listed = run(
        home.env,
        "list",
        "--all",
        "--json",
        "--root",
        str(tmp_path / "root"),
        cwd=tmp_path,
        memory=400 * MEGABYTE,
    )

    assert (0, "") == (listed.code, listed.err)
    rows = {Path(row["path"]).name: row for row in listed.json["skills"]}
    assert {"fine", "odd"} == set(rows)
    assert all(note["line"] >= 1 and note["column"] >= 1 for note in rows["odd"]["diagnostics"])
    assert not (tmp_path / "pwned").exists()


HARMLESS = {
    "one enormous number",
    "sexagesimal",
    "one enormous text",
    "a block that never ends",
    "only spaces",
    "only hashes",
    "escapes",
    "single quotes",
}


@pytest.mark.parametrize("name", sorted(YAML_BOMBS.keys() - HARMLESS))
def test_a_bomb_fails_a_check_with_a_place(
    name: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("odd", text=f"---\nname: odd\ndescription: Odd.\n{YAML_BOMBS[name]}\n---\nBody.\n")

    (checked,) = metier.open(env=home.env, cwd=tmp_path).check([str(odd)])

    assert [note for note in checked.diagnostics if note.code.startswith("SK02")], checked


@pytest.mark.parametrize("name", sorted(YAML_BOMBS))
def test_a_bomb_in_a_sidecar_costs_a_diagnostic_and_the_skill_stays(
    name: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "agents").mkdir()
    (odd / "agents" / "openai.yaml").write_text(YAML_BOMBS[name] + "\n")

    (card,) = metier.open(roots=[str(tmp_path / "root")], env=home.env).skills(all=True)

    assert "odd" == card.name
    assert all(note.line >= 1 and note.column >= 1 for note in card.diagnostics)


def test_a_sidecar_of_several_kilobytes_is_read_whole(
    tmp_path: Path, home: Home, skill: Writer
) -> None:  # CX-14
    odd = skill("root/odd")
    (odd / "agents").mkdir()
    long = "# a comment of a hundred characters " + "x" * 64 + "\n"
    (odd / "agents" / "openai.yaml").write_text(
        f"interface:\n  display_name: Odd\n{long * 80}policy:\n  allow_implicit_invocation: false\n"
    )

    library = metier.open(roots=[str(tmp_path / "root")], env=home.env)
    (card,) = library.skills(all=True)
    (checked,) = library.check([str(odd)])

    assert ((), "hidden") == (card.diagnostics, card.state)
    assert () == checked.diagnostics


def test_a_sidecar_that_is_no_file_withdraws_the_skill_from_the_model(
    tmp_path: Path, home: Home, skill: Writer
) -> None:  # MT-11
    (tmp_path / "policy.yaml").write_text("policy:\n  allow_implicit_invocation: false\n")
    for name in ("link", "pipe", "nowhere", "unreadable"):
        (skill(f"root/{name}") / "agents").mkdir()
    (tmp_path / "root" / "link" / "agents" / "openai.yaml").symlink_to(tmp_path / "policy.yaml")
    os.mkfifo(tmp_path / "root" / "pipe" / "agents" / "openai.yaml")
    (tmp_path / "root" / "nowhere" / "agents" / "openai.yaml").symlink_to("nothing")
    (tmp_path / "root" / "unreadable" / "agents" / "openai.yaml").write_text(
        "policy:\n  allow_implicit_invocation: false\n"
    )
    (tmp_path / "root" / "unreadable" / "agents" / "openai.yaml").chmod(0)

    answer = run(
        home.env, "list", "--all", "--json", "--root", str(tmp_path / "root"), powerless=True
    )

    # What restricts and cannot be read counts as most restrictive; taking it as absent would widen it.
    found = {
        row["name"]: (row["state"], [note["code"] for note in row["diagnostics"]])
        for row in answer.json["skills"]
    }
    assert dict.fromkeys(("link", "pipe", "nowhere", "unreadable"), ("hidden", ["SK080"])) == found


def test_a_sidecar_too_large_to_read_withdraws_the_skill_from_the_model(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "agents").mkdir()
    (odd / "agents" / "openai.yaml").write_text(
        "interface:\n  display_name: Odd\n" + "# x\n" * 50_000
    )

    (card,) = metier.open(roots=[str(tmp_path / "root")], env=home.env).skills(all=True)

    assert ("hidden", ["SK080"]) == (card.state, [note.code for note in card.diagnostics])


MANIFESTS = {
    "deep": "[" * 100_000,
    "deep and closed": '{"name": ' + "[" * 90_000 + "]" * 90_000 + "}",
    "a list": "[]",
    "a number": "1",
    "null": "null",
    "nothing": "",
    "a name of digits": '{"name": ' + "9" * 10_000 + "}",
    "a name that is a list": '{"name": ["x"]}',
    "infinity": '{"name": Infinity}',
    "not UTF-8": '{"name": "\udcff"}',
    "huge": '{"name": "x", "pad": "' + "x" * 300_000 + '"}',
    "nuls": "\0" * 1_000,
    "repeated": '{"name": "a", ' + ", ".join(['"name": "b"'] * 1_000) + ', "name": ["c"]}',
}


@pytest.mark.parametrize("where", [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"])
@pytest.mark.parametrize("text", MANIFESTS.values(), ids=MANIFESTS)
def test_a_hostile_manifest_is_reported_and_its_skills_keep_their_own_names(
    text: str, where: str, tmp_path: Path, home: Home, skill: Writer
) -> None:  # CX-30
    skill("root/plug/skills/fine")
    manifest = tmp_path / "root" / "plug" / where
    manifest.parent.mkdir()
    manifest.write_bytes(text.encode("utf-8", "surrogateescape"))

    library = metier.open(roots=[str(tmp_path / "root")], env=home.env)

    assert ["fine"] == [card.name for card in library.skills()]
    assert [(str(manifest), "SK095")] == [
        (problem.path, problem.code) for problem in library.problems()
    ]


@pytest.mark.parametrize("above", [False, True], ids=["inside the root", "above the root"])
def test_a_manifest_of_several_kilobytes_is_read_whole(
    above: bool, tmp_path: Path, home: Home, skill: Writer
) -> None:  # CX-30
    skill("root/plug/skills/fine")
    manifest = tmp_path / "root" / "plug" / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"keywords": ["word"] * 2_000, "name": "plug"}))
    root = tmp_path / "root" / "plug" / "skills" if above else tmp_path / "root"

    library = metier.open(roots=[str(root)], env=home.env)

    assert ["plug:fine"] == [card.name for card in library.skills()]
    assert [] == library.problems()


def test_a_name_from_a_manifest_cannot_write_to_the_terminal(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/plug/skills/fine")
    manifest = tmp_path / "root" / "plug" / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"name": "\x1b[31mred\u202e\n"}))

    answer = run(home.env, "list", "--root", str(tmp_path / "root"))

    assert "\x1b" not in answer.out
    assert "\u202e" not in answer.out


def test_a_flat_skill_whose_frontmatter_is_longer_than_one_block_is_not_lost(
    tmp_path: Path, home: Home
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "flat.md").write_text(
        f"---\nname: flat\nnote: {'x' * 6_000}\ndescription: Flat.\n---\nBody.\n"
    )

    found = metier.open(roots=[str(tmp_path / "root")], env=home.env).skills(all=True)

    assert [("flat", "Flat.")] == [(card.name, card.description) for card in found]


def test_a_category_whose_description_is_longer_than_one_block_keeps_it(
    tmp_path: Path, home: Home, skill: Writer
) -> None:  # HE-25
    skill("root/group/fine")
    (tmp_path / "root" / "group" / "DESCRIPTION.md").write_text(
        f"---\nnote: {'x' * 6_000}\ndescription: A group.\n---\n"
    )

    (category,) = metier.open(roots=[str(tmp_path / "root")], env=home.env).categories()

    assert ("group", "A group.") == (category.name, category.description)


CODE = {
    "nul bytes": b"SKILL_NAME = 'x'\0\ndef run(task): ...\n",
    "deep brackets": b"SKILL_NAME = " + b"(" * 5_000 + b")" * 5_000 + b"\ndef run(task): ...\n",
    "200,000 brackets": b"def run(task): ...\nx = " + b"[" * 200_000,
    "a deep attribute": b"def run(task): ...\nSKILL_NAME = x" + b".y" * 100_000 + b"\n",
    "a long sum": b"def run(task): ...\nSKILL_NAME = 1" + b"+1" * 100_000 + b"\n",
    "a long sum of texts": b"def run(task): ...\nSKILL_DESCRIPTION = 'a'"
    + b"+'a'" * 50_000
    + b"\n",
    "many signs": b"def run(task): ...\nSKILL_NAME = " + b"-" * 100_000 + b"1\n",
    "many nots": b"def run(task): ...\nSKILL_NAME = " + b"not " * 100_000 + b"1\n",
    "a power tower": b"def run(task): ...\nSKILL_NAME = 9**9**9**9**9\n",
    "a long number": b"def run(task): ...\nSKILL_NAME = " + b"9" * 100_000 + b"\n",
    "a long multiplication": b"def run(task): ...\nSKILL_NAME = 'a' * 10**10\n",
    "deep blocks": b"def run(task): ...\n"
    + b"".join(b" " * depth + b"if 1:\n" for depth in range(200)),
    "a huge file": b"def run(task): ...\n" + b"# x\n" * 400_000,
    "not UTF-8": b"def run(task): ...\nSKILL_NAME = '\xff'\n",
    "another encoding": b"# coding: utf-7\ndef run(task): ...\n",
    "an unknown encoding": b"# coding: nonsense\ndef run(task): ...\n",
    "half a surrogate": b"def run(task): ...\nSKILL_NAME = '\\ud800'\nSKILL_DESCRIPTION = '\\x1b[31m'\n",
    "an f-string": b'def run(task): ...\nSKILL_NAME = f\'{open("pwned", "w")}\'\n',
    "carriage returns": b"def run(task): ...\r" * 1_000,
    "form feeds": b"\f\f\fdef run(task): ...\n\fSKILL_NAME = 'x'\n",
    "an escape that warns": b"def run(task): ...\nSKILL_NAME = '\\d'\nx = 1 is 1\nassert (1, 2)\n",
    "unhashable": b"def run(task): ...\nSKILL_OBSERVATION_TRIGGER = {[]: 1, {}: 2}\nSKILL_TRIGGERS = {[1]}\n",
    "deep literal": b"def run(task): ...\nSKILL_OBSERVATION_TRIGGER = "
    + b"{'a': " * 80
    + b"1"
    + b"}" * 80
    + b"\n",
}


@pytest.mark.parametrize("source", CODE.values(), ids=CODE)
def test_a_hostile_code_skill_is_a_row_and_is_never_run(
    source: bytes, tmp_path: Path, home: Home, skill: Writer
) -> None:  # CO-1
    skill("root/fine")
    (tmp_path / "root" / "odd.py").write_bytes(source)

    answer = run(
        home.env,
        "list",
        "--all",
        "--json",
        "--root",
        str(tmp_path / "root"),
        cwd=tmp_path,
        memory=600 * MEGABYTE,
    )

    assert (0, "") == (answer.code, answer.err)
    rows = {Path(row["path"]).name: row for row in answer.json["skills"]}
    assert {"fine", "odd.py"} == set(rows)
    assert all(note["line"] >= 1 and note["column"] >= 1 for note in rows["odd.py"]["diagnostics"])
    assert not (tmp_path / "pwned").exists()


def test_nothing_that_metier_does_imports_a_code_skill(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    marker = tmp_path / "imported"
    body = f"open({str(marker)!r}, 'w')\nSKILL_NAME = 'odd'\ndef run(task): ...\n"
    for name in (
        "odd.py",
        "conftest.py",
        "sitecustomize.py",
        "__init__.py",
        "metier.py",
        "yaml.py",
        "tomllib.py",
    ):
        (tmp_path / "root" / name).write_text(body)
    root = str(tmp_path / "root")

    for words in (
        ("list",),
        ("list", "--all", "--digests"),
        ("show", "odd"),
        ("why", "odd"),
        ("check", root),
        ("categories",),
    ):
        answer = run(home.env, *words, "--json", "--root", root, cwd=tmp_path)
        assert "Traceback" not in answer.err

    assert not marker.exists()
    assert [] == list((tmp_path / "root").rglob("*.pyc"))


def test_what_a_skill_needs_is_asked_for_without_trusting_its_words(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    words = r'"a\0b", "../../bin/sh", "/bin/sh", "x|\0", "\u202e", "' + "y" * 5_000 + '"'
    text = f"---\nname: odd\ndescription: Odd.\nprerequisites: {{commands: [{words}], env_vars: [{words}]}}\nrequired_credential_files: [{words}]\n---\n"
    skill("root/odd", text=text)

    answer = run(home.env, "list", "--all", "--json", "--root", str(tmp_path / "root"))

    assert (0, "") == (answer.code, answer.err)
    assert "setup_needed" == answer.json["skills"][0]["readiness"]
