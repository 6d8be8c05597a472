"""The records of `npx skills` and `gh skill`: read, written, and hashed as those tools do."""

from __future__ import annotations

import hashlib
import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from fakes.pins import a_pin

from metier.errors import ConfigError
from metier.supply.model import InstallTarget, Lock
from metier.supply.records import gh, npx
from metier.supply.records.foreign import ForeignSkill, RecordedFile, RecordHash

if TYPE_CHECKING:
    from pathlib import Path

NOW, LATER = "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"
PROJECT: dict[str, Any] = {
    "version": 1,
    "skills": {
        "pdf": {
            "source": "anthropics/skills",
            "ref": "main",
            "sourceType": "github",
            "skillPath": "skills/pdf/SKILL.md",
            "computedHash": "aa",
            "new": 7,
        },
        "My Own": {"source": "./mine", "sourceType": "local", "computedHash": "bb"},
    },
    "future": [1],
}
USER: dict[str, Any] = {
    "version": 3,
    "skills": {
        "pdf": {
            "source": "anthropics/skills",
            "sourceType": "github",
            "sourceUrl": "https://github.com/anthropics/skills.git",
            "skillPath": "skills/pdf",
            "skillFolderHash": "cc",
            "installedAt": NOW,
            "updatedAt": NOW,
            "pluginName": "document-skills",
            "pinnedRef": "c" * 40,
        },
        "site": {
            "source": "example.com",
            "sourceType": "well-known",
            "sourceUrl": "https://example.com",
            "skillFolderHash": "",
        },
    },
    "dismissed": {"findSkillsPrompt": True},
    "lastSelectedAgents": ["codex"],
}


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_a_project_s_record_is_read() -> None:
    found = npx.read(as_bytes(PROJECT))

    assert (
        ForeignSkill(
            "My Own", "./mine", "folder", digest_hint="bb", folder=".agents/skills/my-own"
        ),
        ForeignSkill(
            "pdf",
            "https://github.com/anthropics/skills",
            "git",
            "main",
            "",
            "skills/pdf",
            "aa",
            ".agents/skills/pdf",
        ),
    ) == found


def test_the_record_at_home_is_read() -> None:
    pdf, site = npx.read(as_bytes(USER))

    assert ("https://github.com/anthropics/skills", "git", "skills/pdf", "cc") == (
        pdf.source,
        pdf.kind,
        pdf.path,
        pdf.digest_hint,
    )
    assert (
        ("pluginName", "document-skills"),
        ("installedAt", NOW),
        ("updatedAt", NOW),
    ) == pdf.extra
    assert ("https://example.com", "well-known") == (site.source, site.kind)


def test_a_pinned_commit_of_gh_is_a_commit() -> None:
    assert ["c" * 40, ""] == [one.commit for one in gh.read(as_bytes(USER))]


def test_conflict_markers_are_healed_and_what_both_changed_is_explained() -> None:
    one, other = (
        {"version": 1, "skills": {name: {"source": f"a/{name}", "sourceType": "github"}}}
        for name in ("x", "y")
    )
    clash = {"version": 1, "skills": {"x": {"source": "b/x", "sourceType": "github"}}}

    found = npx.read(b"<<<<<<< a\n%b\n=======\n%b\n>>>>>>> b\n" % (as_bytes(one), as_bytes(other)))

    assert ["x", "y"] == [each.name for each in found]
    with pytest.raises(ConfigError, match="both sides changed x") as caught:
        npx.read(b"<<<<<<< a\n%b\n=======\n%b\n>>>>>>> b\n" % (as_bytes(one), as_bytes(clash)))
    assert "record-conflict" == caught.value.code


def test_a_project_s_record_keeps_what_metier_does_not_know() -> None:
    data = npx.write(
        Lock((a_pin("pdf"), a_pin("xlsx", ref=""))),
        as_bytes(PROJECT),
        NOW,
        {"pdf": RecordHash("dd"), "xlsx": RecordHash("ee")},
    )

    found = json.loads(data)
    assert data.endswith(b"}\n")
    assert [1] == found["future"]
    assert ["My Own", "pdf", "xlsx"] == list(found["skills"])
    assert PROJECT["skills"]["My Own"] == found["skills"]["My Own"]
    assert PROJECT["skills"]["pdf"] | {"computedHash": "dd"} == found["skills"]["pdf"]
    assert {
        "source": "anthropics/skills",
        "sourceType": "github",
        "skillPath": "skills/xlsx/SKILL.md",
        "computedHash": "ee",
    } == found["skills"]["xlsx"]
    assert data == npx.write(Lock((a_pin("pdf"), a_pin("xlsx", ref=""))), data, LATER, {})


