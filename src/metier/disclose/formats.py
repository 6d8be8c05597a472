"""Writes the lines of a catalogue as XML, Markdown or JSON, and shares out the room between
descriptions. Pure.

Strangers' text becomes one line of printable characters, and what could end or begin a tag, a
string or another skill's place is escaped (ZE-25). Each character is escaped by itself, so a text
may be cut anywhere before that.

`shares` gives exactly what handing out one character at a time, round after round, would give
(CX-53). It looks at each length once: how much a whole round costs follows from how many
descriptions are still that long, so all rounds that everybody can take part in are one running sum.
Only the last, incomplete round is walked.

Aliases are short names for the folders that skills lie in, used where they make room (CX-54). A
skill belongs to the longest root that holds it. A plugin with several skills in one folder has that
folder for a root; one with a single skill shares the root of its marketplace. A root gets an alias
only when all its skills together save more than its row in the table costs.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING, NamedTuple, quoted
from metier.standard.characters import OPENING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.model import Card, Texts


def shares(costs: Sequence[int | Sequence[int]], first: int, room: int) -> tuple[list[int], int]:
    """Say how many characters of each description fit into the room, in bytes, when all get their
    turn, and what is left of it.

    For each description `costs` holds the bytes of every character, or their number when each is
    one byte; `first` is what the first character of any costs beside itself.
    """
    lengths = [cost if isinstance(cost, int) else len(cost) for cost in costs]
    level, room = _level(costs, lengths, first, room)
    shown = [min(length, level) for length in lengths]
    waiting = [at for at, length in enumerate(lengths) if length > level]
    while waiting and room > 0:
        again = []
        for at in waiting:
            cost = costs[at]
            done = shown[at]
            price = (1 if isinstance(cost, int) else cost[done]) + (0 if done else first)
            if price <= room:  # what does not fit now never will: the room only shrinks
                room -= price
                shown[at] = done + 1
                if done + 1 < lengths[at]:
                    again.append(at)
        waiting = again
    return shown, room


def _level(
    costs: Sequence[int | Sequence[int]], lengths: Sequence[int], first: int, room: int
) -> tuple[int, int]:
    """Count the rounds that everybody can take part in; give them and the room that is left."""
    longest = max(lengths, default=0)
    rounds = [0] * (longest + 2)
    ends = [0] * (longest + 2)
    for cost in costs:
        if isinstance(cost, int):
            ends[cost] += 1
        else:
            for at, price in enumerate(cost, 1):
                rounds[at] += price
    still = sum(isinstance(cost, int) for cost in costs)
    if longest:
        rounds[1] += first * sum(length > 0 for length in lengths)
    for level in range(longest):
        still -= ends[level]
        price = rounds[level + 1] + still
        if price > room:
            return level, room
        room -= price
    return longest, room


def fitting(
    least: Sequence[int],
    price: Callable[[int], int],
    room: int,
    order: Iterable[int],
    owners: Sequence[str],
    fees: dict[str, int],
) -> tuple[list[int], int]:
    """Take in order whatever still fits, a later shorter one after an earlier longer one too; give
    the room that is left.

    `price` is asked only where `least`, which is never above it, would fit. `fees` holds what the
    first of each owner costs on top.
    """
    taken: list[int] = []
    for at in order:
        if least[at] <= room:
            cost = price(at) + (fees.get(owners[at], 0) if fees else 0)
            if cost <= room:
                room -= cost
                taken.append(at)
                if fees:
                    fees.pop(owners[at], None)
    return taken, room


if TYPE_CHECKING:
    AliasTable = tuple[tuple[str, str], ...]
else:
    AliasTable = tuple

# Table: the aliases of roots, each with the folder it stands for.

# --- the three formats

_LIKE = (
    dict.fromkeys("\uff1c\ufe64\u2039\u2329\u3008\u27e8\u276e\u02c2", "<")
    | dict.fromkeys("\uff1e\ufe65\u203a\u232a\u3009\u27e9\u276f\u02c3", ">")
    | dict.fromkeys(OPENING[1:], "[")
)
"""What a reader takes for the brackets of a tag, or for the one that opens a note."""


class Form(NamedTuple):
    """The fixed parts of one way of writing; a line is `before name described text located place
    after`.
    """

    name: str
    opening: str
    between: str
    before: str
    described: str
    located: str
    bare: str
    """Stands for `described text located` where there is no text."""
    after: str
    special: Texts
    """What does not cost one byte each though it is ASCII."""
    empty: int
    """Bytes of an escaped text without characters."""


class LineMark(NamedTuple):
    """What a line says of a skill before its name."""

    readiness: str = ""
    """Nothing for a skill that is ready."""
    uses: int = 0
    """0 when too few to tell."""
    percent: int = 0


XML = Form(
    name="xml",
    opening="<available_skills>\n",
    between="\n",
    before="<skill><name>",
    described="</name><description>",
    located="</description><location>",
    bare="</name><location>",
    after="</location></skill>",
    special=("<", ">", "&", "["),
    empty=0,
)
MARKDOWN = Form(
    name="markdown",
    opening="",
    between="\n",
    before="- ",
    described=": ",
    located=" (file: ",
    bare=": (file: ",
    after=")",
    special=("<", "["),
    empty=0,
)
JSON = Form(
    name="json",
    opening="{",
    between=",\n",
    before='{"name":',
    described=',"description":',
    located=',"location":',
    bare=',"location":',
    after="}",
    special=('"', "\\", "<", "["),
    empty=2,
)
FORMS = {form.name: form for form in (XML, MARKDOWN, JSON)}


def clean(text: str) -> str:
    """Make a stranger's text one line of printable characters; nothing else of it is lost."""
    if not text.isprintable():
        text = "".join([char for char in " ".join(text.split()) if char.isprintable()])
    if not text.isascii():
        for char, bracket in _LIKE.items():
            if char in text:
                text = text.replace(char, bracket)
    return text


