"""Runs `metier hub`: serves a team's hub, and manages it beside the same database."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from importlib.util import find_spec

from metier.cli import hub_people
from metier.cli.argv import CommandRow, Option, Values, cannot
from metier.cli.main import opened
from metier.cli.output import answer, clean, counted, note, write
from metier.errors import UsageError, closest
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metier.hub.accounts import NewToken, TokenRow
    from metier.hub.hub import Hub
    from metier.hub.keep import HubFault
    from metier.hub.mirror import MirrorReport
    from metier.hub.model import Release

DEFAULT_LISTEN = "127.0.0.1:8700"
NEEDED = ("starlette", "uvicorn", "jinja2", "cryptography", "joserfc")
DATABASE = Option("--database", "postgresql://… or a file; METIER_HUB_DATABASE without it", "URL")
OBJECTS = Option("--objects", "a folder, s3://…, gs://… or az://…; METIER_HUB_OBJECTS", "URL")
KEY = Option("--key", "the hub's private key; METIER_HUB_KEY without it", "FILE")
PLACES = (DATABASE, OBJECTS, KEY)
SUBJECTS = frozenset({"token", "organisation", "grant", "people", "webhook"})
"""Words that a second one follows; without it they list."""


def run(values: Values) -> int | None:
    """Do what the first word says."""
    verb, *rest = values.words or [""]
    if verb in SUBJECTS:
        verb, rest = f"{verb} {rest[0] if rest else 'list'}", rest[1:]
    if not verb:
        raise UsageError("say what the hub is to do", hint=f"choose one of: {', '.join(VERBS)}")
    if verb not in VERBS:
        if closest(verb, VERBS):
            raise cannot("hub", verb, *VERBS)
        # what is near nothing may be a token, so it is not repeated
        raise UsageError("unknown command of metier hub", hint=f"choose one of: {', '.join(VERBS)}")
    act, takes = VERBS[verb]
    if len(rest) != takes:
        raise UsageError(
            f"metier hub {verb} takes {'no more words' if not takes else 'one word'}",
            hint="see: metier hub --help",
        )
    return act(values, "".join(rest))


def _serve(values: Values, _word: str) -> None:
    from metier.mcp.http_access import is_loopback, parse_address

    host, port = parse_address(values.text("listen") or DEFAULT_LISTEN, "--listen")
    local = is_loopback(host)

    def ready(url: str) -> None:
        write(f"metier hub: {url}\n")
        sys.stdout.flush()  # whoever started this waits for the line

    with open_hub(values) as hub:
        from metier.hub.here import is_for_others
        from metier.hub.serve import serve

        if (
            (not local or is_for_others(hub.options))
            and hub.provider is None
            and not _has_accounts(hub)
        ):
            note(
                "warning: nobody can log in yet. Make a token first: "
                "metier hub token add --role admin --name me"
            )
        with suppress(KeyboardInterrupt):  # Ctrl-C is how one ends it
            serve(hub, host, port, local=local, ready=ready)


def open_hub(values: Values) -> Hub:
    """Open the hub that the options and the environment name."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"{missing[0]} is not installed", code="hub-missing", hint="pip install 'metier[hub]'"
        )
    from metier.hub.hub import HUB_FOLDER, Hub, HubOptions

    with opened(values) as m:
        data = m.context.data
        env = m.context.env
    if not data:
        raise UsageError("there is no place for the hub", hint="set METIER_HOME or HOME")
    options = HubOptions(
        home=f"{data}/{HUB_FOLDER}",
        database=values.text("database") or env.get("METIER_HUB_DATABASE", ""),
        objects=values.text("objects") or env.get("METIER_HUB_OBJECTS", ""),
        key_file=values.text("key") or env.get("METIER_HUB_KEY", ""),
        name=env.get("METIER_HUB_NAME", "metier hub"),
        public_url=env.get("METIER_HUB_URL", ""),
        issuer=values.text("issuer") or env.get("METIER_HUB_OIDC_ISSUER", ""),
        client_id=values.text("client_id") or env.get("METIER_HUB_OIDC_CLIENT_ID", ""),
        client_secret=env.get("METIER_HUB_OIDC_CLIENT_SECRET", ""),
        oidc_groups=env.get("METIER_HUB_OIDC_GROUPS", ""),
        oidc_scopes=env.get("METIER_HUB_OIDC_SCOPES", ""),
        login_hours=_number(env, "METIER_HUB_LOGIN_HOURS", 8, least=1),
        rate=_number(env, "METIER_HUB_RATE", 60_000),
        rate_nobody=_number(env, "METIER_HUB_RATE_NOBODY", 6000),
        rate_failed=_number(env, "METIER_HUB_RATE_FAILED", 20),
        proxies=_networks(env.get("METIER_HUB_PROXIES", "")),
        loopback_webhooks=env.get("METIER_HUB_LOOPBACK_WEBHOOKS", "") == "1",
    )
    return Hub(options, env=env)


