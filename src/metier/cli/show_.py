"""`metier show`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.errors import UsageError
from metier.light import TYPE_CHECKING
from metier.model import Body, File

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.disclose.pages import Page
    from metier.offers import Section


def run(values: Values) -> int:
    """Show a body, its sections, one of them, a page, or one file."""
    operands = values["operands"]
    assert isinstance(operands, list)
    shown = _wish(values)
    library = cli.library(values)
    try:
        with library as m:
            text = shown(m, operands[0], values)
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    output.write(text)
    return 0


def _wish(values: Values) -> Callable[[Library, str, Values], str]:
    """Tell what is to be shown; two wishes at once contradict each other."""
    given = [option for option in ("sections", "section", "cursor") if values[option] not in {None, False}]
    if len(given) > 1 or (values["file"] is not None and given and given != ["cursor"]):
        other = given[1] if len(given) > 1 else "file"
        raise UsageError(f"--{given[0]} and --{other} do not go together", hint="ask for one of them")
    return {"sections": _sections, "section": _section, "cursor": _page}[given[0]] if given else _whole


def _whole(m: Library, name: str, values: Values) -> str:
    shown = m.view(name, cli.text_of(values["file"]), consent=True)  # a person asked for this very skill
    if values["json"]:
        return output.json_text(_json(shown)) + "\n"
    return _file(shown) if isinstance(shown, File) else _body(shown, m.resolve(shown.path).reasons)


def _sections(m: Library, name: str, values: Values) -> str:
    found = m.sections(name, consent=True)
    if values["json"]:
        rows = [{"section": one.section, "level": one.level, "line": one.line, "tokens": one.tokens} for one in found]
        return output.json_text({"name": found[0].name if found else name, "sections": rows}) + "\n"
    lines = [(str(one.tokens), str(one.line), _indented(one)) for one in found]
    return output.table(lines, ("TOKENS", "LINE", "SECTION")) or "Its body is empty.\n"


def _indented(one: Section) -> str:
    return "  " * max(one.level - 1, 0) + (output.clean(one.section) if one.section else "(before the first heading)")


def _section(m: Library, name: str, values: Values) -> str:
    found = m.section(name, cli.text_of(values["section"]) or "", consent=True)
    return output.json_text(found) + "\n" if values["json"] else output.clean(found.content, lines=True)


def _page(m: Library, name: str, values: Values) -> str:
    file = cli.text_of(values["file"])
    found = m.page(name, file, cli.text_of(values["cursor"]) or "", consent=True)
    if values["json"]:
        return output.json_text(found) + "\n"
    if found.cursor:
        output.note(_next(found, file))
    return output.clean(found.content, lines=True)


def _next(found: Page, file: str | None) -> str:
    share = f"{found.offset + len(found.content.encode('utf-8', 'surrogatepass')):,} of {found.total:,} bytes"
    option = f" --file {file}" if file is not None else ""
    return f"{share}; next: metier show {found.name}{option} --cursor {found.cursor}"


def _json(shown: Body | File) -> object:
    if isinstance(shown, File) and shown.is_binary:
        return {"name": shown.name, "file": shown.file, "is_binary": True, "size": shown.size, "mime": shown.mime,
                "sha256": shown.sha256, "path": shown.path}  # fmt: skip
    return shown


def _file(shown: File) -> str:
    if shown.content is None:
        return f"[binary file: {output.clean(shown.file)}, {shown.size:,} bytes, {shown.mime}, sha256 {shown.sha256}]\n"
    return output.clean(shown.content, lines=True)


def _body(shown: Body, reasons: tuple[str, ...]) -> str:
    clean = output.clean
    out = [output.style(clean(shown.name), "bold"), f"  {shown.tokens:,} tokens  {clean(shown.path)}\n"]
    out.append(f"{clean(shown.description)}\n")
    if shown.readiness != "available":
        out.append(output.style(f"{shown.readiness}: {clean('; '.join(reasons)) or 'not on this platform'}", "yellow") + "\n")
        out.append(f"{clean(shown.setup_help, lines=True)}\n" if shown.setup_help else "")
    out.append(f"\n{clean(shown.content, lines=True).rstrip()}\n")
    linked = [(kind, names) for kind, names in shown.linked_files.items() if names]
    if linked:
        out.append("\n" + output.style("files", "bold") + f" (metier show {clean(shown.name)} --file PATH)\n")
        out += [f"  {clean(name)}\n" for _kind, names in linked for name in names]
    out.append(output.diagnostic_lines(shown.path, shown.diagnostics))
    return "".join(out)
