"""What changed since an earlier catalogue, as a message by itself: lines of new and changed skills, and the names of those gone.

Only what the model was told and is no longer so counts, and what it was not told before. A description that was merely cut at
another place or left away, and a skill that is there but found no room this time, are no news. A line says all: the whole path,
and the description in full, up to a limit. When no skill is left, it says so, but not where none ever was (CX-57). Pure.
"""

from __future__ import annotations

from metier.disclose.forms import ESCAPES, FORMS, clean, head
from metier.disclose.plan import Past, Row, Sheet, sheet
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.disclose.catalogue import Disclosure
    from metier.disclose.forms import Form
    from metier.disclose.plan import Plan, Stock

NONE_LEFT = "No skills are currently available."
LONGEST = 1_024
"""Characters of a description that one line may have."""


def recalled(previous: Disclosure) -> Past:
    """Take an earlier catalogue apart into its lines; one that is not what it says it is has none."""
    form, table = FORMS[previous.format], tuple(previous.aliases.items())
    opening = head(form, table)
    if not previous.rows or not previous.text.startswith(opening):
        return Past((), ())
    lines = previous.text[len(opening) :].split("\n")
    if len(lines) < len(previous.rows):
        return Past((), ())
    pairs = zip(previous.rows, lines, strict=False)
    return Past(table, [Row(str(row[1]), int(row[2]), int(row[4]), line.removesuffix(",")) for row, line in pairs])


def changes(previous: Disclosure, stock: Stock, plan: Plan) -> str:
    """Write what is new, changed or gone since an earlier catalogue; nothing when nothing is."""
    if not stock.cards:
        return _closed(stock.form, NONE_LEFT) if previous.text else ""
    names = {card[0] for card in stock.cards}
    gone = dict.fromkeys([clean(str(row[0])) for row in previous.rows if row[0] not in names])
    page = Sheet(stock, (), (), {})  # with whole paths: a message by itself has no table of aliases
    lines = [page.line(at, stock.text(at)[:LONGEST]) for at in _news(previous, stock, plan)]
    return _update(stock.form, lines, list(gone))


def _news(previous: Disclosure, stock: Stock, plan: Plan) -> list[int]:
    """Give the skills that the text lists and the earlier one did not, and those of which it said what is no longer so."""
    past = recalled(previous)
    said = {str(row[1]): (int(row[2]), int(row[3]), "") for row in previous.rows}  # of two lines the later one, which says more
    said.update({old.path: (*said[old.path][:2], old.line) for old in past.rows})
    page = sheet(stock._replace(form=FORMS[previous.format]), past.table)
    listed = dict.fromkeys(plan.order)
    news = [at for at in listed if _differs(page, at, said.get(stock.cards[at][5]))]
    if len(listed) == len(stock.cards):
        return news
    # What finds no room this time is no news, unless what was said of it is wrong, or it is no longer where it was.
    paths = {card[5] for card in stock.cards}
    moved = {row[0] for row in previous.rows if row[1] not in paths}
    for at, card in enumerate(stock.cards):
        if at not in listed:
            known = said.get(card[5])
            if (known and _differs(page, at, known)) or (not known and card[0] in moved):
                news.append(at)
    return news


def _differs(page: Sheet, at: int, said: tuple[int, int, str] | None) -> bool:
    """Tell whether a line is no longer true. One that shows less than there was to show says nothing about the rest."""
    if said is None:
        return True
    shown, length, line = said
    text = clean(page.stock.cards[at].description)
    return page.line(at, text[:shown]) != line or (shown == length != len(text))


def _update(form: Form, lines: Sequence[str], gone: Sequence[str]) -> str:
    escape = ESCAPES[form.name]
    names = [escape(name) for name in gone]
    if not lines and not names:
        return ""
    if form.name == "json":
        return f'{{"changed":[{form.between.join(lines)}],"removed":[{",".join(names)}]}}'
    if form.name == "xml":
        return "\n".join(["<skills_update>", *lines, *(f"<removed>{name}</removed>" for name in names), "</skills_update>"])
    listed = ["Skills added or changed:", *lines] if lines else []
    return "\n".join([*listed, *(["Skills no longer available:", *(f"- {name}" for name in names)] if names else [])])


def _closed(form: Form, text: str) -> str:
    if form.name == "json":
        return f'{{"note":"{text}"}}'
    return f"<skills_update>{text}</skills_update>" if form.name == "xml" else text
