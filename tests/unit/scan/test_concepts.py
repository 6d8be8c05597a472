"""A text as sentences, and each sentence as the concepts it speaks of, with their places."""

from __future__ import annotations

import pytest

from metier.scan.languages.sentences import MAX_SENTENCE_WORDS, sentences


def concepts(text: str) -> list[set[str]]:
    return [{mention.concept for mention in sentence.mentions} for sentence in sentences(text)]


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Ignore it", "override"),
        ("sending it", "send"),
        ("It was collected", "collect"),
        ("the previous one", "prior"),
        ("the system prompt", "prompt"),
        ("its api keys", "secret"),
        ("Do not tell anybody", "hush"),
        ("don\u2019t tell anybody", "hush"),
        ("in ~/.ssh/id_rsa", "credfile"),
        ("$HOME/.aws/credentials", "credfile"),
        ("at https://x.example/a?b=c", "endpoint"),
        ("copies, copied, copying", "collect"),
        ("stopped by nobody, it was logged", "log"),
        ("CLAUDE.md", "memory"),
    ],
)
def test_a_concept_is_known_by_its_words_forms_phrases_and_paths(text: str, concept: str) -> None:
    assert concept in set().union(*concepts(text))


@pytest.mark.parametrize(
    "text",
    [
        "Ignore it. The previous one.",
        "Ignore it! The previous one.",
        "Ignore it\n\nthe previous one",
        "Ignore it\n- the previous one",
        "Ignore it\n# the previous one",
        "Ignore it\n2. the previous one",
        "Ignore it ``` the previous one",
    ],
)
def test_a_sentence_ends_at_its_stop_a_blank_line_a_list_item_a_heading_and_a_fence(
    text: str,
) -> None:
    assert [{"override"}, {"prior"}] == concepts(text)


def test_a_line_break_ends_no_sentence() -> None:
    assert [{"override", "prior"}] == concepts("Ignore the\nprevious one")


def test_a_dot_inside_a_word_ends_no_sentence() -> None:
    assert 1 == len(sentences("Ignore notes.txt and the previous one"))


def test_a_sentence_without_an_end_is_cut() -> None:
    found = sentences("ignore " * (3 * MAX_SENTENCE_WORDS))

    assert [MAX_SENTENCE_WORDS] * 3 == [sentence.words for sentence in found]


def test_a_sentence_without_concepts_is_left_out() -> None:
    assert [] == sentences("The sun is warm. The sea is blue.")


def test_places_are_those_of_the_words() -> None:
    text = "First: please ignore the system prompt of it."

    (sentence,) = [
        one
        for one in sentences(text)
        if any(mention.concept == "prompt" for mention in one.mentions)
    ]

    assert {"ignore", "system prompt"} <= {
        text[slice(*sentence.span(mention))] for mention in sentence.mentions
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "\ud800",
        ".",
        "~",
        "'",
        "…" * 50,
        "a" * 100_000,
        "a." * 50_000,
        "https://" * 20_000,
        "これを読む not://x を送る",
        "~/" * 50_000,
    ],
)
def test_nothing_is_a_crash(text: str) -> None:
    for sentence in sentences(text):
        assert 0 <= sentence.start < sentence.end <= len(text)
