"""Shows a skill's own file: its frontmatter and its instructions, with what was found at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from metier.web.markdown import note_of, quote_path, render_markdown, source_block

if TYPE_CHECKING:
    from metier.web.markdown import MarkedFinding, SkillLinks

MAX_CHARS = 60_000
"""Characters of instructions that a page shows at first."""
MAX_ALL_CHARS = 600_000


class ShownText(NamedTuple):
    """The instructions as the page shows them."""

    head: Markup
    """The frontmatter, with its findings."""
    body: Markup
    loose: list[Markup]
    """What was found in the file as a whole."""
    is_cut: bool
    main: str


def show_text(
    text: str,
    main: str,
    body_line: int,
    links: SkillLinks,
    findings: tuple[MarkedFinding, ...],
    *,
    everything: bool = False,
    is_code: bool = False,
) -> ShownText:
    """Write a skill's own file, `main`, whose instructions begin at `body_line`, with what was found
    in it; a long one to its end only where `everything` is wanted.
    """
    lines = text.split("\n")
    limit = MAX_ALL_CHARS if everything else MAX_CHARS
    body = "\n".join(lines[body_line - 1 :])
    shown = body if len(body) <= limit else _cut(body, limit)
    above = tuple(one for one in findings if 0 < one.finding.line < body_line)
    below = tuple(one for one in findings if one.finding.line >= body_line)
    head = "\n".join(lines[: body_line - 1])[:MAX_CHARS]
    written = (
        source_block(shown, below, body_line)
        if is_code
        else render_markdown(shown, links, below, body_line)
    )
    return ShownText(
        head=source_block(head, above, 1) if head.strip() else Markup(""),
        body=written,
        loose=[note_of(one) for one in findings if not one.finding.line],
        is_cut=len(shown) < len(body),
        main=main,
    )


def _cut(text: str, limit: int) -> str:
    end = text.rfind("\n", limit // 2, limit)
    return text[: end if end > 0 else limit]


def place_of(base: str, main: str, one: MarkedFinding) -> str:
    """Give the address of the place where something was found."""
    if one.finding.path == main:
        return f"#note-{one.number}"
    return f"{base}/files/{quote_path(one.finding.path)}#note-{one.number}"
