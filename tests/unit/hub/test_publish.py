"""Publishing on a hub: what is let in at once, what waits, what is refused, and what is kept."""

from __future__ import annotations

import hashlib

import pytest
from fakes.hub_skills import (
    CAUTION,
    DANGEROUS,
    member,
    publish_archive,
    publish_text,
    skill_archive,
)

from metier.errors import IntegrityError, MetierError, NotFoundError, RefusedError
from metier.hub import decide, publish
from metier.hub.approval_log import entries_from
from metier.hub.audit_log import first_broken_event
from metier.hub.hub import Hub
from metier.hub.model import LOCAL, NOBODY, Caller
from metier.hub.namespaces import (
    DEFAULT_POLICY,
    add_namespace,
    adjust_policy,
    change_namespace,
    find_namespace,
    list_namespaces,
    set_hub_policy,
)
from metier.hub.releases import need_release, need_skill, sort_key
from metier.hub.search import HubQuery, search
from metier.supply.approvals import first_broken
from metier.supply.archives.write_tar import PackFile, pack_tar_gz
from metier.trust.sign import Signed, verify_envelope


def test_a_safe_skill_is_approved_at_once_and_signed_by_the_hub(hub: Hub) -> None:
    release = publish_text(hub, LOCAL, "table-tidy")

    assert ("approved", "safe", "0.1.0") == (release.state, release.level, release.version)
    assert Signed("table-tidy", release.digest, hub.key_id) == verify_envelope(
        release.vouch.encode(), [hub.public_key]
    )


def test_caution_waits_and_dangerous_is_rejected_by_default(hub: Hub) -> None:
    waiting = publish_text(hub, LOCAL, "cleaner", CAUTION)
    refused = publish_text(hub, LOCAL, "thief", DANGEROUS)

    assert ("caution", "pending", "") == (waiting.level, waiting.state, waiting.vouch)
    assert ("dangerous", "rejected", "") == (refused.level, refused.state, refused.vouch)
    assert () == search(hub, LOCAL, HubQuery("tables")).rows


def test_the_same_bytes_again_are_the_same_release(hub: Hub) -> None:
    data = skill_archive("table-tidy")
    first = publish_archive(hub, LOCAL, "table-tidy", data, version="1.0.0")

    again = publish_archive(hub, LOCAL, "table-tidy", data, version="1.0.0")
    unnamed = publish_archive(hub, LOCAL, "table-tidy", data)

    assert [True, False, False] == [first.is_new, again.is_new, unnamed.is_new]
    assert first.release == again.release == unnamed.release


def test_the_bytes_of_an_older_version_are_that_version_still(hub: Hub) -> None:
    def archive(version: str) -> bytes:
        head = f'---\nname: table-tidy\ndescription: Formats tables. Use it often.\nmetadata:\n  version: "{version}"\n---\n'
        return pack_tar_gz([PackFile("SKILL.md", f"{head}\nAlign them, {version}.\n".encode())])

    first = publish_archive(hub, LOCAL, "table-tidy", archive("1.0.0"))
    publish_archive(hub, LOCAL, "table-tidy", archive("1.1.0"))

    again = publish_archive(hub, LOCAL, "table-tidy", archive("1.0.0"))

    assert (first.release.id, False) == (again.release.id, again.is_new)


def test_what_is_refused_makes_no_namespace(hub: Hub) -> None:
    data = skill_archive("another-name")

    with pytest.raises(RefusedError):
        publish_archive(hub, LOCAL, "table-tidy", data, "mistyped")

    assert [] == list_namespaces(hub, LOCAL)


def test_a_version_never_changes(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy", version="1.0.0")

    with pytest.raises(RefusedError, match=r"1\.0\.0 is there already, with other bytes"):
        publish_text(hub, LOCAL, "table-tidy", "Other words.", version="1.0.0")


def test_without_a_version_the_next_one_is_taken(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy", version="1.4.0")

    release = publish_text(hub, LOCAL, "table-tidy", "Other words.")

    assert "1.4.1" == release.version


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("table-tidy", skill_archive("other-name"), "calls itself"),
        ("table-tidy", pack_tar_gz([PackFile("README.md", b"x")]), "no SKILL.md"),
        ("table-tidy", b"PK\x03\x04 this is no tar", "malformed"),
        ("Table-Tidy", skill_archive("table-tidy"), "cannot be the name"),
        ("table-tidy", skill_archive("table-tidy", description=""), "cannot be published"),
        (
            "table-tidy",
            skill_archive("table-tidy", "Use the key AKIAIOSFODNN7EXAMPLQ with it."),
            "holds a key",
        ),
    ],
)
def test_what_is_no_sound_skill_is_refused(hub: Hub, name: str, data: bytes, said: str) -> None:
    with pytest.raises(MetierError) as refused:
        publish_archive(hub, LOCAL, name, data)

    assert said in refused.value.message


