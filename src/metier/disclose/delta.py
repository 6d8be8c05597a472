"""What changed since an earlier catalogue, as a message by itself: lines of new and changed skills, and the names of those gone.

Only what the model was told and is no longer so counts. A description that was merely cut at another place, and a skill that is
there but found no room this time, are no news. When no skill is left, it says so, but not where none ever was (CX-57). Pure.
"""

from __future__ import annotations

from metier.disclose.forms import ESCAPES, FORMS, clean, head
from metier.disclose.plan import Past, Row, sheet
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.disclose.catalogue import Disclosure
    from metier.disclose.forms import Form
    from metier.disclose.plan import Plan, Stock

NONE_LEFT = "No skills are currently available."


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
    return Past(table, [Row(str(row[1]), int(row[2]), bool(row[4]), line.removesuffix(",")) for row, line in pairs])


def changes(previous: Disclosure, stock: Stock, plan: Plan) -> str:
    """Write what is new, changed or gone since an earlier catalogue; nothing when nothing is."""
    if not stock.cards:
        return _closed(stock.form, NONE_LEFT) if previous.text else ""
    old = {row[1]: row for row in previous.rows}
    past = recalled(previous)
    told = {row.path: row.line for row in past.rows}
    before = sheet(stock._replace(form=FORMS[previous.format]), past.table)
    now = sheet(stock, plan.table if plan.table == past.table else ())
    lines = []
    for at, shown in zip(plan.order, plan.shown, strict=True):
        path, text = stock.cards[at].path, stock.text(at)
        known = old.get(path)
        if known is not None and known[3] == len(text) and before.line(at, text[: int(known[2])]) == told.get(path):
            continue
        line = now.line(at, text[:shown])
        if line != told.get(path):
            lines.append(line)
    return _update(stock.form, lines, _gone(previous, stock))


def _gone(previous: Disclosure, stock: Stock) -> list[str]:
    """Name the skills that the model was told of and can no longer use; one that only moved is still there."""
    paths = {card[5] for card in stock.cards}
    gone = [str(row[0]) for row in previous.rows if row[1] not in paths]
    names = {card[0] for card in stock.cards} if gone else set()
    return [clean(name) for name in gone if name not in names]


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
