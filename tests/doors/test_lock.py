"""`metier lock`: records exchanged with other tools, and no byte of a skill touched on the way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from doors.command import error_of, run

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())


def state_of(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def entry(source: str = "anthropics/skills", **more: Any) -> dict[str, Any]:
    return {"source": source, "sourceType": "github", **more}


def test_what_npx_skills_installed_comes_under_the_lock_untouched(
    home: Home, skill: Writer, project: Path
) -> None:
    folder = skill("project/.agents/skills/pdf")
    before = state_of(folder)
    write(
        project / "skills-lock.json",
        {
            "version": 1,
            "skills": {"pdf": entry(skillPath="skills/pdf/SKILL.md", ref="main"), "gone": entry()},
        },
    )

    answer = run(home.env, "lock", "import", "--format", "npx", "--json", cwd=project)

    pin = json.loads((project / "metier.lock").read_bytes())["skills"][0]
    assert ["format", "file", "names", "skipped", "notes"] == list(answer.json)
    assert (1, "npx", str(project / "skills-lock.json"), ["pdf"]) == (
        answer.code,
        answer.json["format"],
        answer.json["file"],
        answer.json["names"],
    )
    assert [["gone", f"it is not there: {project}/.agents/skills/gone"]] == answer.json["skipped"]
    assert ("pdf", "git", "https://github.com/anthropics/skills", "skills/pdf", "main") == tuple(
        pin[key] for key in ("name", "kind", "source", "path", "ref")
    )
    assert [{"agent": "", "path": ".agents/skills/pdf", "method": "folder"}] == pin["targets"]
    assert before == state_of(folder)


def test_what_npx_skills_copied_from_a_folder_is_updated_from_there(
    home: Home, skill: Writer, project: Path, tmp_path: Path
) -> None:
    # As 'skills' 1.5.18 writes it: the path of the folder, which may be the skill or hold several, and no more.
    skill("elsewhere/mine")
    for name in ("two", "other"):
        skill(f"collection/skills/{name}")
    skill("project/tools/three")
    for name in ("mine", "two", "three"):
        skill(f"project/.agents/skills/{name}")
    sources = {"mine": "elsewhere/mine", "two": "collection", "three": "project/tools/three"}
    rows = {name: entry(str(tmp_path / path), sourceType="local") for name, path in sources.items()}
    write(project / "skills-lock.json", {"version": 1, "skills": rows})

    answer = run(home.env, "lock", "import", "--format", "npx", "--json", cwd=project)

    pins = json.loads((project / "metier.lock").read_bytes())["skills"]
    assert (0, ["mine", "three", "two"], [], []) == (
        answer.code,
        answer.json["names"],
        answer.json["skipped"],
        answer.json["notes"],
    )
    assert {
        "mine": ("folder", str(tmp_path / "elsewhere/mine"), ""),
        "three": ("folder", "./tools/three", ""),
        "two": ("folder", str(tmp_path / "collection"), "skills/two"),
    } == {pin["name"]: (pin["kind"], pin["source"], pin.get("path", "")) for pin in pins}
    skill("collection/skills/two", description="Does it better now.")
    found = run(home.env, "outdated", "--json", cwd=project).json
    assert "two" in json.dumps(found)
    run(home.env, "update", "two", "--yes", cwd=project)
    assert "better now" in (project / ".agents/skills/two/SKILL.md").read_text()


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("gone", "there is no folder"),
        ("collection", "has no skill named 'pdf'"),
        ("", "names no source"),
    ],
)
def test_a_folder_that_has_the_skill_no_more_is_noted_and_the_skill_is_still_locked(
    home: Home, skill: Writer, project: Path, source: str, why: str
) -> None:
    skill("project/.agents/skills/pdf")
    skill("project/collection/other")
    rows = {"pdf": entry(source and f"./{source}", sourceType="local")}
    write(project / "skills-lock.json", {"version": 1, "skills": rows})

    answer = run(home.env, "lock", "import", "--format", "npx", "--json", cwd=project)

    pin = json.loads((project / "metier.lock").read_bytes())["skills"][0]
    assert (0, ["pdf"], 1) == (answer.code, answer.json["names"], len(answer.json["notes"]))
    assert why in answer.json["notes"][0]
    assert "./.agents/skills/pdf" == pin["source"]


def test_a_lock_goes_out_as_another_tool_s_record_and_comes_back(
    home: Home, skill: Writer, project: Path
) -> None:
    folder = skill("project/.agents/skills/pdf")
    write(
        project / "skills-lock.json",
        {
            "version": 1,
            "skills": {"pdf": entry(skillPath="skills/pdf/SKILL.md"), "kept": {"mine": 1}},
            "top": 2,
        },
    )
    run(home.env, "lock", "import", "--format", "npx", cwd=project)
    before, lock = state_of(folder), (project / "metier.lock").read_bytes()

    out = run(home.env, "lock", "export", "--format", "npx", "--json", cwd=project)
    elsewhere = run(
        home.env, "lock", "export", "sub.yaml", "--format", "apm", "--json", cwd=project
    )

    record = json.loads((project / "skills-lock.json").read_bytes())
    assert (0, ["pdf"], []) == (out.code, out.json["names"], out.json["skipped"])
    assert any("no commit" in note for note in out.json["notes"])
    assert ({"mine": 1}, 2, 64) == (
        record["skills"]["kept"],
        record["top"],
        len(record["skills"]["pdf"]["computedHash"]),
    )
    assert str(project / "sub.yaml") == elsewhere.json["file"]
    assert (
        "anthropics/skills"
        == yaml.safe_load((project / "sub.yaml").read_bytes())["dependencies"][0]["repo_url"]
    )
    assert (before, lock) == (state_of(folder), (project / "metier.lock").read_bytes())
    (project / "metier.lock").unlink()
    back = run(home.env, "lock", "import", "--format", "npx", "--json", cwd=project)
    assert (["pdf"], lock, []) == (
        back.json["names"],
        (project / "metier.lock").read_bytes(),
        back.json["notes"],
    )


def test_an_edited_skill_is_noted_and_stays_edited(
    home: Home, skill: Writer, project: Path
) -> None:
    folder = skill("project/.agents/skills/pdf")
    write(
        project / "skills-lock.json",
        {"version": 1, "skills": {"pdf": entry(computedHash="0" * 64)}},
    )
    before = state_of(folder)

    answer = run(home.env, "lock", "import", "--format", "npx", "--json", cwd=project)

    assert [
        "pdf: it is not what that tool recorded: it was edited since, or the record is an old one"
    ] == answer.json["notes"]
    assert before == state_of(folder)


def test_every_format_is_read_from_where_its_tool_keeps_it(
    home: Home, skill: Writer, project: Path
) -> None:
    for path in (
        "home/.agents/skills/one",
        "home/.hermes/skills/two",
        "project/skills/three",
        "project/.agents/skills/four",
    ):
        skill(path)
    write(
        home.path / ".agents/.skill-lock.json",
        {
            "version": 3,
            "skills": {"one": entry(sourceUrl="https://github.com/anthropics/skills.git")},
        },
    )
    write(
        home.path / ".hermes/skills/.hub/lock.json",
        {
            "version": 1,
            "installed": {
                "two": {"source": "github", "identifier": "a/b/two", "install_path": "two"}
            },
        },
    )
    write(
        project / ".clawhub/lock.json",
        {"version": 1, "skills": {"three": {"version": "1.0.0", "installedAt": 1}}},
    )
    write(
        project / "apm.lock.yaml",
        b"lockfile_version: '1'\ndependencies:\n- repo_url: a/c\n  deployed_files: [.agents/skills/four/SKILL.md]\n",
    )

    answers = [
        run(home.env, "lock", "import", "--format", *words, "--json", cwd=project)
        for words in (("gh", "--user"), ("hermes", "--user"), ("clawhub",), ("apm",))
    ]

    assert [["one"], ["two"], ["three"], ["four"]] == [answer.json["names"] for answer in answers]
    pins = json.loads((project / "metier.lock").read_bytes())["skills"]
    assert [("four", "https://github.com/a/c"), ("three", "clawhub:three")] == [
        (pin["name"], pin["source"].replace("https://clawhub.ai/", "")) for pin in pins
    ]


def test_what_clawhub_wrote_into_a_skill_is_compared_and_never_changed(
    home: Home, skill: Writer, project: Path
) -> None:
    folder = skill("project/skills/three")
    write(
        folder / ".clawhub/origin.json",
        {"version": 1, "slug": "three", "installedVersion": "9.9.9"},
    )
    write(
        project / ".clawhub/lock.json",
        {"version": 1, "skills": {"three": {"version": "1.0.0", "installedAt": 1}}},
    )
    before = state_of(folder)

    answer = run(home.env, "lock", "import", "--format", "clawhub", "--json", cwd=project)
    run(home.env, "lock", "export", "--format", "clawhub", cwd=project)

    assert "1.0.0" == json.loads((project / "metier.lock").read_bytes())["skills"][0]["commit"]
    assert [
        "three: its own .clawhub/origin.json tells of another version than the record, which counts"
    ] == answer.json["notes"]
    assert before == state_of(folder)


# HE-42
@pytest.mark.parametrize(
    ("form", "record"),
    [
        (
            "apm",
            b"lockfile_version: '1'\ndependencies:\n- repo_url: a/b\n  deployed_files: [../outside/SKILL.md, /etc/SKILL.md, src/SKILL.md, .agents/link/SKILL.md]\n",
        ),
        (
            "clawhub",
            {
                "version": 1,
                "skills": {
                    "../../outside": {"version": "1"},
                    "..": {"version": "1"},
                    "a/b": {"version": "1"},
                },
            },
        ),
        ("npx", {"version": 1, "skills": {"link": entry(), "../../../outside": entry()}}),
    ],
)
def test_a_hostile_record_pins_nothing_outside_and_nothing_behind_a_link(
    form: str, record: Any, home: Home, skill: Writer, project: Path
) -> None:
    outside = skill("outside", name="link")
    skill("project/src")
    (project / ".agents/skills").mkdir(parents=True)
    (project / ".agents/skills/link").symlink_to(outside)
    (project / ".agents/link").symlink_to(outside)
    write(project / "record", record)

    answer = run(home.env, "lock", "import", "record", "--format", form, "--json", cwd=project)

    assert [] == answer.json["names"]
    assert not (project / "metier.lock").exists()


def test_a_source_that_is_none_leaves_a_skill_without_one(
    home: Home, skill: Writer, project: Path
) -> None:
    skill("project/.agents/skills/pdf")
    record = {
        "source": "x",
        "sourceType": "git",
        "sourceUrl": "ext::sh -c id",
        "ref": "--upload-pack=x",
    }
    write(project / "skills-lock.json", {"version": 1, "skills": {"pdf": record}})

    answer = run(home.env, "lock", "import", "--format", "npx", "--json", cwd=project)

    pin = json.loads((project / "metier.lock").read_bytes())["skills"][0]
    assert (["pdf"], "folder") == (answer.json["names"], pin["kind"])
    assert "no source to be updated from" in answer.json["notes"][0]


def test_nothing_is_exported_through_a_link_or_over_a_record_that_cannot_be_read(
    home: Home, skill: Writer, project: Path
) -> None:
    skill("project/.agents/skills/pdf")
    write(project / "skills-lock.json", {"version": 1, "skills": {"pdf": entry()}})
    run(home.env, "lock", "import", "--format", "npx", cwd=project)
    write(project / "skills-lock.json", b"{broken")
    broken = run(home.env, "lock", "export", "--format", "npx", "--json", cwd=project)
    (project / "apm.lock.yaml").symlink_to(project.parent / "elsewhere")

    linked = run(home.env, "lock", "export", "--format", "apm", "--json", cwd=project)

    assert (2, "record", b"{broken") == (
        broken.code,
        broken.json["code"],
        (project / "skills-lock.json").read_bytes(),
    )
    assert 2 == linked.code
    assert not (project.parent / "elsewhere").exists()


def test_what_a_record_cannot_carry_is_said_and_an_empty_one_is_not_written(
    home: Home, skill: Writer, project: Path
) -> None:
    skill("project/.agents/skills/pdf")
    write(project / "skills-lock.json", {"version": 1, "skills": {"pdf": entry()}})
    run(home.env, "lock", "import", "--format", "npx", cwd=project)

    answer = run(home.env, "lock", "export", "--format", "clawhub", cwd=project)

    assert 0 == answer.code
    assert "left out pdf: it is not from ClawHub" in answer.out
    assert "nothing to write" in answer.err
    assert not (project / ".clawhub").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show",), "unknown command 'metier lock show'"),
        (("export",), "say whose record"),
        (("import", "a", "b", "--format", "npx"), "unexpected 'b'"),
        (("import", "--format", "hermes"), "'hermes' keeps its record in the home folder only"),
        (("import", "--format", "npx", "--user", "--project"), "--user and --project"),
    ],
)
def test_what_is_put_wrongly_is_said(
    words: tuple[str, ...], said: str, home: Home, project: Path
) -> None:
    answer = run(home.env, "lock", *words, cwd=project)

    assert 2 == answer.code
    assert said in error_of(answer)[0]


def test_a_missing_record_is_not_found(home: Home, project: Path) -> None:
    answer = run(home.env, "lock", "import", "--format", "npx", cwd=project)

    assert (1, "there is no skills-lock.json") == (answer.code, error_of(answer)[0])
