"""Keys that lie in a skill (SC640 to SC645): their forms, and what tells a real one from a sample.

A key is its author's problem and no attack, so it makes a skill *caution* at most; but whoever reads
the skill has it. Each form begins with a fixed word, which is looked for first: a text without any
costs one search per word. What documents show in the place of a key (examples, rows of letters,
words, the samples of vendors) stays silent.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error, a2b_base64
from collections import Counter
from functools import cache
from hashlib import sha256
from json import loads
from math import log2
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from metier.scan.model import ScanRule, word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

_REVOKE = (
    "Revoke it, remove it from the skill and its history, and name an environment variable instead"
)
KEY = "key"
"""The category of these rules."""
RULES = (
    ScanRule("SC640", "medium", KEY, "A key is in the skill",
        "Whoever reads the skill has the key, and can use it as its owner.", _REVOKE),
    ScanRule("SC641", "medium", KEY, "A private key is in the skill",
        "Whoever reads the skill can sign in, or sign, as its owner.", _REVOKE),
    ScanRule("SC642", "medium", KEY, "An address with its password is in the skill",
        "Whoever reads the skill can sign in there.", _REVOKE),
    ScanRule("SC643", "medium", KEY, "A webhook's address is in the skill",
        "The address is the key: whoever reads the skill can post there.", _REVOKE),
    ScanRule("SC644", "medium", KEY, "A signed token is in the skill",
        "Whoever reads the skill can act as the one it was issued to, until it expires.", _REVOKE),
    ScanRule("SC645", "low", KEY, "A key for tests or for the public is in the skill",
        "It opens little, or is locked with a passphrase; a reader cannot tell whether it was meant to be here.",
        "Check that it is the one for tests or for the public"),
)  # fmt: skip
RULES_OF_KEYS = frozenset(rule.id for rule in RULES)
LEAKS = RULES_OF_KEYS - {"SC645"}
"""What is handed on with a skill only if somebody says so."""
MAX_KEYS = 50
"""Keys of one text that are looked at."""
MIN_PART_CHARS = 12
"""Shorter pieces of a key are not looked for."""
MIN_WORD_CHARS = 20
"""The shortest key that is known by its beginning has so many."""
MASK_SHOWS = 4
"""Characters of a key that are shown."""


class KeyHit(NamedTuple):
    """A key in a text: what it is, where, and what may be shown of it."""

    rule: str
    start: int
    end: int
    shown: str


class _KeyForm(NamedTuple):
    """How the keys of one kind are written."""

    what: str
    """What it is, with its article."""
    hints: tuple[str, ...]
    """A text without any of these holds none."""
    pattern: str
    """The group `key`, or all of it, is the key; the group `random` is what must be so."""
    begins: bool
    """Whether a hint is the beginning, and the pattern what follows it."""
    apart: bool
    """Whether a hint may stand apart from the key: a name, beside its value."""
    rule: str
    check: Callable[[re.Match[str]], str] | None
    """Gives the rule that was met, or nothing; in the place of the usual test for randomness."""


# --- what is no key

_SHOWN_INSTEAD = re.compile(
    r"(?i)example|x{4}|0000|\*\*\*|\.\.\.|your|placeholder|dummy|fake|sample|redacted|change.?me|insert"
    r"|replace|12345|abcde|qwerty|asdf|secret|token|test|foobar|lorem|deadbeef|cafebabe|hello|password|(?:my|api|the)[_-]?key"
    r"|[_-]?key[_-]here|aaaa|1111|\$\{|\{\{|<[a-z]"
)
"""What stands in the place of a key. In a random one of 40 letters, any of these is met less often
than once in five hundred."""
_KNOWN_SAMPLES = word_set(
    "ed967197261c eaa6a9190faf 153a18258645 74e11884b07b c1c45784935e e0d7d24906a4 "
    "511c2249afed 7e498f91828a 051d093c4bde 08831f80b564 b7c9c3b56f40"
)
"""Samples that vendors publish, condensed: they open nothing, or an emulator."""
MIN_BITS = {16: 2.6, 20: 2.9, 24: 3.1, 32: 3.3, 40: 3.6, 64: 3.7}
"""Bits of entropy per character that a random text of that length has at least; of hexadecimal
digits, four fifths of them."""
MAX_ROW_SHARE = 0.3
"""How much of a text may be letters that follow each other, as in `abcdef` or `a1b2c3`."""


def _is_random(text: str) -> bool:
    """Tell whether a text looks as if chance had written it."""
    if _SHOWN_INSTEAD.search(text) or condense(text) in _KNOWN_SAMPLES:
        return False
    size = len(text)
    hexadecimal = not text.strip("0123456789abcdefABCDEF")
    least = next((bits for most, bits in MIN_BITS.items() if size <= most), 3.8)
    counts = Counter(text).values()
    bits = -sum(count / size * log2(count / size) for count in counts)
    if bits < least * (0.8 if hexadecimal else 1):
        return False
    codes = [*map(ord, text)]
    for step in (1, 2):
        followed = sum(
            after - before in (0, 1, -1) for before, after in zip(codes, codes[step:], strict=False)
        )
        # of hexadecimal digits, chance alone makes a fifth of neighbours follow each other
        if followed > 1 + size * (MAX_ROW_SHARE + (0.15 if hexadecimal else 0)):
            return False
    # words are apart by strokes; chance puts digits and capitals in between
    return any(map(str.isdigit, text)) or sum(map(str.isupper, text)) * 5 > size


def condense(text: str) -> str:
    """Give a short digest of a published sample, so that no table holds the sample itself."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


