"""A team's hub as people use it: log in, push, find, add, update; and a hub that lies."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from doors.command import Answer, run
from fakes.hub_skills import CAUTION
from fakes.served_hub import ServedHub, served_hub
from fakes.shop import Shop

from metier.errors import IntegrityError, RefusedError
from metier.hub import decide
from metier.hub.io.objects import blob_key
from metier.hub.model import LOCAL
from metier.supply.approvals import canonical, hash_of

pytestmark = pytest.mark.loopback


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedHub]:
    with served_hub(tmp_path / "hub") as one:
        yield one


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "machine")


def skill_folder(shop: Shop, name: str, text: str = "Align the columns of every table.") -> Path:
    folder = shop.base / "mine" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Formats tables. Use it when one is ragged.\n---\n\n{text}\n"
    )
    return folder


def metier(shop: Shop, *words: str) -> Answer:
    return run(shop.env, *words, cwd=shop.project)


def test_what_is_pushed_is_found_added_updated_and_restored(served: ServedHub, shop: Shop) -> None:
    folder = skill_folder(shop, "table-tidy")

    pushed = metier(shop, "push", str(folder), "--to", f"{served.url}/team", "--json")
    tapped = metier(shop, "tap", "add", served.url)
    found = metier(shop, "search", "ragged", "--json")
    added = metier(shop, "add", "hub:team/table-tidy", "--yes", "--json")
    skill_folder(shop, "table-tidy", "Align the columns, and sort the rows.")
    again = metier(shop, "push", str(folder), "--to", "team", "--version", "2.0.0")
    outdated = metier(shop, "outdated", "--json")
    updated = metier(shop, "update", "--yes")
    copy = shop.project / ".agents/skills/table-tidy/SKILL.md"
    text = copy.read_text()
    copy.unlink()
    copy.parent.rmdir()
    synced = metier(shop, "sync", "--frozen")

    assert ("table-tidy", "0.1.0", "approved") == tuple(
        pushed.json[one] for one in ("name", "version", "state")
    )
    assert pushed.json["digest"].startswith("sha256:")
    assert [0] * 6 == [one.code for one in (tapped, found, added, again, updated, synced)]
    assert ["hub:team/table-tidy"] == [
        one["source"] for one in found.json["results"] if one["name"] == "table-tidy"
    ]
    assert "2.0.0" in outdated.out
    assert "sort the rows" in text
    assert text == copy.read_text()


def test_a_range_takes_the_newest_version_that_will_do(served: ServedHub, shop: Shop) -> None:
    for version in ("1.0.0", "1.4.0", "2.0.0"):
        served.publish("table-tidy", f"Align the columns, {version}.", version)

    metier(shop, "tap", "add", served.url)
    metier(shop, "add", "hub:team/table-tidy@^1.0", "--yes")

    assert "1.4.0" in (shop.project / ".agents/skills/table-tidy/SKILL.md").read_text()


def test_a_token_is_checked_kept_for_its_owner_alone_and_forgotten(
    served: ServedHub, shop: Shop
) -> None:
    served.publish("table-tidy")
    token = served.token("reader")

    wrong = metier(shop, "login", served.url, "--token", "mth_wrong")
    right = metier(shop, "login", served.url, "--token", token, "--json")
    added = metier(shop, "add", "hub:team/table-tidy", "--yes")
    refused = metier(shop, "push", str(skill_folder(shop, "other")), "--to", f"{served.url}/team")
    file = shop.data / "hubs.json"
    mode, kept = os.stat(file).st_mode & 0o777, token in file.read_text()
    gone = metier(shop, "logout", served.url)

    assert 1 == wrong.code
    assert [{"role": "reader", "namespace": ""}] == right.json["roles"]
    assert token not in right.out + right.err
    assert (0, 0o600, True) == (added.code, mode, kept)
    assert 1 == refused.code
    assert "may not publish" in refused.err
    assert (0, False) == (gone.code, token in file.read_text())


def test_the_environments_token_wins(served: ServedHub, shop: Shop) -> None:
    served.publish("table-tidy")
    token = served.token("reader")
    shop.env["METIER_HUB_TOKEN"] = token

    answer = metier(shop, "add", f"hub+{served.url}/team/table-tidy", "--yes")

    assert 0 == answer.code


def test_what_waits_or_was_rejected_is_said_and_never_installed(
    served: ServedHub, shop: Shop
) -> None:
    waiting = metier(
        shop, "push", str(skill_folder(shop, "cleaner", CAUTION)), "--to", f"{served.url}/team"
    )
    added = metier(shop, "add", f"hub+{served.url}/team/cleaner", "--yes")
    decide.reject(served.hub, LOCAL, "team", "cleaner", "0.1.0", "too much")
    rejected = metier(
        shop, "push", str(skill_folder(shop, "cleaner", CAUTION)), "--to", f"{served.url}/team"
    )

    assert (0, True) == (waiting.code, "It waits for a reviewer" in waiting.out)
    assert 1 == added.code
    assert (1, True) == (rejected.code, "too much" in rejected.out)


def test_a_yanked_version_is_not_chosen_and_still_restored(served: ServedHub, shop: Shop) -> None:
    served.publish("table-tidy", "First words.", "1.0.0")
    served.publish("table-tidy", "Second words.", "1.1.0")
    metier(shop, "tap", "add", served.url)
    metier(shop, "add", "hub:team/table-tidy", "--yes")
    decide.yank(served.hub, LOCAL, "team", "table-tidy", "1.1.0", reason="breaks tables")
    copy = shop.project / ".agents/skills/table-tidy/SKILL.md"
    copy.unlink()
    copy.parent.rmdir()

    synced = metier(shop, "sync", "--frozen")
    text = copy.read_text()
    other = Shop(shop.base / "other")
    metier(other, "tap", "add", served.url)
    metier(other, "add", "hub:team/table-tidy", "--yes")

    exact = metier(other, "add", "hub:team/table-tidy@1.1.0", "--yes", "--dry-run")

    assert (0, True) == (synced.code, "Second words." in text)
    assert "was yanked: breaks tables" in exact.err
    assert "First words." in (other.project / ".agents/skills/table-tidy/SKILL.md").read_text()


LIES = {
    "another digest": "UPDATE releases SET digest = 'sha256:" + "0" * 64 + "'",
    "no signature": "UPDATE releases SET vouch = ''",
    "another version's signature": "UPDATE releases SET vouch = "
    "(SELECT vouch FROM releases WHERE version = '1.0.0')",
    "a rewritten log": "UPDATE approvals SET entry = replace(entry, '1.1.0', '1.1.1')",
    "no log": "DELETE FROM approvals",
    "another archive": "UPDATE releases SET archive = "
    "(SELECT archive FROM releases WHERE version = '1.0.0') WHERE version = '1.1.0'",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_hub_that_lies_installs_nothing(served: ServedHub, shop: Shop, lie: str) -> None:
    served.publish("table-tidy", "First words.", "1.0.0")
    served.publish("table-tidy", "Second words.", "1.1.0")
    with shop.open() as m:
        m.login(served.url)
    served.forge(LIES[lie])

    with shop.open() as m, pytest.raises((IntegrityError, RefusedError)):
        m.add("hub:team/table-tidy", consent=lambda _plan: True)

    assert not (shop.project / ".agents").exists()


def rewrite_log(served: ServedHub, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change entries of the log so well that each follows from the one before, and the hub itself signs
    where it ends.
    """
    with served.hub.database.write() as connection:
        previous = ""
        for row in connection.rows("SELECT * FROM approvals ORDER BY number"):
            entry = canonical(change(json.loads(row["entry"])))
            made = hash_of(previous, entry)
            connection.run(
                "UPDATE approvals SET entry = ?, previous = ?, hash = ? WHERE number = ?",
                entry,
                previous,
                made,
                row["number"],
            )
            previous = made


