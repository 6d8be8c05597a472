"""Splits source text of a dozen languages into tokens with one linear lexer, and matches patterns
over them.

Not a parser: it only has to agree with the language on what is comment, what is string and what is
code, to decode escapes, and to join constant strings, so that `'chi' + 'ld_process'` reads as what
it means.

Patterns see the tokens in one line of lower case: comments are gone, hidden words are bare,
constants are joined, strings stand between STX and ETX. Patterns are data.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.model import MAX_HITS_PER_RULE, RuleHit, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.model import Texts


# of one text; what lies beyond is not looked at, and files of that size are a finding by themselves
MAX_TOKENS = 400_000
MAX_JOINED = 20_000  # characters of one joined constant
MAX_NAMES = 500  # constants remembered by name
MAX_OPEN = 64  # heredocs without an end before the rest are taken for shift operators


class Token(NamedTuple):
    """One token. Kinds: word, string, command (a string that is run), regex, punct, comment."""

    kind: str
    text: str
    start: int
    end: int
    joined: bool = False
    """Whether the text was put together from pieces, or decoded: it does not stand like that in the
    source."""


class LexStyle(NamedTuple):
    """How one language family writes comments and strings."""

    name: str
    pattern: str
    joiners: frozenset[str]
    escape: str = "\\"
    regexes: bool = False
    templates: bool = False
    heredocs: re.Pattern[str] | None = None
    ignorable: str = ""
    """A character that means nothing inside a word, and so is used to hide words."""


_C_COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_HASH = r"\#[^\n]*+"
_DOUBLE = r'"(?:[^"\\]|\\[\s\S])*+"?'
_DOUBLE_LINE = r'"(?:[^"\\\n]|\\[\s\S])*+"?'
_SINGLE = r"'(?:[^'\\]|\\[\s\S])*+'?"
_SINGLE_LINE = r"'(?:[^'\\\n]|\\[\s\S])*+'?"
_BACKTICK = r"`(?:[^`\\]|\\[\s\S])*+`?"
_BRACKETS = r"(?:\([^)]*+\)?|\{[^}]*+\}?|\[[^\]]*+\]?|<[^>]*+>?|\|[^|]*+\|?|![^!]*+!?|/[^/]*+/?)"
_WORD = r"(?:[\w$]|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\})++"
_PUNCT = r"=>|->|\?\.|\+=|\.=|\.\.|::|&&|\|\||===?|!==?|<=|>=|[^\s]"
_REGEX = re.compile(r"/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/[a-z]*+")
_HEREDOC = re.compile(r"<<<?[~-]?([\"'`]?)([A-Za-z_]\w{0,40})\1(?=[\s;,.)]|$)")


def _pattern(comment: str, string: str, command: str = r"(?!)", word: str = _WORD) -> str:
    literals = rf"(?P<comment>{comment})|(?P<command>{command})|(?P<string>{string})"
    return rf"\s*+(?:{literals}|(?P<word>{word})|(?P<punct>{_PUNCT}))"


_compiled = cache(re.compile)
"""Compiles a pattern when the first text needs it: few texts have code, and that in few languages."""


_PLUS = frozenset({"+"})
_POWERSHELL_STRING = "@'[\\s\\S]*?(?:\\n'@|\\Z)|@\"[\\s\\S]*?(?:\\n\"@|\\Z)|'(?:[^']|'')*+'?|\"(?:[^\"`]|`[\\s\\S]|\"\")*+\"?"

_POWERSHELL_COMMENT = r"<\#(?:[^\#]|\#(?!>))*+(?:\#>)?|" + _HASH
_POWERSHELL_WORD = r"[$@]?\{?[\w`][\w`:-]*+\}?|-[A-Za-z`][\w`]*+"
_RUBY_COMMENT = rf"(?m:^=begin\b)[\s\S]*?(?:\n=end|\Z)|{_HASH}"
_PERL_COMMENT = rf"(?<=\n)=[a-z]\w*+[\s\S]*?(?:\n=cut|\Z)|{_HASH}"
_LUA_COMMENT = r"--\[\[[\s\S]*?(?:\]\]|\Z)|--[^\n]*+"
_APPLE_COMMENT = r"--[^\n]*+|\(\*(?:[^*]|\*(?!\)))*+(?:\*\))?|" + _HASH

_ALL = (
    LexStyle(
        "javascript",
        _pattern(_C_COMMENT, f"{_DOUBLE_LINE}|{_SINGLE_LINE}|{_BACKTICK}"),
        _PLUS,
        regexes=True,
        templates=True,
    ),
    LexStyle(
        "powershell",
        _pattern(_POWERSHELL_COMMENT, _POWERSHELL_STRING, word=_POWERSHELL_WORD),
        _PLUS,
        escape="`",
        ignorable="`",
    ),
    LexStyle(
        "ruby",
        _pattern(
            _RUBY_COMMENT,
            rf"{_DOUBLE}|{_SINGLE}|%[qQwWiI]{_BRACKETS}",
            rf"{_BACKTICK}|%x{_BRACKETS}",
        ),
        word_set("+ <<"),
        regexes=True,
        heredocs=_HEREDOC,
    ),
    LexStyle(
        "php",
        _pattern(rf"{_C_COMMENT}|{_HASH}", f"{_DOUBLE}|{_SINGLE}", _BACKTICK),
        frozenset({"."}),
        heredocs=_HEREDOC,
    ),
    LexStyle(
        "perl",
        _pattern(
            _PERL_COMMENT,
            rf"{_DOUBLE}|{_SINGLE}|\bqq?\b\s?{_BRACKETS}",
            rf"{_BACKTICK}|\bqx\b\s?{_BRACKETS}",
        ),
        frozenset({"."}),
        heredocs=_HEREDOC,
    ),
    LexStyle(
        "lua",
        _pattern(_LUA_COMMENT, rf"{_DOUBLE_LINE}|{_SINGLE_LINE}|\[\[[\s\S]*?(?:\]\]|\Z)"),
        frozenset({".."}),
    ),
    LexStyle(
        "batch",
        _pattern(r"(?im:^[ \t@]*(?:rem\b|::)[^\n]*+)", r'"[^"\n]*+"?', word=r"[\w.:\\/%!^-]++"),
        frozenset(),
        escape="",
        ignorable="^",
    ),
    LexStyle("applescript", _pattern(_APPLE_COMMENT, _DOUBLE), frozenset({"&"})),
    LexStyle(
        "curly",
        _pattern(_C_COMMENT, rf"{_DOUBLE_LINE}|'(?:[^'\\\n]|\\.){{1,8}}'|{_BACKTICK}"),
        _PLUS,
    ),
)
STYLES = {style.name: style for style in _ALL}
_BEFORE_OPERAND = word_set("return typeof case in of when if and or not unless")


def lex(code: str, style: LexStyle) -> list[Token]:
    """Return the tokens of the text, comments included. Never raises; one pass, whatever the text
    is.
    """
    tokens: list[Token] = []
    missing: set[str] = set()
    match = _compiled(style.pattern).match
    at = 0
    size = len(code)
    while at < size and len(tokens) < MAX_TOKENS:
        found = match(code, at)
        if found is None:  # nothing but white space is left
            break
        kind = found.lastgroup or "punct"
        start, at = found.span(kind)
        if kind == "punct":
            token = _special(code, start, style, tokens, missing)
            if token is not None:
                tokens.append(token)
                at = token.end
                continue
        text = code[start:at]
        if kind == "word":
            text = _bare(text, style)
            if not text:  # a back-tick at a line's end only carries the line on
                continue
        elif kind in ("string", "command"):
            text = _inside(text, style)
        tokens.append(Token(kind, text, start, at))
        if style.templates and kind == "string" and code[start] == "`" and "${" in text:
            tokens.extend(_interpolated(code, start, at, style))
    return tokens


def _special(
    code: str, start: int, style: LexStyle, tokens: list[Token], missing: set[str]
) -> Token | None:
    """Return the regular expression or the heredoc that begins here, which only what stands around
    it can tell.
    """
    if code[start] == "/" and style.regexes and _operand_next(tokens):
        found = _REGEX.match(code, start)
        return Token("regex", found.group(), start, found.end()) if found else None
    if style.heredocs is not None and code.startswith("<<", start) and len(missing) < MAX_OPEN:
        opened = style.heredocs.match(code, start)
        if opened is not None and opened[2] not in missing:
            return _heredoc(code, start, opened, missing)
    return None


def _heredoc(code: str, start: int, opened: re.Match[str], missing: set[str]) -> Token | None:
    body = code.find("\n", opened.end()) + 1
    ended = re.compile(rf"^[ \t]*{opened[2]}\b", re.MULTILINE).search(code, body) if body else None
    if (
        ended is None
    ):  # a name that has no end from here has none further on: each is looked for once
        missing.add(opened[2])
        return None
    return Token(
        "command" if opened[1] == "`" else "string", code[body : ended.start()], start, ended.end()
    )


def _operand_next(tokens: Sequence[Token]) -> bool:
    """Say whether a slash here opens a regular expression rather than divides."""
    if not tokens:
        return True
    last = tokens[-1]
    if last.kind == "punct":
        return last.text not in (")", "]", "}")
    return last.kind == "comment" or last.text in _BEFORE_OPERAND


_HOLE = re.compile(r"\$\{([^}]{0,400})")


def _interpolated(code: str, start: int, end: int, style: LexStyle) -> list[Token]:
    """Return the tokens of the code inside a template's holes, one level deep."""
    inner: list[Token] = []
    plain = style._replace(templates=False)
    for hole in _HOLE.finditer(code, start, end):
        first = hole.start(1)
        inner.extend(
            token._replace(start=token.start + first, end=token.end + first)
            for token in lex(hole[1], plain)
        )
    return inner


