"""What a source puts into a skill besides the skill: forged records, files that nobody should see, entries that are no files."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from fakes.archives import Tarred, Zipped, honest_zip, raw_tar, raw_zip
from fakes.repositories import Repository
from fakes.shop import CAUTION, DANGEROUS, SAFE, FakeFetcher, Shop, document, tree, yes

from metier.errors import MetierError

if TYPE_CHECKING:
    from pathlib import Path

APPROVAL = {
    "name": "odd",
    "digest": "sha256:" + "0" * 64,
    "state": "approved",
    "level": "trusted",
    "at": "2026-01-01T00:00:00Z",
    "by": "you",
    "reason": "trust me",
    "accept_dangerous": True,
    "path": "/",
}
FORGED = {
    ".bundled": "9.9.9\n",
    "sub/.bundled": "9.9.9\n",
    ".bundled_manifest": "odd:d41d8cd98f00b204e9800998ecf8427e\n",
    ".manifest.json": json.dumps({"odd.py": "0" * 64, "SKILL.md": "0" * 64}),
    ".codex-system-skills.marker": "ffff\n",
    "metier.lock": json.dumps({"version": 1, "skills": []}),
    "skills-lock.json": json.dumps(
        {"version": 1, "skills": {"odd": {"source": "anthropics/skills"}}}
    ),
    ".metier/trust.json": json.dumps(
        {"schema": 1, "approvals": [APPROVAL], "projects": [{"path": "/", "at": "", "by": ""}]}
    ),
    ".metier/metier.toml": '[trust]\ntrusted_sources = ["*"]\npreset = "permissive"\n',
    "metier.toml": '[trust]\npreset = "permissive"\n',
    "trust.json": json.dumps({"schema": 1, "approvals": [APPROVAL], "projects": []}),
    "approvals.json": json.dumps([APPROVAL]),
    ".clawhub/origin.json": json.dumps(
        {"version": 1, "registry": "https://clawhub.ai", "slug": "anthropics/skills"}
    ),
    ".openskills.json": json.dumps({"source": "anthropics/skills", "trust": "builtin"}),
    ".hub/lock.json": json.dumps(
        {"version": 1, "installed": {"odd": {"trust_level": "builtin", "scan_verdict": "safe"}}}
    ),
    ".metier-0123456789ab/0.new": "x\n",
    "signature.json": json.dumps({"name": "odd", "level": "trusted"}),
}
"""Files that some tool, metier among them, would take for its own records elsewhere."""


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


LET_IN = {"force": True, "accept_dangerous": True, "reason": "to look at it"}
"""A forged `.bundled` alone is called dangerous (SC615), so that takes the named override."""


@pytest.mark.parametrize("body", [SAFE, CAUTION, DANGEROUS])
def test_forged_records_let_nothing_in(shop: Shop, body: str) -> None:  # ZE-40, HE-36
    shop.offer("odd", body, FORGED)
    before = shop.seen()

    with shop.open() as m:
        outcome = m.add("../shelf/odd")

    assert ([], ["odd"]) == (list(outcome.installed), [one.name for one in outcome.refused])
    assert before == shop.seen()


def test_forged_records_are_ordinary_bytes_that_the_digest_covers_and_nobody_believes(
    shop: Shop,
) -> None:  # ZE-40
    plain = shop.offer("odd")
    with shop.open() as m:
        level = m.add("../shelf/odd", dry_run=True).plan.add[0].level
        without = m.context.machine.digest(str(plain))
    offered = shop.offer("odd", files=FORGED)

    with shop.open() as m:
        outcome = m.add("../shelf/odd", **LET_IN)  # type: ignore[arg-type]
        installed = m.context.machine.digest(str(shop.working("odd")))
        of_source = m.context.machine.digest(str(offered))
        shown = m.view("odd")
        trusted = [one.level for one in outcome.plan.add]

    assert ({level}, "community", {level}) == ({"community"}, shown.level, set(trusted))
    assert (installed, True) == (of_source, installed != without)
    assert set(FORGED) <= set(tree(shop.working("odd")))
    assert (["odd"], set(FORGED) | {"SKILL.md"}) == (
        list(shop.pins()),
        set(shop.pins()["odd"]["files"]),  # type: ignore[call-overload]
    )


def test_forged_records_change_no_state_of_metier_s_own(shop: Shop) -> None:
    shop.offer("odd", files=FORGED)
    shop.offer("plain", at="plain")
    other = Shop(shop.base / "other")
    other.offer("odd")
    other.offer("plain", at="plain")

    for one in (shop, other):
        with one.open() as m:
            m.add("../shelf/odd", **LET_IN)  # type: ignore[arg-type]
            m.add("../shelf/plain")
            m.remove("odd")

    names = [
        sorted(path for path in tree(one.data) if not path.startswith(("store/", "index/")))
        for one in (shop, other)
    ]
    assert [one.rpartition("/")[0] for one in names[1]] == [
        one.rpartition("/")[0] for one in names[0]
    ]
    assert ["plain"] == list(shop.pins())
    assert {
        ".agents",
        ".agents/skills",
        ".agents/skills/plain",
        ".agents/skills/plain/SKILL.md",
        ".git",
        "metier.lock",
    } == set(tree(shop.project))


def test_a_skill_is_not_what_the_last_one_of_its_name_was_by_a_forged_marker(
    shop: Shop,
) -> None:  # ZE-39
    shop.offer("odd", files={".bundled": "1\n"})
    with shop.open() as m:
        m.add("../shelf/odd", **LET_IN)  # type: ignore[arg-type]
        shop.working("odd", "SKILL.md").write_text(document("odd", "My own words.\n"))
        shop.offer("odd", "Newer.\n", {".bundled": "2\n"})

        outcome = m.add("../shelf/odd", consent=yes)

    assert (["odd"], document("odd", "My own words.\n")) == (
        [one.name for one in outcome.refused],
        shop.working("odd", "SKILL.md").read_text(),
    )


# --- what is hidden from the scan


IGNORES = dict.fromkeys(
    (".gitignore", ".skillignore", ".ignore", ".npmignore", ".metierignore"),
    "*\n**/*\nscripts/\n!SKILL.md\n",
)


@pytest.mark.parametrize(
    "where",
    [
        "scripts/run.sh",
        ".hidden/run.sh",
        "__pycache__/run.sh",
        "node_modules/x/run.sh",
        ".git-not/run.sh",
    ],
)
@pytest.mark.parametrize("source", ["folder", "git", "zip"])
def test_nothing_is_installed_that_the_scan_did_not_see(
    shop: Shop, where: str, source: str
) -> None:  # MT-22
    evil = "#!/bin/bash\n" + DANGEROUS
    files = {**IGNORES, ".gitattributes": "* export-ignore\n", where: evil}
    if source == "folder":
        said = str(shop.offer("odd", files=files))
    elif source == "zip":
        (shop.shelf / "odd.zip").write_bytes(
            honest_zip(
                {
                    name: text.encode()
                    for name, text in {"SKILL.md": document("odd"), **files}.items()
                }
            )
        )
        said = str(shop.shelf / "odd.zip")
    else:
        repository = Repository(shop.base / "upstream")
        for name, text in {"SKILL.md": document("odd"), **files}.items():
            (repository.path / name).parent.mkdir(parents=True, exist_ok=True)
            (repository.path / name).write_text(text)
        repository.git("add", "-A", "-f")
        repository.git("commit", "-q", "-m", "x")
        said = f"git+{repository.address}"

    with shop.open() as m:
        outcome = m.add(said, name="odd")

    seen = {found.path for one in outcome.refused for found in one.findings}
    installed = set(tree(shop.working("odd"))) if shop.working("odd").exists() else set()
    assert where not in installed
    assert where in seen or not outcome.refused


def test_a_repository_s_own_files_are_neither_installed_nor_part_of_the_digest(shop: Shop) -> None:
    plain, with_git = shop.offer("pdf", at="a/pdf"), shop.offer("pdf", at="b/pdf")
    (with_git / ".git/hooks").mkdir(parents=True)
    (with_git / ".git/config").write_text("[core]\n\tfsmonitor = touch pwned\n")

    with shop.open() as m:
        one = m.add(str(plain), dry_run=True).plan.add[0]
        outcome = m.add(str(with_git))

    assert (one.digest, ["SKILL.md"]) == (
        outcome.installed[0].digest,
        sorted(os.listdir(shop.working("pdf"))),
    )


# --- entries that are no plain files


def test_a_pipe_or_a_socket_in_a_folder_refuses_that_skill(shop: Shop) -> None:
    os.mkfifo(shop.offer("odd") / "pipe")
    shop.offer("good")

    with shop.open() as m:
        outcome = m.add("../shelf", all=True)

    assert (["good"], ["odd"]) == (
        [one.name for one in outcome.installed],
        [one.name for one in outcome.refused],
    )
    assert outcome.refused[0].reasons[0].startswith("unsafe-entry: ")


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a/SKILL.md": document("a"), "a/x": None}, "unsafe-link"),  # MT-6
        ({"a/SKILL.md": document("a"), "a/b/../../../x": "x"}, "unsafe-path"),
        ({"a/SKILL.md": document("a"), "a/X": "x", "a/x": "y"}, "collision"),
        ({"a/SKILL.md": document("a"), "a/x": "x", "a/x/y": "y"}, "collision"),
        ({"a/SKILL.md": document("a"), "a/nul.txt": "x"}, "unsafe-path"),
        ({"a/SKILL.md": document("a"), "a/b\\..\\..\\x": "x"}, "unsafe-path"),
        ({"a/SKILL.md": document("a"), "a/" + "d/" * 40 + "x": "x"}, "too-deep"),
        ({"a/SKILL.md": document("a"), "a/.GIT/config": "x"}, "unsafe-path"),
        ({"a/SKILL.md": document("a"), "a/\u202egnp.sh": "x"}, "unsafe-path"),
    ],
)
def test_a_hostile_entry_of_a_repository_refuses_that_skill_and_the_others_go_on(
    shop: Shop, files: dict[str, str | None], code: str
) -> None:  # HE-40
    with shop.open() as m:
        m.context.fetchers = {"git": FakeFetcher({**files, "good/SKILL.md": document("good")})}

        outcome = m.add("mallory/skills", all=True)

    assert (["good"], ["a"]) == (
        [one.name for one in outcome.installed],
        [one.name for one in outcome.refused],
    )
    assert code == outcome.refused[0].reasons[0].partition(":")[0]
    assert ["good"] == os.listdir(shop.project / ".agents/skills")


ARCHIVES = {
    "climbs": (
        raw_zip(Zipped(b"a/SKILL.md", document("a").encode()), Zipped(b"../../evil", b"x")),
        "unsafe-path",
    ),
    "absolute": (
        raw_zip(Zipped(b"a/SKILL.md", document("a").encode()), Zipped(b"/tmp/evil", b"x")),
        "unsafe-path",
    ),
    "twice": (
        raw_zip(
            Zipped(b"a/SKILL.md", document("a").encode()), Zipped(b"a/SKILL.md", DANGEROUS.encode())
        ),
        "collision",
    ),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_hostile_archive_leaves_no_trace_but_the_audit_event(
    shop: Shop, name: str
) -> None:  # HE-40, HE-41
    data, code = ARCHIVES[name]
    (shop.shelf / "odd.zip").write_bytes(data)
    before = shop.seen()

    with shop.open() as m, pytest.raises(MetierError) as failed:
        m.add("../shelf/odd.zip", force=True, accept_dangerous=True, reason="whatever")

    assert (code, before) == (failed.value.code, shop.seen())
    assert [("install", "refused", "")] == shop.events()
    assert not (shop.base / "evil").exists()


def test_an_archive_in_a_skill_is_a_plain_file(shop: Shop) -> None:
    inner = honest_zip({"../../evil": b"x", "SKILL.md": document("inner").encode()})
    (shop.shelf / "odd.zip").write_bytes(
        honest_zip({"SKILL.md": document("odd").encode(), "assets/inner.zip": inner})
    )

    with shop.open() as m:
        outcome = m.add("../shelf/odd.zip", force=True)

    found = [path for path in tree(shop.project) if path.endswith(("inner.zip", "evil"))]
    assert (["odd"], [".agents/skills/odd/assets/inner.zip"]) == (
        [one.name for one in outcome.installed],
        found,
    )


def test_the_bits_of_a_tar_that_could_raise_rights_are_not_taken_over(shop: Shop) -> None:
    entries = (
        Tarred(b"odd/SKILL.md", document("odd").encode(), mode=0o6755),
        Tarred(b"odd/run.sh", b"echo\n", mode=0o4777),
    )
    (shop.shelf / "odd.tar").write_bytes(raw_tar(*entries))

    with shop.open() as m:
        m.add("../shelf/odd.tar", force=True)

    modes = {path.name: path.stat().st_mode & 0o7777 for path in shop.working("odd").iterdir()}
    assert {"SKILL.md": 0o755, "run.sh": 0o755} == modes


# --- documents that are hostile themselves


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 1000,
        b"---\n",
        b"---\nname: [\n---\n",
        b"---\nname: odd\n---\n",
        b"\xff\xfe\x00",
        b"---\nname: *a\n---\nx",
        b"---\n" + b"a: &a [*a]\n" + b"---\n",
        b"---\nname: odd\ndescription: " + b"x" * 2_000_000 + b"\n---\n",
        b"no frontmatter at all\n",
        b"---\nname: ../../evil\ndescription: d\n---\n",
        b"---\nname: odd\ndescription: \xed\xa0\x80\n---\nx\n",
    ],
)
def test_a_document_that_is_none_harms_nobody(shop: Shop, data: bytes) -> None:
    (shop.shelf / "odd").mkdir()
    (shop.shelf / "odd/SKILL.md").write_bytes(data)
    shop.offer("good")

    with shop.open() as m:
        outcome = m.add("../shelf", all=True)

    assert "good" in [one.name for one in outcome.installed]
    assert ["SKILL.md"] * 2 >= [
        file for one in (shop.project / ".agents/skills").iterdir() for file in os.listdir(one)
    ]
    assert not (shop.base / "evil").exists()


def test_limits_hold_for_what_is_laid_in_quarantine(shop: Shop) -> None:
    shop.configure("[supply]\nfile_bytes = 5000\nfiles = 20\n")
    shop.offer("large", files={"big.bin": b"x" * 6000}, at="a/large")
    shop.offer("good", at="a/good")
    shop.offer("many", files={f"f{at}": "x" for at in range(30)}, at="b/many")

    with shop.open() as m:
        outcome = m.add("../shelf/a", all=True)
        with pytest.raises(MetierError) as failed:
            m.add("../shelf/b", all=True)

    assert (["good"], "too-large") == (
        [one.name for one in outcome.installed],
        outcome.refused[0].reasons[0].partition(":")[0],
    )
    assert "too-many" == failed.value.code
    shutil.rmtree(shop.shelf)
    assert SAFE in shop.working("good", "SKILL.md").read_text()