def test_a_log_whose_past_was_changed_is_refused_by_who_saw_it_before(
    served: ServedHub, shop: Shop
) -> None:
    served.publish("table-tidy", "First words.", "1.0.0")
    metier(shop, "tap", "add", served.url)
    first = metier(shop, "add", "hub:team/table-tidy", "--yes")
    rewrite_log(served, lambda entry: {**entry, "by": ["somebody else"]})
    served.publish("other-skill", "Second words.")

    refused = metier(shop, "add", "hub:team/other-skill", "--yes", "--json")
    newcomer = Shop(shop.base / "other")
    metier(newcomer, "tap", "add", served.url)
    never_saw_it = metier(newcomer, "add", "hub:team/other-skill", "--yes")
    key_only = metier(shop, "login", served.url, "--accept-key")
    still = metier(shop, "add", "hub:team/other-skill", "--yes", "--json")
    accepted = metier(shop, "login", served.url, "--accept-log")
    after = metier(shop, "add", "hub:team/other-skill", "--yes")

    assert [0, 1, 0] == [first.code, refused.code, never_saw_it.code]
    assert (0, 1) == (key_only.code, still.code)
    assert ["hub-log"] * 2 == [one.json["code"] for one in (refused, still)]
    assert [0, 0] == [accepted.code, after.code]