# --- forms that can be checked

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def checksum62(text: str) -> str:
    """Give the six letters with which GitHub and npm end a token: its CRC32 in base 62."""
    number = crc32(text.encode())
    letters = ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        letters = _BASE62[digit] + letters
    return letters


def _check_summed(found: re.Match[str]) -> str:
    """Believe a token whose checksum is right whatever it looks like; another must look random."""
    body = found["random"]
    sound = checksum62(body[:-6]) == body[-6:] and len(set(body)) > MASK_SHOWS
    return "SC640" if sound or _is_random(body) else ""


def _check_jwt(found: re.Match[str]) -> str:
    """Read what a signed token says: for whom, and for how long."""
    head = _json_of(found["head"])
    body = _json_of(found["body"])
    signature = found["random"]
    if not isinstance(head, dict) or not isinstance(body, dict) or not head.get("alg"):
        return ""
    if str(head["alg"]).lower() == "none" or _json_of(signature) or not _is_random(signature):
        return ""
    said = " ".join(str(value) for value in body.values() if isinstance(value, str))
    if body.get("sub") == "1234567890" or re.search(r"(?i)\b(?:john|jane) doe\b|example\.", said):
        return ""
    if body.get("iss") == "supabase-demo":
        return ""
    if body.get("role") == "anon":
        return "SC645"
    begun = body.get("iat")
    ends = body.get("exp")
    if isinstance(begun, int) and isinstance(ends, int) and ends - begun <= MAX_SHORT_LIFE_S:
        return "SC645"
    return "SC644"


MAX_SHORT_LIFE_S = 2 * 24 * 3600
"""A token that holds no longer than this is over before a skill is read by others."""


def _json_of(part: str) -> Any:
    try:
        return loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return None


_PEM_NOISE = re.compile(r"[\"'][ \t]{0,4}\+|\\[nrt]|[\s\"',\\|>#*]")
_PEM_HEADER = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)[:=]?[^\n\\]*")
MIN_PEM_BYTES = 44
_TAGGED_DER = 0x30


