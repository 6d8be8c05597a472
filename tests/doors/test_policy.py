"""`metier policy`, and what an organisation's policy stops at every other command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream


def write_policy(project: Project, text: str) -> Path:
    """Write a policy, and have every command obey it."""
    path = project.folder.parent / "policy.toml"
    path.write_text(f"version = 1\n{text}")
    project.home.env["METIER_POLICY"] = str(path)
    return path


def test_a_source_that_is_not_allowed_stops_add_and_the_line_is_named(
    project: Project, upstream: Upstream
) -> None:
    path = write_policy(project, '\n[sources]\nallow = [\n  "example/*",\n  "/srv/skills",\n]\n')

    refused = project("add", upstream.url, "--yes", "--json")
    told = project("policy", "explain", upstream.url, "--json")
    other = project("policy", "explain", "https://github.com/example/skills", "--json")
    shown = project("policy", "show")

    assert (1, "policy") == (refused.code, refused.json["code"])
    assert f"({path}:4)" in refused.json["message"]
    assert not (project.folder / "metier.lock").exists()
    assert (1, "block", str(path), 4) == (
        told.code,
        told.json["decision"],
        told.json["because"][0]["file"],
        told.json["because"][0]["line"],
    )
    assert (0, "allow", 5) == (
        other.code,
        other.json["decision"],
        other.json["because"][0]["line"],
    )
    assert 'sources.allow = ["example/*", "/srv/skills"]' in shown.out


def test_without_a_policy_nothing_is_said_and_nothing_is_refused(installed: Project) -> None:
    shown, told = installed("policy", "show"), installed("policy", "explain", "pdf", "--json")

    assert (0, True) == (shown.code, shown.out.startswith("No policy applies here."))
    assert (0, [], "pdf") == (told.code, told.json["because"], told.json["name"])


def test_what_is_installed_is_held_to_a_policy_that_comes_later_at_every_command(
    installed: Project, upstream: Upstream
) -> None:
    upstream.commit({"skills/pdf/new.md": "new\n"})
    path = write_policy(installed, '[sources]\ndeny = ["**"]\n')
    place = f"({path}:3)"

    told = installed("policy", "explain", "pdf", "--json")
    codes = {
        words: (answer.code, answer.json.get("code"))
        for words in (
            ("show", "pdf"),
            ("run", "pdf", "--yes"),
            ("trust", "approve", "pdf", "--yes"),
            ("trust", "approve", "pdf", "--yes", "--accept-dangerous", "--reason", "must"),
        )
        for answer in [installed(*words, "--json")]
    }
    update, sync = installed("update", "--yes", "--json"), installed("sync", "--json")
    why = installed("why", "pdf")
    forced = installed("add", upstream.url, "--yes", "--force", "--json")

    assert (1, "block") == (told.code, told.json["decision"])
    assert (str(path), 3, "sources.deny") == tuple(
        told.json["because"][0][key] for key in ("file", "line", "rule")
    )
    assert {(1, "policy"), (125, "policy")} == set(codes.values()), codes
    assert place in update.out
    assert (1, False, [], True) == (
        sync.code,
        sync.json["ok"],
        sync.json["changed"],
        place in sync.json["drift"][0],
    )
    assert (1, "policy") == (forced.code, forced.json["code"])
    assert place in why.out

    installed.edit("pdf", "Line 3 ", "My line 3 ")  # which does not wash off where it came from
    assert (1, "policy") == (
        (edited := installed("show", "pdf", "--json")).code,
        edited.json["code"],
    )


def test_ci_fails_when_the_lock_breaks_a_policy_or_lacks_a_mandatory_skill(
    installed: Project,
) -> None:
    policy = installed.folder / "policy.toml"
    frozen = ("sync", "--frozen", "--policy", str(policy), "--json")

    policy.write_text('version = 1\n[skills]\nmandatory = ["pdf"]\n')
    fine = installed(*frozen)
    policy.write_text('version = 1\n[skills]\nmandatory = [\n"pdf",\n"house-style",\n]\n')
    lacking = installed(*frozen)
    policy.write_text('version = 1\n[sources]\nallow = ["example/*"]\n')
    breaking = installed(*frozen)
    policy.write_text("version = 1\n[sources\n")
    damaged = installed(*frozen)
    default = installed("sync", "--frozen", "--policy", "default", "--json")

    assert (0, True) == (fine.code, fine.json["ok"])
    assert (
        1,
        [f"house-style: policy: it is mandatory, and the lock does not have it ({policy}:5)"],
    ) == (
        lacking.code,
        lacking.json["drift"],
    )
    assert (1, True) == (breaking.code, "is not an allowed source" in breaking.json["drift"][0])
    assert (1, "policy-damaged") == (damaged.code, damaged.json["code"])
    assert (1, "not-found") == (default.code, default.json["code"])


def test_a_damaged_policy_stops_everything_and_every_door_says_why(
    installed: Project, upstream: Upstream
) -> None:
    path = write_policy(installed, "[sources]\nallow = 1\n")

    answers = [
        installed(*words)
        for words in (
            ("add", upstream.url, "--yes"),
            ("run", "pdf", "--yes"),
            ("show", "pdf"),
            ("trust", "approve", "pdf", "--yes"),
            ("trust", "project", ".", "--yes"),
            ("trust", "source", "a/b", "--yes"),
            ("sync",),
            ("policy", "show"),
            ("policy", "explain", "pdf"),
        )
    ]
    listed = installed("list")

    assert 0 not in [answer.code for answer in answers]
    assert all(f"policy: {path} can't be used" in one.out + one.err for one in answers), answers
    assert 0 == listed.code
    assert f"policy: {path} can't be used" in listed.out + listed.err


def test_a_policy_is_signed_by_command_and_another_key_s_is_refused(project: Project) -> None:
    pytest.importorskip("cryptography")
    path = write_policy(project, '[trust]\npolicy = "strict"\n')
    made = project("trust", "keys", "new", "--json")
    public = path.parent / "policy.pub"
    public.write_bytes(Path(made.json["path"]).read_bytes())

    unsigned = project("policy", "show", "--json")
    signed = project("policy", "sign", str(path), "--json")
    shown = project("policy", "show", "--json")
    path.write_text(path.read_text().replace("strict", "permissive"))
    changed = project("policy", "show", "--json")

    assert (1, True) == (unsigned.code, "it must be signed" in unsigned.json["damage"])
    assert f"{path}.sig" == signed.json["path"]
    assert (0, signed.json["key"]) == (shown.code, shown.json["policies"][0]["signed_by"])
    assert (1, []) == (changed.code, changed.json["policies"])


def test_a_lock_says_who_vouched_and_another_machine_verifies_it(
    installed: Project, tmp_path: Path
) -> None:
    pytest.importorskip("cryptography")
    key = installed("trust", "keys", "new", "--json").json
    installed("sign", "pdf")
    source = json.loads((installed.folder / "metier.lock").read_text())["skills"][0]["source"]
    installed("remove", "pdf", "--yes")
    again = installed("add", f"git+{source}", "--yes")
    lock = json.loads((installed.folder / "metier.lock").read_text())["skills"][0]
    write_policy(installed, f'[publishers]\n"**" = ["{key["key"]}"]\n')
    here = installed("sync", "--frozen", "--json")
    installed.home.env["METIER_HOME"] = str(tmp_path / "elsewhere")
    unknown = installed("sync", "--frozen", "--json")
    installed("trust", "keys", "import", key["path"], "--yes")
    known = installed("sync", "--frozen", "--json")

    assert 0 == again.code, again
    assert key["key"] == lock["signature"]
    assert lock["vouch"]
    assert (0, []) == (here.code, here.json["notes"])
    assert (1, True) == (unknown.code, "so it counts for nothing" in unknown.json["notes"][0])
    assert (0, [], []) == (known.code, known.json["drift"], known.json["notes"])
