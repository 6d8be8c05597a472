"""Whatever is done to a log is seen, and whatever is put into it comes out without its secrets (CO-28)."""

from __future__ import annotations

import json

from hypothesis import given, strategies as st

from metier.audit import chain
from metier.audit.chain import CHAIN_START, AuditEvent, LogHead, verify_lines
from metier.audit.redact import redact, redact_text

KEY = b"a key for these tests"

texts = st.text(st.characters(), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
events = st.builds(
    AuditEvent,
    at=st.none() | st.floats(),
    who=texts,
    what=texts,
    outcome=texts,
    name=texts,
    digest=texts,
    source=texts,
    details=st.dictionaries(texts, values, max_size=4),
)
keys = st.sampled_from([KEY, None])

LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
alphanumeric = st.text(LETTERS + "0123456789", min_size=40, max_size=60)
planted = st.one_of(
    st.builds("ghp_{}".format, alphanumeric),
    st.builds("sk-ant-api03-1{}".format, alphanumeric),
    st.builds(
        "AKIA{}".format, st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=16, max_size=16)
    ),
    st.builds("xoxb-{}".format, alphanumeric),
    st.builds("AIza{}".format, st.text(LETTERS, min_size=35, max_size=35)),
    st.builds("eyJ{0}.eyJ{0}.{0}".format, alphanumeric),
    st.builds("npm_{}".format, alphanumeric),
)


def chained(made: list[AuditEvent], key: bytes | None) -> tuple[list[bytes], LogHead]:
    lines, link = [], CHAIN_START
    for event in made:
        lines.append(chain.line_for(event, link, key))
        link = chain.link_of(json.loads(lines[-1]))
    return lines, LogHead(link, "ok" if key else "missing")


@st.composite
def logs(draw: st.DrawFn, least: int = 1) -> tuple[list[bytes], LogHead, bytes | None]:
    key = draw(keys)
    return *chained(draw(st.lists(events, min_size=least, max_size=5)), key), key


@given(logs(least=0))
def test_any_log_as_written_is_good(log: tuple[list[bytes], LogHead, bytes | None]) -> None:
    lines, head, key = log

    found = verify_lines(lines, head, key)

    assert (len(lines), True, None) == found[:3]
    assert lines == chain.split_lines(b"".join(lines))


@given(logs(), st.data())
def test_any_single_changed_byte_is_seen(
    log: tuple[list[bytes], LogHead, bytes | None], data: st.DataObject
) -> None:
    lines, head, key = log
    whole = bytearray(b"".join(lines))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))

    assert not verify_lines(chain.split_lines(bytes(whole)), head, key).ok


@given(logs(), st.data())
def test_any_cut_at_any_byte_is_seen(
    log: tuple[list[bytes], LogHead, bytes | None], data: st.DataObject
) -> None:
    lines, head, key = log
    whole = b"".join(lines)
    left = data.draw(st.integers(0, len(whole) - 1))

    assert not verify_lines(chain.split_lines(whole[:left]), head, key).ok


@given(logs(), st.data())
def test_any_line_taken_away_is_seen(
    log: tuple[list[bytes], LogHead, bytes | None], data: st.DataObject
) -> None:
    lines, head, key = log
    gone = data.draw(st.sets(st.integers(0, len(lines) - 1), min_size=1))

    assert not verify_lines([raw for at, raw in enumerate(lines) if at not in gone], head, key).ok


@given(logs(least=2), st.data())
def test_any_other_order_is_seen(
    log: tuple[list[bytes], LogHead, bytes | None], data: st.DataObject
) -> None:
    lines, head, key = log
    shuffled = data.draw(st.permutations(lines).filter(lambda other: other != lines))

    assert not verify_lines(shuffled, head, key).ok


@given(logs(), st.data())
def test_any_line_put_in_is_seen(
    log: tuple[list[bytes], LogHead, bytes | None], data: st.DataObject
) -> None:
    lines, head, key = log
    foreign = data.draw(
        st.sampled_from(lines)
        | st.binary(max_size=60).map(lambda raw: raw.replace(b"\n", b"") + b"\n")
    )
    at = data.draw(st.integers(0, len(lines)))

    assert not verify_lines([*lines[:at], foreign, *lines[at:]], head, key).ok


@given(st.lists(st.binary(max_size=80)), keys)
def test_verify_never_raises_on_any_bytes(lines: list[bytes], key: bytes | None) -> None:
    verify_lines(lines, chain.read_head(b"".join(lines), key), key)


@given(logs(least=0), st.binary(max_size=80))
def test_going_on_after_anything_at_the_end_keeps_what_was_there(
    log: tuple[list[bytes], LogHead, bytes | None], rest: bytes
) -> None:
    """Half a line is accounted for; whole lines of somebody else's are not."""
    lines, head, key = log
    tail = b"".join(lines) + rest
    at = chain.resume(head, tail, key)

    made = (
        [AuditEvent(0.0, "", chain.TORN, "kept", details=at.torn)]
        if at.torn
        else [AuditEvent(0.0, "", "load", "allowed")]
    )
    new = chain.line_for(made[0], at.link, key)
    after = chain.split_lines(tail + (b"\n" if at.newline else b"") + new)
    found = verify_lines(after, LogHead(chain.link_of(json.loads(new)), head.seal), key)

    assert (not rest.endswith(b"\n")) == found.ok
    assert (1 if at.torn else 0) == found.torn


@given(values)
def test_redaction_never_raises_and_gives_what_json_can_hold(value: object) -> None:
    clean = redact(value)

    assert clean == json.loads(chain.canonical(clean))


@given(texts, planted, texts)
def test_a_planted_secret_is_removed_from_any_text(before: str, secret: str, after: str) -> None:
    clean = redact_text(f"{before} {secret} {after}")

    assert secret not in clean


@given(st.lists(st.sampled_from(["a", "b"]), max_size=5), planted, texts)
def test_a_planted_secret_is_removed_from_any_depth(
    path: list[str], secret: str, text: str
) -> None:
    value: object = [text, secret, {secret: text}]
    for name in path:
        value = {name: value, "other": [value]}

    assert secret not in json.dumps(redact(value))