def test_bytes_are_what_their_hash_says(hub: Hub) -> None:
    with pytest.raises(IntegrityError):
        publish.put_blob(hub, LOCAL, "0" * 64, b"something else")


def test_nobody_publishes_what_only_somebody_else_has_sent(hub: Hub) -> None:
    data = skill_archive("table-tidy")
    sha256 = hashlib.sha256(data).hexdigest()
    add_namespace(hub, LOCAL, "theirs")
    owner = member(hub, "owner", "publisher", "theirs")
    thief = member(hub, "thief", "publisher", "theirs")
    publish.put_blob(hub, owner, sha256, data)

    assert not publish.has_blob(hub, thief, sha256)
    with pytest.raises(NotFoundError):
        publish.publish(hub, thief, "theirs", "table-tidy", publish.ReleaseWish(sha256))


def test_an_upload_in_pieces_goes_on_where_it_broke_off(hub: Hub) -> None:
    data = skill_archive("table-tidy", "Align the columns. " * 400)
    sha256 = hashlib.sha256(data).hexdigest()
    ident, _none = publish.begin_upload(hub, LOCAL, sha256, len(data))
    publish.add_piece(hub, LOCAL, ident, 0, data[:1000])

    again, received = publish.begin_upload(hub, LOCAL, sha256, len(data))
    publish.add_piece(hub, LOCAL, again, received, data[received:])
    done = publish.publish(hub, LOCAL, "team", "table-tidy", publish.ReleaseWish(sha256))

    assert (ident, 1000) == (again, received)
    assert "approved" == done.release.state
    assert [] == list(hub.objects.keys("uploads"))


def test_a_piece_at_the_wrong_place_is_refused_and_says_where_to_go_on(hub: Hub) -> None:
    data = skill_archive("table-tidy")
    ident, _none = publish.begin_upload(hub, LOCAL, hashlib.sha256(data).hexdigest(), len(data))

    with pytest.raises(RefusedError) as refused:
        publish.add_piece(hub, LOCAL, ident, 5, data[5:])

    assert 0 == refused.value.details["received"]


def test_a_full_namespace_takes_nothing_more(hub: Hub) -> None:
    add_namespace(hub, LOCAL, "team")
    change_namespace(hub, LOCAL, "team", {"quota_bytes": 3000})
    publish_text(hub, LOCAL, "table-tidy")

    with pytest.raises(RefusedError) as refused:
        publish_text(hub, LOCAL, "other-skill")

    assert "hub-quota" == refused.value.code


