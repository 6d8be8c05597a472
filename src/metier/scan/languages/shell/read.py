"""Reads shell text the way a shell does, and works out what a few pure text commands would print.
One pass, never raising.

It knows quotes, variables, substitutions and here-documents. A quote that never closes is taken for
a plain character a few times, and then for the rest of the text; nesting beyond a depth is plain
text. So every text gives something, and no text costs more than a few passes.

A command that hides behind `$(echo Y3VybA== | base64 -d)` is only seen by someone who works the
pipeline out: escapes, `echo`, `printf`, `base64 -d`, `rev`, `xxd -r`, `tr`. Nothing is run here:
each step is a function on text, and whatever is not plainly known gives None.
"""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence


MAX_OUTPUT_CHARS = 1 << 16
"""The longest text that is worked out, in characters."""

_ESCAPE = re.compile(
    r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0?[0-7]{1,3}|c.|.)", re.DOTALL
)
_LETTERS = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=_-]")
_NOT_HEX = re.compile(r"[^0-9A-Fa-f]")
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)
_MAX_RANGE_CHARS = 128


def unescape(text: str) -> str:
    r"""Return the text with the escapes of `$'…'` replaced: `\x63` and `\143` are both a `c`."""
    return _ESCAPE.sub(_escaped, text) if "\\" in text else text


def _escaped(match: re.Match[str]) -> str:
    body = match[1]
    head = body[0]
    if head in "xuU" and len(body) > 1:
        code = int(body[1:], 16)
        return chr(code) if code < 0x110000 else ""
    if head in "01234567":
        return chr(int(body, 8) & 0xFF)
    return _LETTERS.get(body, body)


def unbase64(text: str) -> str | None:
    """Return what the base64 text says, or None when it says nothing that can be read."""
    plain = _NOT_BASE64.sub("", text).rstrip("=").replace("-", "+").replace("_", "/")
    whole = plain[:-1] if len(plain) % 4 == 1 else plain
    return _bytes_of(binascii.a2b_base64, whole + "===") if plain else None