def _check_pem(found: re.Match[str]) -> str:
    """Decode a private key, and see that it has the form that its first line says."""
    label = found["label"]
    body = found["body"]
    text = _PEM_NOISE.sub("", _PEM_HEADER.sub("", body))
    text = text.rpartition("=")[0] if label.startswith("PGP") else text
    try:
        data = a2b_base64(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), strict_mode=True)
    except Base64Error:
        return ""
    if len(data) < MIN_PEM_BYTES or len(set(data)) < len(data) ** 0.5:
        return ""
    if label.startswith("OPENSSH"):
        whole = data.startswith(b"openssh-key-v1\0")
        locked = b"bcrypt" in data[:60]
    elif label.startswith("PGP"):
        whole = data[0] in (0x94, 0x95, 0x97, 0xC5)
        locked = False
    else:
        locked = label.startswith("ENCRYPTED") or "ENCRYPTED" in body[:200]
        whole = locked or _is_whole_der(data)
    return "SC645" if whole and locked else "SC641" if whole else ""


def _is_whole_der(data: bytes) -> bool:
    """Tell whether a sequence is as long as it says."""
    if data[0] != _TAGGED_DER:
        return False
    count = data[1] & 0x7F if data[1] & 0x80 else 0
    said = int.from_bytes(data[2 : 2 + count]) if count else data[1]
    return 0 <= len(data) - (2 + count + said) <= 2  # what pads the last line


def _check_discord(found: re.Match[str]) -> str:
    """Read the first part of a bot's token, which is the number of its account."""
    part = found["head"]
    try:
        number = urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except Base64Error:
        return ""
    return "SC640" if number.isdigit() and _is_random(found["random"]) else ""


_NO_PASSWORD = re.compile(
    r"(?i)^(?:pass(?:word|wd|w)?\d{0,4}|pwd?|secret|postgres|root|admin|user(?:name)?|guest|foo|bar|token|key|api.?key|.{0,5})$"
    r"|[<>{}\[\]()$%*…]|pass(?:word|wd)|secret|my.?pass|your|xxx|\.\.\.|example|change|placeholder|redacted|test|sample"
)
_NO_HOST = re.compile(
    r"(?i)^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|[^.]*$|host\b|.*\bexample\b|.*\byour)"
    r"|\.(?:local|internal|test|localhost|invalid)$|[<>{}$%*]|\bdomain\.|\bhost\.(?:com|net|io)|xxx"
)
MIN_PASSWORD_BITS = 2.7


_SCHEME = re.compile(
    r"(?i)(?<![a-z])(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse|ftps?|sftp|ldaps?|smtps?|https?)"
    r"(?:\+[a-z0-9]{1,12})?$"
)


def _scheme_before(found: re.Match[str]) -> str:
    scheme = _SCHEME.search(found.string[max(0, found.start() - 32) : found.start()])
    return scheme[0] if scheme else ""


def _check_address(found: re.Match[str]) -> str:
    """Tell a password that somebody uses from one that a document shows."""
    password = found["random"]
    if not _scheme_before(found):
        return ""
    if _NO_PASSWORD.search(password) or _NO_HOST.search(found["host"]):
        return ""
    counts = Counter(password).values()
    size = len(password)
    bits = -sum(count / size * log2(count / size) for count in counts)
    kinds = sum(any(map(test, password)) for test in (str.isdigit, str.islower, str.isupper))
    return "SC642" if bits >= MIN_PASSWORD_BITS and kinds > 1 else ""


# --- the forms

_INSIDE = "[A-Za-z0-9_/+-]"
"""What stands before the beginning of a longer word."""
_ALONE = rf"(?:(?<!{_INSIDE})|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9_-])"


def _form(
    what: str,
    hints: str,
    pattern: str,
    rule: str = "SC640",
    check: Callable[[re.Match[str]], str] | None = None,
    *,
    apart: bool = False,
) -> _KeyForm:
    return _KeyForm(
        what=what,
        hints=tuple(hints.split()),
        pattern=pattern,
        begins=False,
        apart=apart,
        rule=rule,
        check=check,
    )


def _prefixed(
    what: str,
    hints: str,
    body: str,
    rule: str = "SC640",
    check: Callable[[re.Match[str]], str] | None = None,
) -> _KeyForm:
    """Give a form of one or more fixed beginnings and what follows."""
    return _form(what, hints, f"(?P<random>{body}){_END}", rule, check)._replace(begins=True)


