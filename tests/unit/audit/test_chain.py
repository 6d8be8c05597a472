"""The lines of the log and what `verify` makes of them. CO-28: what Codec's log detects, and deletions, which it does not."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from metier.audit import chain
from metier.audit.chain import CHAIN_START, AuditEvent, ChainLink, LogHead, verify_lines

KEY = b"a key for this test alone"
NOON = 1_700_000_000.25


def chained(count: int, key: bytes | None = KEY) -> tuple[list[bytes], LogHead]:
    """Give a log of so many events, and its head."""
    lines, link = [], CHAIN_START
    for number in range(count):
        raw = chain.line_for(
            AuditEvent(NOON + number, "ada", "load", "allowed", f"skill-{number}"), link, key
        )
        lines.append(raw)
        link = chain.link_of(json.loads(raw))
    return lines, LogHead(link, "ok" if key else "missing")


def reforged(raw: bytes, key: bytes | None = None, **changes: object) -> bytes:
    """Give a line with other words and a hash that fits them, as somebody without the key would."""
    record = {**json.loads(raw), **changes}
    record.pop("hash")
    record["hash"] = sha256(chain.canonical(record)).hexdigest()
    assert key is None
    return chain.canonical(record) + b"\n"


def test_a_line_is_one_json_object_with_what_every_event_has() -> None:  # CO-28
    raw = chain.line_for(
        AuditEvent(
            NOON, "ada", "refuse", "blocked", "pdf", "sha256:00", "cli", {"reason": "dangerous"}
        ),
        CHAIN_START,
    )

    record = json.loads(raw)

    assert raw.endswith(b"}\n")
    assert 1 == raw.count(b"\n")
    assert {
        "schema": 1,
        "ts": "2023-11-14T22:13:20.250000Z",
        "event": "refuse",
        "source": "cli",
        "outcome": "blocked",
    }.items() <= record.items()
    assert {
        "who": "ada",
        "name": "pdf",
        "digest": "sha256:00",
        "details": {"reason": "dangerous"},
        "seq": 1,
    }.items() <= record.items()
    assert {"prev": "0" * 64, "hmac_status": "missing"}.items() <= record.items()


def test_a_refused_load_is_noted_with_name_path_reason_and_hash() -> None:  # CO-10
    told = {
        "skill_name": "pdf",
        "skill_path": "/skills/pdf.py",
        "reason": "imports socket",
        "file_sha256": "ab" * 32,
    }

    record = json.loads(
        chain.line_for(
            AuditEvent(NOON, "ada", "skill_load_blocked", "refused", "pdf", details=told),
            CHAIN_START,
        )
    )

    assert told == record["details"]


def test_the_hash_covers_everything_else_on_the_line() -> None:
    record = json.loads(
        chain.line_for(AuditEvent(NOON, "ada", "load", "allowed"), CHAIN_START, KEY)
    )

    expected = sha256(
        chain.canonical({name: value for name, value in record.items() if name != "hash"})
    ).hexdigest()

    assert expected == record["hash"]
    assert "hmac" in record
    assert "hmac_status" not in record


def test_secrets_never_reach_a_line() -> None:  # CO-28
    bait = "ghp_" + "a1" * 18

    raw = chain.line_for(
        AuditEvent(NOON, bait, bait, bait, bait, bait, bait, {bait: bait, "password": "hunter2"}),
        CHAIN_START,
    )

    assert bait.encode() not in raw
    assert b"hunter2" not in raw


@pytest.mark.parametrize("char", ["a", "é", "😀", "\ud800", "\x00", '"', "\n"])
def test_a_line_is_readable_whatever_an_event_holds(char: str) -> None:
    big = char * 50_000

    raw = chain.line_for(
        AuditEvent(NOON, big, big, big, big, big, big, {"text": big, "many": [big] * 300, big: 1}),
        CHAIN_START,
        KEY,
    )

    assert chain.MAX_LINE_BYTES >= len(raw)
    assert chain.read_line(raw)[0] is not None


@pytest.mark.parametrize("at", [float("nan"), float("inf"), -1e30, 1e30, None])
def test_an_impossible_time_is_no_reason_to_lose_an_event(at: float | None) -> None:
    raw = chain.line_for(AuditEvent(at, "ada", "load", "allowed"), CHAIN_START)

    assert "1970-01-01T00:00:00.000000Z" == json.loads(raw)["ts"]


@pytest.mark.parametrize("key", [KEY, None])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_an_untouched_log_is_good(count: int, key: bytes | None) -> None:
    lines, head = chained(count, key)

    found = verify_lines(lines, head, key)

    assert (count, True, None, "", 0) == found[:5]
    assert ("ok" if key else "missing") == found.hmac_status


@pytest.mark.parametrize("key", [KEY, None])
@pytest.mark.parametrize(
    ("touch", "first_bad"),
    [
        (lambda lines: [*lines[:2], lines[2].replace(b"allowed", b"refused"), *lines[3:]], 3),
        (lambda lines: [*lines[:4], lines[4].replace(b"allowed", b"refused")], 5),
        (lambda lines: [*lines[:2], lines[2].replace(b'","', b'", "', 1), *lines[3:]], 3),
        (lambda lines: lines[1:], 1),
        (lambda lines: lines[3:], 1),
        (lambda lines: [*lines[:2], *lines[3:]], 3),
        (lambda lines: lines[:4], 5),
        (lambda lines: lines[:1], 2),
        (lambda _lines: [], 1),
        (lambda lines: [*lines[:4], lines[4][:40]], 6),
        (lambda lines: [*lines[:4], lines[4][:-1]], 5),
        (lambda lines: [*lines[:4], lines[4][:-1] + b"x"], 6),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: [*lines[:3], lines[4], lines[3]], 4),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], 3),
        (lambda lines: [*lines, lines[4]], 6),
        (lambda lines: [*lines, lines[0]], 6),
        (lambda lines: [*lines, b"{}\n"], 6),
        (lambda lines: [*lines[:2], b"hello\n", *lines[2:]], 3),
        (lambda lines: [b"\n", *lines], 1),
        (lambda lines: [*lines[:2], lines[2][:30] + b"\n", *lines[3:]], 3),
    ],
    ids=[
        "edited",
        "last edited",
        "other spelling",
        "first gone",
        "first three gone",
        "middle gone",
        "last gone",
        "all but one gone",
        "all gone",
        "cut in the last line",
        "last line end gone",
        "last line end changed",
        "first two swapped",
        "last two swapped",
        "one twice",
        "last twice",
        "first again at the end",
        "foreign object",
        "foreign text",
        "empty line",
        "half a line in the middle",
    ],
)
def test_tampering_is_shown_with_its_place(
    touch: object, first_bad: int, key: bytes | None
) -> None:
    lines, head = chained(5, key)
    assert callable(touch)

    found = verify_lines(touch(lines), head, key)

    assert (False, first_bad) == (found.ok, found.first_bad)
    assert found.reason


def test_an_edit_with_a_hash_that_fits_is_shown_by_the_line_after_it() -> None:
    lines, head = chained(5, None)
    lines[2] = reforged(lines[2], outcome="refused")

    found = verify_lines(lines, head, None)

    assert (False, 4) == (found.ok, found.first_bad)


def test_an_edit_with_a_hash_that_fits_is_shown_at_once_where_there_is_a_key() -> None:
    lines, head = chained(5)
    lines[2] = reforged(lines[2], outcome="refused")

    found = verify_lines(lines, head, KEY)

    assert (False, 3) == (found.ok, found.first_bad)


def test_an_edit_of_the_last_event_with_a_hash_that_fits_is_shown_by_the_head() -> None:
    lines, head = chained(5, None)
    lines[4] = reforged(lines[4], outcome="refused")

    found = verify_lines(lines, head, None)

    assert (False, 5) == (found.ok, found.first_bad)


def test_a_forged_event_after_the_last_is_shown_where_there_is_a_key() -> None:
    lines, head = chained(5)
    lines.append(chain.line_for(AuditEvent(NOON, "eve", "approve", "approved"), head.link, None))

    found = verify_lines(lines, head, KEY)

    assert (False, 6) == (found.ok, found.first_bad)


def test_two_events_beyond_the_head_are_shown_even_without_a_key() -> None:
    lines, _head = chained(5, None)
    _three, head = chained(3, None)

    found = verify_lines(lines, head, None)

    assert (False, 5) == (found.ok, found.first_bad)


def test_a_whole_log_written_anew_without_the_key_is_shown() -> None:
    lines, head = chained(5, None)

    found = verify_lines(lines, chain.read_head(chain.head_text(head.link, None), KEY), KEY)

    assert (False, 1, "bad") == (found.ok, found.first_bad, found.hmac_status)


def test_a_missing_head_is_shown() -> None:
    lines, _head = chained(5)

    found = verify_lines(lines, None, KEY)

    assert (False, 6, "bad") == (found.ok, found.first_bad, found.hmac_status)


def test_a_missing_log_is_shown_by_its_key() -> None:
    found = verify_lines([], None, KEY)

    assert (0, False, 1) == found[:3]


def test_a_lost_key_is_a_fault_because_anybody_could_have_written_the_chain() -> (
    None
):  # CO-28: hmac_status when the key is missing
    lines, head = chained(5)

    found = verify_lines(lines, head._replace(seal="missing"), None)

    assert (False, 1, "missing") == (found.ok, found.first_bad, found.hmac_status)
    assert "gone" in found.reason


def test_one_event_beyond_the_head_is_what_a_stopped_process_leaves() -> None:
    lines, _head = chained(5)
    _four, head = chained(4)

    found = verify_lines(lines, head, KEY)

    assert (5, True, None) == found[:3]


def test_half_a_line_beyond_the_head_is_reported_and_no_fault() -> None:
    lines, _head = chained(5)
    _four, head = chained(4)

    found = verify_lines([*lines[:4], lines[4][:40]], head, KEY)

    assert (4, True, None) == found[:3]
    assert 1 == found.torn
    assert "incomplete" in found.reason


def test_half_a_line_that_the_next_event_accounts_for_is_counted() -> None:
    lines, head = chained(4)
    half = chained(5)[0][4][:40]
    at = chain.resume(head, b"".join(lines) + half, KEY)
    assert at.torn is not None
    torn = chain.line_for(
        AuditEvent(NOON, "ada", chain.TORN, "kept", details=at.torn), at.link, KEY
    )

    found = verify_lines(
        [*lines, half + b"\n", torn], LogHead(chain.link_of(json.loads(torn)), "ok"), KEY
    )

    assert (5, True, None, "", 1) == found[:5]


def test_half_a_line_that_was_changed_later_is_shown() -> None:
    lines, head = chained(4)
    at = chain.resume(head, b"".join(lines) + b'{"half', KEY)
    assert at.torn is not None
    torn = chain.line_for(
        AuditEvent(NOON, "ada", chain.TORN, "kept", details=at.torn), at.link, KEY
    )

    found = verify_lines(
        [*lines, b'{"haLf\n', torn], LogHead(chain.link_of(json.loads(torn)), "ok"), KEY
    )

    assert (False, 5) == (found.ok, found.first_bad)


def test_writing_goes_on_from_the_head_when_the_log_was_cut() -> None:
    lines, head = chained(5)

    at = chain.resume(head, b"".join(lines[:2]), KEY)

    assert (head.link, False, None) == at


def test_writing_goes_on_from_a_whole_line_beyond_the_head() -> None:
    lines, last = chained(5)
    _four, head = chained(4)

    at = chain.resume(head, b"".join(lines)[:-1], KEY)

    assert (last.link, True, None) == at


def test_writing_does_not_go_on_from_a_forged_line() -> None:
    lines, head = chained(4)
    forged = chain.line_for(
        AuditEvent(NOON, "eve", "approve", "approved"), head.link, b"another key"
    )

    at = chain.resume(head, b"".join([*lines, forged]), KEY)

    assert head.link == at.link


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"[]\n",
        b"null\n",
        b"\xff\xfe\n",
        b"\x00" * 100,
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b"9" * 60_000,
        b"NaN",
        b"1e999",
        b"x" * 200_000,
        b'{"seq":1}\n',
        b"\xef\xbb\xbf{}\n",
    ],
)
def test_hostile_bytes_are_no_record_and_no_head(raw: bytes) -> None:
    record, fault = chain.read_line(raw)

    assert record is None
    assert fault
    assert chain.read_head(raw, KEY) is None


@pytest.mark.parametrize(
    "raw",
    [
        b'{"seq":true,"hash":"00"}',
        b'{"seq":-1,"hash":"00"}',
        b'{"seq":1,"hash":0}',
        b'{"seq":1.0,"hash":""}',
    ],
)
def test_a_head_of_other_types_is_none(raw: bytes) -> None:
    assert chain.read_head(raw, None) is None


@pytest.mark.parametrize("mac", ["", "é", "00", None, 5, ["x"]])
def test_a_head_with_any_other_seal_is_bad(mac: object) -> None:
    raw = json.dumps({"schema": 1, "seq": 3, "hash": "00", "hmac": mac}).encode()

    assert LogHead(ChainLink(3, "00"), "bad") == chain.read_head(raw, KEY)
