"""The lexer that every language but shell and Python shares."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from metier.scan.languages.tokens import STYLES, lex, read_tokens, unescape


def words(code: str, language: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in lex(code, STYLES[language])]


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        (
            "javascript",
            "a // 'x'\n/* b */ c",
            [("word", "a"), ("comment", "// 'x'"), ("comment", "/* b */"), ("word", "c")],
        ),
        ("javascript", "x = /a'b/g", [("word", "x"), ("punct", "="), ("regex", "/a'b/g")]),
        (
            "javascript",
            "a / b / c",
            [("word", "a"), ("punct", "/"), ("word", "b"), ("punct", "/"), ("word", "c")],
        ),
        ("javascript", r"ev\u0061l", [("word", "eval")]),
        ("javascript", r"'\x41\u{42}\n'", [("string", "AB\n")]),
        ("powershell", "I`E`X 'it''s'", [("word", "IEX"), ("string", "it's")]),
        ("powershell", "@'\na\n'@", [("string", "a")]),
        ("powershell", "<# a #> b", [("comment", "<# a #>"), ("word", "b")]),
        ("ruby", "`id` %x(ls)", [("command", "id"), ("command", "ls")]),
        ("ruby", "<<~END\n a\nEND\nb", [("string", " a\n"), ("word", "b")]),
        ("php", "# a\n'b'", [("comment", "# a"), ("string", "b")]),
        ("perl", "qq{a} qx{b}", [("string", "a"), ("command", "b")]),
        ("lua", "--[[ a\n]] [[b]]", [("comment", "--[[ a\n]]"), ("string", "b")]),
        ("batch", "rem x\ncert^util", [("comment", "rem x"), ("word", "certutil")]),
        ("applescript", '(* a *) "b"', [("comment", "(* a *)"), ("string", "b")]),
        (
            "curly",
            "s := `raw` // x",
            [("word", "s"), ("punct", ":"), ("punct", "="), ("string", "raw"), ("comment", "// x")],
        ),
    ],
)
def test_each_language_has_its_own_comments_and_strings(
    language: str, code: str, expected: list[tuple[str, str]]
) -> None:
    actual = words(code, language)

    assert expected == actual


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("javascript", "f('chi' + 'ld_process')", "child_process"),
        ("javascript", "const a = 'chi'; let b = 'ld_'; f(a + b + 'process')", "child_process"),
        ("php", "f('sys' . 'tem')", "system"),
        ("lua", "f('os.' .. 'execute')", "os.execute"),
        ("powershell", "f ('Amsi' + 'Utils')", "AmsiUtils"),
        ("applescript", 'f "cu" & "rl"', "curl"),
    ],
)
def test_constants_that_are_joined_read_as_one(language: str, code: str, expected: str) -> None:
    last = [token for token in read_tokens(code, language).tokens if token.kind == "string"][-1]

    assert (expected, True) == (last.text, last.joined)


def test_a_joined_constant_spans_all_its_pieces() -> None:
    code = "x('a' + 'b')"

    token = next(token for token in read_tokens(code, "javascript").tokens if token.joined)

    assert "'a' + 'b'" == code[token.start : token.end]


def test_a_call_on_a_name_is_not_taken_for_its_constant() -> None:
    lexed = read_tokens("const a = 'x'; f('y' + a.length)", "javascript")

    assert not any(token.joined for token in lexed.tokens)


def test_code_in_the_holes_of_a_template_is_seen() -> None:
    tokens = lex("`u=${process.env.KEY}`", STYLES["javascript"])

    assert ["u=${process.env.KEY}", "process", ".", "env", ".", "KEY"] == [
        token.text for token in tokens
    ]


def test_a_shift_is_no_heredoc() -> None:
    tokens = words("list <<ITEM\nsystem('x')\n", "ruby")

    assert ("word", "system") in tokens


def test_an_escape_outside_unicode_is_replaced() -> None:
    actual = unescape(r"\u{ffffff}\ud800")

    assert "\ufffd\ufffd" == actual


@given(st.text(max_size=200), st.sampled_from(sorted(STYLES)))
def test_any_text_lexes_and_tokens_stay_in_order(code: str, language: str) -> None:
    tokens = [
        token
        for token in lex(code, STYLES[language])
        if not (language == "javascript" and "${" in code)
    ]

    assert all(before.end <= after.start for before, after in pairwise(tokens))
    assert all(0 <= token.start < token.end <= len(code) for token in tokens)
