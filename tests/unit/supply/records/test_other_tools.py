"""The records of Hermes, ClawHub and APM: read, written, and hashed as those tools do."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
import yaml
from fakes.pins import a_pin, sha

from metier.errors import ConfigError
from metier.supply.model import InstallTarget, Lock, PinnedFile
from metier.supply.records import apm, clawhub, hermes
from metier.supply.records.foreign import RecordedFile, RecordHash

NOW, LATER = "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


# --- Hermes

HUB: dict[str, Any] = {"version": 1, "installed": {
    "pdf": {"source": "github", "identifier": "anthropics/skills/skills/pdf", "trust_level": "trusted", "scan_verdict": "safe", "content_hash": "sha256:1",
            "install_path": "documents/pdf", "files": ["SKILL.md"], "metadata": {"a": 1}, "installed_at": NOW, "updated_at": NOW, "more": 1},
    "note": {"source": "clawhub", "identifier": "note", "install_path": "note"},
    "bad": {"source": "github", "identifier": "a/b/c", "install_path": "../../etc"},
    "odd": 7,
}, "top": True}  # fmt: skip


def in_hermes(name: str, **fields: Any) -> Any:
    return a_pin(
        name,
        targets=(
            InstallTarget("", f".agents/skills/{name}", "folder"),
            InstallTarget("hermes", f".hermes/skills/{name}", "copy"),
        ),
        **fields,
    )


def test_the_record_of_hermes_is_read_and_a_path_that_climbs_is_no_folder() -> None:
    found = {one.name: one for one in hermes.read(as_bytes(HUB))}

    pdf = found["pdf"]
    assert (
        "https://github.com/anthropics/skills",
        "skills/pdf",
        ".hermes/skills/documents/pdf",
        "sha256:1",
    ) == (
        pdf.source,
        pdf.path,
        pdf.folder,
        pdf.digest_hint,
    )
    assert ("clawhub:note", "clawhub") == (found["note"].source, found["note"].kind)
    assert ("", "") == (found["bad"].folder, found["odd"].folder)


def test_the_record_of_hermes_is_written_for_what_lies_in_its_folder() -> None:
    lock = Lock(
        (
            in_hermes("pdf"),
            a_pin("xlsx"),
            in_hermes("zip", kind="archive"),
            in_hermes("n", kind="clawhub", source="clawhub:n"),
        )
    )

    data = hermes.write(lock, as_bytes(HUB), LATER, {"pdf": RecordHash("sha256:2")})

    found = json.loads(data)
    assert ["bad", "n", "note", "odd", "pdf"] == sorted(found["installed"])
    pdf = found["installed"]["pdf"]
    assert (
        "sha256:2",
        "pdf",
        ["SKILL.md", "scripts/run.sh"],
        NOW,
        LATER,
        {"a": 1},
        1,
        "trusted",
    ) == tuple(
        pdf[key]
        for key in (
            "content_hash",
            "install_path",
            "files",
            "installed_at",
            "updated_at",
            "metadata",
            "more",
            "trust_level",
        )
    )
    assert (True, {}) == (found["top"], found["installed"]["odd"])
    assert data == hermes.write(lock, data, "2027-01-01T00:00:00Z", {"pdf": RecordHash("sha256:2")})
    assert "--to hermes" in hermes.carries(lock.pins[1])
    assert "archive" in hermes.carries(lock.pins[2])


# HE-43
def test_the_hash_of_hermes_is_its_own_and_its_second_order_is_pointed_out() -> None:
    plain = [RecordedFile("SKILL.md", b"1"), RecordedFile("a/x", b"2")]
    torn = [RecordedFile("a-b/x", b"3"), RecordedFile("a/x", b"4")]

    assert (
        f"sha256:{hashlib.sha256(b'SKILL.md' + bytes(1) + b'1' + b'a/x' + bytes(1) + b'2').hexdigest()[:16]}"
        == hermes.mark(plain).whole
    )
    assert "" == hermes.mark(plain).note
    assert (
        f"sha256:{hashlib.sha256(b'a/x' + bytes(1) + b'4' + b'a-b/x' + bytes(1) + b'3').hexdigest()[:16]}"
        == hermes.mark(torn[::-1]).whole
    )
    assert "another order" in hermes.mark(torn).note


# --- ClawHub

CLAW: dict[str, Any] = {
    "version": 1,
    "skills": {
        "weather": {
            "version": "1.2.0",
            "installedAt": 1767225600000,
            "ownerHandle": "@sun",
            "pinned": True,
            "pinReason": "tested",
        },
        "mine": {"version": None, "installedAt": 1},
    },
}


def claw(name: str, version: str, owner: str = "") -> Any:
    return a_pin(
        name,
        kind="clawhub",
        source=f"clawhub:{owner}{name}",
        path="",
        ref="",
        commit=version,
        targets=(InstallTarget("openclaw", f"skills/{name}", "folder"),),
    )


def test_the_record_of_clawhub_is_read() -> None:
    mine, weather = clawhub.read(as_bytes(CLAW))

    assert ("clawhub:sun/weather", "clawhub", "1.2.0", "skills/weather") == (
        weather.source,
        weather.kind,
        weather.commit,
        weather.folder,
    )
    assert ("clawhub:mine", "") == (mine.source, mine.version)
    assert "1.2.0" == clawhub.origin_version(
        b'{"version": 1, "slug": "weather", "installedVersion": "1.2.0"}'
    )
    assert "" == clawhub.origin_version(b"no")


def test_the_record_of_clawhub_is_written_for_its_own_skills() -> None:
    lock = Lock((claw("new", "3", "moon/"), a_pin("pdf"), claw("weather", "1.2.0")))

    data = clawhub.write(lock, as_bytes(CLAW), NOW)

    assert (
        CLAW["skills"]
        | {"new": {"version": "3", "installedAt": 1767225600000, "ownerHandle": "moon"}}
        == json.loads(data)["skills"]
    )
    assert data == clawhub.write(lock, data, LATER)
    assert "not from ClawHub" in clawhub.carries(lock.pins[1])


# --- APM

APM = b"""# a comment
lockfile_version: '1'
generated_at: '2026-01-01T00:00:00+00:00'
apm_version: 0.9.2
dependencies:
- repo_url: anthropics/skills
  host: github.com
  resolved_commit: 0123456789012345678901234567890123456789
  resolved_ref: main
  virtual_path: skills/pdf
  is_virtual: true
  depth: 1
  exec_status: null
  deployed_files:
  - .claude/skills/pdf/SKILL.md
  - .agents/skills/pdf
  - .agents/skills/pdf/SKILL.md
  - .agents/skills/pdf/old.md
  deployed_file_hashes: {".agents/skills/pdf/SKILL.md": "sha256:00"}
