"""Says where skills may come from and whose key may publish them: pure, for every kind of source.

Each layer of configuration, and each policy of an organisation, has its own rules, and a source must
pass all of them. A layer can therefore only narrow what the others allow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.settings.merge import wrong
from metier.trust.model import SHIPPED_SOURCE, repository

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.model import Texts
    from metier.settings.merge import ConfigSource

MAX_PATTERNS = 1_000
MAX_PATTERN_CHARACTERS = 300
MAX_SOURCE_CHARACTERS = 2_000
"""A longer source matches nothing that is allowed, and everything that is denied."""
MAX_KEYS = 100
POLICY_MARK = "policy: "
"""How a reason begins that a policy gives."""
_KEY = re.compile(r"ed25519:[0-9a-f]{32}")
_ODD = re.compile(r"[%\\?#\x00-\x1f\x7f]|(?:^|[/:])\.\.?(?:/|$)|/(?:pull|commit)/")
_KIND = re.compile(r"^(?:(?:archive|file|well-known|marketplace|github):(?!//)|git\+)+")
"""What may stand before a source, and says nothing of where it is."""
_SCP = re.compile(r"[^@/:]+@([^@/:]+):(.+)")
_GIT = re.compile(r"(?:\.git)?/*$")
_TAG = re.compile(r"[:@][^/]*$")
_USUAL_PORT = re.compile(r":(?:443|80|22)$")
_CLAWHUB = "clawhub.ai"
_GITHUB = frozenset(
    {
        *("github.com", "www.github.com", "ssh.github.com", "api.github.com"),
        *("codeload.github.com", "raw.githubusercontent.com"),
    }
)
"""Hosts that give out a repository's files, each below `owner/name`."""


class PolicyLine(NamedTuple):
    """One entry of a policy, and the `file:line` that has it."""

    text: str
    place: str


class PublisherRule(NamedTuple):
    """Whose keys may publish what comes from some sources."""

    pattern: str
    keys: Texts
    place: str


class SourceRules(NamedTuple):
    """What one file says about where skills may come from. All of it narrows."""

    layer: str
    path: str
    allow: tuple[PolicyLine, ...] | None = None
    """The only sources that skills may come from; `None` when the file does not say."""
    allow_place: str = ""
    deny: tuple[PolicyLine, ...] = ()
    signed: tuple[PolicyLine, ...] = ()
    """Sources whose skills must be signed by a key that this machine trusts."""
    publishers: tuple[PublisherRule, ...] = ()


