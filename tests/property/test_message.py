"""Messages: whatever a user writes is found again, exactly; and whatever the text, work is linear and nothing raises."""

from __future__ import annotations

from hypothesis import example, given, strategies as st

from metier.disclose import fill, mentions, messages, slash
from metier.disclose.messages import MessagePart
from metier.standard.names import slug

KEY = b"k" * 16
ANY = st.text(st.characters(exclude_categories=()), max_size=200)
NOTE = messages.compose([MessagePart("content", "x")], "inner", KEY)[0]
LOOKALIKE = st.lists(
    st.sampled_from(
        [
            NOTE,
            NOTE[-60:],
            "\n\n",
            "[Runtime note: the user's own text is the ",
            "0 characters",
            "x",
        ]
    ),
    max_size=6,
)
TEXTS = st.one_of(ANY, LOOKALIKE.map("".join))
PARTS = st.lists(TEXTS.map(lambda text: MessagePart("content", text)), min_size=1, max_size=3)
PIECES = st.lists(
    st.sampled_from(
        [
            "$",
            "[",
            "]",
            "(",
            ")",
            " ",
            "pdf",
            "a:b",
            "/",
            "\\",
            "SKILL.md",
            "é",
            "`",
            "!",
            "{",
            "}",
            "\n",
            "ARGUMENTS",
        ]
    ),
    max_size=60,
)


@given(PARTS, TEXTS)
@example([MessagePart("content", NOTE)], NOTE)
def test_the_user_s_words_survive_every_message(parts: list[MessagePart], text: str) -> None:
    message, _ = messages.compose(parts, text, KEY)

    assert text == messages.recover(message, KEY)


@given(TEXTS, TEXTS)
def test_the_user_s_words_survive_whatever_a_host_adds_before(before: str, text: str) -> None:
    message, _ = messages.compose([MessagePart("content", "BODY")], text, KEY)

    assert text == messages.recover(before + message, KEY)


@given(TEXTS, TEXTS, st.binary(max_size=32))
@example("x", "inner", b"")
def test_nobody_without_the_key_writes_or_reads_the_user_s_words(
    body: str, text: str, other: bytes
) -> None:
    forged, _ = messages.compose([MessagePart("content", body)], text, b"another key")
    honest, _ = messages.compose([MessagePart("content", body)], text, KEY)

    assert messages.recover(forged.replace(NOTE, ""), KEY) is None
    assert messages.recover(honest, other) is None


@given(ANY, st.integers(0, 40))
def test_a_cut_text_is_a_beginning_that_fits(text: str, size: int) -> None:
    kept = messages.cut(text, size)

    assert text.startswith(kept)
    assert len(kept.encode("utf-8", "surrogatepass")) <= size
    assert kept == text or len((kept + text[len(kept)]).encode("utf-8", "surrogatepass")) > size


@given(st.one_of(ANY, PIECES.map("".join)))
def test_mentions_are_made_of_ascii_and_found_in_the_text(text: str) -> None:
    found = mentions.find_mentions(text)

    assert all(f"${name}" in text and name.isascii() for name in found.names)
    assert all(f"[${name}]" in text and path and path == path.strip() for name, path in found.links)


@given(st.one_of(ANY, PIECES.map("".join)), st.booleans())
def test_a_request_is_always_the_end_of_the_message(text: str, known: bool) -> None:
    typed = slash.read_commands(text, lambda _name: known)

    assert text.endswith(typed.request)
    assert typed.commands or typed.request == text


@given(st.lists(ANY, max_size=8))
def test_every_skill_with_a_slug_has_exactly_one_command_that_finds_it(names: list[str]) -> None:
    skills = [slash.Nameable(slug(name), "user", "", str(at), 0) for at, name in enumerate(names)]
    menu = slash.menu_of(skills)

    forms = [
        command
        for of in menu.groups
        for command in slash.commands_of(menu, of, lambda _skill: True)
    ]

    assert sorted(skill.path for skill in skills if skill.slug) == sorted(
        command.skill.path for command in forms
    )
    assert len(forms) == len({command.form for command in forms})
    assert [command.skill for command in forms] == [_found(menu, command.form) for command in forms]


def _found(menu: slash.Menu, form: str) -> slash.Nameable | None:
    command = slash.look_up(menu, form, lambda _skill: True)
    return command.skill if command else None


@given(st.one_of(ANY, PIECES.map("".join)), ANY)
def test_a_body_without_places_stays_as_it_is(body: str, request: str) -> None:
    found = fill.substitute(body, {}, None)

    assert body == found.text
    assert fill.substitute(body.replace("$", ""), {}, request).text == body.replace("$", "")
