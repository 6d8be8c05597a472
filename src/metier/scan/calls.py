"""Find the calls in a list of tokens and what they are called on, JavaScript's module names resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from metier.scan.tokens import Lexed, Token

MAX_PARTS = 8  # of one dotted path; longer ones keep their last parts
MAX_BACK = 60  # tokens looked back for the names that an import binds
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = {")", "]", "}"}
_DOTS = {".", "?.", "::", "->"}


class Call(NamedTuple):
    """One call: its dotted path as resolved, and the indexes of its first token and of its brackets."""

    path: str
    first: int
    open: int
    close: int
    built: bool = False
    """Whether part of the path was a string in brackets that had to be put together, or a call by computed name."""


def brackets(tokens: list[Token]) -> dict[int, int]:
    """Return where each opening bracket closes and each closing one opens; those without a partner are left out."""
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "punct":
            continue
        if token.text in _OPEN:
            stack.append(index)
        elif token.text in _CLOSE and stack and _OPEN[tokens[stack[-1]].text] == token.text:
            opened = stack.pop()
            pairs[opened], pairs[index] = index, opened
    return pairs


def calls(lexed: Lexed, pairs: dict[int, int], bound: dict[str, str]) -> list[Call]:
    """Return every call in the order of its opening bracket; first names that an import bound are replaced."""
    found: list[Call] = []
    tokens = lexed.tokens
    for index, token in enumerate(tokens):
        if token.text == "(" and token.kind == "punct" and 0 < index < len(tokens) - 1:
            path, first, built = _path(lexed, pairs, index - 1)
            if path:
                close = pairs.get(index, min(index + 200, len(tokens) - 1))
                found.append(Call(resolved(path, bound), first, index, close, built))
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
    """Return the dotted path that ends at that token, the index of its first token, and whether it was put together."""
    tokens = lexed.tokens
    parts: list[str] = []
    built = False
    while at >= 0 and len(parts) < MAX_PARTS:
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
    """Return one part of a path: a word, a string in brackets, or a call shown with its first constant."""
    token = lexed.tokens[at]
    if token.kind == "word":
        return token.text, at, False
    opened = pairs.get(at)
    if token.kind != "punct" or token.text not in _CLOSE or not opened:
        return "", at, False
    inner = lexed.constant(lexed.tokens[opened + 1])
    if token.text == "]" and at == opened + 2 and inner is not None:
        return inner, opened, lexed.tokens[opened + 1].joined or lexed.tokens[opened + 1].kind == "word"
    if token.text == ")" and lexed.tokens[opened - 1].kind == "word":
        return f"{lexed.tokens[opened - 1].text}({(inner or '')[:80].replace('.', '-') if inner else ''})", opened - 1, False
    return "", at, False


def modules(lexed: Lexed, wanted: frozenset[str], pairs: dict[int, int]) -> dict[str, str]:
    """Return the local names that `require` and `import` bind to the wanted modules, or to members of them."""
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
    inside, alias = False, ""
    for index in range(at, max(at - MAX_BACK, -1), -1):
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


def _required(tokens: list[Token], at: int, module: str, pairs: dict[int, int], bound: dict[str, str]) -> None:
    """Bind the names of `const a = require('module')` and `const {b, c: d} = await import('module')`."""
    at -= 1
    while at >= 0 and tokens[at].text in ("await", "("):
        at -= 1
    if at < 1 or tokens[at].text != "=":
        return
    if tokens[at - 1].kind == "word":
        after = tokens[at + 1 : at + 8]
        member = after[5].text if len(after) > 5 and after[4].text == "." and after[0].text == "require" else ""
        bound[tokens[at - 1].text] = f"{module}.{member}" if member else module
    elif tokens[at - 1].text == "}":
        opened = max(pairs.get(at - 1, 0), at - MAX_BACK)
        words = [(index, tokens[index].text) for index in range(opened + 1, at - 1) if tokens[index].kind == "word"]
        for index, word in words:
            renamed = tokens[index - 1].text == ":"
            bound[word] = f"{module}.{tokens[index - 2].text if renamed else word}"
