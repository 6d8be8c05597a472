"""Feeds, rate limits, and what a policy keeps no longer."""

from __future__ import annotations

import asyncio
from xml.etree import ElementTree as ET

import pytest
from fakes.hub_skills import CAUTION, DANGEROUS, member, publish_text
from starlette.requests import Request

from metier.errors import NotFoundError, RefusedError, UsageError
from metier.hub import decide, feed
from metier.hub.hub import Hub, HubOptions
from metier.hub.io.objects import blob_key
from metier.hub.keep import collect_garbage, verify_hub
from metier.hub.limits import BodyTurns, Buckets, RateLimits
from metier.hub.model import LOCAL, NOBODY, Caller
from metier.hub.namespaces import change_namespace, set_hub_policy

ATOM = "{http://www.w3.org/2005/Atom}"


# --- feeds


def test_a_feed_tells_what_was_approved_yanked_and_deprecated_the_newest_first(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    publish_text(hub, LOCAL, "cleaner", CAUTION)
    decide.yank(hub, LOCAL, "team", "table-tidy", "1.0.0", reason="breaks tables")
    decide.deprecate(hub, LOCAL, "team", "table-tidy", "use another")

    entries = feed.entries_of(hub, LOCAL, "team")
    text = feed.feed_text(hub, "https://hub.example.org", "team", entries)

    root = ET.fromstring(text)  # noqa: S314 - our own
    titles = [str(one.text) for one in root.iter(f"{ATOM}title")]
    assert [
        "table-tidy 1.0.0 deprecated",
        "table-tidy 1.0.0 yanked",
        "table-tidy 1.0.0 approved",
    ] == titles[1:]
    for wanted in ("id", "title", "updated", "link"):
        assert all(one.find(f"{ATOM}{wanted}") is not None for one in root.iter(f"{ATOM}entry"))
    assert len({one.text for one in root.iter(f"{ATOM}id")}) == 4


@pytest.mark.parametrize(
    "reason",
    ["<script>alert(1)</script>", "]]>&amp;&", "\"'", "\x00\x08\x1b[31m\ufffe", "é漢\U0001f600"],
)
def test_a_feed_is_xml_whatever_somebody_wrote(hub: Hub, reason: str) -> None:
    publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    if "\x00" not in reason:  # PostgreSQL keeps no such letter
        decide.yank(hub, LOCAL, "team", "table-tidy", "1.0.0", reason=reason)
    entries = [
        one._replace(reason=reason, by=reason) for one in feed.entries_of(hub, LOCAL, "team")
    ]

    text = feed.feed_text(hub, f"https://hub.example.org/{reason}", "team", entries)

    root = ET.fromstring(text)  # noqa: S314 - our own
    summary = root.find(f"{ATOM}entry/{ATOM}summary")
    assert summary is not None
    assert [] == list(summary)
    assert "é漢" not in reason or "é漢" in str(summary.text)


def test_a_private_feed_is_for_its_readers(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy")

    with pytest.raises(NotFoundError):
        feed.entries_of(hub, NOBODY, "team")

    assert 1 == len(feed.entries_of(hub, member(hub, "ron", "reader", "team"), "team"))


# --- rate limits


class SetClock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_a_bucket_empties_and_fills_again_with_time() -> None:
    clock = SetClock()
    buckets = Buckets(60, clock=clock)

    first = [buckets.take("ann") for _one in range(60)]
    empty = buckets.take("ann")
    other = buckets.take("bob")
    clock.at += 2
    later = [buckets.take("ann") for _one in range(3)]

    assert [0.0] * 60 == first
    assert (1.0, 0.0) == (empty, other)
    assert [True, True, False] == [one == 0 for one in later]


def test_as_many_callers_as_there_are_never_take_more_memory_than_is_allowed() -> None:
    buckets = Buckets(60, clock=SetClock(), most=100)

    for number in range(10_000):
        buckets.take(f"10.0.{number >> 8}.{number & 255}")

    assert 100 == len(buckets)


def test_without_a_limit_nobody_waits() -> None:
    buckets = Buckets(0, clock=SetClock())

    assert {0.0} == {buckets.take("ann") for _one in range(1000)}
    assert 0 == len(buckets)


def test_wrong_tokens_close_an_address_and_not_who_has_a_good_one_there() -> None:
    limits = RateLimits(HubOptions(home="", rate_failed=3), clock=SetClock())
    limits.note_good("mth_good")
    for _one in range(3):
        limits.check_before("192.0.2.1", "mth_guess")
        limits.note_failed("192.0.2.1")

    with pytest.raises(RefusedError) as refused:
        limits.check_before("192.0.2.1", "mth_guess")

    limits.check_before("192.0.2.1", "mth_good")
    limits.check_before("192.0.2.2", "mth_guess")
    assert ("hub-rate", 21) == (refused.value.code, refused.value.details["retry_after"])


def test_each_caller_has_a_bucket_and_the_local_user_none() -> None:
    limits = RateLimits(HubOptions(home="", rate=2, rate_nobody=1), clock=SetClock())
    ann, bob = (Caller("token", f"token:{number}", "x") for number in (1, 2))

    for one in (ann, ann, bob, bob, NOBODY, LOCAL, LOCAL, LOCAL):
        limits.charge(one, "192.0.2.1")

    for one in (ann, bob, NOBODY):
        with pytest.raises(RefusedError):
            limits.charge(one, "192.0.2.1")
    limits.charge(NOBODY, "192.0.2.2")


def test_who_sends_many_slow_bodies_leaves_room_for_others() -> None:
    ann, bob = (Caller("token", f"token:{number}", "x") for number in (1, 2))
    turns, begun = BodyTurns(3, 2), list[str]()

    async def send(caller: Caller, finished: asyncio.Event) -> None:
        async with turns.take(caller):
            begun.append(caller.ident)
            await finished.wait()

    async def meet() -> list[str]:
        finished = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for caller in (*[ann] * 5, bob):
                group.create_task(send(caller, finished))
            for _turn in range(10):
                await asyncio.sleep(0)
            at_first = list(begun)
            finished.set()
        return at_first

    assert ["token:1", "token:1", "token:2"] == asyncio.run(meet())
    assert 6 == len(begun)


@pytest.mark.parametrize(
    ("peer", "told", "wanted"),
    [
        ("192.0.2.7", "", "192.0.2.7"),
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "nonsense", "unknown"),
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "", "192.0.2.7"),
    ],
)
def test_an_address_is_the_networks_word_and_only_a_proxys_word_for_others(
    peer: str, told: str, wanted: str
) -> None:
    headers = [(b"x-forwarded-for", told.encode())] if told else []
    scope = {"type": "http", "headers": headers, "client": (peer, 1)}

    assert wanted == RateLimits(HubOptions(home="")).address_of(Request(scope))


