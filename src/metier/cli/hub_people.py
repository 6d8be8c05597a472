"""The part of `metier hub` that is about people and places: namespaces, organisations, roles, who has
logged in, and webhooks.
"""

from __future__ import annotations

from metier.cli.output import answer, clean, note
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.cli.argv import Values
    from metier.hub.accounts import PersonRow
    from metier.hub.hub import Hub
    from metier.hub.model import Namespace
    from metier.hub.webhooks import WebhookRow

MAX_QUOTA_DIGITS = 18


def _open_hub(values: Values) -> Hub:
    from metier.cli.commands.hub import open_hub

    return open_hub(values)


# --- namespaces and organisations


def set_namespace(values: Values, word: str) -> None:
    """Make a namespace, or change one."""
    from metier.hub.model import LOCAL
    from metier.hub.namespaces import add_namespace, change_namespace, find_namespace

    wish = _wish(values)
    with _open_hub(values) as hub:
        with hub.database.read() as connection:
            known = find_namespace(connection, word)
        if known is None:
            visibility = "public" if values.flag("public") else "private"
            made = add_namespace(hub, LOCAL, word, values.text("organisation"), visibility)
        else:
            made = known
            if values.text("organisation"):
                raise UsageError(
                    f"'{word}' is there already, and stays in its organisation",
                    hint="leave --organisation away",
                )
        if wish:
            made = change_namespace(hub, LOCAL, word, wish)
    verb = "changed" if known else "made"
    answer(
        values,
        namespace_document(made),
        lambda _doc: f"{verb} {made.name}{_namespace_text(made)}\n",
    )


def _wish(values: Values) -> dict[str, object]:
    """Give what is to be changed."""
    wish: dict[str, object] = {}
    if values.flag("public"):
        wish["visibility"] = "public"
    if values.flag("private"):
        wish["visibility"] = "private"
    if values.text("state"):
        wish["state"] = values.text("state")
    quota = values.text("quota")
    if quota:
        if not quota.isascii() or not quota.isdigit() or len(quota) > MAX_QUOTA_DIGITS:
            raise UsageError("a quota is a number of bytes", hint="0 means no limit")
        wish["quota_bytes"] = int(quota)
    return wish


def namespace_document(space: Namespace) -> dict[str, object]:
    """Write a namespace for a program."""
    return {
        "name": space.name,
        "visibility": space.visibility,
        "state": space.state,
        "quota_bytes": space.quota_bytes,
        "used_bytes": space.used_bytes,
    }


def _namespace_text(space: Namespace) -> str:
    parts: list[str] = [space.visibility]
    if space.state != "active":
        parts.append(space.state)
    if space.quota_bytes:
        parts.append(f"{space.used_bytes:,} of {space.quota_bytes:,} bytes used")
    return f" ({', '.join(parts)})"


def _add_organisation(values: Values, word: str) -> None:
    """Make an organisation."""
    from metier.hub.model import LOCAL
    from metier.hub.namespaces import add_organisation

    with _open_hub(values) as hub:
        made = add_organisation(hub, LOCAL, word)
    answer(values, {"name": made}, lambda _doc: f"made the organisation {clean(made)}\n")


def _list_organisations(values: Values, _word: str) -> None:
    """List the organisations with their namespaces."""
    from metier.hub.model import LOCAL
    from metier.hub.namespaces import managed_organisations

    with _open_hub(values) as hub:
        found = managed_organisations(hub, LOCAL)
    answer(
        values,
        {"organisations": found},
        lambda _doc: (
            "".join(
                f"{clean(one['name'])}  {', '.join(map(clean, one['namespaces'])) or 'no namespaces'}\n"
                for one in found
            )
            or "no organisations yet. Make one: metier hub organisation add NAME\n"
        ),
    )


# --- roles and people


def _grant(values: Values, word: str) -> None:
    """Give a role, or take it away."""
    from metier.hub.accounts import set_grant
    from metier.hub.model import LOCAL

    kind, _, who = word.partition(":")
    if kind == "person":
        who = word  # people are known by this whole name
    role, verb = values.text("role"), values.words[1]
    with _open_hub(values) as hub:
        set_grant(
            hub,
            LOCAL,
            kind=kind,
            who=who,
            role=role,
            namespace=values.text("namespace"),
            organisation=values.text("organisation"),
            listed=verb == "add",
        )
    done = "is" if verb == "add" else "is no longer"
    where = values.text("namespace") or values.text("organisation") or "the whole hub"
    answer(
        values,
        {"who": word, "role": role, "listed": verb == "add"},
        lambda _doc: f"{clean(word)} {done} {clean(role)} in {clean(where)}\n",
    )


def _list_grants(values: Values, _word: str) -> None:
    """List who has which role."""
    from metier.hub.accounts import list_grants
    from metier.hub.model import LOCAL

    with _open_hub(values) as hub:
        found = list_grants(hub, LOCAL)
    answer(values, {"grants": found}, lambda _doc: _grants_text(found))