def test_a_log_that_lost_its_end_is_refused_by_who_saw_it(served: ServedHub, shop: Shop) -> None:
    served.publish("table-tidy", "First words.", "1.0.0")
    served.publish("other-skill", "Second words.")
    metier(shop, "tap", "add", served.url)
    metier(shop, "add", "hub:team/other-skill", "--yes")
    served.forge("DELETE FROM approvals WHERE number = 2")

    refused = metier(shop, "add", "hub:team/table-tidy", "--yes")

    assert (1, True) == (refused.code, "its past was changed" in refused.err)


def test_what_the_log_says_is_yanked_is_not_offered_as_approved(
    served: ServedHub, shop: Shop
) -> None:
    served.publish("table-tidy", "First words.", "1.0.0")
    decide.yank(served.hub, LOCAL, "team", "table-tidy", "1.0.0", reason="breaks tables")
    served.forge("UPDATE releases SET state = 'approved'")
    metier(shop, "tap", "add", served.url)

    refused = metier(shop, "add", "hub:team/table-tidy@1.0.0", "--yes")

    assert (1, True) == (
        refused.code,
        "does not say that table-tidy 1.0.0 is approved" in refused.err,
    )


@pytest.mark.parametrize(
    ("what", "replayed", "code"),
    [(["yank"], 1, 1), (["yank", "unyank"], 2, 1), (["yank", "unyank"], 1, 0)],
)
def test_what_the_log_has_taken_back_since_proves_nothing(
    served: ServedHub, shop: Shop, what: list[str], replayed: int, code: int
) -> None:
    served.publish("table-tidy", "First words.", "1.0.0")
    for one in what:
        why = "breaks tables"
        decide.yank(
            served.hub, LOCAL, "team", "table-tidy", "1.0.0", reason=why, back=one == "unyank"
        )
    served.publish("table-tidy", "Second words.", "1.1.0")
    state = "yanked" if replayed == 2 else "approved"
    # The document of the release is an old one, with its entry; the log is as it should be.
    with served.hub.database.write() as connection:
        connection.run("UPDATE releases SET state = ? WHERE version = '1.0.0'", state)
        connection.run(
            "UPDATE approvals SET release_id = (SELECT id FROM releases WHERE version = '1.1.0') "
            "WHERE number > ?",
            replayed,
        )
    metier(shop, "tap", "add", served.url)

    answer = metier(shop, "add", "hub:team/table-tidy@1.0.0", "--yes")

    assert code == answer.code, answer.err
    assert bool(code) == ("does not prove what the hub says" in answer.err)


def test_a_deprecated_skill_is_still_proven_by_the_entry_that_approved_it(
    served: ServedHub, shop: Shop
) -> None:
    served.publish("table-tidy", "First words.", "1.0.0")
    decide.deprecate(served.hub, LOCAL, "team", "table-tidy", "use another")
    metier(shop, "tap", "add", served.url)

    added = metier(shop, "add", "hub:team/table-tidy", "--yes")

    assert 0 == added.code, added.err


def test_damaged_bytes_are_refused(served: ServedHub, shop: Shop) -> None:
    release = served.publish("table-tidy")
    other = served.publish("other-skill")
    served.hub.objects.put(
        blob_key(release.archive), served.hub.objects.get(blob_key(other.archive))
    )

    with shop.open() as m, pytest.raises((IntegrityError, RefusedError)):
        m.add(f"hub+{served.url}/team/table-tidy", consent=lambda _plan: True)