# --- what policy keeps no longer


def age(hub: Hub, days: int) -> None:
    with hub.database.write() as connection:
        connection.run(
            "UPDATE releases SET created_at = created_at - ?, decided_at = "
            "CASE WHEN decided_at > 0 THEN decided_at - ? ELSE 0 END",
            days * 86_400,
            days * 86_400,
        )
        connection.run("UPDATE blobs SET created_at = created_at - ?", days * 86_400)


def test_what_nobody_approved_is_dropped_after_the_days_of_the_policy_and_its_bytes_with_it(
    hub: Hub,
) -> None:
    kept = publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    decide.yank(hub, LOCAL, "team", "table-tidy", "1.0.0", reason="no")
    waiting = publish_text(hub, LOCAL, "cleaner", CAUTION)
    refused = publish_text(hub, LOCAL, "thief", DANGEROUS)
    age(hub, 40)
    before = collect_garbage(hub, LOCAL)
    set_hub_policy(hub, LOCAL, {"keep_rejected_days": 30})

    first = collect_garbage(hub, LOCAL)
    change_namespace(hub, LOCAL, "team", {"policy": {"keep_pending_days": 30}})
    second = collect_garbage(hub, LOCAL)

    assert [0, 1, 1] == [one.releases for one in (before, first, second)]
    assert [None, None] == [hub.objects.size(blob_key(one.archive)) for one in (waiting, refused)]
    assert hub.objects.size(blob_key(kept.archive)) is not None
    with hub.database.read() as connection:
        space = connection.rows("SELECT used_bytes FROM namespaces")[0]
        acts = [
            row["about"]
            for row in connection.rows(
                "SELECT about FROM audit_events WHERE what = 'release.drop' ORDER BY id"
            )
        ]
    assert kept.size == space["used_bytes"]
    assert ["team/thief@0.1.0", "team/cleaner@0.1.0"] == acts
    assert [] == verify_hub(hub)


def test_what_is_younger_than_the_policy_says_stays(hub: Hub) -> None:
    publish_text(hub, LOCAL, "thief", DANGEROUS)
    age(hub, 29)
    set_hub_policy(hub, LOCAL, {"keep_rejected_days": 30, "keep_pending_days": 1})

    assert 0 == collect_garbage(hub, LOCAL).releases


def test_what_was_ever_approved_is_never_dropped_whatever_became_of_it(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    with hub.database.write() as connection:
        connection.run("UPDATE releases SET state = 'rejected'")
    age(hub, 4000)
    set_hub_policy(hub, LOCAL, {"keep_rejected_days": 1})

    assert 0 == collect_garbage(hub, LOCAL).releases


@pytest.mark.parametrize("days", [-1, True, "30", 4000, 1.5, None])
def test_a_policy_keeps_things_for_a_number_of_days(hub: Hub, days: object) -> None:
    with pytest.raises(UsageError):
        set_hub_policy(hub, LOCAL, {"keep_rejected_days": days})