def _grants_text(found: list[dict[str, object]]) -> str:
    if not found:
        return (
            "no roles yet. Give one: metier hub grant add group:devs --role publisher "
            "--namespace web\n"
        )
    lines = []
    for one in found:
        who = str(one["who"])
        named = who if who.startswith(("person:", "token:")) else f"{one['kind']}:{who}"
        where = one["namespace"] or (
            f"all of {one['organisation']}" if one["organisation"] else "everywhere"
        )
        lines.append(f"{clean(named)}  {one['role']}  {clean(str(where))}\n")
    return "".join(lines)


def _list_people(values: Values, _word: str) -> None:
    """List who has logged in."""
    from metier.hub.accounts import list_people
    from metier.hub.model import LOCAL

    with _open_hub(values) as hub:
        found = list_people(hub, LOCAL)
    answer(values, {"people": [one._asdict() for one in found]}, lambda _doc: _people_text(found))


def _people_text(found: list[PersonRow]) -> str:
    if not found:
        return "nobody has logged in through a provider yet\n"
    return "".join(
        f"person:{one.id}  {clean(one.name)}  {', '.join(map(clean, one.groups)) or 'no groups'}\n"
        for one in found
    )


def _end_logins(values: Values, word: str) -> None:
    """Log somebody out everywhere."""
    from metier.hub.accounts import end_logins
    from metier.hub.model import LOCAL

    number = word.removeprefix("person:")
    if not number.isascii() or not number.isdigit():
        raise UsageError(f"'{word}' is no person", hint="write person:3; see: metier hub people")
    with _open_hub(values) as hub:
        count = end_logins(hub, LOCAL, int(number))
    answer(
        values,
        {"person": int(number), "ended": count},
        lambda _doc: (
            f"logged person:{number} out ({count} {'login' if count == 1 else 'logins'})\n"
        ),
    )


# --- webhooks


def _namespace_of(values: Values) -> str:
    found = values.text("namespace")
    if not found:
        raise UsageError("say whose webhooks you mean", hint="add --namespace NS")
    return found


def _add_webhook(values: Values, word: str) -> None:
    """Have an address told of what happens, and show the secret once."""
    from metier.hub.model import LOCAL
    from metier.hub.webhooks import add_webhook

    events = [one.strip() for one in values.text("events").split(",") if one.strip()]
    space = _namespace_of(values)
    with _open_hub(values) as hub:
        made = add_webhook(hub, LOCAL, space, word, events)
    answer(values, made, f"{made.secret}\n")
    if not values.json:  # to people alone, so that a file gets the secret and nothing else
        note("")
        note(
            f"This is the secret of webhook {made.id}, which signs what is sent to it. It is shown only "
            "now: give it to whoever receives."
        )


def _list_webhooks(values: Values, _word: str) -> None:
    """List the webhooks of a namespace, with what became of the newest events."""
    from metier.hub.model import LOCAL
    from metier.hub.webhooks import list_webhooks

    space = _namespace_of(values)
    with _open_hub(values) as hub:
        found = list_webhooks(hub, LOCAL, space)
    rows = [
        {**one._asdict(), "deliveries": [each._asdict() for each in one.deliveries]}
        for one in found
    ]
    answer(values, {"webhooks": rows}, lambda _doc: _webhooks_text(found))


def _webhooks_text(found: list[WebhookRow]) -> str:
    if not found:
        return "no webhooks\n"
    lines = []
    for one in found:
        lines.append(f"{one.id:>4}  {clean(one.url)}  {', '.join(one.events) or 'every event'}\n")
        for each in one.deliveries[:5]:
            why = f": {clean(each.said)}" if each.said and each.state != "delivered" else ""
            tries = f"{each.tries} {'try' if each.tries == 1 else 'tries'}"
            lines.append(f"      {each.what} {clean(each.about)}  {each.state}, {tries}{why}\n")
    return "".join(lines)


def _remove_webhook(values: Values, word: str) -> None:
    """Tell an address nothing more."""
    from metier.hub.model import LOCAL
    from metier.hub.webhooks import remove_webhook

    space = _namespace_of(values)
    if not word.isascii() or not word.isdigit():
        raise UsageError(f"'{word}' is no webhook's number", hint="see: metier hub webhook list")
    with _open_hub(values) as hub:
        remove_webhook(hub, LOCAL, space, int(word))
    answer(values, {"removed": int(word)}, lambda _doc: f"removed webhook {word}\n")


VERBS: dict[str, tuple[Callable[[Values, str], int | None], int]] = {
    "namespace": (set_namespace, 1),
    "organisation add": (_add_organisation, 1),
    "organisation list": (_list_organisations, 0),
    "grant add": (_grant, 1),
    "grant remove": (_grant, 1),
    "grant list": (_list_grants, 0),
    "people list": (_list_people, 0),
    "people logout": (_end_logins, 1),
    "webhook add": (_add_webhook, 1),
    "webhook list": (_list_webhooks, 0),
    "webhook remove": (_remove_webhook, 1),
}