def unhex(text: str) -> str | None:
    """Return what the text of hexadecimal digits says, or None."""
    digits = _NOT_HEX.sub("", text.replace("\\x", "").replace("0x", ""))
    return _bytes_of(binascii.unhexlify, digits[: len(digits) // 2 * 2]) if digits else None


def _bytes_of(decode: object, text: str) -> str | None:
    try:
        return decode(text).decode("utf-8")  # type: ignore[operator, no-any-return]
    except (ValueError, UnicodeError):
        return None


def decodes(name: str, args: Sequence[str]) -> bool:
    """Say whether the command turns an encoded text back into the plain one."""
    if name in ("base64", "gbase64", "base32", "b64"):
        return any(
            word == "--decode" or (word[:1] == "-" != word[1:2] and "d" in word.lower())
            for word in args
        )
    if name == "openssl":
        return any(word in ("-d", "-decrypt") for word in args) and any(
            word in ("enc", "base64", "-base64") for word in args
        )
    if name == "xxd":
        return any(word[:1] == "-" and "r" in word for word in args)
    if name in ("gzip", "xz", "bzip2"):
        return any("d" in word for word in args)
    return name in ("uudecode", "gunzip", "zcat", "unxz", "xzcat", "bunzip2")


def output(pipeline: Sequence[Sequence[str]]) -> str | None:
    """Return what a pipeline of words would print, or None when that takes more than text to
    know.
    """
    text: str | None = None
    for place, words in enumerate(pipeline):
        text = _step(words, text, first=place == 0)
        if text is None or len(text) > MAX_OUTPUT_CHARS:
            return None
    return text


def _step(words: Sequence[str], given: str | None, *, first: bool) -> str | None:
    name = words[0].rsplit("/", 1)[-1]
    args = words[1:]
    if first:
        return _printed(name, args)
    assert given is not None
    if name in ("base64", "gbase64", "openssl"):
        return unbase64(given) if decodes(name, args) else None
    if name == "xxd":
        return unhex(given) if decodes(name, args) else None
    if name == "rev":
        return given.rstrip("\n")[::-1]
    if name == "cat" and not args:
        return given
    return _translated(args, given) if name == "tr" else None


def _printed(name: str, args: Sequence[str]) -> str | None:
    if any("$" in word or "`" in word for word in args):
        return None
    if name == "echo":
        flags = [word for word in args[:2] if word in ("-n", "-e", "-ne", "-en")]
        text = " ".join(args[len(flags) :])
        return unescape(text) if any("e" in flag for flag in flags) else text
    if name == "printf" and args:
        form = unescape(args[0])
        rest = list(args[1:])
        while rest and ("%s" in form or "%b" in form):
            form = re.sub("%[sb]", lambda _: unescape(rest.pop(0)), form, count=1)
        return form
    return None


def _translated(args: Sequence[str], given: str) -> str | None:
    if len(args) == 2 and args[0] == "-d":
        return given.translate({ord(char): None for char in unescape(args[1])})
    if len(args) != 2 or args[0][:1] == "-":
        return None
    old, new = (_RANGE.sub(_spread, word) for word in args)
    return given.translate(
        {ord(a): b for a, b in zip(old, new.ljust(len(old), new[-1:] or " "), strict=False)}
    )


def _spread(match: re.Match[str]) -> str:
    first = ord(match[1])
    last = ord(match[2])
    return (
        "".join(map(chr, range(first, last + 1))) if last - first < _MAX_RANGE_CHARS else match[0]
    )


# --- reading shell text

MAX_SCRIPT_CHARS = 1 << 20
"""Text beyond this many characters is not looked at."""
_MAX_SUBSTITUTION_DEPTH = 16
"""How many substitutions may lie inside one another; a deeper one is read as plain text."""
_MAX_RESTARTS = 3
"""How often a quote that never closes is taken for a plain character, each time at the cost of one
pass over the rest."""
_MAX_HEREDOCS = 64
_MAX_GROWTH_CHARS = 1 << 16
"""How many characters filled-in variables may add to the whole text: `A=$A$A` doubles, and this
ends it."""


class ShellWord(NamedTuple):
    """One word as the command would see it, and where it is written."""

    text: str
    start: int
    end: int
    masked: bool = False
    """The text is not written there letter by letter: quotes or escapes inside a name, or a
    filled-in variable."""


class ShellRedirect(NamedTuple):
    """`> file`, `< file`, or a here-document with its body."""

    op: str
    target: ShellWord
    body: str = ""
    start: int = 0


_PLAIN = re.compile(r"[^\s'\"\\$`|&;<>()]+")
# most of a script: a word that says no more than it shows, and the blanks behind it
_FAST = re.compile(r"([^\s'\"\\$`|&;<>(){}#][^\s'\"\\$`|&;<>(){}]*+)(?=[\s|;)]|$)[ \t]*+")
_BLANK = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+")
_DOUBLE = re.compile(r'[^"\\$`]+')
_ANSI = re.compile(r"\$'([^'\\]*+(?:\\.[^'\\]*+)*+)'", re.DOTALL)
_BRACED = re.compile(r"\$\{([^{}\n]{0,200})\}")
_NAMED = re.compile(r"\$([A-Za-z_]\w{0,99}|[0-9@*#?$!-])", re.ASCII)
_REDIRECT = re.compile(r"(?:\d{1,2}|&)?(?:<<<|<<-?|>>|>\||<>|[<>]&?)")
_ASSIGN = re.compile(r"([A-Za-z_]\w{0,99})\+?=", re.ASCII)
_PROMPT = re.compile(
    r"[ \t]{0,12}(?:\$[ \t]+|%[ \t]+|[\w.-]{1,40}@[\w.-]{1,60}[: ][^\s$#]{0,80}[$#][ \t]+|PS [^\n>]{0,80}>[ \t]*"
    r"|(?:RUN|CMD|ENTRYPOINT)[ \t]+|(?:- )?run:[ \t]*[|>]?[+-]?[ \t]*|(?:exec|Bash|Shell|Run|bash):[ \t]+"
    r"|#[ \t]+(?=(?:sudo )?(?:curl|wget)[ \t][^\n|]{0,300}\|)|[@-]{1,2}(?=[a-z]))"
)
_CONSOLE = re.compile(r"^[ \t]{0,12}\$ ", re.MULTILINE)
_QUOTE = re.compile(r"[ \t]{0,12}>[ \t]")
_HASH = re.compile(r"[ \t]{0,12}#[ \t]+")
_SLICE = re.compile(r"([A-Za-z_]\w{0,99}):[ \t]*(\d{1,4})(?::(\d{1,4}))?", re.ASCII)
_DECLARES = word_set("export declare local readonly typeset")
_LEAD = word_set("then do else elif if while until { } ! time fi done esac exec:")


class WordDraft:
    """A command that is still being read."""

    __slots__ = (
        "assigns",
        "end",
        "link",
        "parent",
        "pipeline",
        "place",
        "redirects",
        "start",
        "via",
        "words",
    )

    def __init__(self, place: int, start: int, pipeline: int, parent: int, via: str) -> None:
        """Open an empty command; `place` is its index in `Reader.drafts`."""
        self.place = place
        self.words: list[ShellWord] = []
        self.assigns: list[tuple[str, ShellWord]] = []
        self.redirects: list[ShellRedirect] = []
        self.start = self.end = start
        self.link = ""
        self.pipeline = pipeline
        self.parent = parent
        self.via = via


class ShellReader:
    """Reads one text. The commands it has read so far are in `drafts`, each after the command that
    it lies in.
    """

    def __init__(self, text: str, known: dict[str, str] | None = None) -> None:
        """Begin at the start of the text, with the variables that are known already."""
        self.text = text[:MAX_SCRIPT_CHARS]
        self.at = 0
        self.drafts: list[WordDraft] = []
        self.known = {} if known is None else known
        self.pipelines = 0
        self.waiting: list[tuple[WordDraft, int, str]] = []
        self.heredocs = self.restarts = self.growth = self.depth = 0
        self.console = "$ " in self.text and bool(_CONSOLE.search(self.text))
        self.quoted = bool(_QUOTE.match(self.text)) or self.console
        lines = self.text.split("\n", 40)[:40]
        said = filter(None, map(str.lstrip, lines))
        self.hashed = len(lines) < 40 and all(line.startswith("# ") for line in said)

    def read(self, closer: str = "", parent: int = -1, via: str = "") -> None:
        """Read commands up to the closing character, or to the end of the text."""
        text = self.text
        size = len(self.text)
        opened = 0
        if not closer:
            self._begin_line()
        draft = self._open(parent, via)
        while self.at < size:
            fast = _FAST.match(text, self.at)
            if fast:
                start, self.at = fast.span(1)
                self._place(draft, ShellWord(fast[1], start, self.at))
                self.at = fast.end()
                continue
            blank = _BLANK.match(text, self.at)
            if blank:
                self.at = blank.end()
                if self.quoted and text[self.at - 1] == "\n":
                    self._begin_line()
                continue
            char = text[self.at]
            if char == closer and not opened:
                self.at += 1
                break
            if char == "\n":
                draft = self._close(draft, "\n")
                self.at += 1
                self._bodies()
                self._begin_line()
            elif char in ";&|":
                draft = self._operator(draft, char)
            elif char in "()":
                opened = max(0, opened + (1 if char == "(" else -1))
                self.at += 1
                draft = self._close(draft, ")" if char == ")" else "(")
            else:
                self._item(draft, closer)
        self._close(draft, "")

    def _open(self, parent: int, via: str) -> WordDraft:
        self.pipelines += 1
        draft = WordDraft(len(self.drafts), self.at, self.pipelines, parent, via)
        self.drafts.append(draft)
        return draft

    def _close(self, draft: WordDraft, link: str) -> WordDraft:
        """End a command and open the next. An empty one is used again, so that `( a ) | b` joins a
        and b.
        """
        if not (draft.words or draft.assigns or draft.redirects):
            if link == "|" and len(self.drafts) > 1:
                last = self.drafts[-2]
                if last.link == ")" and last.parent == draft.parent:
                    last.link = "|"
                    draft.pipeline = last.pipeline
            draft.start = self.at
            return draft
        draft.link = link
        fresh = self._open(draft.parent, draft.via)
        if link == "|":
            fresh.pipeline = draft.pipeline
        return fresh

    def _operator(self, draft: WordDraft, char: str) -> WordDraft:
        two = self.text[self.at : self.at + 2]
        if two == "&>":
            self._redirect(draft)
            return draft
        doubled = two in ("&&", "||", ";;", "|&")
        fresh = self._close(draft, "|" if two == "|&" else two if doubled else char)
        self.at += 2 if doubled else 1
        return fresh

    def _item(self, draft: WordDraft, closer: str) -> None:
        text = self.text
        start = self.at
        if text[start] == "#":
            end = text.find("\n", start)
            self.at = len(text) if end < 0 else end
            return
        if (
            text[start] in "<>&"
            and text[start + 1 : start + 2] == "("
            and self.depth < _MAX_SUBSTITUTION_DEPTH
        ):
            self.at += 1
            shown = text[start] + self._substitution(draft, "<(")[1:]
            self._place(draft, ShellWord(shown, start, self.at))
            return
        if _REDIRECT.match(text, start):
            self._redirect(draft)
            return
        words = self._word(draft, closer)
        if (
            self.at == start
        ):  # a character that fits nowhere is passed over, so that every turn of the loop moves on
            self.at += 1
            return
        for word in words:
            self._place(draft, word)

    def _place(self, draft: WordDraft, word: ShellWord) -> None:
        """Put a word where it belongs: an assignment, a keyword to leave out, or one of the
        command's own.
        """
        text = word.text
        if not draft.words:
            equals = _ASSIGN.match(text) if "=" in text else None
            if equals and self.text.startswith(equals[1], word.start):
                self._assign(draft, equals, word)
                return
            if text in _LEAD:
                draft.start = self.at
                return
            if not draft.assigns and not draft.redirects:
                draft.start = word.start
        elif "=" in text and draft.words[0].text in _DECLARES:
            name, _, value = text.partition("=")
            self._know(name, value)
        draft.words.append(word)
        draft.end = word.end

    def _assign(self, draft: WordDraft, equals: re.Match[str], word: ShellWord) -> None:
        value = word.text[equals.end() :]
        if not draft.assigns and not draft.redirects:
            draft.start = word.start
        draft.end = word.end
        draft.assigns.append((equals[1], word._replace(text=value)))
        before = self.known.get(equals[1], "") if equals[0][-2:-1] == "+" else ""
        self._know(equals[1], before + value)

    def _know(self, name: str, value: str) -> None:
        """Remember a value that is plain text; anything else makes the variable unknown."""
        if "$" in value or "`" in value or len(value) > 4096:
            self.known.pop(name, None)
        else:
            self.known[name] = value

    def _redirect(self, draft: WordDraft) -> None:
        text = self.text
        start = self.at
        match = _REDIRECT.match(text, start)
        assert match
        op = match[0]
        self.at = match.end()
        blank = _BLANK.match(text, self.at)
        if blank:
            self.at = blank.end()
        if text[self.at : self.at + 2] == "<(" and self.depth < _MAX_SUBSTITUTION_DEPTH:
            self.at += 1
            target = ShellWord("<()", self.at - 1, self.at)
            self._substitution(draft, "<(")
        else:
            words = self._word(draft, "")
            target = words[0] if words else ShellWord("", self.at, self.at)
        op = op.lstrip("0123456789&")
        if op in ("<<", "<<-") and target.text and self.heredocs < _MAX_HEREDOCS:
            self.heredocs += 1
            self.waiting.append((draft, len(draft.redirects), target.text))
        draft.redirects.append(
            ShellRedirect(op, target, target.text if op == "<<<" else "", target.start)
        )
        draft.start = (
            draft.start if draft.words or draft.assigns or len(draft.redirects) > 1 else start
        )
        draft.end = max(draft.end, self.at)

    def _bodies(self) -> None:
        """Read the here-documents whose line has just ended. One that never ends is not one."""
        waiting = self.waiting
        self.waiting = []
        for draft, place, mark in waiting:
            ends = re.compile(rf"^[ \t]*{re.escape(mark)}[ \t\r]*$", re.MULTILINE).search(
                self.text, self.at
            )
            if not ends:
                continue
            body = self.text[self.at : ends.start()]
            draft.redirects[place] = draft.redirects[place]._replace(body=body, start=self.at)
            self.at = min(len(self.text), ends.end() + 1)

    def _begin_line(self) -> None:
        """Pass over what stands before a command in a console transcript, a Dockerfile or a
        workflow.
        """
        if self.quoted and (quote := _QUOTE.match(self.text, self.at)):
            self.at = quote.end()
        prompt = (
            _HASH.match(self.text, self.at) if self.hashed else _PROMPT.match(self.text, self.at)
        )
        if prompt:
            self.at = prompt.end()

    # --- words

    def _word(self, draft: WordDraft, closer: str) -> list[ShellWord]:
        """Read one word. A filled-in variable outside quotes may turn it into several."""
        text = self.text
        start = self.at
        size = len(self.text)
        parts = []
        masked = spread = False
        while self.at < size:
            plain = _PLAIN.match(text, self.at)
            if plain:
                parts.append(plain[0])
                self.at = plain.end()
                continue
            char = text[self.at]
            if char.isspace() or char in "|&;<>()" or char == closer:
                break
            if char in "'\"":
                inside = self._quoted(draft, char)
                masked = (
                    masked
                    or (bool(parts) and char != text[start])
                    or (bool(parts) and text[start] in "'\"" and parts[-1].isalnum())
                )
                parts.append(inside)
            elif char == "\\":
                piece = text[self.at + 1 : self.at + 2]
                self.at += 2
                masked = masked or piece.isalpha()
                parts.append("" if piece == "\n" else piece)
            else:
                piece, filled = self._dollar(draft, inside=False)
                masked = masked or filled
                spread = spread or (filled and any(blank in piece for blank in " \t\n"))
                parts.append(piece)
        self.at = min(self.at, size)
        whole = "".join(parts)
        if spread and not _ASSIGN.match(text, start):  # a value is never split
            return [ShellWord(piece, start, self.at, masked=True) for piece in whole.split()]
        if whole[:1] == "{" and whole[-1:] == "}" and "," in whole and text[start] == "{":
            return [
                ShellWord(piece, start, self.at, masked=True) for piece in whole[1:-1].split(",")
            ]
        return [ShellWord(whole, start, self.at, masked)]

    def _quoted(self, draft: WordDraft, mark: str) -> str:
        text = self.text
        start = self.at
        if mark == '"':
            return self._double(draft)
        end = text.find("'", start + 1)
        apostrophe = text[start - 1 : start].isalpha() and text[start + 1 : start + 2].isalpha()
        if end < 0 or (apostrophe and "\n" in text[start + 1 : min(end, start + 2000)]):
            self.at = start + 1
            return "'"
        self.at = end + 1
        return text[start + 1 : end]

    def _double(self, draft: WordDraft) -> str:
        text = self.text
        start = self.at
        size = len(self.text)
        before = (len(self.drafts), len(draft.redirects))
        self.at += 1
        parts = []
        while self.at < size:
            plain = _DOUBLE.match(text, self.at)
            if plain:
                parts.append(plain[0])
                self.at = plain.end()
                continue
            char = text[self.at]
            if char == '"':
                self.at += 1
                return "".join(parts)
            if char == "\\":
                piece = text[self.at + 1 : self.at + 2]
                parts.append("" if piece == "\n" else piece if piece in '"\\$`' else char + piece)
                self.at = min(size, self.at + 2)
            else:
                parts.append(self._dollar(draft, inside=True)[0])
        if self.restarts < _MAX_RESTARTS:
            self.restarts += 1
            self.at = start + 1
            del self.drafts[before[0] :]
            return '"'
        return "".join(parts)

    def _dollar(self, draft: WordDraft, *, inside: bool) -> tuple[str, bool]:
        """Read what begins with a dollar or a backtick. Says also whether it was filled in or
        undone.
        """
        text = self.text
        start = self.at
        following = text[start + 1 : start + 2]
        if text[start] == "`" or following == "(":
            if self.depth >= _MAX_SUBSTITUTION_DEPTH:
                self.at += 1 if text[start] == "`" else 2
                return "$", False
            self.at += 0 if text[start] == "`" else 1
            shown = self._substitution(draft, "`" if text[start] == "`" else "$(")
            return shown, shown != "$()"
        if following == "'" and not inside and (ansi := _ANSI.match(text, start)):
            self.at = ansi.end()
            return unescape(ansi[1]), "\\" in ansi[1]
        if following == "{" and (braced := _BRACED.match(text, start)):
            self.at = braced.end()
            return self._value(braced[1], braced[0])
        if named := _NAMED.match(text, start):
            self.at = named.end()
            return self._value(named[1], named[0])
        self.at += 1
        return ("", False) if following == '"' and not inside else ("$", False)

    def _value(self, name: str, written: str) -> tuple[str, bool]:
        if name == "IFS" or name.startswith("IFS"):
            return " ", True
        value = self.known.get(name)
        if (
            value is None
            and ":" in name
            and (cut := _SLICE.fullmatch(name))
            and cut[1] in self.known
        ):
            first = int(cut[2])
            value = self.known[cut[1]][first : first + int(cut[3]) if cut[3] else None]
        if value is None or self.growth > _MAX_GROWTH_CHARS:
            plain = name.isidentifier() and not self.text[self.at : self.at + 1].isalnum()
            return (f"${name}" if plain else written), False
        self.growth += len(value)
        return value, True

    def _substitution(self, draft: WordDraft, via: str) -> str:
        """Read the commands of a substitution, from its opening character. Return `$()`, or what
        they are sure to print.
        """
        self.at += 1
        first = len(self.drafts)
        self.depth += 1
        self.read("`" if via == "`" else ")", draft.place, via)
        self.depth -= 1
        mine = [one for one in self.drafts[first:] if one.words]
        if (
            via == "<("
            or not mine
            or any(one.pipeline != mine[0].pipeline or one.redirects for one in mine)
        ):
            return "$()"
        said = output([[word.text for word in one.words] for one in mine])
        return "$()" if said is None or len(said) > 4096 else said.rstrip("\n")
