"""What holds for every patch, whatever the text."""

from __future__ import annotations

from hypothesis import given, strategies as st

from metier.author.patch import apply_patch

TEXTS = st.text(alphabet="ab \t\n\r#é", max_size=60)


@given(TEXTS, TEXTS, TEXTS, st.booleans())
def test_a_fault_leaves_the_text_alone_and_a_success_changes_it(
    text: str, old: str, new: str, replace_all: bool
) -> None:
    done = apply_patch(text, old, new, replace_all=replace_all)

    assert bool(done.fault) == (done.text == text)
    assert bool(done.fault) == (done.count == 0)


@given(TEXTS, TEXTS, TEXTS)
def test_what_stands_there_once_is_replaced_to_the_letter(
    before: str, old: str, after: str
) -> None:
    text = before + old + after
    once = text.count(old) == 1 and text.find(old) == text.rfind(old) if old else False

    done = apply_patch(text, old, "Z")

    if old.strip() and once:
        assert before + "Z" + after == done.text


@given(
    st.lists(
        st.text(alphabet="abc ", min_size=1, max_size=8).filter(str.strip),
        min_size=1,
        max_size=8,
        unique_by=lambda line: " ".join(line.split()),
    ),
    st.data(),
)
def test_a_line_is_found_whatever_its_blanks(lines: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    quoted = "  " + "   ".join(lines[at].split()) + " "

    done = apply_patch("\n".join(lines), quoted, "Z")

    if quoted not in "\n".join(lines):
        assert "" == done.fault
        assert "Z" == done.text.split("\n")[at].strip()


@given(TEXTS, TEXTS)
def test_no_text_makes_it_raise_and_the_nearest_line_is_one_of_the_text(
    text: str, old: str
) -> None:
    done = apply_patch(text, old, "Z")

    assert done.line <= text.count("\n") + 1
    assert done.nearest in text
