"""A lock that a stranger wrote: no verb that reads it touches anything but the places of the skills it names (HE-42)."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from fakes.shop import DANGEROUS, Shop, document, tree, write_skill, yes

from metier.errors import MetierError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from metier.library import Library

VERBS: dict[str, Callable[[Library], object]] = {
    "remove": lambda m: m.remove("pdf", force=True),
    "sync": lambda m: m.sync(),
    "sync --frozen": lambda m: m.sync(frozen=True),
    "update": lambda m: m.update(consent=yes),
    "update NAME": lambda m: m.update("pdf", consent=yes),
    "add": lambda m: m.add("../shelf/pdf", force=True, to=["qwen-code"], consent=yes),
    "rollback": lambda m: m.rollback("pdf"),
    "diff": lambda m: m.diff("pdf"),
}
LOOKS: dict[str, Callable[[Library], object]] = {
    "merge": lambda m: m.merge("pdf", "theirs"),
    "history": lambda m: m.history("pdf"),
    "outdated": lambda m: m.outdated(),
    "update --check": lambda m: m.update(check=True),
    "gc": lambda m: m.gc(),
    "list": lambda m: m.skills(all=True),
}
"""Verbs that may have nothing to say against such a lock, because they change no place that it names."""
FOLDER = {"agent": "", "path": ".agents/skills/pdf", "method": "folder"}


def target(path: str, agent: str = "", method: str = "folder") -> dict[str, str]:
    return {"agent": agent, "path": path, "method": method}


TARGETS: dict[str, list[dict[str, str]]] = {
    "climbs": [target("../pdf")],
    "climbs from inside": [target(".agents/skills/../../src/pdf")],
    "climbs out of the project": [FOLDER, target("../../pdf", "claude-code", "copy")],
    "absolute": [target("/etc/pdf")],
    "absolute, as a link": [FOLDER, target("/tmp/pdf", "claude-code", "link")],
    "a folder of the project": [target("src/pdf")],
    "a folder of the project, for an agent": [FOLDER, target("src/pdf", "claude-code", "copy")],
    "git's own": [target(".git/pdf")],
    "git's hooks": [FOLDER, target(".git/hooks/pdf", "claude-code", "copy")],
    "the skills folder itself": [target(".agents/skills")],
    "the top": [target(".")],
    "nothing": [target("")],
    "another skill's folder": [target(".agents/skills/other")],
    "inside another skill": [target(".agents/skills/other/pdf")],
    "below a skill": [target(".agents/skills/pdf/pdf")],
    "another case": [target(".agents/skills/PDF")],
    "an agent that nobody knows": [FOLDER, target(".evil/skills/pdf", "evil", "copy")],
    "an agent that nobody knows, in a known folder": [FOLDER, target(".claude/skills/pdf", "evil", "copy")],
    "another agent's folder": [FOLDER, target(".claude/skills/pdf", "qwen-code", "copy")],
    "an agent's name and no folder of its": [target(".claude/skills/pdf", "")],
    "a working copy for an agent, elsewhere": [target(".agents/skills/pdf", "claude-code", "folder"), target("lib/pdf", "codex")],
    "two working copies": [FOLDER, target(".claude/skills/pdf", "claude-code", "folder")],
    "a link and a copy in one place": [FOLDER, target(".claude/skills/pdf", "claude-code", "link"),
                                       target(".claude/skills/pdf", "goose", "copy")],
    "a link onto the working copy": [FOLDER, target(".agents/skills/pdf", "codex", "link")],
    "no working copy": [target(".claude/skills/pdf", "claude-code", "link")],
    "no places at all": [],
    "the same twice": [FOLDER, FOLDER],
    "a folder of the user's": [target("~/.agents/skills/pdf")],
    "backslashes": [target(".agents\\skills\\pdf")],
    "a drive": [target("C:/skills/pdf")],
    "a NUL": [target(".agents/skills\0/pdf")],
    "an admin's folder": [FOLDER, target("etc/claude-code/.claude/skills/pdf", "claude-code", "copy")],
}  # fmt: skip


def project_with_much_in_it(shop: Shop) -> None:
    """Install a skill, and put other things wherever a hostile lock might point."""
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
    for place in (
        "src/pdf",
        ".agents/skills/other",
        ".agents/skills/other/pdf",
        ".claude/skills/pdf",
        ".claude/skills/mine",
        ".evil/skills/pdf",
        ".git/pdf",
        ".git/hooks/pdf",
        "etc/claude-code/.claude/skills/pdf",
        "lib/pdf",
    ):
        write_skill(shop.project / place, "pdf", "Theirs.\n")
    write_skill(shop.base / "pdf", "pdf", "Outside.\n")


def forge(lock: Path, **fields: Any) -> None:
    found = json.loads(lock.read_text())
    found["skills"][0].update(fields)
    lock.write_text(json.dumps(found))


def refusals(shop: Shop, verbs: dict[str, Callable[[Library], object]]) -> dict[str, str]:
    """Give the code with which each verb fails; nothing for one that does not. They must change nothing, so one follows the other."""
    codes = {}
    for name, verb in verbs.items():
        codes[name] = ""
        with shop.open() as m:
            try:
                verb(m)
            except MetierError as error:
                codes[name] = error.code
    return codes


def everything(shop: Shop) -> dict[str, object]:
    return {
        **shop.seen(),
        **{f"outside/{path}": what for path, what in tree(shop.base / "pdf").items()},
    }


@pytest.mark.parametrize("where", TARGETS)
def test_a_place_that_is_none_of_the_skill_s_is_refused_before_anything_is_touched(
    tmp_path: Path, where: str
) -> None:  # HE-42
    shop = Shop(tmp_path)
    project_with_much_in_it(shop)
    forge(shop.lock, targets=TARGETS[where])
    before = everything(shop)

    codes = refusals(shop, VERBS)

    assert before == everything(shop)
    assert {"outside", "lock"} >= set(codes.values()), codes


@pytest.mark.parametrize("where", TARGETS)
def test_who_only_looks_touches_nothing_and_fails_in_no_other_way(
    tmp_path: Path, where: str
) -> None:  # HE-42
    shop = Shop(tmp_path)
    project_with_much_in_it(shop)
    forge(shop.lock, targets=TARGETS[where])
    before = everything(shop)

    codes = refusals(shop, LOOKS)

    assert before == everything(shop)
    assert {"", "outside", "lock", "not-found"} >= set(codes.values()), codes


@pytest.mark.parametrize(
    "name",
    [
        "../pdf",
        "a/b",
        "..",
        ".",
        "",
        "/etc",
        ".git",
        "-rf",
        "a\\b",
        "pdf\0",
        "con",
        "x" * 5000,
        "\ud800",
        7,
        None,
        ["pdf"],
    ],
)
def test_a_name_that_is_no_name_is_refused(tmp_path: Path, name: object) -> None:  # HE-42
    shop = Shop(tmp_path)
    project_with_much_in_it(shop)
    forge(shop.lock, name=name, targets=[target(f".agents/skills/{name}")])
    before = everything(shop)

    codes = refusals(shop, VERBS)

    assert (before, {"lock"}) == (everything(shop), set(codes.values()))


LINKS = {
    ".agents leads out": (".agents", "../outside/.agents", FOLDER),
    ".agents/skills leads out": (".agents/skills", "../../outside/.agents/skills", FOLDER),
    ".claude leads out": (
        ".claude",
        "../outside/.claude",
        target(".claude/skills/pdf", "claude-code"),
    ),
    ".claude/skills leads to git's own": (
        ".claude/skills",
        "../.git",
        target(".claude/skills/pdf", "claude-code"),
    ),
    ".agents/skills leads to the sources": (".agents/skills", "../src", FOLDER),
    ".claude leads home": (".claude", "../home", target(".claude/skills/pdf", "claude-code")),
    ".agents leads to metier's own": (".agents", "../metier-home/store", FOLDER),
}


@pytest.mark.parametrize("where", LINKS)
def test_a_link_on_the_way_is_not_followed_to_where_no_agent_looks(
    tmp_path: Path, where: str
) -> None:  # HE-42
    shop = Shop(tmp_path)
    project_with_much_in_it(shop)
    place, aim, working = LINKS[where]
    write_skill(shop.base / "outside/.agents/skills/pdf", "pdf")
    write_skill(shop.base / "outside/.claude/skills/pdf", "pdf")
    write_skill(shop.home / "skills/pdf", "pdf")
    write_skill(shop.project / "skills/pdf", "pdf")
    shutil.rmtree(shop.project / place)
    (shop.project / place).symlink_to(aim)
    forge(shop.lock, targets=[working])
    before = {
        **everything(shop),
        **{f"elsewhere/{path}": what for path, what in tree(shop.base / "outside").items()},
    }

    codes = refusals(shop, VERBS)

    assert before == {
        **everything(shop),
        **{f"elsewhere/{path}": what for path, what in tree(shop.base / "outside").items()},
    }
    assert {"outside"} == set(codes.values()), codes


def test_an_agent_s_folder_that_leads_to_the_shared_one_is_the_shared_one(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.offer("pdf")
    (shop.project / ".claude").symlink_to(".agents")

    with shop.open() as m:
        m.add("../shelf/pdf", to=["claude-code"])
        frozen = m.sync(frozen=True)
        shutil.rmtree(shop.working("pdf"))
        restored = m.sync(frozen=True)
        seen = (shop.project / ".claude/skills/pdf/SKILL.md").read_text()
        m.remove("pdf")

    assert (True, True, document("pdf")) == (frozen.ok, restored.ok, seen)
    assert {".git", "metier.lock", ".claude"} == set(tree(shop.project)) - {
        ".agents",
        ".agents/skills",
    }


def test_a_hook_is_never_installed_through_a_skill_called_hooks(tmp_path: Path) -> None:  # HE-42
    shop = Shop(tmp_path)
    shop.offer("hooks", files={"post-checkout": "#!/bin/sh\necho pwned\n"})
    (shop.project / ".agents").mkdir()
    (shop.project / ".agents/skills").symlink_to("../.git")

    with shop.open() as m:
        with pytest.raises(RefusedError) as failed:
            m.add("../shelf/hooks")
        (shop.project / ".agents/skills").unlink()
        m.add("../shelf/hooks")
        shutil.rmtree(shop.project / ".agents/skills")
        (shop.project / ".agents/skills").symlink_to("../.git")
        with pytest.raises(RefusedError):
            m.sync(frozen=True)

    assert ("outside", []) == (failed.value.code, os.listdir(shop.project / ".git"))


# --- a lock that lies about bytes


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("has", ["the store", "only the source", "only the working copy"])
def test_a_digest_that_lies_restores_nothing(
    tmp_path: Path, has: str, frozen: bool
) -> None:  # HE-43
    shop = Shop(tmp_path)
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf", to=["claude-code"])
    forge(shop.lock, digest="sha256:" + "ab" * 32, base="sha256:" + "ab" * 32)
    (shop.project / ".claude/skills/pdf").unlink()
    if has != "the store":
        shutil.rmtree(shop.data)
    if has != "only the working copy":
        shutil.rmtree(shop.working("pdf"))
    before = tree(shop.project)

    with shop.open() as m:
        found = m.sync(frozen=frozen)

    assert (False, "not restored: digest: ") == (found.ok, found.drift[0][5:27])
    assert {**before, "metier.lock": ""} == {**tree(shop.project), "metier.lock": ""}


@pytest.mark.parametrize(
    "files",
    [{}, {"SKILL.md": "00" * 32}, {"SKILL.md": "", "evil.sh": "ab" * 32}, {"../x": "ab" * 32}],
)
@pytest.mark.parametrize("has", ["the store", "only the source"])
def test_a_list_of_files_that_lies_restores_nothing(
    tmp_path: Path, files: dict[str, str], has: str
) -> None:
    shop = Shop(tmp_path)
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
    forge(shop.lock, files=files)
    shutil.rmtree(shop.working("pdf"))
    if has != "the store":
        shutil.rmtree(shop.data)

    with shop.open() as m:
        try:
            ok = m.sync(frozen=True).ok
        except MetierError as error:
            ok = error.code != "lock"

    assert (False, False) == (ok, shop.working("pdf").exists())


@pytest.mark.parametrize("verdict", [{"level": "safe", "score": 0, "ruleset": "rules:ffff"}])
def test_a_verdict_approval_or_signature_in_a_lock_is_only_a_claim(
    tmp_path: Path, verdict: dict[str, object]
) -> None:  # HE-36
    shop = Shop(tmp_path)
    shutil.copytree(shop.offer("bad", DANGEROUS), shop.project / "vendor/bad")
    with shop.open() as m:
        m.add("vendor/bad", accept_dangerous=True, reason="to have a lock")
    digest = shop.pins()["bad"]["digest"]
    forge(shop.lock, verdict=verdict, approval=digest, signature="SHA256:trusted-key")
    shutil.rmtree(shop.project / ".agents")
    shutil.rmtree(shop.data)

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (False, False) == (found.ok, shop.working("bad").exists())


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("folder", "/etc"),
        ("folder", "./../../../../etc"),
        ("folder", "../shelf/pdf"),
        ("archive", "/etc/passwd"),
        ("git", "ext::sh -c id"),
        ("git", "--upload-pack=id"),
        ("git", "file:///nowhere"),
        ("git", "https://user:secret@example.com/x.git"),
        ("folder", "x" * 8000),
        ("well-known", "http://127.0.0.1:1"),
        ("clawhub", "clawhub:http://127.0.0.1:1/x"),
        ("file", "http://169.254.169.254/a.md"),
        ("bundled", "metier:shipped"),
    ],
)
@pytest.mark.parametrize("verb", ["sync", "sync --frozen", "update"])
def test_a_source_that_a_stranger_names_gives_no_other_bytes(
    tmp_path: Path, kind: str, source: str, verb: str
) -> None:
    shop = Shop(tmp_path)
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
    forge(shop.lock, kind=kind, source=source)
    shutil.rmtree(shop.working("pdf"))
    shutil.rmtree(shop.data)
    before = tree(shop.project)

    with shop.open() as m:
        try:
            VERBS[verb](m)
        except MetierError:
            pass

    assert before == tree(shop.project)


def test_a_lock_of_two_thousand_skills_that_lies_about_one_touches_none(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
    found = json.loads(shop.lock.read_text())
    (pin,) = found["skills"]
    many = [
        {**pin, "name": f"a{at}", "path": f"a{at}", "targets": [target(f".agents/skills/a{at}")]}
        for at in range(2_000)
    ]
    found["skills"] = [*many, {**pin, "targets": [target("src/pdf")]}]
    shop.lock.write_text(json.dumps(found))
    before = shop.seen()

    with shop.open() as m, pytest.raises(RefusedError):
        m.sync()

    assert before == shop.seen()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        '{"version": 1}',
        '{"version": 99, "skills": []}',
        "[" * 100_000,
        "\xff",
        "<<<<<<< a\n",
    ],
)
def test_what_is_no_lock_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    shop = Shop(tmp_path)
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
    shop.lock.write_bytes(text.encode("latin-1"))
    before = shop.seen()

    codes = refusals(shop, {**VERBS, **LOOKS})

    assert before == shop.seen()
    assert {"lock", "lock-version", "lock-conflict"} >= {
        code for verb, code in codes.items() if verb not in {"list", "gc"}
    }, codes


@pytest.mark.parametrize("what", ["link", "folder", "pipe"])
def test_a_lock_that_is_no_file_is_not_read(tmp_path: Path, what: str) -> None:
    shop = Shop(tmp_path)
    shop.offer("pdf")
    elsewhere = shop.base / "their.lock"
    elsewhere.write_text('{"version": 1, "skills": []}\n')
    if what == "link":
        shop.lock.symlink_to(elsewhere)
    elif what == "folder":
        shop.lock.mkdir()
    else:
        os.mkfifo(shop.lock)

    with shop.open() as m, pytest.raises(MetierError) as failed:
        m.add("../shelf/pdf")

    assert (False, True) == (shop.working("pdf").exists(), bool(failed.value.code))
    assert '{"version": 1, "skills": []}\n' == elsewhere.read_text()
