"""`metier show`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.light import TYPE_CHECKING
from metier.model import Body, File

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Show a body, or one file."""
    operands = values["operands"]
    assert isinstance(operands, list)
    library = cli.library(values)
    try:
        with library as m:
            shown = m.view(operands[0], cli.text_of(values["file"]), consent=True)  # a person asked for this very skill
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    if values["json"]:
        output.write(output.json_text(_json(shown)) + "\n")
    elif isinstance(shown, File):
        output.write(_file(shown))
    else:
        output.write(_body(shown))
    return 0


def _json(shown: Body | File) -> object:
    if isinstance(shown, File) and shown.is_binary:
        return {"name": shown.name, "file": shown.file, "is_binary": True, "size": shown.size, "mime": shown.mime,
                "sha256": shown.sha256, "path": shown.path}  # fmt: skip
    return shown


def _file(shown: File) -> str:
    if shown.content is None:
        return f"[binary file: {output.clean(shown.file)}, {shown.size:,} bytes, {shown.mime}, sha256 {shown.sha256}]\n"
    return output.clean(shown.content, lines=True)


def _body(shown: Body) -> str:
    clean = output.clean
    out = [output.style(clean(shown.name), "bold"), f"  {shown.tokens:,} tokens  {clean(shown.path)}\n"]
    out.append(f"{clean(shown.description)}\n")
    if shown.readiness != "available":
        missing = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in shown.missing.items() if names)
        out.append(output.style(f"{shown.readiness}: {clean(missing) or 'not on this platform'}", "yellow") + "\n")
        out.append(f"{clean(shown.setup_help, lines=True)}\n" if shown.setup_help else "")
    out.append(f"\n{clean(shown.content, lines=True).rstrip()}\n")
    linked = [(kind, names) for kind, names in shown.linked_files.items() if names]
    if linked:
        out.append("\n" + output.style("files", "bold") + f" (metier show {clean(shown.name)} --file PATH)\n")
        out += [f"  {clean(name)}\n" for _kind, names in linked for name in names]
    out.append(output.diagnostic_lines(shown.path, shown.diagnostics))
    return "".join(out)