def size(text: str) -> int:
    """Count the bytes of a clean text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


MAX_CUT_WORD_CHARS = 24
"""A word that is longer is cut in the middle, and so is text without spaces, such as Chinese."""


def cut_at_word(text: str, count: int) -> str:
    """Give at most so many characters of a clean text, without the beginning of a word at its
    end.
    """
    if count >= len(text):
        return text
    if text[count] == " ":
        return text[:count].rstrip()
    at = text.rfind(" ", max(count - MAX_CUT_WORD_CHARS, 0), count)
    return text[:at].rstrip() if at > 0 else text[:count]


def _xml(text: str) -> str:
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if "[" in text:  # nobody but metier opens a note
        text = text.replace("[", "&#91;")
    return text.replace(">", "&gt;") if ">" in text else text


def _markdown(text: str) -> str:
    if "<" in text:
        text = text.replace("<", "&lt;")
    if "[" in text:
        text = text.replace("[", "&#91;")
    return (
        text.replace("(file:", "{file:") if "(file:" in text else text
    )  # a description names no other place


def _json(text: str) -> str:
    # The same string to whoever parses it, and no tag or note to whoever puts it between tags.
    written: str = quoted(text)
    if "<" in text:
        written = written.replace("<", "\\u003c")
    return written.replace("[", "\\u005b") if "[" in text else written


ESCAPES: dict[str, Callable[[str], str]] = {"xml": _xml, "markdown": _markdown, "json": _json}


def line(form: Form, name: str, text: str, place: str, mark: LineMark | None = None) -> str:
    """Write one skill, from clean parts; without a text by its name alone (CX-51)."""
    escape = ESCAPES[form.name]
    middle = f"{form.described}{escape(text)}{form.located}" if text else form.bare
    return f"{marked(form, mark) if mark else form.before}{escape(name)}{middle}{escape(place)}{form.after}"


def marked(form: Form, mark: LineMark) -> str:
    """Give what a line begins with when it says that a skill is not ready, or how well it has done
    so far (ZE-37, XML alone).

    A line of Markdown has a fixed shape (CX-51), and says neither.
    """
    if form.name == "json" and mark.readiness:
        return f'{{"readiness":{quoted(mark.readiness)},"name":'
    if form.name != "xml":
        return form.before
    ready = f' readiness="{mark.readiness}"' if mark.readiness else ""
    done = f' reliability="{mark.percent:d}%" uses="{mark.uses:d}"' if mark.uses else ""
    return f"<skill{ready}{done}><name>"


def first_character(form: Form) -> int:
    """Count the bytes that the first character of a description costs beside itself."""
    return len(form.described) + len(form.located) - len(form.bare) + form.empty


def bare_size(form: Form) -> int:
    """Count the bytes of a line by name alone beside its name and its place, what separates it from
    the next included.
    """
    return len(form.before) + len(form.bare) + len(form.after) + len(form.between) + 2 * form.empty


def charge(form: Form, text: str) -> int:
    """Count the bytes that so much of a description adds to a line."""
    return size(ESCAPES[form.name](text)) - form.empty + first_character(form) if text else 0


def costs(form: Form, text: str) -> int | list[int]:
    """Give the bytes of each character of a clean text, or only their number when each is one
    byte.
    """
    if text.isascii() and not any(special in text for special in form.special):
        return len(text)
    escape = ESCAPES[form.name]
    empty = form.empty
    known = {char: size(escape(char)) - empty for char in set(text)}
    return [known[char] for char in text]


def row(form: Form, alias: str, root: str) -> str:
    """Write one row of the table of aliases."""
    escaped = ESCAPES[form.name](clean(root))
    return f'"{alias}":{escaped},' if form.name == "json" else f"{alias} = {escaped}\n"


def head(form: Form, table: Iterable[tuple[str, str]]) -> str:
    """Write what comes before the first skill: the opening, and the table of aliases where there is
    one.
    """
    rows = "".join([row(form, alias, root) for alias, root in table])
    if form.name == "json":
        return f'{{"roots":{{{rows[:-1]}}},"skills":[\n' if rows else '{"skills":[\n'
    if form.name == "xml" and rows:
        rows = f"<roots>\n{rows}</roots>\n"
    return form.opening + rows


def closing(form: Form, omitted: int) -> str:
    """Write what comes after the last skill: how many are left out, and how to find them
    (CX-55).
    """
    skills, them = ("skill", "it") if omitted == 1 else ("skills", "them")
    remark = (
        f"{omitted} additional {skills} omitted from this bounded skills list; search_skills "
        f"finds {them}."
    )
    if form.name == "json":
        return f'\n],"omitted":"{remark}"}}' if omitted else "\n]}"
    if form.name == "xml":
        return (
            f"\n<omitted>{remark}</omitted>\n</available_skills>"
            if omitted
            else "\n</available_skills>"
        )
    return f"\n- {remark}" if omitted else ""


# --- aliases for folders

MIN_SHARED_SKILLS = 2


def alias_roots(cards: Sequence[Card]) -> list[str]:
    """Give the root that each skill's place may be told from."""
    found = [card.root for card in cards]
    if {card.plugin for card in cards} != {""}:
        found = _with_plugins(cards, found)
    roots = set(found)
    nested = len(roots) > 1 and any(_longest(parent_of(root), roots) for root in roots)
    if not nested:
        return found
    parents = [parent_of(card.path) for card in cards]
    known = {parent: _longest(parent, roots) for parent in set(parents)}
    return [known[parent] or root for parent, root in zip(parents, found, strict=True)]