def _bare(word: str, style: LexStyle) -> str:
    """Return a word without what only hides it: escapes in an identifier, back-ticks, carets."""
    if "\\" in word and style.name != "batch":
        word = unescape(word)
    return word.replace(style.ignorable, "") if style.ignorable else word


def _inside(literal: str, style: LexStyle) -> str:
    """Return what a string literal means: without its quotes, escapes decoded."""
    quote = literal[0]
    if quote == "@":  # a PowerShell here-string
        return literal[2:].removesuffix(literal[1] + "@").strip("\r\n")
    if literal.startswith("[["):
        return literal[2:].removesuffix("]]")
    if quote in "%q":
        body = re.sub(r"^(?:%[a-zA-Z]|q[qx]?\s?)", "", literal)
        return body[1:-1]
    text = literal[1:-1] if len(literal) > 1 and literal[-1] == quote else literal[1:]
    if style.name == "powershell":
        return (
            text.replace(quote * 2, quote).replace("`", "")
            if quote == '"'
            else text.replace("''", "'")
        )
    if quote == "'" and style.name in ("ruby", "php", "perl"):
        return text.replace("\\'", "'").replace("\\\\", "\\")
    return unescape(text) if style.escape == "\\" and "\\" in text else text


_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|([0-7]{1,3})|([\s\S]))"
)
_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "a": "\a",
    "e": "\x1b",
    "\n": "",
}


