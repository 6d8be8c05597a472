"""Follows calls, constants and values through a list of tokens, far enough to see a secret reach a
request.

Calls are found with JavaScript's module names resolved. Constants in a roundabout spelling are read
as what they mean: arrays joined, text reversed, character codes, base64 and hex. Values are
followed by the names they are given, forwards and within one file.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.tokens import MAX_JOINED, Lexed, Token, character
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Callable


MAX_PATH_PARTS = 8  # of one dotted path; longer ones keep their last parts
MAX_TOKENS_BACK = 60  # tokens looked back for the names that an import binds
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = {")", "]", "}"}
_DOTS = {".", "?.", "::", "->"}


class TokenCall(NamedTuple):
    """One call: its dotted path as resolved, and the indexes of its first token and of its
    brackets.
    """

    path: str
    first: int
    open: int
    close: int
    built: bool = False
    """Whether part of the path was a string in brackets that had to be put together, or a call by
    computed name."""


def brackets(tokens: list[Token]) -> dict[int, int]:
    """Return where each opening bracket closes and each closing one opens; those without a partner
    are left out.
    """
    pairs = {}
    stack = []
    for index, token in enumerate(tokens):
        if token.kind != "punct":
            continue
        if token.text in _OPEN:
            stack.append(index)
        elif token.text in _CLOSE and stack and _OPEN[tokens[stack[-1]].text] == token.text:
            opened = stack.pop()
            pairs[opened], pairs[index] = index, opened
    return pairs


def find_calls(lexed: Lexed, pairs: dict[int, int], bound: dict[str, str]) -> list[TokenCall]:
    """Return every call in the order of its opening bracket; first names that an import bound are
    replaced.
    """
    found = []
    tokens = lexed.tokens
    for index, token in enumerate(tokens):
        if token.text == "(" and token.kind == "punct" and 0 < index < len(tokens) - 1:
            path, first, built = _path(lexed, pairs, index - 1)
            if path:
                close = pairs.get(index, min(index + 200, len(tokens) - 1))
                found.append(TokenCall(resolved(path, bound), first, index, close, built))
    return found


def resolved(path: str, bound: dict[str, str]) -> str:
    """Return the path with its first name replaced by the module that it stands for."""
    for opener in ("require(", "import("):
        if path.startswith(opener):
            module, _, rest = path[len(opener) :].partition(")")
            return module.removeprefix("node:") + rest
    head, dot, rest = path.partition(".")
    return bound.get(head, head) + dot + rest


def _path(lexed: Lexed, pairs: dict[int, int], at: int) -> tuple[str, int, bool]:
    """Return the dotted path that ends at that token, the index of its first token, and whether it
    was put together.
    """
    tokens = lexed.tokens
    parts: list[str] = []
    built = False
    while at >= 0 and len(parts) < MAX_PATH_PARTS:
        part, start, odd = _part(lexed, pairs, at)
        if not part:
            return ".".join(reversed(parts)), at + 2 if parts else at, built
        parts.append(part)
        built = built or odd
        if tokens[at].text == "]" and tokens[at].kind == "punct":
            at = start - 1
            if at >= 0 and tokens[at].kind == "punct" and tokens[at].text not in _CLOSE:
                return ".".join(reversed(parts)), start, built
            continue
        if start == 0 or tokens[start - 1].text not in _DOTS or tokens[start - 1].kind != "punct":
            return ".".join(reversed(parts)), start, built
        at = start - 2
    return ".".join(reversed(parts)), max(at, 0), built


def _part(lexed: Lexed, pairs: dict[int, int], at: int) -> tuple[str, int, bool]:
    """Return one part of a path: a word, a string in brackets, or a call shown with its first
    constant.
    """
    token = lexed.tokens[at]
    if token.kind == "word":
        return token.text, at, False
    opened = pairs.get(at)
    if token.kind != "punct" or token.text not in _CLOSE or not opened:
        return "", at, False
    first = lexed.tokens[opened + 1]
    before = lexed.tokens[opened - 1]
    inner = lexed.constant(first)
    if token.text == "]" and at == opened + 2 and inner is not None:
        return inner, opened, first.joined or first.kind == "word"
    if token.text == ")" and before.kind == "word":
        return f"{before.text}({(inner or '')[:80].replace('.', '-')})", opened - 1, False
    return "", at, False


def bound_modules(lexed: Lexed, wanted: frozenset[str], pairs: dict[int, int]) -> dict[str, str]:
    """Return the local names that `require` and `import` bind to the wanted modules, or to members
    of them.
    """
    bound: dict[str, str] = {}
    tokens = lexed.tokens
    for index, token in enumerate(tokens):
        if token.kind == "punct" or index == 0:
            continue
        text = lexed.constant(token)
        module = text.removeprefix("node:") if text is not None else ""
        if module not in wanted:
            continue
        before = tokens[index - 1].text
        if before == "from" and token.kind == "string":
            _imported(tokens, index - 2, module, bound)
        elif before == "(" and index > 1 and tokens[index - 2].text in ("require", "import"):
            _required(tokens, index - 2, module, pairs, bound)
    return bound


def _imported(tokens: list[Token], at: int, module: str, bound: dict[str, str]) -> None:
    """Bind the names of `import a, * as b, {c, d as e} from 'module'`, read from its end."""
    inside = False
    alias = ""
    for index in range(at, max(at - MAX_TOKENS_BACK, -1), -1):
        text = tokens[index].text
        if text in ("import", "export"):
            return
        if text in "{}":
            inside = text == "}"
        elif text == "as":
            alias = tokens[index + 1].text
        elif text == "*" or tokens[index].kind == "word":
            following = tokens[index + 1].text
            if following == "as":
                bound[alias] = module if text == "*" else f"{module}.{text}"
            elif index == 0 or tokens[index - 1].text != "as":
                bound[text] = f"{module}.{text}" if inside else module


def _required(
    tokens: list[Token], at: int, module: str, pairs: dict[int, int], bound: dict[str, str]
) -> None:
    """Bind the names of `const a = require('module')` and `const {b, c: d} = await
    import('module')`.
    """
    at -= 1
    while at >= 0 and tokens[at].text in ("await", "("):
        at -= 1
    if at < 1 or tokens[at].text != "=":
        return
    if tokens[at - 1].kind == "word":
        after = tokens[at + 1 : at + 8]
        member = (
            after[5].text
            if len(after) > 5 and after[4].text == "." and after[0].text == "require"
            else ""
        )
        bound[tokens[at - 1].text] = f"{module}.{member}" if member else module
    elif tokens[at - 1].text == "}":
        opened = max(pairs.get(at - 1, 0), at - MAX_TOKENS_BACK)
        for index in range(opened + 1, at - 1):
            if tokens[index].kind == "word":
                named = tokens[index - 2 if tokens[index - 1].text == ":" else index]
                bound[tokens[index].text] = f"{module}.{named.text}"


# --- constants in a roundabout spelling

_NUMBER = re.compile(r"^(?:0[xX][0-9a-fA-F]{1,6}|\d{1,7})$")
MAX_PIECES = 4000  # of one array or list of codes


def fold_constants(lexed: Lexed) -> Lexed:
    """Return the tokens with `['a','b'].join('')` and `'cba'.split('').reverse().join('')` read as
    the text they make.
    """
    tokens = lexed.tokens
    out = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        made = None
        if token.text == "[" and token.kind == "punct":
            made = _array(tokens, at)
        elif token.kind == "string" and at + 2 < len(tokens) and tokens[at + 2].text == "split":
            made = _reversed(tokens, at)
        if made is None:
            out.append(token)
            at += 1
            continue
        text, end = made
        out.append(Token("string", text, token.start, tokens[end - 1].end, joined=True))
        if len(out) > 2 and out[-2].text == "=" and out[-3].kind == "word":
            lexed.names[out[-3].text] = text
        at = end
    return Lexed(out, lexed.names)


def _array(tokens: list[Token], at: int) -> tuple[str, int] | None:
    """Return the text and the end of an array of constants that is joined at once."""
    pieces: list[str] = []
    index = at + 1
    while index + 1 < len(tokens) and tokens[index].kind == "string" and len(pieces) < MAX_PIECES:
        pieces.append(tokens[index].text)
        index += 1
        if tokens[index].text == ",":
            index += 1
        elif tokens[index].text != "]":
            return None
    end = index + 6
    shape = [token.text for token in tokens[index:end]]
    if not pieces or shape[:4] != ["]", ".", "join", "("] or shape[5:] != [")"]:
        return None
    by = tokens[index + 4]
    return (by.text.join(pieces)[:MAX_JOINED], end) if by.kind == "string" else None


def _reversed(tokens: list[Token], at: int) -> tuple[str, int] | None:
    shape = [token.text for token in tokens[at + 1 : at + 15]]
    if shape == [".", "split", "(", "", ")", ".", "reverse", "(", ")", ".", "join", "(", "", ")"]:
        return tokens[at].text[::-1], at + 15
    return None


def decode_call(lexed: Lexed, call: TokenCall) -> str:
    """Return the text that a decoding call over constants makes, or an empty text."""
    inner = lexed.tokens[call.open + 1 : min(call.close, call.open + 2 * MAX_PIECES)]
    if call.path.endswith("fromCharCode"):
        numbers = [token.text for token in inner if _NUMBER.match(token.text)]
        return "".join(
            character(int(number, 16 if number[:2] in ("0x", "0X") else 10)) for number in numbers
        )
    constant = lexed.constant(inner[0]) if inner else None
    if constant is None:
        return ""
    return unpack(constant, "hex" if any(token.text == "hex" for token in inner[1:4]) else "base64")


def unpack(text: str, encoding: str) -> str:
    """Return what a base64 or hex text holds, read as UTF-8 or, where every second byte is nought,
    as UTF-16; empty on nonsense.
    """
    try:
        if encoding == "hex":
            data = bytes.fromhex(text.strip()[:MAX_JOINED])
        else:
            clean = re.sub(r"[^A-Za-z0-9+/]", "", text.translate({45: 43, 95: 47}))[:MAX_JOINED]
            whole = clean[:-1] if len(clean) % 4 == 1 else clean
            data = base64.b64decode(whole + "=" * (-len(whole) % 4))
    except (ValueError, binascii.Error):
        return ""
    if len(data) > 3 and data[1] == 0 and data[3] == 0:
        return data.decode("utf-16-le", "replace")
    return data.decode("utf-8", "replace")


# --- following values

MAX_EXPRESSION_TOKENS = 240  # tokens of one expression that are looked at
MAX_TOKENS_WHEN_SPENT = 12  # and once a hostile text has used up its share
MAX_TYPE_TOKENS = 24  # tokens of a type between a name and its value
LOOKS_PER_TOKEN = 30  # looks per token of the text; what people write needs five
_CONTINUES = word_set(". ?. + ? : && || , ( = => -> ?? | ::")
_ASSIGNS = word_set("= += .= ||=")
_NEVER_NAMES = word_set("const let var this self async window exports module")


class ValueFlow:
    """The kinds of value that each token stands for: marked sources first, then the names they are
    given.
    """

    def __init__(self, code: str, tokens: list[Token], pairs: dict[int, int]) -> None:
        """Begin with nothing marked."""
        self.code = code
        self.tokens = tokens
        self.pairs = pairs
        self.marks: dict[int, set[str]] = {}
        self.names: dict[str, set[str]] = {}
        self.left = LOOKS_PER_TOKEN * len(tokens) + 20_000

    def mark(self, index: int, kind: str) -> None:
        """Say that the value at that token is of that kind."""
        self.marks.setdefault(index, set()).add(kind)

    def run(self, calls: list[TokenCall], seen: Callable[[TokenCall], None]) -> None:
        """Hand kinds on in the order in which values come to be.

        `seen` is told of each call twice, where its brackets open (its callbacks come next) and
        where they close (what is called inside it has been seen); it may mark what the call gives.
        """
        events: list[tuple[int, int, TokenCall | None]] = [
            (self.expression_end(index + 1), index, None)
            for index, token in enumerate(self.tokens)
            if (token.kind == "punct" and token.text in _ASSIGNS)
            or (token.kind == "word" and token.text == "of")  # for (const a of b)
        ]
        events += [(call.open, -1, call) for call in calls]
        events += [(call.close, -1, call) for call in calls]
        for at, index, call in sorted(events, key=lambda event: event[:2]):
            if call is None:
                kinds = self.kinds(index + 1, self.expression_end(index + 1))
                if kinds:
                    self._give(self._targets(index - 1), kinds)
            else:
                seen(call)
                if at == call.open:
                    self._call(call)

    def kinds(self, start: int, end: int) -> set[str]:
        """Return the kinds of every value between two tokens."""
        found: set[str] = set()
        if not self.marks and not self.names:
            return found
        stop = min(end, start + self._reach(), len(self.tokens))
        self.left -= max(stop - start, 0)
        for index in range(start, stop):
            if index in self.marks:
                found |= self.marks[index]
            token = self.tokens[index]
            if token.kind == "word" and token.text in self.names and not self._member(index):
                found |= self.names[token.text]
        return found

    def given(self, call: TokenCall) -> set[str]:
        """Return the kinds of what a call is given."""
        return self.kinds(call.open + 1, call.close)

    def called_on(self, call: TokenCall) -> set[str]:
        """Return the kinds of what a call is made on."""
        return self.kinds(call.first, call.open)

    def expression_end(self, start: int) -> int:
        """Return where the expression that starts at that token ends: a semicolon, a closing
        bracket or a finished line.
        """
        at = start
        limit = min(start + self._reach(), len(self.tokens))
        while at < limit:
            self.left -= 1
            token = self.tokens[at]
            if token.kind == "punct":
                if token.text in (";", ")", "]", "}"):
                    return at
                if token.text in ("(", "[", "{"):
                    at = min(self.pairs.get(at, limit), limit)
            if at + 1 < limit and self._line_ends(at):
                return at + 1
            at += 1
        return limit

    def _reach(self) -> int:
        return MAX_EXPRESSION_TOKENS if self.left > 0 else MAX_TOKENS_WHEN_SPENT

    def _line_ends(self, at: int) -> bool:
        here = self.tokens[at]
        after = self.tokens[at + 1]
        if here.text in _CONTINUES or after.text in _CONTINUES:
            return False
        return "\n" in self.code[here.end : after.start]

    def _member(self, index: int) -> bool:
        return index > 0 and self.tokens[index - 1].text in (".", "?.", "->")

    def _targets(self, at: int) -> list[str]:
        """Return the names left of an assignment: one, those of a pattern in brackets, or the root
        of a dotted path.
        """
        if at < 0:
            return []
        at = self._before_type(at)
        if self.tokens[at].text in ("}", "]"):
            opened = self.pairs.get(at, at)
            before = self.tokens[opened - 1] if opened else None
            declares = before is not None and before.text in ("const", "let", "var")
            if before and self.tokens[at].text == "]" and before.kind == "word" and not declares:
                return [before.text]
            return _words(self.tokens[opened + 1 : at][:40])
        steps = 0
        while at >= 2 and self._member(at) and steps < 8:
            at = at - 2
            steps = steps + 1
        return self._word_at(at)

    def _before_type(self, at: int) -> int:
        """Return the place of the name that is declared with a type, `const a: B<C> = …`, or the
        same place.
        """
        for back in range(at, max(at - MAX_TYPE_TOKENS, 1), -1):
            text = self.tokens[back].text
            if text == ":" and self.tokens[back - 2].text in ("const", "let", "var"):
                return back - 1
            if text in (";", "="):
                break
        return at

    def _call(self, call: TokenCall) -> None:
        """Hand a call's kinds to the parameters of the functions in it, and what is pushed to what
        it is pushed on.
        """
        kinds = self.called_on(call)
        last = call.path.rpartition(".")[2]
        if last in ("push", "append", "set", "add", "write", "concat", "unshift"):
            self._give(self._word_at(call.first), self.given(call))
        if kinds:
            self._give(self._parameters(call), kinds)

    def _parameters(self, call: TokenCall) -> list[str]:
        for index in range(call.open + 1, min(call.close, call.open + 60)):
            text = self.tokens[index].text
            if text == "=>":
                return self._arrow(index - 1)
            if text == "function":
                return _words(self.tokens[index + 1 : index + 8])
        return []

    def _arrow(self, at: int) -> list[str]:
        if self.tokens[at].text == ")":
            return _words(self.tokens[self.pairs.get(at, at) : at][:20])
        return self._word_at(at)

    def _word_at(self, at: int) -> list[str]:
        return _words([self.tokens[at]])

    def _give(self, names: list[str], kinds: set[str]) -> None:
        for name in names if kinds else ():
            if name not in _NEVER_NAMES:
                self.names.setdefault(name, set()).update(kinds)


def _words(tokens: list[Token]) -> list[str]:
    return [token.text for token in tokens if token.kind == "word"]