@cache
def _pattern(form: _KeyForm, hint: str) -> re.Pattern[str]:
    """Compile a form when a text may hold one: most texts hold none."""
    if not form.begins:
        return re.compile(form.pattern, re.ASCII)
    # the fixed beginning comes first: then it is searched for as fast as a plain word
    start = re.escape(hint)
    apart = rf"(?:(?<!{_INSIDE}{start})|(?<=\\[nrt]{start}))"
    return re.compile(start + apart + form.pattern, re.ASCII)


_NAMED = r"""["']?[ \t]{0,4}(?:[:=]|=>)[ \t]{0,4}["']?"""
FORMS = (
    _prefixed("an AWS access key", "AKIA ASIA", "[A-Z0-9]{16}"),
    _form("an AWS secret key", "aws_secret AWS_SECRET SecretAccessKey secretAccessKey",
        r"(?i:aws_secret(?:_access)?(?:_key)?|secretaccesskey)" + _NAMED + r"(?P<key>(?P<random>[A-Za-z0-9/+]{40}))(?![A-Za-z0-9/+=])",
        apart=True),
    _prefixed("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{36,40}", check=_check_summed),
    _prefixed("a GitHub token", "github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _prefixed("a GitLab token", "glpat- gldt- glrt- glft- glptt- glsoat- glagent-", r"[A-Za-z0-9_-]{20,64}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?"),
    _form("a Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe",
        _ALONE + r"xox[abeprs](?:\.xox[bp])?-(?P<random>(?:\d{1,14}-){1,3}[A-Za-z0-9-]{20,160})" + _END),
    _prefixed("a Slack token", "xapp-", r"\d-[A-Z0-9]{9,12}-\d{10,14}-[0-9a-f]{60,68}"),
    _form("a Slack webhook", "hooks.slack.com/",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/(?P<random>T[A-Z0-9]{7,11}/[A-Za-z0-9/_-]{20,90})", "SC643"),
    _prefixed("a Stripe key", "sk_live_ rk_live_", "[A-Za-z0-9]{20,120}"),
    _prefixed("a Stripe test key", "sk_test_ rk_test_", "[A-Za-z0-9]{20,120}", "SC645"),
    _prefixed("a webhook's signing key", "whsec_", "[A-Za-z0-9+/]{32,64}={0,2}"),
    _prefixed("an Anthropic key", "sk-ant-", "[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{40,120}"),
    _prefixed("an OpenAI key", "sk-proj- sk-svcacct- sk-admin-", "[A-Za-z0-9_-]{40,200}"),
    _prefixed("an OpenRouter key", "sk-or-v1-", "[0-9a-f]{64}"),
    _prefixed("a model provider's key", "sk-", "[A-Za-z0-9]{32,64}"),
    _prefixed("a Groq key", "gsk_", "[A-Za-z0-9]{48,56}"),
    _prefixed("an xAI key", "xai-", "[A-Za-z0-9]{70,90}"),
    _prefixed("a Perplexity key", "pplx-", "[A-Za-z0-9]{40,56}"),
    _prefixed("a Replicate key", "r8_", "[A-Za-z0-9]{37}"),
    _prefixed("a Hugging Face token", "hf_", "[A-Za-z0-9]{34,40}"),
    _prefixed("a Google key", "AIza", "[A-Za-z0-9_-]{35}"),
    _prefixed("a Google client secret", "GOCSPX-", "[A-Za-z0-9_-]{28}"),
    _prefixed("an npm token", "npm_", "[A-Za-z0-9]{36}", check=_check_summed),
    _prefixed("a PyPI token", "pypi-AgE", "[A-Za-z0-9_-]{60,400}"),
    _prefixed("a SendGrid key", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _prefixed("a Twilio key", "SK", "[0-9a-f]{32}"),
    _form("a Twilio token", "twilio TWILIO Twilio",
        r"(?i:twilio)[A-Za-z_.-]{0,30}(?i:token|secret)" + _NAMED + r"(?P<key>(?P<random>[0-9a-f]{32}|[A-Za-z0-9]{32}))" + _END,
        apart=True),
    _form("a Telegram bot's token", ":AA", r"(?<!\d)(?P<key>\d{8,10}:(?P<random>AA[A-Za-z0-9_-]{33}))" + _END),
    _form("a Discord webhook", "discord.com/api discordapp.com/api",
        r"https://(?:\w{1,10}\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{16,20}/(?P<random>[A-Za-z0-9_-]{60,80})", "SC643"),
    _form("a Discord bot's token", "discord DISCORD Discord",
        _ALONE + r"(?P<head>[MNO][A-Za-z0-9_-]{23,27})\.[A-Za-z0-9_-]{6}\.(?P<random>[A-Za-z0-9_-]{27,38})" + _END,
        check=_check_discord, apart=True),
    _form("an Azure storage key", "AccountKey=", r"AccountKey=(?P<key>(?P<random>[A-Za-z0-9+/]{86})==)"),
    _form("an Azure client secret", "8Q~ 7Q~", _ALONE + r"(?P<random>[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34})" + _END),
    _prefixed("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{64}"),
    _prefixed("a Databricks token", "dapi", "[0-9a-f]{32}(?:-[0-9])?"),
    _prefixed("a Linear key", "lin_api_ lin_oauth_", "[A-Za-z0-9]{40,64}"),
    _prefixed("a Notion token", "ntn_ secret_", "[A-Za-z0-9]{43,50}"),
    _prefixed("a Figma token", "figd_", "[A-Za-z0-9_-]{40,48}"),
    _prefixed("a Shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]{32}"),
    _prefixed("a Supabase key", "sbp_ sb_secret_", "[A-Za-z0-9_-]{31,48}"),
    _prefixed("a Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    _prefixed("a Vault token", "hvs. hvb. hvr.", "[A-Za-z0-9_-]{24,200}"),
    _prefixed("a Doppler token", "dp.pt. dp.st. dp.ct.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    _form("a Terraform token", ".atlasv1.", _ALONE + r"(?P<random>[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,70})" + _END),
    _prefixed("a Grafana token", "glsa_ glc_", r"[A-Za-z0-9+/]{32,400}(?:_[0-9a-f]{8})?={0,2}"),
    _prefixed("a Sentry token", "sntrys_ sntryu_", "[A-Za-z0-9+/=_-]{60,400}"),
    _prefixed("a New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    _prefixed("an Atlassian token", "ATATT3", "[A-Za-z0-9_=-]{60,250}"),
    _prefixed("an Airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _prefixed("a Tavily key", "tvly-", "(?:dev-|prod-)?[A-Za-z0-9]{32}"),
    _prefixed("an age key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    _form("a private key", "PRIVATE", r"-----BEGIN (?P<label>(?:RSA |EC |DSA |OPENSSH |ENCRYPTED |PGP )?PRIVATE KEY(?: BLOCK)?)-----"
        r"(?P<body>(?:[^-]|-(?!----)){40,20000})-----END ",
        "SC641", _check_pem, apart=True),
    _form("a signed token", "eyJ", _ALONE + r"(?P<head>eyJ[A-Za-z0-9_-]{8,1000})\.(?P<body>eyJ[A-Za-z0-9_-]{8,6000})"
        r"\.(?P<random>[A-Za-z0-9_-]{20,700})" + _END,
        "SC644", _check_jwt),
    _form("an address with a password", "://",
        r"://[A-Za-z0-9_.%~-]{0,64}:(?P<random>[^\s/@:\"'`<>]{6,128})@(?P<host>[A-Za-z0-9.-]{1,200})", "SC642", _check_address),
)  # fmt: skip
_HINTS_APART = tuple((hint, form) for form in FORMS for hint in form.hints if form.apart)
_HINTS_WITHIN = tuple(
    (hint, form) for form in FORMS for hint in form.hints if not (form.apart or form.begins)
)
_HINTS_FIRST: dict[bytes, list[tuple[str, _KeyForm]]] = {}
"""Those that begin a key, by the two letters that they begin with."""
for _form_of_hint in FORMS:
    for _hint in _form_of_hint.hints if _form_of_hint.begins else ():
        _HINTS_FIRST.setdefault(_hint[:2].encode(), []).append((_hint, _form_of_hint))
_KEY_LETTERS = bytes(
    code if chr(code).isalnum() or chr(code) in "_/+-" else 32 for code in range(128)
).ljust(256)


def find_keys(text: str) -> list[KeyHit]:
    """Find the keys in a text, first to last; what only stands for one is no key."""
    # a key is a long word, and few words are: looking among them alone takes a tenth of the time
    words = " ".join([word for word in text.split() if len(word) >= MIN_WORD_CHARS])
    hinted = [one for one in _HINTS_WITHIN if one[0] in words]
    hinted += (one for one in _begun(words) if one[0] in words)
    hinted += (one for one in _HINTS_APART if one[0] in text)
    found = [hit for hint, form in hinted for hit in _find(form, hint, text)]
    found.sort(key=lambda hit: (hit.start, -hit.end))
    kept: list[KeyHit] = []
    for hit in found:
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
    return kept[:MAX_KEYS]


def _begun(words: str) -> Iterator[tuple[str, _KeyForm]]:
    """Give the forms whose keys may begin within some words, by the first two letters of what
    stands alone there, or behind an escape.
    """
    alone = words.encode("ascii", "replace").translate(_KEY_LETTERS).split()
    firsts = {one[:2] for one in alone}
    firsts.update(one[1:3] for one in alone if one[:1] in b"nrt")
    for first in _HINTS_FIRST.keys() & firsts:
        yield from _HINTS_FIRST[first]


def _find(form: _KeyForm, hint: str, text: str) -> Iterator[KeyHit]:
    pattern = _pattern(form, hint)
    told = 0
    for match in pattern.finditer(text):
        usual = form.rule if form.check is None and _is_random(match["random"]) else ""
        rule = form.check(match) if form.check is not None else usual
        if rule:
            start, end = match.span("key" if "key" in pattern.groupindex else 0)
            start -= len(_scheme_before(match)) if rule == "SC642" else 0
            yield KeyHit(rule, start, end, mask(form.what, text[start:end]))
            told += 1
            if told >= MAX_KEYS:
                return


def mask(what: str, key: str) -> str:
    """Say what a key is, how it begins and how long it is, and nothing more of it."""
    size = f"{len(key):,} characters"
    return f"{what}, {size}" if key.startswith("-") else f"{what}: {key[:MASK_SHOWS]}… ({size})"


_PEM_SHOWN = re.compile(
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END[^-]*-----)?"
)


def parts_of(key: str) -> list[str]:
    """Give the pieces by which a key is known again where it was cut or laid out anew."""
    return [line for line in key.split() if len(line) >= MIN_PART_CHARS]


def mask_keys(text: str, parts: Collection[str]) -> str:
    """Give a text in which no key is readable: neither one that stands in it, nor a part of one
    that is known from elsewhere.
    """
    if "PRIVATE KEY" in text:
        text = _PEM_SHOWN.sub("[a private key]", text)
    for hit in reversed(find_keys(text)):
        text = f"{text[: hit.start]}[{hit.shown}]{text[hit.end :]}"
    for part in parts:
        start = text.find(part[: 2 * MASK_SHOWS])
        while start >= 0:
            end = start + _common(text[start : start + len(part)], part)
            text = f"{text[: start + MASK_SHOWS]}…{text[end:]}"
            start = text.find(part[: 2 * MASK_SHOWS], start + MASK_SHOWS)
    return text


def _common(first: str, second: str) -> int:
    """Count the characters with which two texts begin alike."""
    size = min(len(first), len(second))
    return next((at for at in range(size) if first[at] != second[at]), size)