def _number(env: Mapping[str, str], name: str, default: int, least: int = 0) -> int:
    """Read a number of the environment."""
    text = env.get(name, "").strip() or str(default)
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < least:
        raise UsageError(f"{name} is a number", hint=f"for example {name}={default}")
    return int(text)


def _networks(text: str) -> tuple[str, ...]:
    """Read the networks of proxies; this very machine where none is named."""
    from ipaddress import ip_network

    named = tuple(one.strip() for one in text.split(",") if one.strip())
    try:
        for one in named:
            ip_network(one, strict=False)
    except ValueError:
        raise UsageError(
            "METIER_HUB_PROXIES names networks", hint="for example METIER_HUB_PROXIES=10.0.0.0/8"
        ) from None
    return named or ("127.0.0.0/8", "::1/128")


def _has_accounts(hub: Hub) -> bool:
    from metier.hub.accounts import has_accounts

    with hub.database.read() as connection:
        return has_accounts(connection)


# --- tokens


def _add_token(values: Values, _word: str) -> None:
    """Make a token, and show it once."""
    from metier.hub.accounts import add_token
    from metier.hub.model import LOCAL

    role, name = values.text("role"), values.text("name")
    if not role or not name:
        raise UsageError(
            "a token has a role and a name", hint="add --role publisher --name ci, for example"
        )
    days = values.text("days") or "0"
    if not days.isascii() or not days.isdigit() or int(days[:6]) > 3660:
        raise UsageError("that is no number of days", hint="--days takes 1 to 3660")
    with open_hub(values) as hub:
        expires = hub.now() + int(days) * 86_400 if int(days) else 0
        made = add_token(
            hub,
            LOCAL,
            name=name,
            role=role,
            namespace=values.text("namespace"),
            organisation=values.text("organisation"),
            expires_at=expires,
        )
    answer(values, made, f"{made.token}\n")
    if not values.json:
        note("")
        note(_about_token(made))


def _about_token(made: NewToken) -> str:
    """Say whose it is: to people alone, so that a file gets the token and nothing else."""
    place = made.namespace or made.organisation
    where = f" in {clean(place)}" if place else ""
    return (
        f"This is {clean(made.name)}'s token ({made.role}{where}). It is shown only "
        "now: keep it where secrets are kept."
    )


def _list_tokens(values: Values, _word: str) -> None:
    """List the tokens."""
    from metier.hub.accounts import list_tokens
    from metier.hub.model import LOCAL

    with open_hub(values) as hub:
        found = list_tokens(hub, LOCAL)
    answer(values, {"tokens": [one._asdict() for one in found]}, lambda _doc: _tokens_text(found))


def _tokens_text(found: list[TokenRow]) -> str:
    if not found:
        return "no tokens yet. Make one: metier hub token add --role admin --name me\n"
    lines = []
    for one in found:
        state = " (revoked)" if one.revoked_at else ""
        where = clean(one.namespace or one.organisation) or "everywhere"
        role = f"{one.role}  {where}" if one.role else "a person's login"
        lines.append(f"{one.id:>4}  {clean(one.name)}  {role}{state}\n")
    return "".join(lines)