def unescape(text: str) -> str:
    """Return the text with backslash escapes decoded as most languages do; what is none of them
    stays as it is.
    """
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    if code := match[1] or match[2] or match[3]:
        return character(int(code, 16))
    return character(int(match[4], 8)) if match[4] else _LETTERS.get(match[5], match[5])


def character(code: int) -> str:
    """Return the character of that number, or the replacement character where there is none."""
    return chr(code) if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"


class Lexed(NamedTuple):
    """The tokens of a text without its comments, constants joined, and the constants that have a
    name.
    """

    tokens: list[Token]
    names: dict[str, str]

    def constant(self, token: Token) -> str | None:
        """Return the constant text that a token stands for: a string, or a name that was given
        one.
        """
        if token.kind == "string":
            return token.text
        return self.names.get(token.text) if token.kind == "word" else None


def read_tokens(code: str, language: str) -> Lexed:
    """Return the text's tokens with comments dropped and constant strings joined over the
    language's operators.
    """
    style = STYLES[language]
    tokens = [token for token in lex(code, style) if token.kind != "comment"]
    return join_constants(tokens, style.joiners)


def join_constants(tokens: list[Token], joiners: frozenset[str]) -> Lexed:
    """Return the tokens with runs of constants made one string; names given a constant count as
    constants.
    """
    lexed = Lexed([], {})
    at = 0
    while at < len(tokens):
        token, at = _run(tokens, at, joiners, lexed)
        lexed.tokens.append(token)
        if token.kind == "string":
            _remember(tokens, at, joiners, lexed)
    return lexed


def _run(tokens: list[Token], at: int, joiners: frozenset[str], lexed: Lexed) -> tuple[Token, int]:
    """Return the token at that place, with every constant that is joined to it, and the place after
    them.
    """
    token = tokens[at]
    at += 1
    if at + 1 >= len(tokens) or tokens[at].text not in joiners or tokens[at].kind != "punct":
        return token, at
    member = lexed.tokens and lexed.tokens[-1].text in (".", "->", "::", "?.")
    text = None if member else lexed.constant(token)
    while (
        text is not None
        and at + 1 < len(tokens)
        and tokens[at].kind == "punct"
        and tokens[at].text in joiners
    ):
        piece = lexed.constant(tokens[at + 1])
        after = tokens[at + 2].text if at + 2 < len(tokens) else ""
        if (
            piece is None
            or len(text) + len(piece) > MAX_JOINED
            or (tokens[at + 1].kind == "word" and after in (".", "(", "["))
        ):
            break
        text += piece
        token = Token("string", text, token.start, tokens[at + 1].end, joined=True)
        at += 2
    return token, at


