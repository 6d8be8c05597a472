"""How skills get in, as five systems knew it: what metier does the same, and what it does better."""

from __future__ import annotations

import json
import os
import re
import shutil
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from fakes.repositories import Repository
from fakes.shop import CAUTION, SAFE, FakeFetcher, Shop, document, tree, write_skill, yes
from fakes.site import Site

from metier.errors import MetierError, NotFoundError
from metier.standard.digest import TreeFile, tree_digest
from metier.supply.sources.registries import NEW_INDEX_PATH, OLD_INDEX_PATH

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


# --- Hermes


@pytest.mark.rows("HE-8", "HE-36")
@pytest.mark.parametrize(
    "source", ["openai/skills", "anthropics/skills", "huggingface/skills", "NVIDIA/skills"]
)
def test_what_the_known_publishers_have_may_be_doubtful_and_others_may_not(
    shop: Shop, source: str
) -> None:
    with shop.open() as m:
        m.context.fetchers = {"git": FakeFetcher({"pdf/SKILL.md": document("pdf", CAUTION)})}

        known = m.add(source, dry_run=True)
        other = m.add(f"{source}-copy", dry_run=True)

    assert (["trusted"], ["pdf"]) == (
        [step.level for step in known.plan.add],
        [one.name for one in other.refused],
    )