def _revoke_token(values: Values, word: str) -> None:
    """Revoke a token."""
    from metier.hub.accounts import revoke_token
    from metier.hub.model import LOCAL

    if not word.isdigit():
        raise UsageError(f"'{word}' is no token's number", hint="see: metier hub token list")
    with open_hub(values) as hub:
        revoke_token(hub, LOCAL, int(word))
    answer(values, {"revoked": int(word)}, lambda _doc: f"revoked token {word}\n")


# --- policy, decisions


def _policy(values: Values, _word: str) -> None:
    """Show the hub's policy, or change it."""
    from metier.hub.model import LOCAL
    from metier.hub.namespaces import adjust_policy

    try:
        told = json.loads(values.text("set") or "{}")
    except ValueError:
        raise UsageError(
            "--set takes JSON", hint="""for example --set '{"safe": "review"}'"""
        ) from None
    with open_hub(values) as hub:
        found = adjust_policy(hub, LOCAL, told, values.text("namespace"))
    answer(
        values,
        found,
        lambda policy: "".join(f"{name:<18} {_told(value)}\n" for name, value in policy.items()),
    )


def _told(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _queue(values: Values, _word: str) -> None:
    """List what waits for a reviewer."""
    from metier.hub.model import LOCAL
    from metier.hub.releases import pending_releases

    with open_hub(values) as hub:
        found = pending_releases(hub, LOCAL)
    rows = [_release_row(one) for one in found]
    answer(values, {"releases": rows}, lambda _doc: _queue_text(found))


def _release_row(one: Release) -> dict[str, object]:
    return {
        "namespace": one.namespace,
        "name": one.name,
        "version": one.version,
        "level": one.level,
        "publisher": one.publisher,
        "digest": one.digest,
    }


def _queue_text(found: list[Release]) -> str:
    if not found:
        return "nothing is waiting\n"
    return "".join(
        f"{clean(one.namespace)}/{clean(one.name)}@{one.version}  {one.level}  by "
        f"{clean(one.publisher)}\n"
        for one in found
    )


# --- keeping it


def _gc(values: Values, _word: str) -> None:
    """Free what nothing names."""
    from metier.hub.keep import collect_garbage
    from metier.hub.model import LOCAL

    with open_hub(values) as hub:
        done = collect_garbage(hub, LOCAL)
    answer(
        values,
        done,
        lambda one: (
            f"freed {one.bytes:,} bytes: {one.blobs} archives that nothing names and {one.uploads} "
            f"unfinished uploads\n{_dropped(one.releases)}"
        ),
    )


def _dropped(count: int) -> str:
    word = "release" if count == 1 else "releases"
    return f"dropped {count} old {word} that nobody ever approved\n" if count else ""


def _check(values: Values, _word: str) -> int | None:
    """Verify everything."""
    from metier.hub.keep import verify_hub

    with open_hub(values) as hub:
        faults = verify_hub(hub)
    document = {"ok": not faults, "faults": [one._asdict() for one in faults]}
    answer(values, document, lambda _doc: _faults_text(faults))
    return 1 if faults else None


def _faults_text(faults: list[HubFault]) -> str:
    if not faults:
        return "every archive, signature and log is as it was approved\n"
    return "".join(f"{one.what}: {clean(one.where)}: {clean(one.why)}\n" for one in faults)


def _backup(values: Values, word: str) -> None:
    """Back everything up into one file."""
    from metier.hub.backup import backup

    with open_hub(values) as hub:
        count = backup(hub, word)
    answer(
        values,
        {"file": word, "archives": count},
        lambda _doc: (
            f"wrote {clean(word)} ({counted(count, 'archive')}, and the hub's key: keep it secret)\n"
        ),
    )


def _restore(values: Values, word: str) -> None:
    """Restore a backup into an empty hub."""
    from metier.hub.backup import restore

    with open_hub(values) as hub:
        count = restore(hub, word)
    answer(
        values,
        {"file": word, "archives": count},
        lambda _doc: f"restored {clean(word)} ({counted(count, 'archive')})\n",
    )


def _migrate(values: Values, _word: str) -> None:
    """Bring the database up to date, or try whether that would work."""
    from metier.hub.io.database import migrate, open_database

    with opened(values) as m:
        data, env = m.context.data, m.context.env
    url = values.text("database") or env.get("METIER_HUB_DATABASE", "") or f"{data}/hub/hub.db"
    database = open_database(url)
    try:
        done = migrate(database, rehearse=values.flag("rehearse"))
    finally:
        database.close()
    word = "would run" if values.flag("rehearse") else "ran"
    answer(
        values,
        {"migrations": done, "rehearsed": values.flag("rehearse")},
        lambda _doc: f"{word} {', '.join(done)}\n" if done else "the database is up to date\n",
    )


def _decide(values: Values, word: str) -> int | None:
    """Approve, reject or yank a release, or offer it again."""
    from metier.hub import decide
    from metier.hub.model import LOCAL

    verb = values.words[0]
    place, _, version = word.partition("@")
    namespace, _, name = place.partition("/")
    if not name or not version:
        raise UsageError("name a release", hint=f"write metier hub {verb} NAMESPACE/NAME@VERSION")
    reason = values.text("reason")
    with open_hub(values) as hub:
        where = (hub, LOCAL, namespace, name, version)
        if verb in {"yank", "unyank"}:
            done = decide.yank(*where, reason=reason, back=verb == "unyank")
        else:
            done = (decide.approve if verb == "approve" else decide.reject)(*where, reason)
    answer(
        values,
        {**_release_row(done), "state": done.state},
        lambda _doc: f"{clean(place)}@{version} is {done.state}\n",
    )
    return None


def _deprecate(values: Values, word: str) -> None:
    """Say that a skill should not be used any more; without a reason that is taken back."""
    from metier.hub import decide
    from metier.hub.model import LOCAL

    namespace, _, name = word.partition("/")
    if not name or "@" in name:
        raise UsageError(
            "name a skill", hint="write metier hub deprecate NAMESPACE/NAME --reason TEXT"
        )
    with open_hub(values) as hub:
        reason = decide.deprecate(hub, LOCAL, namespace, name, values.text("reason"))
    state = "deprecated" if reason else "not deprecated any more"
    answer(
        values,
        {"namespace": namespace, "name": name, "deprecated": reason},
        lambda _doc: f"{clean(word)} is {state}\n",
    )


def _mirror(values: Values, _word: str) -> int | None:
    """Copy what a hub approved to a folder or another hub."""
    from metier.hub.mirror import mirror_between, read_choice

    origin, aim = values.text("from"), values.text("to")
    choices = [read_choice(one) for one in values.many("select")]
    if not origin or not aim or not choices:
        raise UsageError(
            "say what is mirrored from where to where",
            hint="metier hub mirror --from URL --select NAMESPACE --to FOLDER",
        )
    with opened(values) as m:
        done = mirror_between(m.context, origin, aim, choices, values.text("key_id"))
    refused = [one._asdict() for one in done.refused]
    answer(values, {**done._asdict(), "refused": refused}, lambda _doc: _mirror_text(done))
    return 1 if refused else None


def _mirror_text(done: MirrorReport) -> str:
    lines = [
        f"mirrored {done.added} of {done.selected} releases; {done.there} were there already\n",
        f"approved by {clean(done.hub)}, key {done.key}\n",
    ]
    if done.waiting:
        lines.append(f"{done.waiting} wait for a reviewer: metier hub queue\n")
    if done.yanked:
        lines.append(f"{done.yanked} were yanked since\n")
    lines += [f"not taken: {clean(one.release)}: {clean(one.why)}\n" for one in done.refused]
    return "".join(lines)


VERBS: dict[str, tuple[Callable[[Values, str], int | None], int]] = {
    "serve": (_serve, 0),
    "token add": (_add_token, 0),
    "token list": (_list_tokens, 0),
    "token revoke": (_revoke_token, 1),
    **hub_people.VERBS,
    "policy": (_policy, 0),
    "queue": (_queue, 0),
    "approve": (_decide, 1),
    "reject": (_decide, 1),
    "yank": (_decide, 1),
    "unyank": (_decide, 1),
    "deprecate": (_deprecate, 1),
    "gc": (_gc, 0),
    "check": (_check, 0),
    "backup": (_backup, 1),
    "restore": (_restore, 1),
    "migrate": (_migrate, 0),
    "mirror": (_mirror, 0),
}
ROWS = (
    CommandRow(
        "hub",
        operands="serve|token|namespace|organisation|grant|people|webhook|policy|queue|approve|reject|"
        "yank|unyank|deprecate|check|gc|backup|restore|migrate|mirror [WORD...]",
        options=(
            Option("--listen", f"listen there (default: {DEFAULT_LISTEN})", "HOST:PORT"),
            *PLACES,
            Option(
                "--issuer", "people log in there (OpenID Connect); METIER_HUB_OIDC_ISSUER", "URL"
            ),
            Option(
                "--client-id", "what the provider calls this hub; METIER_HUB_OIDC_CLIENT_ID", "ID"
            ),
            Option("--role", "of a token or a grant: reader, publisher, reviewer or admin", "ROLE"),
            Option("--name", "whom or what a token is for", "NAME"),
            Option(
                "--namespace",
                "of a token, a grant, a policy or a webhook: only in this namespace",
                "NS",
            ),
            Option("--days", "a token expires after so many days", "N"),
            Option(
                "--organisation",
                "whose namespace it is; of a token or a grant: in all of it",
                "NAME",
            ),
            Option("--public", "a namespace that anybody may read"),
            Option("--private", "a namespace that only its members may read"),
            Option("--state", "active, or frozen: a namespace that takes nothing new", "STATE"),
            Option("--quota", "how much a namespace may hold; 0 means no limit", "BYTES"),
            Option("--events", "of a webhook, with commas: pending, approved, yanked…", "NAMES"),
            Option("--set", "change the policy", "JSON"),
            Option(
                "--reason",
                "why a release is approved, rejected or yanked, or a skill deprecated",
                "TEXT",
            ),
            Option("--rehearse", "with migrate: try it and undo it"),
            Option("--from", "mirror what this hub approved, or a folder has", "URL|FOLDER"),
            Option(
                "--select", "what is mirrored; may be repeated", "NS[/NAME][@RANGE]", repeat=True
            ),
            Option("--to", "mirror it to a folder, or to another hub", "FOLDER|URL"),
            Option("--key-id", "mirror only what was approved with this key", "ID"),
        ),
        examples={
            "metier hub serve": "a hub for this machine, with nothing to set up",
            "metier hub serve --listen 0.0.0.0:8700 --database URL --objects URL": "for a team, on PostgreSQL and S3",
            "metier hub token add --role publisher --name ci --namespace web": "prints the token once",
            "metier hub grant add group:devs --role publisher --namespace web": "for a group of your provider",
            "metier hub webhook add https://ci.example.org/hook --namespace web": "prints the secret once",
            "metier hub queue": "what waits for a reviewer",
            "metier hub backup hub.tar": "everything, the key included, in one file",
            "metier hub mirror --from https://hub.example.org --select web --to ./mirror": "for a network that cannot reach it",
            "metier hub restore hub.tar --database URL --objects URL": "move to another database",
        },
        detail="Without --database and --objects, everything lies below METIER_HOME. As long as there "
        "is no token, whoever is on this machine may do everything, and nobody else anything.",
        private=True,
        run=run,
    ),
)