class Because(NamedTuple):
    """A line of a policy that has a say, and what it says."""

    layer: str
    file: str
    line: int
    rule: str
    why: str

    @property
    def place(self) -> str:
        """Point at the line."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def told(self) -> str:
        """Say it in one line."""
        return f"{POLICY_MARK}{self.why} ({self.place})" if self.place else self.why


class SourceRuling(NamedTuple):
    """Whether a source may be used, and the lines that decide."""

    refused: bool
    because: tuple[Because, ...]


class Publisher(NamedTuple):
    """Who published something: a key that may."""

    key: str
    because: tuple[Because, ...] = ()
    """The rules that name the key; nothing where no rule speaks of it or of the source."""


class NotPublisher(NamedTuple):
    """Why a signature, or the lack of one, makes nobody the publisher."""

    refused: bool
    """Whether the source has publishers and this is none of them: then it may not be used. If not,
    the signature just counts for nothing."""
    because: tuple[Because, ...] = ()


def is_ruled(reasons: Iterable[str]) -> bool:
    """Tell whether a policy is among the reasons: then no approval helps."""
    return any(reason.startswith(POLICY_MARK) for reason in reasons)


def because(layer: str, place: str, rule: str, why: str) -> Because:
    """Make a reason out of `file:line`."""
    file, _, number = place.rpartition(":")
    return (
        Because(layer, file, int(number), rule, why)
        if file and number.isdecimal()
        else Because(layer, place, 0, rule, why)
    )


# --- matching


def source_place(source: str) -> str:
    """Give the spelling of a source that patterns are held against; nothing for an odd one, which
    could look like one place and mean another.
    """
    text = source.strip().rstrip("/")
    if len(text) > MAX_SOURCE_CHARACTERS or not text.isprintable() or _ODD.search(f"{text}/"):
        return ""
    return repository(text) or text


def matches(pattern: str, place: str) -> bool:
    """Tell whether a pattern covers a source: `*` is any text without a slash, `**` any text, and
    what lies below a place that matches is covered too. An OCI repository covers its tags.
    """
    wanted = repository(pattern) or pattern.rstrip("/")
    tokens = re.findall(r"\*\*|.", wanted, re.DOTALL)
    last = len(tokens)
    states = _after_stars(tokens, {0})
    tail = "/:@" if wanted.startswith("oci://") and "/" in wanted[6:] else "/"
    for char in place:
        if last in states and char in tail:
            return True
        states = _after_stars(
            tokens,
            {
                at if tokens[at] in {"*", "**"} else at + 1
                for at in states
                if at < last and _takes(tokens[at], char)
            },
        )
        if not states:
            return False
    return last in states


def _takes(part: str, char: str) -> bool:
    return part == "**" or (char != "/" if part == "*" else part == char)


def _after_stars(tokens: Sequence[str], states: set[int]) -> set[int]:
    """Add where one stands if a star takes no more."""
    found = set(states)
    for state in states:
        at = state
        while at < len(tokens) and tokens[at] in {"*", "**"}:
            at += 1
            found.add(at)
    return found


def _covers(pattern: str, place: str) -> bool:
    """Tell whether a denial covers a source: capitals make no difference, nor how it is reached,
    and an odd source is covered by all of them.
    """
    pattern, place = pattern.lower(), place.lower()
    return not place or matches(pattern, place) or matches(_wherever(pattern), _wherever(place))


def _wherever(place: str) -> str:
    """Give a source without how it is reached: `host/path`, and `@github/owner/name/…` for
    whatever GitHub gives out of a repository. In small letters, as `place` is.
    """
    text = _KIND.sub("", place)
    if text.startswith("clawhub:"):
        slug = text.removeprefix("clawhub:")
        return slug.partition("://")[2] if "://" in slug else f"{_CLAWHUB}/{slug}"
    text = text.removeprefix("mcp+").removeprefix("hub+")
    scheme, found, rest = text.partition("://")
    if not found:
        scp = _SCP.fullmatch(text)
        scheme, rest = ("ssh", f"{scp[1]}/{scp[2].lstrip('/')}") if scp else ("", text)
    rest = _GIT.sub("", rest)
    if not scheme and not rest.startswith(("/", "**")):
        return f"@github/{rest.removeprefix('github.com/')}"
    if not scheme or scheme == "file":
        return rest
    host, _, path = rest.partition("/")
    host = _USUAL_PORT.sub("", host.rpartition("@")[2]).rstrip(".")
    if scheme == "oci":
        path = _TAG.sub("", path)
    if host in _GITHUB:
        return f"@github/{path.removeprefix('repos/')}"
    return f"{host}/{path}" if path else host


# --- judging


def judge_source(
    rules: Iterable[SourceRules], source: str, key: str = "", ref: str = ""
) -> SourceRuling:
    """Say whether skills may come from a source, signed by a verified key or by none. A source that
    is not known is nobody's to allow: `trust.local_default` decides there.
    """
    if not source or source == SHIPPED_SOURCE:
        return SourceRuling(refused=False, because=())
    place = "" if "pull/" in ref else source_place(source)
    against: list[Because] = []
    allowed: list[Because] = []
    rules = tuple(rules)
    for one in rules:
        denied = next((line for line in one.deny if _covers(line.text, place)), None)
        if denied is not None:
            why = f"skills from {source} are denied by '{denied.text}'"
            against.append(because(one.layer, denied.place, "sources.deny", why))
        if one.allow is not None:
            line = next((line for line in one.allow if place and matches(line.text, place)), None)
            if line is None:
                why = f"{source} is not an allowed source"
                against.append(because(one.layer, one.allow_place, "sources.allow", why))
            else:
                why = f"{source} is allowed by '{line.text}'"
                allowed.append(because(one.layer, line.place, "sources.allow", why))
    vouched = publisher_of(rules, source, key)
    if isinstance(vouched, NotPublisher):
        (against if vouched.refused else allowed).extend(vouched.because)
    else:
        allowed += vouched.because
    counted = key if isinstance(vouched, Publisher) else ""
    for one in rules:
        line = next((line for line in one.signed if _covers(line.text, place)), None)
        if line is not None and not counted:
            why = f"skills from {source} must be signed by a key that you trust ('{line.text}')"
            against.append(because(one.layer, line.place, "sources.signed", why))
    return SourceRuling(bool(against), tuple(against) or tuple(allowed))


def publisher_of(rules: Iterable[SourceRules], source: str, key: str) -> Publisher | NotPublisher:
    """Say who published what comes from a source, given the verified key that signed it, or none.

    Where a rule speaks of the source, only its keys may; and a key that a rule names may publish
    nothing but what its rules name. Anything else is as before: any trusted key is a publisher.
    """
    place = source_place(source)
    good: list[Because] = []
    bad: list[Because] = []
    beyond: list[Because] = []
    for one in rules:
        covering = [rule for rule in one.publishers if source and _covers(rule.pattern, place)]
        exact = [rule for rule in covering if place and matches(rule.pattern, place)]
        naming = [rule for rule in one.publishers if key and key in rule.keys]
        mine = [rule for rule in exact if rule in naming]
        if mine:
            why = f"{key} may publish '{mine[0].pattern}'"
            good.append(because(one.layer, mine[0].place, "publishers", why))
        elif covering:
            signer = f"it is signed by {key}" if key else "it is not signed by a key that you trust"
            why = f"only {', '.join(covering[0].keys) or 'nobody'} may publish '{covering[0].pattern}', and {signer}"
            bad.append(because(one.layer, covering[0].place, "publishers", why))
        elif naming:
            why = f"{key} may publish only '{naming[0].pattern}', so its signature does not count"
            beyond.append(because(one.layer, naming[0].place, "publishers", why))
    if bad:
        return NotPublisher(refused=True, because=tuple(bad))
    if beyond or not key:
        return NotPublisher(refused=False, because=tuple(beyond))
    return Publisher(key, tuple(good))


# --- reading


def read_patterns(source: ConfigSource, where: Texts, value: Any) -> tuple[PolicyLine, ...]:
    """Read a list of patterns of sources, each with its line; `where` is the path of its key."""
    key = where[-1]
    if not isinstance(value, list) or len(value) > MAX_PATTERNS:
        raise wrong(source, key, f"must be a list of at most {MAX_PATTERNS:,} patterns of sources")
    for item in value:
        check_pattern(source, key, item)
    return tuple(PolicyLine(item, find_line(source, where, item)) for item in value)


def check_pattern(source: ConfigSource, key: str, item: Any) -> None:
    """Refuse what is no pattern of a source."""
    if not isinstance(item, str) or not item.strip() or item != item.strip():
        raise wrong(source, key, "must name sources, such as 'owner/skills' or 'owner/*'")
    if len(item) > MAX_PATTERN_CHARACTERS or not item.isprintable() or _ODD.search(f"{item}/"):
        raise wrong(source, key, f"has a pattern that no source matches: '{item[:60]}'")


def read_publishers(source: ConfigSource, where: Texts, value: Any) -> tuple[PublisherRule, ...]:
    """Read a table from patterns of sources to ids of keys."""
    key = where[-1]
    if not isinstance(value, dict) or len(value) > MAX_PATTERNS:
        raise wrong(source, key, "must be a table: a pattern of sources = a list of key ids")
    found = []
    for pattern, keys in value.items():
        check_pattern(source, key, pattern)
        if not isinstance(keys, list) or len(keys) > MAX_KEYS:
            raise wrong(source, pattern, "must be a list of key ids")
        for one in keys:
            if not isinstance(one, str) or not _KEY.fullmatch(one):
                raise wrong(source, pattern, "must list key ids, as 'metier trust keys list' shows")
        found.append(PublisherRule(pattern, tuple(keys), find_line(source, where, pattern)))
    return tuple(found)


def find_line(source: ConfigSource, where: Texts, item: str = "") -> str:
    """Point at the line of a key, or of one item of its list: `file:line`.

    The tables and keys on the way are looked for one after the other, so that the same key in
    another table is not taken for it.
    """
    lines = source.text.splitlines()
    at = 0
    for depth, key in enumerate(where):
        name = rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"
        dotted = r"(?:[\w\"'.-]+\.)?" if depth else ""
        head = re.compile(rf"\s*(?:\[+\s*)?{dotted}{name}\s*[=.\]]|.*[{{,]\s*{name}\s*=")
        found = next((n for n in range(at, len(lines)) if head.match(lines[n])), None)
        at = at if found is None else found
    if item:
        texts = (f'"{item}"', f"'{item}'")
        at = next((n for n in range(at, len(lines)) if any(t in lines[n] for t in texts)), at)
    return f"{source.path}:{at + 1}"
