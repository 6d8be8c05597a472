"""`push` to a hub: the archive goes there once, in pieces where it is large, and becomes a version."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.audit import log
from metier.errors import UsageError
from metier.supply import hubs
from metier.supply.archives.write_tar import pack_tar_gz
from metier.supply.publish import read_fit, skill_folder
from metier.supply.sources.addresses import url_for_message
from metier.supply.sources.hub_names import HUB_AT, hub_base
from metier.trust import sign
from metier.trust.io import key_files

if TYPE_CHECKING:
    from metier.context import Context
    from metier.supply.io.hub_client import HubClient
    from metier.supply.push import PushedSkill, PushOptions

WHOLE_BYTES = 16 << 20
PIECE_BYTES = 4 << 20
_FORM = "write --to https://hub.example.org/NAMESPACE, or --to NAMESPACE"


def push_to_hub(context: Context, path: str, to: str, wish: PushOptions) -> PushedSkill:
    """Publish a skill on a hub. What `pack` refuses is refused here, before anything is sent."""
    from metier.supply.push import PushedSkill

    folder = skill_folder(context, path)
    skill = read_fit(context, folder)
    base, namespace = _target(context, to, skill.name)
    if wish.sign:
        sign.sign_skill(context, folder, wish.key)
    data = pack_tar_gz(skill.files)
    sha256 = hashlib.sha256(data).hexdigest()
    client = hubs.client_for(context, base)
    hubs.meet(context, base)
    send_archive(context, client, sha256, data)
    envelope = key_files.read_signature(context.data, skill.digest)
    told = client.send_json(
        "POST",
        f"/skills/{namespace}/{skill.name}/releases",
        {
            "archive": sha256,
            "version": wish.version,
            "provenance": {
                "source": url_for_message(wish.source) if wish.source else "",
                "revision": wish.revision,
            },
            "signature": envelope.decode("ascii", "replace") if envelope else "",
        },
    )
    digest, state = str(told.get("digest", "")), str(told.get("state", ""))
    aim = f"{base}/{namespace}/{skill.name}"
    log.record(context, "push", "done", name=skill.name, digest=skill.digest, path=aim)
    findings = told.get("findings")
    return PushedSkill(
        name=skill.name,
        version=str(told.get("version", "")),
        digest=digest,
        state=state,  # type: ignore[arg-type]  # one of the hub's own words
        to=aim,
        tree=skill.digest,
        level=str(told.get("level", "")),
        reason=str(told.get("reason", "")),
        findings=len(findings) if isinstance(findings, list) else 0,
    )


def _target(context: Context, to: str, name: str) -> tuple[str, str]:
    """Give the hub and the namespace that somebody means; a name at the end has to be the skill's."""
    text = to.strip().removeprefix(HUB_AT).rstrip("/")
    if "://" in text:
        scheme, _, rest = text.partition("://")
        known = [one for one in hubs.known_bases(context) if f"{text}/".startswith(f"{one}/")]
        base = max(known, key=len, default=f"{scheme}://{rest.partition('/')[0]}")
        base, steps = hub_base(base), text[len(base) :].strip("/").split("/")
    else:
        base, steps = hubs.only_base(context), text.split("/")
    if len(steps) > 2 or not steps[0]:
        raise UsageError("that names no namespace of a hub", hint=_FORM)
    if len(steps) == 2 and steps[1] != name:
        raise UsageError(
            f"the skill is called '{name}', not '{steps[1]}'",
            hint="a skill is published under its own name",
        )
    return base, steps[0]


def send_archive(context: Context, client: HubClient, sha256: str, data: bytes) -> None:
    """Bring the bytes to the hub, unless it has them; a large upload goes on where it broke off."""
    if client.has_blob(sha256):
        return
    kind = {"Content-Type": "application/gzip"}
    if len(data) <= WHOLE_BYTES:
        client.send("PUT", f"/blobs/{sha256}", data, kind)
        return
    begun = client.send_json("POST", "/uploads", {"sha256": sha256, "size": len(data)})
    ident, at = str(begun.get("id", "")), int(begun.get("received", 0))
    while at < len(data):
        piece = data[at : at + PIECE_BYTES]
        told = client.send("PATCH", f"/uploads/{ident}", piece, {**kind, "Upload-Offset": str(at)})
        at = max(int(told.get("received", 0)), at + 1)
        context.progress("sent", at, len(data))
