"""Webhooks: who is told what, how it is signed, what is tried again, and where nothing is ever sent."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator, Sequence

import pytest
from fakes.event_receiver import EventReceiver, event_receiver
from fakes.hub_skills import CAUTION, member, publish_text

from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.hub import decide, deliver
from metier.hub.hub import Hub, HubOptions
from metier.hub.io.receiver import post_event
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace
from metier.hub.webhooks import add_webhook, list_webhooks, remove_webhook

pytestmark = pytest.mark.loopback
PUBLIC = "https://93.184.216.34/hook"


@pytest.fixture
def receiver() -> Iterator[EventReceiver]:
    with event_receiver() as one:
        yield one


class SetClock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def tried(hub_options: HubOptions, clock: SetClock) -> Iterator[Hub]:
    """Give a hub whose webhooks may go to this machine."""
    options = hub_options._replace(loopback_webhooks=True)
    with Hub(options, env={"METIER_SCAN_MODEL": "off"}, clock=clock) as one:
        add_namespace(one, LOCAL, "team")
        yield one


def test_what_happens_is_told_signed_with_a_secret_that_is_shown_once(
    tried: Hub, receiver: EventReceiver
) -> None:
    made = add_webhook(tried, LOCAL, "team", receiver.url)
    release = publish_text(tried, LOCAL, "table-tidy")

    sent = deliver.send_all(tried)

    headers, body = receiver.got[0]
    stamp, signature = (part.partition("=")[2] for part in headers["metier-signature"].split(","))
    wanted = hmac.new(made.secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256)
    assert (1, 1) == (sent, len(receiver.got))
    assert wanted.hexdigest() == signature
    assert str(tried.now()) == stamp
    assert ("approved", "1") == (headers["metier-event"], headers["metier-delivery"])
    told = json.loads(body)
    assert ("approved", "team", "table-tidy", release.digest) == tuple(
        told[name] for name in ("what", "namespace", "name", "digest")
    )
    with tried.database.read() as connection:
        rows = json.dumps([dict(row) for row in connection.rows("SELECT * FROM webhooks")])
        acts = [row["what"] for row in connection.rows("SELECT what FROM audit_events")]
    assert made.secret not in rows
    assert "webhook.add" in acts


def test_only_the_events_that_somebody_asked_for_are_told(
    tried: Hub, receiver: EventReceiver
) -> None:
    add_webhook(tried, LOCAL, "team", receiver.url, ["yanked", "deprecated", "pending"])
    publish_text(tried, LOCAL, "table-tidy", version="1.0.0")
    publish_text(tried, LOCAL, "cleaner", CAUTION)
    decide.yank(tried, LOCAL, "team", "table-tidy", "1.0.0", reason="no")
    decide.deprecate(tried, LOCAL, "team", "table-tidy", "use another")

    deliver.send_all(tried)

    told = [json.loads(body)["what"] for _headers, body in receiver.got]
    assert ["pending", "yanked", "deprecated"] == told


def test_a_receiver_that_fails_is_tried_again_more_and_more_rarely_and_then_given_up(
    tried: Hub, receiver: EventReceiver, clock: SetClock
) -> None:
    receiver.status = 500
    add_webhook(tried, LOCAL, "team", receiver.url)
    publish_text(tried, LOCAL, "table-tidy")

    pauses = []
    for _try in range(20):
        deliver.send_all(tried)
        with tried.database.read() as connection:
            row = connection.rows("SELECT next_at, given_up_at FROM deliveries")[0]
        if row["given_up_at"]:
            break
        pauses.append(row["next_at"] - tried.now())
        early = deliver.send_all(tried)
        clock.at = row["next_at"]
        assert 0 == early
    clock.at += 10_000_000

    shown = list_webhooks(tried, LOCAL, "team")[0].deliveries[0]
    assert list(deliver.PAUSES) == pauses
    assert 0 == deliver.send_all(tried)
    assert (len(deliver.PAUSES) + 1, "given up", "it answers 500") == (
        shown.tries,
        shown.state,
        shown.said,
    )


def test_a_receiver_that_comes_back_gets_what_it_missed(
    tried: Hub, receiver: EventReceiver, clock: SetClock
) -> None:
    receiver.status = 503
    add_webhook(tried, LOCAL, "team", receiver.url)
    publish_text(tried, LOCAL, "table-tidy")
    deliver.send_all(tried)
    receiver.status = 204
    receiver.body = b""
    clock.at += 11

    sent = deliver.send_all(tried)

    shown = list_webhooks(tried, LOCAL, "team")[0].deliveries[0]
    assert (1, 2, "delivered") == (sent, shown.tries, shown.state)


def test_of_several_processes_each_event_is_sent_by_one(
    tried: Hub, receiver: EventReceiver
) -> None:
    add_webhook(tried, LOCAL, "team", receiver.url)
    for number in range(12):
        publish_text(tried, LOCAL, "table-tidy", f"Words {number}.", f"1.0.{number}")
    counts: list[int] = []

    workers = [
        threading.Thread(target=lambda: counts.append(deliver.send_all(tried))) for _one in range(4)
    ]
    for one in workers:
        one.start()
    for one in workers:
        one.join()

    told = sorted(json.loads(body)["id"] for _headers, body in receiver.got)
    assert 12 == sum(counts)
    assert list(range(1, 13)) == told


def test_what_a_process_that_died_had_claimed_is_sent_by_another_one(
    tried: Hub, receiver: EventReceiver, clock: SetClock
) -> None:
    add_webhook(tried, LOCAL, "team", receiver.url)
    publish_text(tried, LOCAL, "table-tidy")
    claimed = deliver.claim_event(tried)
    while_held = deliver.send_all(tried)
    clock.at += deliver.LEASE_SECONDS + 1

    later = deliver.send_all(tried)
    assert claimed is not None
    deliver.send_event(tried, claimed)

    shown = list_webhooks(tried, LOCAL, "team")[0].deliveries[0]
    assert (0, 1) == (while_held, later)
    assert ("delivered", 2) == (shown.state, shown.tries)


@pytest.mark.parametrize(
    ("status", "headers", "body", "said"),
    [
        (302, {"Location": "http://127.0.0.1/"}, b"", "redirects elsewhere"),
        (200, {"X-Long": "x" * 300_000}, b"", ""),
        (404, {}, b"x" * 10_000_000, "answers 404"),
    ],
)
def test_an_answer_leads_nowhere_and_is_not_read(
    tried: Hub,
    receiver: EventReceiver,
    status: int,
    headers: dict[str, str],
    body: bytes,
    said: str,
) -> None:
    receiver.status, receiver.headers, receiver.body = status, headers, body
    add_webhook(tried, LOCAL, "team", receiver.url)
    publish_text(tried, LOCAL, "table-tidy")

    deliver.send_all(tried)

    shown = list_webhooks(tried, LOCAL, "team")[0].deliveries[0]
    assert "waiting" == shown.state
    assert said in shown.said
    assert shown.said
    assert 1 == len(receiver.got)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook",
        "http://127.0.0.1:8700/api/v1/tokens",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://10.1.2.3/",
        "https://0x7f.1/",
        "https://10.0x1/",
        "https://2130706433/",
        "https://017700000001/",
        "https://127.0.0.1./",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[fe80::1]/",
        "https://user:word@example.org/",
        "https://example.org/\r\nX-Evil: 1",
        "https://example.org\r\nHost: other/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "javascript:alert(1)",
        "https://",
        "https://example.org/" + "x" * 2000,
        "",
    ],
)
def test_an_address_that_is_none_of_the_open_internet_is_refused_at_once(
    hub: Hub, url: str
) -> None:
    add_namespace(hub, LOCAL, "team")

    with pytest.raises(MetierError) as refused:
        add_webhook(hub, LOCAL, "team", url)

    assert "hub-webhook" == refused.value.code
    assert [] == list_webhooks(hub, LOCAL, "team")


@pytest.mark.parametrize(
    "addresses",
    [["10.0.0.5"], ["127.0.0.1"], ["93.184.216.34", "169.254.169.254"], ["::1"], ["fd00::1"]],
)
def test_a_name_that_leads_into_a_private_network_is_never_connected_to(
    addresses: Sequence[str],
) -> None:
    with pytest.raises(RefusedError) as refused:
        post_event("https://hook.example.org/", b"{}", {}, resolve=lambda _host, _port: addresses)

    assert "private-address" == refused.value.code


def test_what_was_allowed_once_is_judged_again_when_it_is_sent(
    hub_options: HubOptions, receiver: EventReceiver
) -> None:
    env = {"METIER_SCAN_MODEL": "off"}
    with Hub(hub_options._replace(loopback_webhooks=True), env=env) as loose:
        add_namespace(loose, LOCAL, "team")
        add_webhook(loose, LOCAL, "team", receiver.url)
        publish_text(loose, LOCAL, "table-tidy")

    with Hub(hub_options, env=env) as strict:
        deliver.send_all(strict)
        shown = list_webhooks(strict, LOCAL, "team")[0].deliveries[0]

    assert ([], "a webhook goes over https") == (receiver.got, shown.said)


def test_a_removed_webhook_is_told_nothing_more(tried: Hub, receiver: EventReceiver) -> None:
    made = add_webhook(tried, LOCAL, "team", receiver.url)
    publish_text(tried, LOCAL, "table-tidy")

    remove_webhook(tried, LOCAL, "team", made.id)

    assert 0 == deliver.send_all(tried)
    assert [] == list_webhooks(tried, LOCAL, "team")


def test_webhooks_are_the_business_of_the_namespaces_own_admins(hub: Hub) -> None:
    for name in ("team", "other"):
        add_namespace(hub, LOCAL, name)
    admin, stranger = member(hub, "ann", "admin", "team"), member(hub, "bob", "admin", "other")
    made = add_webhook(hub, admin, "team", PUBLIC)

    with pytest.raises(NotFoundError):
        list_webhooks(hub, stranger, "team")
    with pytest.raises(NotFoundError):
        remove_webhook(hub, stranger, "other", made.id)
    with pytest.raises(RefusedError):
        add_webhook(hub, member(hub, "pat", "publisher", "team"), "team", PUBLIC)
    assert 1 == len(list_webhooks(hub, admin, "team"))


def test_a_namespace_has_so_many_webhooks_and_no_unknown_events(hub: Hub) -> None:
    add_namespace(hub, LOCAL, "team")
    with pytest.raises(UsageError, match="there is no event 'burned'"):
        add_webhook(hub, LOCAL, "team", PUBLIC, ["burned"])
    for _one in range(20):
        add_webhook(hub, LOCAL, "team", PUBLIC)

    with pytest.raises(UsageError, match="at most 20 webhooks"):
        add_webhook(hub, LOCAL, "team", PUBLIC)