def parent_of(path: str) -> str:
    """Give the folder that a path lies in."""
    return path.rpartition("/")[0]


def _with_plugins(cards: Sequence[Card], roots: list[str]) -> list[str]:
    parents = [parent_of(card.path) if card.plugin else "" for card in cards]
    counts = _count(parents)
    return [
        parent if parent and counts[parent] >= MIN_SHARED_SKILLS else root
        for parent, root in zip(parents, roots, strict=True)
    ]


def _count(folders: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for folder in folders:
        counts[folder] = counts.get(folder, 0) + 1
    return counts


def _longest(folder: str, roots: set[str]) -> str:
    """Give the nearest folder, from this one upwards, that is a root; nothing when none is."""
    while folder and folder not in roots:
        folder = parent_of(folder)
    return folder


def alias_table(form: Form, owners: Sequence[str]) -> AliasTable:
    """Give an alias to every root that is worth one, in the order in which skills first need
    them.
    """
    rows: list[tuple[str, str]] = []
    for root, count in _count(owners).items():
        alias = f"r{len(rows)}"
        if count >= MIN_SHARED_SKILLS and count * (len(root) - len(alias)) > size(
            row(form, alias, root)
        ):
            rows.append((alias, root))
    return tuple(rows)


def aliased_path(path: str, owner: str, aliases: dict[str, str]) -> str:
    """Write a path through the alias of its root, if it has one."""
    alias = aliases.get(owner)
    return f"{alias}{path[len(owner) :]}" if alias and path.startswith(f"{owner}/") else path