def test_a_hub_with_another_key_is_not_believed(
    served: ServedHub, shop: Shop, tmp_path: Path
) -> None:
    served.publish("table-tidy")
    with shop.open() as m:
        m.login(served.url)
        known = json.loads((shop.data / "hubs.json").read_text())
    with served_hub(tmp_path / "impostor") as impostor:
        impostor.publish("table-tidy")
        moved = {impostor.url: known["hubs"][served.url]}
        (shop.data / "hubs.json").write_text(json.dumps({"version": 1, "hubs": moved}))

        with shop.open() as m, pytest.raises(IntegrityError):
            m.add("hub:team/table-tidy", consent=lambda _plan: True)
        with shop.open() as m, pytest.raises(RefusedError) as refused:
            m.login(impostor.url)
        with shop.open() as m:
            accepted = m.login(impostor.url, accept_key=True)

    assert "hub-key-changed" == refused.value.code
    assert impostor.hub.key_id == accepted.key


def test_who_accepts_another_key_has_not_accepted_another_log(
    served: ServedHub, shop: Shop, tmp_path: Path
) -> None:
    served.publish("table-tidy")
    with shop.open() as m:
        m.login(served.url)
        m.add("hub:team/table-tidy", consent=lambda _plan: True)
        known = json.loads((shop.data / "hubs.json").read_text())
    with served_hub(tmp_path / "impostor") as impostor:
        impostor.publish("other-skill")
        moved = {impostor.url: known["hubs"][served.url]}
        (shop.data / "hubs.json").write_text(json.dumps({"version": 1, "hubs": moved}))

        with shop.open() as m:
            m.login(impostor.url, accept_key=True)
        with shop.open() as m, pytest.raises(IntegrityError) as refused:
            m.add("hub:team/other-skill", consent=lambda _plan: True)
        with shop.open() as m:
            m.login(impostor.url, accept_log=True)
        with shop.open() as m:
            added = m.add("hub:team/other-skill", consent=lambda _plan: True)

    assert "hub-log" == refused.value.code
    assert ["other-skill"] == [one.name for one in added.installed]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"hubs": 3}', '{"hubs": {"x": {}}}'])
def test_a_damaged_file_of_logins_is_an_error_and_stays_as_it_is(shop: Shop, damage: str) -> None:
    shop.data.mkdir(parents=True, exist_ok=True)
    (shop.data / "hubs.json").write_text(damage)

    answer = metier(shop, "add", "hub:team/table-tidy", "--yes")

    assert 2 == answer.code
    assert "is damaged" in answer.err
    assert damage == (shop.data / "hubs.json").read_text()


def test_nothing_is_sent_to_a_hub_beyond_this_machine_without_encryption(shop: Shop) -> None:
    answer = metier(shop, "login", "http://hub.example.org", "--token", "mth_x")

    assert 2 == answer.code
    assert "without encryption" in answer.err


def test_who_knows_no_hub_is_told_how_to_get_one(shop: Shop) -> None:
    answer = metier(shop, "add", "hub:team/table-tidy", "--yes")

    assert 2 == answer.code
    assert "metier login URL" in answer.err


def test_of_two_hubs_the_one_that_has_it_is_asked_and_both_are_a_question(
    served: ServedHub, shop: Shop, tmp_path: Path
) -> None:
    served.publish("table-tidy")
    with served_hub(tmp_path / "second") as second:
        second.publish("only-here")
        for one in (served, second):
            metier(shop, "tap", "add", one.url)

        found = metier(shop, "add", "hub:team/only-here", "--yes")
        second.publish("table-tidy")
        both = metier(shop, "add", "hub:team/table-tidy", "--yes")

    assert (0, 1) == (found.code, both.code), both
    assert "2 hubs have team/table-tidy" in both.err


def test_while_one_hub_is_away_no_other_is_taken_for_it(
    served: ServedHub, shop: Shop, tmp_path: Path
) -> None:
    served.publish("table-tidy")
    with served_hub(tmp_path / "second") as second:
        for one in (served, second):
            metier(shop, "tap", "add", one.url)

    unnamed = metier(shop, "add", "hub:team/table-tidy", "--yes")
    named = metier(shop, "add", f"hub+{served.url}/team/table-tidy", "--yes")

    assert (1, 0) == (unnamed.code, named.code)
    assert f"hub+{served.url}/team/table-tidy" in unnamed.err