@pytest.mark.rows("HE-38")
def test_state_is_below_metier_s_own_folder_and_no_agent_discovers_it(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open() as m:
        m.add("../shelf/pdf")
        found = [card.path for card in m.skills(all=True)]

    assert [str(shop.working("pdf"))] == found
    assert {"store", "staging", "supply", "audit"} <= set(os.listdir(shop.data))
    assert ["pdf"] == os.listdir(shop.project / ".agents/skills")


@pytest.mark.rows("HE-38", "HE-43")
def test_the_lock_says_where_from_which_commit_and_what_without_a_time(
    shop: Shop,
) -> None:
    repository = Repository(shop.base / "upstream")
    commit = repository.commit(
        {"skills/pdf/SKILL.md": document("pdf"), "skills/pdf/run.sh": "echo\n"}
    )

    with shop.open() as m:
        m.add(f"git+{repository.address}", to=["claude-code"], ref="main")

    text = shop.lock.read_text()
    pin = shop.pins()["pdf"]
    assert {
        "name",
        "kind",
        "source",
        "path",
        "ref",
        "commit",
        "digest",
        "base",
        "verdict",
        "targets",
        "files",
    } == set(pin)
    assert ("git", repository.address, "skills/pdf", "main", commit) == tuple(
        pin[key] for key in ("kind", "source", "path", "ref", "commit")
    )
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", str(pin["digest"]))
    assert (None, None) == (
        re.search(r"\d{4}-\d\d-\d\d", text),
        re.search(r"\b1[789]\d{8}\b", text),
    )
    assert (True, ["SKILL.md", "run.sh"]) == (text.endswith("}\n"), list(pin["files"]))  # type: ignore[call-overload]


@pytest.mark.rows("HE-38", "HE-43")
def test_two_machines_write_the_same_lock(shop: Shop) -> None:
    other = Shop(shop.base / "some/other/place")
    for one, order in ((shop, ("b", "a")), (other, ("a", "b"))):
        for name in order:
            write_skill(
                one.project / "vendor" / name, name, files={"x/y.md": "y\n", "x-y.md": "z\n"}
            )
        with one.open() as m:
            for name in order:
                m.add(f"vendor/{name}", to=["claude-code"])

    assert shop.lock.read_bytes() == other.lock.read_bytes()
    assert ["./vendor/a", "./vendor/b"] == [pin["source"] for pin in shop.pins().values()]


@pytest.mark.rows("HE-43", "MT-13")
def test_hashes_are_framed_and_do_not_depend_on_the_order_of_a_disk() -> None:
    def files(*pairs: tuple[str, bytes]) -> list[TreeFile]:
        return [
            TreeFile(path, len(data), sha256(data).digest(), mode=False) for path, data in pairs
        ]

    one, other = files(("a", b"1b\0 2")), files(("a", b"1"), ("b", b"2"))
    parts = files(("a/x", b"1"), ("a-b/x", b"2"))

    assert tree_digest(one) != tree_digest(other)
    assert tree_digest(parts) == tree_digest(parts[::-1])


@pytest.mark.rows("HE-41")
def test_an_installed_skill_of_that_name_needs_force(shop: Shop) -> None:
    shop.offer("pdf", at="one")
    shop.offer("pdf", "Another.\n", at="two")

    with shop.open() as m:
        m.add("../shelf/one")
        refused = m.add("../shelf/two", consent=yes)
        forced = m.add("../shelf/two", force=True, consent=yes)

    assert (["pdf"], True) == ([one.name for one in refused.refused], forced.ok)


@pytest.mark.rows("HE-44")
def test_an_update_never_overwrites_edits(shop: Shop) -> None:  # HE-44: there it does
    shop.offer("pdf", SAFE)
    with shop.open() as m:
        m.add("../shelf/pdf")
        shop.working("pdf", "SKILL.md").write_text(document("pdf", "Mine.\n"))
        shop.offer("pdf", "Theirs.\n")

        m.add("../shelf/pdf", consent=yes)
        m.update(consent=yes)

    assert document("pdf", "Mine.\n") == shop.working("pdf", "SKILL.md").read_text()


@pytest.mark.rows("HE-42", "easily missed 12")
def test_only_what_metier_installed_is_uninstalled_and_only_its_own_folder(
    shop: Shop,
) -> None:
    shop.offer("pdf")
    write_skill(shop.working("mine"), "mine")

    with shop.open() as m:
        m.add("../shelf/pdf")
        with pytest.raises(NotFoundError):
            m.remove("mine")
        m.remove("pdf")

    assert ["mine"] == os.listdir(shop.project / ".agents/skills")


# --- Codex


@pytest.mark.rows("CX-64")
def test_of_several_skills_the_accepted_ones_are_installed_together(
    shop: Shop,
) -> None:  # CX-64 GAP: there earlier ones stay
    shop.offer("one")
    shop.offer("two")
    shop.offer("bad").joinpath("link").symlink_to("/etc/passwd")
    shop.working("two").mkdir(parents=True)

    with shop.open() as m:
        outcome = m.add("../shelf", all=True)

    assert (["one"], ["bad", "two"]) == (
        [one.name for one in outcome.installed],
        sorted(one.name for one in outcome.refused),
    )
    assert ["one"] == list(shop.pins())


@pytest.mark.rows("CX-64")
def test_an_existing_destination_is_not_written_into(shop: Shop) -> None:
    shop.offer("pdf")
    shop.working("pdf").mkdir(parents=True)
    (shop.working("pdf") / "notes.txt").write_text("mine\n")

    with shop.open() as m:
        outcome = m.add("../shelf/pdf")

    assert (["pdf"], ["notes.txt"]) == (
        [one.name for one in outcome.refused],
        os.listdir(shop.working("pdf")),
    )


@pytest.mark.rows("CX-64")
def test_there_is_a_scan_a_lock_and_a_provenance(
    shop: Shop,
) -> None:  # CX-64: there is none of these
    repository = Repository(shop.base / "upstream")
    repository.commit({"pdf/SKILL.md": document("pdf")})

    with shop.open() as m:
        m.add(f"git+{repository.address}")
        reasons = m.trust("pdf").reasons

    assert "safe" == shop.pins()["pdf"]["verdict"]["level"]  # type: ignore[index]
    assert any(repository.address in reason for reason in reasons)


# --- Zeph


@pytest.mark.rows("ZE-40", "MT-6")
def test_a_payload_with_a_link_is_refused_and_not_stripped(shop: Shop) -> None:
    shop.offer("pdf").joinpath("link").symlink_to("SKILL.md")

    with shop.open() as m:
        outcome = m.add("../shelf/pdf", force=True)

    assert "unsafe-link" == outcome.refused[0].reasons[0].partition(":")[0]


@pytest.mark.rows("ZE-40")
def test_a_url_install_reads_the_skill_under_its_own_name(
    shop: Shop,
) -> None:  # ZE-40: there a temporary folder's name never fits
    repository = Repository(shop.base / "upstream")
    repository.commit({"SKILL.md": document("pdf")})

    with shop.open() as m:
        outcome = m.add(f"git+{repository.address}")

    assert (["pdf"], []) == ([one.name for one in outcome.installed], list(outcome.refused))


@pytest.mark.rows("ZE-40")
@pytest.mark.parametrize(
    "said",
    [
        "--upload-pack=touch pwned",
        "-c",
        "ext::sh -c id",
        "https://example.com/a b.git",
        "git+ext::x",
        "\n/etc",
    ],
)
def test_what_could_be_an_option_or_another_transport_is_no_source(
    shop: Shop, said: str
) -> None:  # ZE-40: no `--` before the URL
    before = shop.seen()

    with shop.open() as m, pytest.raises(MetierError) as failed:
        m.add(said)

    assert (before, True) == (shop.seen(), bool(failed.value.hint))


@pytest.mark.rows("ZE-41")
def test_a_digest_matches_differs_or_is_not_known(shop: Shop) -> None:
    for name in ("same", "differs"):
        shop.offer(name)
        with shop.open() as m:
            m.add(f"../shelf/{name}")
    write_skill(shop.working("unknown"), "unknown")
    shop.working("differs", "SKILL.md").write_text("changed\n")

    with shop.open() as m:
        found = m.sync(frozen=True)

    told = {
        name: next((True for text in found.drift if f"/{name}:" in text), False)
        for name in ("same", "differs", "unknown")
    }
    assert {"same": False, "differs": True, "unknown": False} == told
    assert {"same", "differs"} == set(shop.pins())


# --- CODEC


@pytest.mark.rows("CO-25")
@pytest.mark.loopback
@pytest.mark.parametrize(
    ("digest", "code"),
    [
        ("sha256:{}", ""),
        ("sha256:" + "0" * 64, "digest"),
        ("", "malformed"),
        ("sha256:{}"[:-2] + "ab", "malformed"),
        ("md5:{}", "malformed"),
    ],
)
def test_bytes_that_are_not_what_the_registry_promises_are_rejected_and_so_is_no_promise(
    shop: Shop, digest: str, code: str
) -> None:
    text = document("pdf").encode()
    entry = {
        "name": "pdf",
        "type": "skill-md",
        "description": "d",
        "url": "pdf/SKILL.md",
        "digest": digest.format(sha256(text).hexdigest()),
    }
    with Site(
        {
            NEW_INDEX_PATH: json.dumps({"skills": [entry]}).encode(),
            f"{NEW_INDEX_PATH.rpartition('/')[0]}/pdf/SKILL.md": text,
        }
    ) as site:
        shop.configure(f'[supply]\nprivate_hosts = ["{site.place}"]\n')
        before = shop.seen()
        with shop.open() as m:
            try:
                found = "" if m.add(site.url).ok else "refused"
            except MetierError as error:
                found = error.code

    assert (code, code != "") == (found, before == shop.seen())


@pytest.mark.rows("CO-25")
@pytest.mark.loopback
def test_an_index_of_the_older_kind_promises_nothing_and_the_lock_pins_what_it_gave(
    shop: Shop,
) -> None:  # CO-25: accepted with a warning
    page = f"{OLD_INDEX_PATH.rpartition('/')[0]}/pdf/SKILL.md"
    index = json.dumps(
        {"skills": [{"name": "pdf", "description": "d", "files": ["SKILL.md"]}]}
    ).encode()
    with Site({OLD_INDEX_PATH: index, page: document("pdf").encode()}) as site:
        shop.configure(f'[supply]\nprivate_hosts = ["{site.place}"]\n')
        with shop.open() as m:
            m.add(site.url)
        site.pages[page] = document("pdf", "Other words.\n").encode()
        shutil.rmtree(shop.data)
        shutil.rmtree(shop.project / ".agents")
        with shop.open() as m:
            changed = m.sync(frozen=True)
        site.pages[page] = document("pdf").encode()
        with shop.open() as m:
            same = m.sync(frozen=True)

    assert (False, True) == (changed.ok, same.ok)
    assert document("pdf") == shop.working("pdf", "SKILL.md").read_text()


@pytest.mark.rows("CO-25")
def test_nothing_is_run_or_installed_beside_the_skill_before_the_question(
    shop: Shop,
) -> None:  # CO-25 GAP: there dependencies were
    shop.offer(
        "pdf",
        files={
            "requirements.txt": "evil\n",
            "setup.py": "open('pwned', 'w')\n",
            "package.json": '{"scripts": {"install": "x"}}',
        },
        fields="dependencies: [evil]\n",
    )
    before = shop.seen()

    with shop.open() as m:
        m.add("../shelf/pdf", consent=lambda _plan: before == shop.seen() and False, force=True)

    assert before == shop.seen()


@pytest.mark.rows("CO-24", "CO-25")
def test_nothing_reaches_the_live_folder_before_the_decision(
    shop: Shop,
) -> None:  # CO-24, CO-25: there it is installed without the gate
    shop.offer("pdf")
    seen: list[set[str]] = []

    def looks(_plan: object) -> bool:
        seen.append(set(tree(shop.project)))
        return True

    with shop.open() as m:
        m.add("../shelf/pdf", consent=looks)

    assert [{".git"}] == seen
    assert shop.working("pdf").is_dir()


# --- decisions


@pytest.mark.rows("MT-17")
def test_a_project_s_configuration_sets_nothing_about_supply(shop: Shop) -> None:
    (shop.project / ".metier").mkdir()
    text = '[supply]\nfast_forward = true\nhosts = []\nprivate_hosts = ["localhost"]\ntaps = ["mallory/skills"]\nfiles = 9999999\n'
    (shop.project / ".metier/metier.toml").write_text(text)

    with shop.open() as m:
        plain = m.context.settings.supply
        told = [problem.message for problem in m.context.settings.problems]

    with Shop(shop.base / "other").open() as m:
        assert m.context.settings.supply == plain
    assert any("'supply'" in message and message.startswith("Ignored") for message in told)


@pytest.mark.rows("MT-25")
def test_staging_is_for_files_and_quarantined_is_for_trust(shop: Shop) -> None:
    shop.offer("pdf")
    staged: list[str] = []

    def looks(_plan: object) -> bool:
        staged.extend(path for path in tree(shop.data / "staging") if path.endswith("SKILL.md"))
        return True

    with shop.open() as m:
        m.add("../shelf/pdf", consent=looks)
        after = [path for path in tree(shop.data / "staging") if path != ".lock"]
        level = m.trust("pdf", "quarantine").level

    assert (1, [], "quarantined") == (len(staged), after, level)
    assert document("pdf") == shop.working("pdf", "SKILL.md").read_text()  # trust moves no files


@pytest.mark.rows("MT-13")
def test_the_name_is_bound_in_the_approval_and_not_in_the_digest(shop: Shop) -> None:
    shop.offer("pdf", at="one")
    shutil.copytree(shop.shelf / "one", shop.shelf / "two")

    with shop.open() as m:
        first = m.add("../shelf/one")
        second = m.add("../shelf/two", name="other")

    assert first.installed[0].digest == second.installed[0].digest
    assert {"pdf", "other"} == set(shop.pins())