def test_a_frozen_namespace_takes_nothing_new_and_still_gives(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy")
    change_namespace(hub, LOCAL, "team", {"state": "frozen"})

    with pytest.raises(RefusedError) as refused:
        publish_text(hub, LOCAL, "other-skill")

    with hub.database.read() as connection:
        _space, release = need_release(connection, LOCAL, "team", "table-tidy", "latest")
    assert ("hub-frozen", "0.1.0") == (refused.value.code, release.version)


def test_two_people_approve_what_is_caution_and_neither_published_it(hub: Hub) -> None:
    publisher = member(hub, "ann", "admin")
    waiting = publish_text(hub, publisher, "cleaner", CAUTION)
    where = ("team", "cleaner", waiting.version)

    with pytest.raises(RefusedError) as own:
        decide.approve(hub, publisher, *where)
    first = decide.approve(hub, member(hub, "bob", "reviewer"), *where)
    twice = decide.approve(hub, member(hub, "bob", "reviewer"), *where)
    second = decide.approve(hub, member(hub, "cy", "reviewer"), *where, "looked at it")

    assert "hub-own" == own.value.code
    assert ["pending", "pending", "approved"] == [first.state, twice.state, second.state]
    assert second.vouch


def test_what_is_worse_than_caution_wants_two_people_as_well(hub: Hub) -> None:
    set_hub_policy(hub, LOCAL, {"dangerous": "review"})
    release = publish_text(hub, LOCAL, "cleaner", DANGEROUS)

    first = decide.approve(hub, member(hub, "ben", "reviewer"), "team", "cleaner", release.version)
    second = decide.approve(hub, member(hub, "cat", "reviewer"), "team", "cleaner", release.version)

    assert ["pending", "approved"] == [first.state, second.state]


def test_a_publisher_does_not_bring_back_what_was_yanked(hub: Hub) -> None:
    add_namespace(hub, LOCAL, "team")
    ann = member(hub, "ann", "publisher", "team")
    publish_text(hub, ann, "table-tidy", version="1.0.0")
    decide.yank(hub, member(hub, "ben", "reviewer"), "team", "table-tidy", "1.0.0", reason="leaks")

    with pytest.raises(RefusedError, match="may not yank"):
        decide.yank(hub, ann, "team", "table-tidy", "1.0.0", back=True)


def test_a_policy_is_changed_where_it_is_named_and_stays_elsewhere(hub: Hub) -> None:
    adjust_policy(hub, LOCAL, {"safe": "review", "keep_pending_days": 3})

    changed = adjust_policy(hub, LOCAL, {"caution": "reject", "keep_pending_days": None})
    add_namespace(hub, LOCAL, "team")
    adjust_policy(hub, LOCAL, {"safe": "reject"}, "team")

    assert {**DEFAULT_POLICY, "safe": "review", "caution": "reject"} == changed
    assert {**changed, "safe": "reject"} == adjust_policy(hub, LOCAL, {}, "team")
    assert changed == adjust_policy(hub, LOCAL, {})


def test_what_is_yanked_is_offered_no_more_and_still_there_for_who_has_it_locked(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    publish_text(hub, LOCAL, "table-tidy", "Newer words.", version="1.1.0")

    yanked = decide.yank(hub, LOCAL, "team", "table-tidy", "1.1.0", reason="breaks tables")

    with hub.database.read() as connection:
        _space, latest = need_release(connection, NOBODY_BUT_READER, "team", "table-tidy", "latest")
        _space, exact = need_release(connection, NOBODY_BUT_READER, "team", "table-tidy", "1.1.0")
    assert ("yanked", "breaks tables") == (yanked.state, yanked.reason)
    assert ("1.0.0", "yanked") == (latest.version, exact.state)
    back = decide.yank(hub, LOCAL, "team", "table-tidy", "1.1.0", back=True)
    assert "approved" == back.state


NOBODY_BUT_READER = LOCAL._replace(kind="token", ident="token:reader", name="reader")


def test_what_was_never_approved_exists_for_its_publisher_and_reviewers_alone(hub: Hub) -> None:
    add_namespace(hub, LOCAL, "team", visibility="public")
    publisher = member(hub, "ann", "publisher", "team")
    publish_text(hub, publisher, "cleaner", CAUTION)

    def sees(caller: Caller) -> bool:
        try:
            with hub.database.read() as connection:
                need_skill(connection, caller, "team", "cleaner")
        except NotFoundError:
            return False
        return True

    reader = member(hub, "ron", "reader", "team")
    reviewer = member(hub, "rev", "reviewer", "team")
    assert [True, True, False, False] == [
        sees(one) for one in (publisher, reviewer, reader, NOBODY)
    ]


def test_every_decision_is_in_the_namespaces_log_and_the_chain_holds(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    decide.yank(hub, LOCAL, "team", "table-tidy", "1.0.0", reason="no")
    decide.deprecate(hub, LOCAL, "team", "table-tidy", "use another")

    with hub.database.read() as connection:
        space = find_namespace(connection, "team")
        assert space is not None
        entries = entries_from(connection, space.id, 0, 100)
        broken = first_broken(entries), first_broken_event(connection)

    assert (0, 0) == broken
    assert [1, 2, 3] == [one.number for one in entries]
    forged = [entries[0], entries[1]._replace(entry=entries[1].entry.replace("no", "ok"))]
    assert 2 == first_broken(forged)


def test_a_namespace_can_only_be_stricter_than_the_hub(hub: Hub) -> None:
    set_hub_policy(hub, LOCAL, {"safe": "review"})
    add_namespace(hub, LOCAL, "team")
    change_namespace(hub, LOCAL, "team", {"policy": {"safe": "approve", "caution": "reject"}})

    waiting = publish_text(hub, LOCAL, "table-tidy")
    refused = publish_text(hub, LOCAL, "cleaner", CAUTION)

    assert ("pending", "rejected") == (waiting.state, refused.state)


def test_a_search_counts_and_ranks_only_what_somebody_may_see(hub: Hub) -> None:
    for space in ("red", "blue"):
        add_namespace(hub, LOCAL, space)
        publish_archive(hub, LOCAL, "table-tidy", skill_archive("table-tidy"), namespace=space)

    found = search(hub, member(hub, "rob", "reader", "red"), HubQuery("ragged tables"))
    nobody = search(hub, NOBODY, HubQuery("ragged tables"))

    assert [("red", "table-tidy")] == [(one["namespace"], one["name"]) for one in found.rows]
    assert {"red": 1} == found.facets["namespace"]
    assert (0, ()) == (nobody.total, nobody.rows)


@pytest.mark.parametrize("words", ['"', "a OR", "x* NEAR(", "tables & |", "%", "'; DROP", "ta:b"])
def test_no_words_break_a_search(hub: Hub, words: str) -> None:
    publish_text(hub, LOCAL, "table-tidy")

    assert words == search(hub, LOCAL, HubQuery(words)).query


def test_versions_are_sorted_as_versions() -> None:
    told = [
        "0.9.0",
        "0.10.0",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0",
    ]

    shuffled = [told[at] for at in (3, 6, 0, 5, 2, 1, 4)]
    assert told == sorted(shuffled, key=sort_key)
