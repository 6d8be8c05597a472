"""`metier show`."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import opened
from metier.cli.output import (
    bold,
    clean,
    counted,
    diagnostic_lines,
    json_text,
    lines,
    note,
    style,
    table,
    write,
)
from metier.cli.terminal import UNBOUNDED_COLUMNS, fold, has_colour, shorten_paths, width
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING
from metier.model import Body, File

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.disclose.model import Section
    from metier.disclose.pages import Page
    from metier.library import Library

MAX_TEXT_COLUMNS = 100
"""Prose is rendered no wider than this: longer lines are hard to read."""


def run(values: Values) -> None:
    """Show a body, its sections, one of them, a page, or one file."""
    shown = _view_asked(values)
    if not values.words:
        _check_person(values)
    with opened(values) as m:
        text = shown(m, values.word if values.words else _picked(m), values)
    write(text)


def _check_person(values: Values) -> None:
    """Refuse to show nothing in particular where nobody can be asked which skill is meant."""
    from metier.cli.consent import may_ask

    if not may_ask(values):
        raise UsageError("metier show needs NAME", hint="see: metier show --help")


def _picked(m: Library) -> str:
    from metier.cli.pick import pick_card

    cards = sorted(m.skills(), key=lambda card: card.name.casefold())
    return pick_card("Which skill?", cards).path


def _view_asked(values: Values) -> Callable[[Library, str, Values], str]:
    """Tell what is to be shown; two wishes at once contradict each other."""
    views = {"sections": _sections, "section": _section, "cursor": _page}
    given = [option for option in views if values.given(option)]
    if len(given) > 1 or (values.given("file") and given and given != ["cursor"]):
        other = given[1] if len(given) > 1 else "file"
        raise UsageError(
            f"--{given[0]} and --{other} do not go together", hint="ask for one of them"
        )
    return views[given[0]] if given else _whole


def _whole(m: Library, name: str, values: Values) -> str:
    # a person asked for this very skill
    shown = m.view(name, values.optional("file"), consent=True)
    if values.json:
        return json_text(_document(shown))
    if isinstance(shown, File):
        return _file(shown, values)
    return _body(shown, m.resolve(shown.path).reasons, is_plain=values.flag("plain"))


def skill_text(m: Library, name: str) -> str:
    """Give what a plain `metier show` of a skill prints."""
    shown = m.view(name, consent=True)
    assert isinstance(shown, Body)
    return _body(shown, m.resolve(shown.path).reasons, is_plain=False)


def _sections(m: Library, name: str, values: Values) -> str:
    found = m.sections(name, consent=True)
    if values.json:
        rows = [
            {"section": one.section, "level": one.level, "line": one.line, "tokens": one.tokens}
            for one in found
        ]
        return json_text({"name": found[0].name if found else name, "sections": rows})
    lines = [(str(one.tokens), str(one.line), _indented(one)) for one in found]
    return table(lines, ("TOKENS", "LINE", "SECTION")) or "Its body is empty.\n"


def _indented(one: Section) -> str:
    return "  " * max(one.level - 1, 0) + (one.section or "(before the first heading)")


def _section(m: Library, name: str, values: Values) -> str:
    found = m.section(name, values.text("section"), consent=True)
    return json_text(found) if values.json else _text(found.content, is_plain=values.flag("plain"))


def _page(m: Library, name: str, values: Values) -> str:
    file = values.optional("file")
    found = m.page(name, file, values.text("cursor"), consent=True)
    if values.json:
        return json_text(found)
    if found.cursor:
        note(_next(found, file))
    return clean(found.content, lines=True)


def _next(found: Page, file: str | None) -> str:
    read = found.offset + len(found.content.encode("utf-8", "surrogatepass"))
    option = f" --file {file}" if file is not None else ""
    return (
        f"{read:,} of {found.total:,} bytes; next: metier show {found.name}{option} "
        f"--cursor {found.cursor}"
    )


def _document(shown: Body | File) -> object:
    if isinstance(shown, File) and shown.is_binary:
        fields = ("name", "file", "is_binary", "size", "mime", "sha256", "path")
        return {field: getattr(shown, field) for field in fields}
    return shown


def _text(content: str, name: str = "SKILL.md", *, is_plain: bool) -> str:
    """Give what an author wrote, harmless: Markdown is rendered on a terminal, unless the source is
    asked for.
    """
    text = clean(content, lines=True)
    room = width()
    is_rendered = room < UNBOUNDED_COLUMNS and not is_plain
    if not is_rendered or not name.lower().endswith(".md"):
        return text
    return _render(text, min(room, MAX_TEXT_COLUMNS))


def _render(text: str, columns: int) -> str:
    """Lay Markdown out for a terminal of so many columns. Links keep their addresses: what a
    stranger wrote must show where it leads.
    """
    import io
    import sys

    from rich.console import Console
    from rich.markdown import Markdown

    out = io.StringIO()
    console = Console(
        file=out,
        width=columns,
        force_terminal=has_colour(sys.stdout),
        color_system="standard" if has_colour(sys.stdout) else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(Markdown(text, hyperlinks=False))
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def _file(shown: File, values: Values) -> str:
    if shown.content is None:
        return (
            f"[binary file: {clean(shown.file)}, {shown.size:,} bytes, {shown.mime}, "
            f"sha256 {shown.sha256}]\n"
        )
    return _text(shown.content, shown.file, is_plain=values.flag("plain"))


def _body(shown: Body, reasons: Sequence[str], *, is_plain: bool) -> str:
    head = (
        f"{bold(shown.name)}  {counted(shown.tokens, 'token')}  {clean(shown.path)}\n"
        f"{clean(shown.description)}\n"
    )
    out = [fold(shorten_paths(head), width())]
    if shown.readiness != "available":
        why = clean("; ".join(reasons)) or "not on this platform"
        out.append(style(f"{shown.readiness}: {why}", "yellow") + "\n")
        out.append(f"{clean(shown.setup_help, lines=True)}\n" if shown.setup_help else "")
    out.append(f"\n{_text(shown.content, is_plain=is_plain).rstrip()}\n")
    linked = [name for names in shown.linked_files.values() for name in names]
    if linked:
        out.append(
            f"\n{style('files', 'bold')} (metier show {clean(shown.name)} --file PATH)\n"
            f"{lines(linked)}"
        )
    faults = diagnostic_lines(shown.path, shown.diagnostics)
    return "".join([*out, fold(shorten_paths(faults), width())])


ROWS = (
    CommandRow(
        "show",
        operands="[NAME]",
        options=(
            Option("--file", "show this file of the skill", "PATH"),
            Option("--plain", "on a terminal too: the source, not rendered Markdown"),
            Option("--sections", "list the sections of its body, each with its token cost"),
            Option("--section", "show this section alone", "HEADING"),
            Option(
                "--cursor",
                "show a long body or file page by page: from here on ('' for the first page)",
                "CURSOR",
            ),
        ),
        examples={
            "metier show pdf": "the body and the names of its files",
            "metier show": "pick one of your skills, on a terminal",
            "metier show pdf --section 'Fill a form'": "one section of it",
            "metier show pdf --file references/forms.md": "one linked file",
            "metier show user:pdf": "the copy of one scope; a path or plugin:name works too",
        },
        paged=True,
        run=run,
    ),
)
