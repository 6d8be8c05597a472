"""Read what is spelled in a roundabout way: arrays joined, text reversed, character codes, base64 and hex constants."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from metier.scan.tokens import MAX_JOINED, Lexed, Token, character

if TYPE_CHECKING:
    from metier.scan.calls import Call

_NUMBER = re.compile(r"^(?:0[xX][0-9a-fA-F]{1,6}|\d{1,7})$")
MAX_PIECES = 4000  # of one array or list of codes


def folded(lexed: Lexed) -> Lexed:
    """Return the tokens with `['a','b'].join('')` and `'cba'.split('').reverse().join('')` read as the text they make."""
    tokens = lexed.tokens
    out: list[Token] = []
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
    if not pieces or [token.text for token in tokens[index : index + 4]] != ["]", ".", "join", "("] or index + 5 >= len(tokens):
        return None
    if tokens[index + 4].kind != "string" or tokens[index + 5].text != ")":
        return None
    return tokens[index + 4].text.join(pieces)[:MAX_JOINED], index + 6


def _reversed(tokens: list[Token], at: int) -> tuple[str, int] | None:
    shape = [token.text for token in tokens[at + 1 : at + 15]]
    if shape == [".", "split", "(", "", ")", ".", "reverse", "(", ")", ".", "join", "(", "", ")"]:
        return tokens[at].text[::-1], at + 15
    return None


def decoded(lexed: Lexed, call: Call) -> str:
    """Return the text that a decoding call over constants makes, or an empty text."""
    inner = lexed.tokens[call.open + 1 : min(call.close, call.open + 2 * MAX_PIECES)]
    if call.path.endswith("fromCharCode"):
        numbers = [token.text for token in inner if _NUMBER.match(token.text)]
        return "".join(character(int(number, 0 if number[:2] in ("0x", "0X") else 10)) for number in numbers)
    constant = lexed.constant(inner[0]) if inner else None
    if constant is None:
        return ""
    return unpack(constant, "hex" if any(token.text == "hex" for token in inner[1:4]) else "base64")


def unpack(text: str, encoding: str) -> str:
    """Return what a base64 or hex text holds, read as UTF-8 or, where every second byte is nought, as UTF-16; empty on nonsense."""
    try:
        if encoding == "hex":
            data = bytes.fromhex(text.strip()[:MAX_JOINED])
        else:
            clean = re.sub(r"[^A-Za-z0-9+/]", "", text.translate({45: 43, 95: 47}))[:MAX_JOINED]
            data = base64.b64decode(clean[: len(clean) // 4 * 4] + _padded(clean))
    except (ValueError, binascii.Error):
        return ""
    if len(data) > 3 and data[1] == 0 and data[3] == 0:
        return data.decode("utf-16-le", "replace")
    return data.decode("utf-8", "replace")


def _padded(clean: str) -> str:
    rest = clean[len(clean) // 4 * 4 :]
    return rest + "=" * (4 - len(rest)) if len(rest) > 1 else ""