def _remember(tokens: list[Token], at: int, joiners: frozenset[str], lexed: Lexed) -> None:
    """Keep the constant just read under its name, where it was assigned whole and to a plain
    name.
    """
    done = lexed.tokens
    if (
        len(done) < 3
        or done[-2].text not in ("=", "+=", ".=", ":=")
        or done[-3].kind != "word"
        or len(lexed.names) >= MAX_NAMES
    ):
        return
    if at < len(tokens) and (tokens[at].text in joiners or tokens[at].text in (".", "(", "[", "?")):
        return
    name = done[-3].text
    text = done[-1].text
    before = lexed.names.get(name, "") if done[-2].text != "=" else ""
    if len(before) + len(text) <= MAX_JOINED:
        lexed.names[name] = before + text


# --- patterns over tokens

STRING_OPEN, STRING_CLOSE = "\x02", "\x03"  # around a string
SHELL_OPEN = "\x04"  # before a string that the language itself hands to a shell
_MARKS = {2: " ", 3: " ", 4: " "}


class TokenPattern(NamedTuple):
    """One way a rule shows itself. `need`: texts of which one must be present, to save the search
    where none is.
    """

    rule: str
    need: Texts
    regex: str
    code: bool = True
    """Whether the match must begin in code; otherwise it may begin inside a string."""
    then: str = ""
    """What must follow within `gap` characters; `{0}` stands for the first group of the match, as a
    name to find again."""
    gap: int = 0


class TokenView(NamedTuple):
    """The line, where in it each token begins, and the tokens."""

    text: str
    starts: list[int]
    tokens: list[Token]

    def token(self, at: int) -> Token:
        """Return the token that covers that place of the line."""
        return self.tokens[max(bisect_right(self.starts, at) - 1, 0)]


def pattern(
    rule: str, need: str, regex: str, *, code: bool = True, then: str = "", gap: int = 800
) -> TokenPattern:
    """Return one row of a pattern table; `need` holds words apart by blanks."""
    return TokenPattern(rule, tuple(need.split()), regex, code, then, gap)


def view_of(source: str, tokens: list[Token]) -> TokenView:
    """Return the line for the tokens of a source; a new line in the source stays one."""
    parts: list[str] = []
    starts = []
    at = 0
    last = 0
    for token in tokens:
        gap = ""
        if parts and token.start > last:
            gap = "\n" if source.find("\n", last, token.start) >= 0 else " "
        text = token.text.lower()
        if token.kind in ("string", "command"):
            opening = STRING_OPEN if token.kind == "string" else SHELL_OPEN
            text = opening + token.text.translate(_MARKS).lower() + STRING_CLOSE
        starts.append(at + len(gap))
        parts.append(gap + text)
        at += len(gap) + len(text)
        last = token.end
    return TokenView("".join(parts), starts, tokens)


def match(seen: TokenView, patterns: Iterable[TokenPattern]) -> list[RuleHit]:
    """Return the places where the patterns match, at the offsets of the source."""
    found: list[RuleHit] = []
    if not seen.tokens:
        return found
    for row in patterns:
        if row.need and not any(map(seen.text.__contains__, row.need)):
            continue
        before = len(found)
        for place in _compiled(row.regex).finditer(seen.text):
            if len(found) - before >= MAX_HITS_PER_RULE:
                break
            first = seen.token(place.start())
            end = place.end()
            if row.code and first.kind == "string" and not place.group().startswith(STRING_OPEN):
                continue
            if row.then:
                end = _follows(seen.text, place, row)
            if end:
                last = seen.token(max(end - 1, place.start()))
                evidence = seen.text[place.start() : end][:200].strip("\x02\x03\x04")
                found.append(RuleHit(row.rule, first.start, max(last.end, first.end), evidence))
    return found


def _follows(text: str, place: re.Match[str], row: TokenPattern) -> int:
    """Return where what must follow a match ends, or nought; a second search, so that hostile text
    cannot multiply the two.
    """
    regex = row.then.replace("{0}", re.escape(place[1])) if "{0}" in row.then else row.then
    after = re.compile(regex).search(text, place.end(), place.end() + row.gap)
    return after.end() if after else 0
