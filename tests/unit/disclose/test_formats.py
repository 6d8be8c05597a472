"""What a line says beside name, description and place, and what each part of it costs."""

from __future__ import annotations

import pytest

from metier.disclose.formats import (
    FORMS,
    LineMark,
    charge,
    clean,
    costs,
    cut_at_word,
    first_character,
    line,
    marked,
    size,
)

READY, UNREADY = LineMark(uses=20, percent=90), LineMark("setup_needed")


@pytest.mark.parametrize(
    ("form", "mark", "expected"),
    [
        ("xml", UNREADY, '<skill readiness="setup_needed"><name>'),
        ("xml", READY, '<skill reliability="90%" uses="20"><name>'),
        (
            "xml",
            LineMark("unsupported", 5, 40),
            '<skill readiness="unsupported" reliability="40%" uses="5"><name>',
        ),
        ("json", UNREADY, '{"readiness":"setup_needed","name":'),
        ("json", READY, '{"name":'),
        ("markdown", UNREADY, "- "),
    ],
)
def test_a_mark_comes_before_the_name(form: str, mark: LineMark, expected: str) -> None:
    assert expected == marked(FORMS[form], mark)
    assert line(FORMS[form], "a", "", "/s/a", mark).startswith(expected)


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize(
    "text", ["", "plain", 'é<&>"\\ (file: x', "\U0001f600", "[a [b", "é[(file: [x"]
)
def test_a_description_is_charged_what_it_adds_to_a_line(form: str, text: str) -> None:
    form_of = FORMS[form]
    added = size(line(form_of, "a", text, "/s/a")) - size(line(form_of, "a", "", "/s/a"))
    each = costs(form_of, text)

    assert added == charge(form_of, text)
    assert added == (
        (each if isinstance(each, int) else sum(each)) + first_character(form_of) if text else 0
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            "xml",
            "<skill><name>&#91;a</name><description>&#91;b (file: &#91;c] &#91;d</description><location>/&#91;e</location></skill>",
        ),
        ("markdown", "- &#91;a: &#91;b {file: &#91;c] &#91;d (file: /&#91;e)"),
        (
            "json",
            r'{"name":"\u005ba","description":"\u005bb (file: \u005bc] \u005bd","location":"/\u005be"}',
        ),
    ],
)
def test_no_line_opens_a_note(form: str, expected: str) -> None:
    written = line(FORMS[form], clean("[a"), clean("\uff3bb (file: [c] \u3010d"), clean("/\ufe5de"))

    assert expected == written


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("Reads tables of numbers.", 24, "Reads tables of numbers."),
        ("Reads tables of numbers.", 14, "Reads tables"),
        ("Reads tables of numbers.", 15, "Reads tables of"),
        ("Reads tables of numbers.", 16, "Reads tables of"),
        ("Reads tables of numbers.", 3, "Rea"),
        ("Reads tables.", 0, ""),
        ("A " + "x" * 40, 30, "A " + "x" * 28),
        ("表を読み取り、報告を書く", 5, "表を読み取"),
    ],
)
def test_a_description_is_cut_after_a_whole_word_where_it_has_words(
    text: str, count: int, expected: str
) -> None:
    assert expected == cut_at_word(text, count)
