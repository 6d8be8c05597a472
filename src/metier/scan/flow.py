"""Follow values by the names they are given, forwards and within one file: enough to see a secret reach a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.scan.calls import Call
    from metier.scan.tokens import Token

REACH = 240  # tokens of one expression that are looked at
SHORT = 12  # and once a hostile text has used up its share
TYPE = 24  # tokens of a type between a name and its value
SHARE = 30  # looks per token of the text; what people write needs five
_CONTINUES = frozenset((".", "?.", "+", "?", ":", "&&", "||", ",", "(", "=", "=>", "->", "??", "|", "::"))
_ASSIGNS = frozenset(("=", "+=", ".=", "||="))


class Flow:
    """The kinds of value that each token stands for: marked sources first, then the names they are given."""

    def __init__(self, code: str, tokens: list[Token], pairs: dict[int, int]) -> None:
        """Begin with nothing marked."""
        self.code = code
        self.tokens = tokens
        self.pairs = pairs
        self.marks: dict[int, set[str]] = {}
        self.names: dict[str, set[str]] = {}
        self.left = SHARE * len(tokens) + 20_000

    def mark(self, index: int, kind: str) -> None:
        """Say that the value at that token is of that kind."""
        self.marks.setdefault(index, set()).add(kind)

    def run(self, calls: list[Call], seen: Callable[[Call], None]) -> None:
        """Hand kinds on in the order in which values come to be.

        `seen` is told of each call twice, where its brackets open (its callbacks come next) and where they close (what is
        called inside it has been seen); it may mark what the call gives.
        """
        events: list[tuple[int, int, Call | None]] = [
            (self.expression_end(index + 1), index, None)
            for index, token in enumerate(self.tokens)
            if token.kind == "punct" and token.text in _ASSIGNS
        ]
        events += [(call.open, -1, call) for call in calls]
        events += [(call.close, -1, call) for call in calls]
        for at, index, call in sorted(events, key=lambda event: event[:2]):
            if call is None:
                self._assign(index)
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

    def expression_end(self, start: int) -> int:
        """Return where the expression that starts at that token ends: a semicolon, a closing bracket or a finished line."""
        at, limit = start, min(start + self._reach(), len(self.tokens))
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
        return REACH if self.left > 0 else SHORT

    def _line_ends(self, at: int) -> bool:
        here, after = self.tokens[at], self.tokens[at + 1]
        if here.text in _CONTINUES or after.text in _CONTINUES:
            return False
        return "\n" in self.code[here.end : after.start]

    def _member(self, index: int) -> bool:
        return index > 0 and self.tokens[index - 1].text in (".", "?.", "->")

    def _assign(self, index: int) -> None:
        kinds = self.kinds(index + 1, self.expression_end(index + 1))
        if kinds:
            self._give(self._targets(index - 1), kinds)

    def _targets(self, at: int) -> list[str]:
        """Return the names left of an assignment: one, those of a pattern in brackets, or the root of a dotted path."""
        if at < 0:
            return []
        at = self._before_type(at)
        if self.tokens[at].text in ("}", "]"):
            opened = self.pairs.get(at, at)
            if opened and self.tokens[at].text == "]" and self.tokens[opened - 1].kind == "word":
                return [self.tokens[opened - 1].text]
            return [token.text for token in self.tokens[opened + 1 : at][:40] if token.kind == "word"]
        steps = 0
        while at >= 2 and self._member(at) and steps < 8:
            at, steps = at - 2, steps + 1
        return [self.tokens[at].text] if self.tokens[at].kind == "word" else []

    def _before_type(self, at: int) -> int:
        """Return the place of the name that is declared with a type, `const a: B<C> = …`, or the same place."""
        for back in range(at, max(at - TYPE, 1), -1):
            text = self.tokens[back].text
            if text == ":" and self.tokens[back - 2].text in ("const", "let", "var"):
                return back - 1
            if text in (";", "="):
                break
        return at

    def _call(self, call: Call) -> None:
        """Hand a call's kinds to the parameters of the functions in it, and what is pushed to what it is pushed on."""
        kinds = self.kinds(call.first, call.open)
        last = call.path.rpartition(".")[2]
        if last in ("push", "append", "set", "add", "write", "concat", "unshift"):
            given = self.kinds(call.open + 1, call.close)
            if given and self.tokens[call.first].kind == "word":
                self._give([self.tokens[call.first].text], given)
        if kinds:
            self._give(self._parameters(call), kinds)

    def _parameters(self, call: Call) -> list[str]:
        names: list[str] = []
        for index in range(call.open + 1, min(call.close, call.open + 60)):
            if self.tokens[index].text == "=>":
                names += self._arrow(index - 1)
                break
            if self.tokens[index].text == "function":
                names += [token.text for token in self.tokens[index + 1 : index + 8] if token.kind == "word"]
                break
        return names

    def _arrow(self, at: int) -> list[str]:
        if self.tokens[at].text == ")":
            return [token.text for token in self.tokens[self.pairs.get(at, at) : at][:20] if token.kind == "word"]
        return [self.tokens[at].text] if self.tokens[at].kind == "word" else []

    def _give(self, names: list[str], kinds: set[str]) -> None:
        for name in names:
            if name not in ("const", "let", "var", "this", "self", "async", "window", "exports", "module"):
                self.names.setdefault(name, set()).update(kinds)