- repo_url: https://git.example.com/team/pack.git
  package_type: skill_bundle
  resolved_commit: 1e3
  deployed_files: [.agents/skills/one/SKILL.md, .agents/skills/two/SKILL.md, ../../etc/SKILL.md]
  future: {a: [1, {b: "yes"}]}
local_deployed_files: []
"""


def test_the_record_of_apm_is_read_a_skill_for_each_folder() -> None:
    one, pdf, two = apm.read(APM)

    assert (
        "https://github.com/anthropics/skills",
        "main",
        "0123456789012345678901234567890123456789",
        "skills/pdf",
        ".agents/skills/pdf",
        "sha256:00",
    ) == (pdf.source, pdf.ref, pdf.commit, pdf.path, pdf.folder, pdf.digest_hint)
    assert ("https://git.example.com/team/pack.git", "1e3", "skills/one") == (
        one.source,
        one.commit,
        one.path,
    )
    assert "skills/two" == two.path


def test_the_record_of_apm_keeps_what_metier_does_not_know() -> None:
    lock = Lock((a_pin("pdf"), a_pin("new", source="https://git.example.com/x/y", path="")))

    data = apm.write(lock, APM, LATER, {"pdf": RecordHash(files=(("SKILL.md", "sha256:11"),))})

    found, before = yaml.safe_load(data), yaml.safe_load(APM)
    pdf = next(one for one in found["dependencies"] if one.get("virtual_path") == "skills/pdf")
    assert {
        "lockfile_version",
        "generated_at",
        "apm_version",
        "dependencies",
        "local_deployed_files",
    } == set(found)
    assert (before["generated_at"], before["apm_version"], []) == (
        found["generated_at"],
        found["apm_version"],
        found["local_deployed_files"],
    )
    assert before["dependencies"][1] in found["dependencies"]
    assert (lock.pins[0].commit, True, 1, None) == tuple(
        pdf[key] for key in ("resolved_commit", "is_virtual", "depth", "exec_status")
    )
    assert [
        ".agents/skills/pdf",
        ".agents/skills/pdf/SKILL.md",
        ".agents/skills/pdf/scripts/run.sh",
        ".claude/skills/pdf/SKILL.md",
    ] == pdf["deployed_files"]
    assert {".agents/skills/pdf/SKILL.md": "sha256:11"} == pdf["deployed_file_hashes"]
    assert 3 == len(found["dependencies"])
    assert data == apm.write(
        lock, data, NOW, {"pdf": RecordHash(files=(("SKILL.md", "sha256:11"),))}
    )


def test_a_new_record_of_apm_is_plain_yaml() -> None:
    lock = Lock((a_pin("pdf", files=(PinnedFile("1: #é.md", sha("x")),)),))

    found = yaml.safe_load(
        apm.write(lock, None, NOW, {"pdf": apm.mark([RecordedFile("1: #é.md", b"a\r\nb\n")])})
    )

    assert ("1", NOW) == (found["lockfile_version"], found["generated_at"])
    assert "anthropics/skills" == found["dependencies"][0]["repo_url"]
    assert {
        ".agents/skills/pdf/1: #é.md": f"sha256:{hashlib.sha256(b'a' + bytes([10]) + b'b' + bytes([10])).hexdigest()}"
    } == (found["dependencies"][0]["deployed_file_hashes"])
    assert "repositories" in apm.carries(a_pin(kind="folder", source="./a"))


@pytest.mark.parametrize("read", [hermes.read, clawhub.read, apm.read])
def test_a_record_of_another_version_is_refused(read: Any) -> None:
    for data in (
        b'{"version": 2, "installed": {}, "skills": {}, "lockfile_version": "3"}',
        b'{"version": true, "lockfile_version": true}',
        b"{}",
    ):
        with pytest.raises(ConfigError) as caught:
            read(data)
        assert "record-version" == caught.value.code