def test_the_record_at_home_keeps_times_until_something_changes() -> None:
    lock = Lock((a_pin("pdf", ref=""),))

    first = npx.write_user(lock, as_bytes(USER), LATER, {"pdf": RecordHash("cc")})
    again = npx.write_user(lock, first, "2027-01-01T00:00:00Z", {"pdf": RecordHash("cc")})
    changed = npx.write_user(lock, first, "2027-01-01T00:00:00Z", {"pdf": RecordHash("ff")})

    entry = json.loads(first)["skills"]["pdf"]
    assert (NOW, LATER, "document-skills") == (
        entry["installedAt"],
        entry["updatedAt"],
        entry["pluginName"],
    )
    assert (USER["dismissed"], USER["skills"]["site"]) == (
        json.loads(first)["dismissed"],
        json.loads(first)["skills"]["site"],
    )
    assert first == again
    assert (NOW, "2027-01-01T00:00:00Z") == tuple(
        json.loads(changed)["skills"]["pdf"][key] for key in ("installedAt", "updatedAt")
    )


def test_gh_pins_what_was_asked_for_by_commit() -> None:
    commit = "a" * 40
    lock = Lock(
        (
            a_pin("a", ref=commit, commit=commit),
            a_pin("b"),
            a_pin("c", source="https://example.com/r.git"),
        )
    )

    found = json.loads(gh.write_user(lock, None, NOW, {}))["skills"]

    assert {"a": commit, "b": None} == {
        name: entry.get("pinnedRef") for name, entry in found.items()
    }
    assert "GitHub" in gh.carries(lock.pins[2])


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({"source": "https://gitlab.com/g/sub/r"}, ("gitlab", "g/sub/r")),
        ({"source": "git@host:r.git"}, ("git", "git@host:r.git")),
        (
            {"kind": "well-known", "source": "https://example.com/docs"},
            ("well-known", "example.com"),
        ),
        ({"kind": "folder", "source": "./a"}, ("local", "./a")),
    ],
)
def test_each_kind_of_source_is_written_as_that_tool_names_it(
    fields: dict[str, Any], written: tuple[str, str]
) -> None:
    entry = json.loads(npx.write(Lock((a_pin(**fields),)), None, NOW, {}))["skills"]["pdf"]

    assert written == (entry["sourceType"], entry["source"])


def test_what_such_a_record_cannot_carry_is_said() -> None:
    assert "archive" in npx.carries(a_pin(kind="archive"))
    assert ".agents/skills" in npx.carries(
        a_pin(targets=(InstallTarget("codex", ".codex/skills/pdf", "copy"),))
    )
    assert "" == npx.carries(a_pin())


def test_the_hash_of_a_project_s_record_is_over_paths_and_bytes_in_the_order_of_javascript() -> (
    None
):
    files = [
        RecordedFile(path, path.upper().encode())
        for path in (
            "Z",
            "a.md",
            "a/b",
            "A",
            "b-c",
            "b_c",
            "node_modules/x",
            "sub/.git/y",
            "B/1",
            "b/10",
            "b/9",
        )
    ]

    found = npx.mark(files)

    order = ["A", "a.md", "a/b", "b_c", "b-c", "B/1", "b/10", "b/9", "Z"]
    assert (
        hashlib.sha256("".join(path + path.upper() for path in order).encode()).hexdigest()
        == found.whole
    )
    assert ("", True) == (
        npx.mark([RecordedFile("é", b"")]).whole,
        bool(npx.mark([RecordedFile("é", b"")]).note),
    )


def test_the_hash_of_the_record_at_home_is_git_s(tmp_path: Path) -> None:
    files = [
        RecordedFile("SKILL.md", b"x"),
        RecordedFile("a/b/c.sh", b"y", executable=True),
        RecordedFile("a.b", b""),
        RecordedFile("a-b/d", b"z"),
        RecordedFile("a0", b"0"),
    ]
    for file in files:
        path = tmp_path / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        path.chmod(0o755 if file.executable else 0o644)
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    tree = subprocess.run(
        ["git", "write-tree"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout.strip()

    assert tree == npx.mark_user(files).whole
