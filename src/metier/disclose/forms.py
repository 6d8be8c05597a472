"""The three ways to write a catalogue down: XML, Markdown and JSON, one skill a line in each. Pure.

Whatever a stranger wrote is made one line of printable characters, and what could end or begin a tag, a string or another
skill's place is escaped (ZE-25). Each character is escaped by itself, so a text may be cut anywhere before that.
"""

from __future__ import annotations

from metier.disclose.wire import quoted  # type: ignore[attr-defined]
from metier.light import TYPE_CHECKING, NamedTuple
from metier.standard.marks import OPENING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Table = tuple[tuple[str, str], ...]
else:
    Table = tuple

# Table: the aliases of roots, each with the folder it stands for.

_LIKE = (dict.fromkeys("\uff1c\ufe64\u2039\u2329\u3008\u27e8\u276e\u02c2", "<")
         | dict.fromkeys("\uff1e\ufe65\u203a\u232a\u3009\u27e9\u276f\u02c3", ">")
         | dict.fromkeys(OPENING[1:], "["))  # fmt: skip
"""What a reader takes for the brackets of a tag, or for the one that opens a note."""


class Form(NamedTuple):
    """The fixed parts of one way of writing; a line is `before name described text located place after`."""

    name: str
    opening: str
    between: str
    before: str
    described: str
    located: str
    bare: str
    """Stands for `described text located` where there is no text."""
    after: str
    special: tuple[str, ...]
    """What does not cost one byte each though it is ASCII."""
    empty: int
    """Bytes of an escaped text without characters."""


class Mark(NamedTuple):
    """What a line says of a skill before its name."""

    readiness: str = ""
    """Nothing for a skill that is ready."""
    uses: int = 0
    """0 when too few to tell."""
    percent: int = 0


XML = Form("xml", "<available_skills>\n", "\n", "<skill><name>", "</name><description>", "</description><location>",
           "</name><location>", "</location></skill>", ("<", ">", "&", "["), 0)  # fmt: skip
MARKDOWN = Form("markdown", "", "\n", "- ", ": ", " (file: ", ": (file: ", ")", ("<", "["), 0)
JSON = Form("json", "{", ",\n", '{"name":', ',"description":', ',"location":', ',"location":', "}", ('"', "\\", "<", "["), 2)
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
    return text.replace("(file:", "{file:") if "(file:" in text else text  # a description names no other place


def _json(text: str) -> str:
    # The same string to whoever parses it, and no tag or note to whoever puts it between tags.
    written: str = quoted(text)
    if "<" in text:
        written = written.replace("<", "\\u003c")
    return written.replace("[", "\\u005b") if "[" in text else written


ESCAPES: dict[str, Callable[[str], str]] = {"xml": _xml, "markdown": _markdown, "json": _json}


def line(form: Form, name: str, text: str, place: str, mark: Mark | None = None) -> str:
    """Write one skill, from clean parts; without a text by its name alone (CX-51)."""
    escape = ESCAPES[form.name]
    middle = f"{form.described}{escape(text)}{form.located}" if text else form.bare
    return f"{marked(form, mark) if mark else form.before}{escape(name)}{middle}{escape(place)}{form.after}"


def marked(form: Form, mark: Mark) -> str:
    """Give what a line begins with when it says that a skill is not ready, or how well it has done so far (ZE-37, XML alone).

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
    """Count the bytes of a line by name alone beside its name and its place, what separates it from the next included."""
    return len(form.before) + len(form.bare) + len(form.after) + len(form.between) + 2 * form.empty


def charge(form: Form, text: str) -> int:
    """Count the bytes that so much of a description adds to a line."""
    return size(ESCAPES[form.name](text)) - form.empty + first_character(form) if text else 0


def costs(form: Form, text: str) -> int | list[int]:
    """Give the bytes of each character of a clean text, or only their number when each is one byte."""
    if text.isascii() and not any(special in text for special in form.special):
        return len(text)
    escape, empty = ESCAPES[form.name], form.empty
    known = {char: size(escape(char)) - empty for char in set(text)}
    return [known[char] for char in text]


def row(form: Form, alias: str, root: str) -> str:
    """Write one row of the table of aliases."""
    escaped = ESCAPES[form.name](clean(root))
    return f'"{alias}":{escaped},' if form.name == "json" else f"{alias} = {escaped}\n"


def head(form: Form, table: Iterable[tuple[str, str]]) -> str:
    """Write what comes before the first skill: the opening, and the table of aliases where there is one."""
    rows = "".join([row(form, alias, root) for alias, root in table])
    if form.name == "json":
        return f'{{"roots":{{{rows[:-1]}}},"skills":[\n' if rows else '{"skills":[\n'
    if form.name == "xml" and rows:
        rows = f"<roots>\n{rows}</roots>\n"
    return form.opening + rows


def closing(form: Form, omitted: int) -> str:
    """Write what comes after the last skill: how many are left out, and how to find them (CX-55)."""
    skills, them = ("skill", "it") if omitted == 1 else ("skills", "them")
    remark = f"{omitted} additional {skills} omitted from this bounded skills list; search_skills finds {them}."
    if form.name == "json":
        return f'\n],"omitted":"{remark}"}}' if omitted else "\n]}"
    if form.name == "xml":
        return f"\n<omitted>{remark}</omitted>\n</available_skills>" if omitted else "\n</available_skills>"
    return f"\n- {remark}" if omitted else ""
