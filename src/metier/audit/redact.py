"""Takes secrets out of values before they are written down. What is taken out is named, never
shown.

Two ways to know a secret: by its own form (a key with a known beginning), or by the name it is
given to (`password=…`, `"api_key": …`). Too much is taken out rather than too little: a log
outlives the secret's owner. Every pattern begins at a fixed word and either always succeeds from
there or looks a bounded way ahead, so the work is linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_DEPTH = 16
"""Values nested deeper than this are left out, whatever they hold."""
MAX_NODES = 5_000
"""So are all values after this many: a list that holds itself has no end."""
MAX_TEXT_CHARACTERS = 16_384
"""A longer text is cut: only its beginning is looked at, and kept."""
MAX_ALL_CHARACTERS = 262_144
"""The same for all texts of one value together."""
EDGE_CHARACTERS = 512
"""What is dropped before a cut: a secret that was cut in two may be too short there to be known as
one."""
LARGEST_INT = 1 << 64

_ALONE = r"(?<![A-Za-z0-9])"
"""Before a key: nothing that could be part of a longer word."""
_NAMES = (
    r"pass(?:word|wd|phrase|code)|pwd|secret|token(?!s\b)|credential|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key"
    r"|encryption[_-]?key|account[_-]?key|shared[_-]?key|auth[_-]?key"
)
"""Words that say: what follows is a secret. Not `tokens`, which are counted."""
_IS = r"""["'\\\]]{0,4}[ \t]{0,4}(?::=|=>|:|={1,2})[ \t]{0,4}"""
_VALUE = r"""(?!\\{0,4}["']?\[redacted)(?:\\{0,4}"[^"\n]*"?|\\{0,4}'[^'\n]*'?|[^\s"']+)"""
_SCHEME = r"(?:(?:basic|bearer|token|digest|apikey|negotiate)[ \t]{1,4})?"


class SecretPattern(NamedTuple):
    """A secret's form: how it is called, what is taken out and, before that, what is kept (in any
    case of letters).
    """

    name: str
    hints: str
    """Words of which the text, in small letters, must hold one; without any, the pattern is not
    even compiled."""
    taken: str
    kept: str = ""

    def within(self, text: str) -> str:
        """Give the text without what this pattern finds."""
        # Atomic: once what is kept has been read, it is not read in another way for the sake of
        # what follows.
        pattern = re.compile(
            (f"(?P<kept>(?>(?i:{self.kept})))" if self.kept else "") + self.taken, re.ASCII
        )
        mark = f"[redacted: {self.name}]"
        return pattern.sub(rf"\g<kept>{mark}" if self.kept else mark, text)


_NAME_HINTS = "pass pwd secret token credential key"
# CO-28: the patterns, each with the name that stands in place of what it finds.
PATTERNS = (
    SecretPattern("private-key", "begin",
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,60}-----|\Z)"),
    SecretPattern("age-key", "age-secret", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    SecretPattern("url-login", "://", r"(?<=://)(?:[^\s/:@]{0,256}:[^\s/]{1,512}|[^\s/:@]{20,256})(?=@)"),
    SecretPattern("aws-key", "akia asia abia acca agpa aida aipa anpa anva aroa",
            _ALONE + r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    SecretPattern("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"),
    SecretPattern("gitlab-token", "gl", r"gl(?:pat|ptt|dt|rt|ft|soat|cbt|agent|imt|oas)-[A-Za-z0-9_.-]{16,}"),
    SecretPattern("slack-token", "xox xapp-", r"xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"),
    SecretPattern("slack-webhook", "hooks.slack", r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{10,}"),
    SecretPattern("stripe-key", "_live_ _test_ whsec_", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}"),
    SecretPattern("model-key", "sk-", _ALONE + r"sk-(?=[A-Za-z0-9_-]{0,80}\d)[A-Za-z0-9_-]{16,}"),
    SecretPattern("google-key", "aiza ya29 gocspx", r"AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"),
    SecretPattern("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    SecretPattern("pypi-token", "pypi-", r"pypi-AgE[A-Za-z0-9_-]{16,}"),
    SecretPattern("huggingface-token", "hf_", _ALONE + r"hf_[A-Za-z0-9]{20,}"),
    SecretPattern("digitalocean-token", "_v1_", r"do[opr]_v1_[0-9a-f]{40,}"),
    SecretPattern("vault-token", "hv", _ALONE + r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    SecretPattern("sendgrid-key", "sg.", _ALONE + r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    SecretPattern("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,}"),
    SecretPattern("telegram-token", ":", r"(?<!\d)\d{8,10}:[A-Za-z0-9_-]{34,}"),
    SecretPattern("discord-webhook", "discord", r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,25}/[A-Za-z0-9_-]{20,}"),
    SecretPattern("discord-token", ".", _ALONE + r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
    SecretPattern("jwt", "eyj", _ALONE + r"eyJ[A-Za-z0-9_-]{8,400}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    SecretPattern("authorization", "authorization", r"""(?!\[redacted)[^\s"']+""", rf"""authorization{_IS}["'\\]{{0,4}}{_SCHEME}"""),
    SecretPattern("bearer", "bearer", r"[A-Za-z0-9._~+/=-]{8,}", r"\bbearer[ \t]{1,4}"),
    SecretPattern("login", "-u", r"""[^\s:"']{1,128}:[^\s"']+""", r"""(?<!\S)(?:-u|--user|--proxy-user)[ =]{1,2}["']?"""),
    SecretPattern("secret", _NAME_HINTS, _VALUE, rf"(?:{_NAMES})[A-Za-z0-9_-]{{0,32}}{_IS}"),
    SecretPattern("secret", _NAME_HINTS, "(?!-)" + _VALUE, rf"(?<!\S)--?(?:[a-z]{{1,16}}-){{0,2}}(?:{_NAMES})[ \t]{{1,4}}"),
)  # fmt: skip

_HINTED = tuple((pattern, tuple(pattern.hints.split())) for pattern in PATTERNS)
"""With their hints taken apart once: every text of every event passes here."""

_BEFORE = r"(?:^|[^A-Za-z0-9]|(?<=[a-z0-9])(?=[A-Z]))"
_AFTER = r"s?(?:$|[^A-Za-z0-9]|(?=[A-Z]))"
_NAMED = rf"{_BEFORE}(?i:{_NAMES}|authorization|cookie|bearer){_AFTER}"
"""A name in a mapping that says its value is a secret: `db_password`, `clientSecret`,
`X-Api-Key`."""


def redact(value: object) -> object:
    """Give the same value with every secret replaced by `[redacted: what it was]`; made of what
    JSON can hold.
    """
    return _walk(value, 0, [MAX_NODES, MAX_ALL_CHARACTERS])


def redact_text(text: str) -> str:
    """Give the same text without the secrets it holds."""
    low = text.lower()
    for pattern, hints in _HINTED:
        for hint in hints:
            if hint in low:
                text = pattern.within(text)
                break
    return text


def is_secret_name(name: str) -> bool:
    """Tell whether a name says that what it stands for is a secret."""
    return len(name) <= 256 and re.search(_NAMED, name, re.ASCII) is not None


def _walk(value: object, depth: int, left: list[int]) -> object:
    left[0] -= 1
    if depth > MAX_DEPTH or left[0] < 0:
        return "[left out]"
    if isinstance(value, dict):
        return _mapping(value, depth, left)
    if isinstance(value, (list, tuple, set, frozenset)):
        # One more than the budget shows that there was more; the rest need not be looked at.
        return [
            _walk(one, depth + 1, left)
            for one, _count in zip(value, range(max(left[0], 0) + 1), strict=False)
        ]
    return _leaf(value, left)


def _mapping(value: Mapping[object, object], depth: int, left: list[int]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, one in value.items():
        if left[0] < 0:
            break
        name = str(_leaf(key, left))
        found[name] = _named(name, one, depth, left)
    return found


def _named(name: str, value: object, depth: int, left: list[int]) -> object:
    """Give the value that stands under a name; nothing of it where the name says it is a secret."""
    if (
        not is_secret_name(name)
        or value is None
        or isinstance(value, bool)
        or (isinstance(value, (str, list, dict)) and not value)
    ):
        return _walk(value, depth + 1, left)
    left[0] -= 1
    return "[redacted: secret]"


def _text(text: str, left: list[int]) -> str:
    most = min(MAX_TEXT_CHARACTERS, max(left[1], 0))
    left[1] -= len(text)
    return (
        redact_text(text)
        if len(text) <= most
        else redact_text(text[:most])[:-EDGE_CHARACTERS] + "…"
    )


def _leaf(value: object, left: list[int]) -> object:
    if isinstance(value, str):
        return _text(value, left)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < LARGEST_INT else f"[a number of {value.bit_length()} bits]"
    if isinstance(value, float):
        # JSON has no word for what is not finite.
        return value if abs(value) < float("inf") else f"[{value}]"
    if isinstance(value, (bytes, bytearray)):
        return _text(bytes(value[:MAX_TEXT_CHARACTERS]).decode("utf-8", "backslashreplace"), left)
    return f"[{type(value).__name__}]"
