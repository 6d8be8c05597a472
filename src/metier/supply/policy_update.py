"""Fetches an organisation's policy from the address that the machine's own policy pins to a key.

A copy that does not verify is refused, and the last good one stays in force.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import MetierError, NotFoundError, RefusedError, SourceError, StoreError
from metier.settings.io import MAX_CONFIG_BYTES, POLICY_FILE
from metier.supply.io.http import HttpClient
from metier.supply.sources.addresses import address_of
from metier.trust import sign
from metier.trust.io import policy_file

if TYPE_CHECKING:
    from metier.context import Context
    from metier.trust.organisation import OrganisationPolicy, RemotePolicy

OK = 200


class PolicyUpdate(NamedTuple):
    """A policy that was fetched and is in force now."""

    url: str
    key: str
    serial: int
    changed: bool


def update_policy(context: Context) -> PolicyUpdate:
    """Fetch the policy and its signature, and keep them if they are good and not older."""
    remote = context.policy.remote if context.policy else None
    if remote is None:
        raise NotFoundError(
            f"{POLICY_FILE} names no address to fetch a policy from",
            hint="it needs a [remote] table with url and key",
        )
    if not context.data:
        raise StoreError("there is no place to keep the policy", hint="set METIER_HOME or HOME")
    data, envelope = _get(context, remote.url), _get(context, f"{remote.url}.sig")
    found = sign.verify_detached(sign.POLICY_TYPE, data, envelope, [remote.key.encode()])
    if isinstance(found, sign.Unverified):
        raise _refuse(context, remote, f"its signature is not good: {found.reason}")
    try:
        policy = policy_file.read_remote(remote, data)
    except (MetierError, ValueError) as error:
        raise _refuse(context, remote, str(error)) from error
    before = _before(context, remote)
    if before is not None and policy.serial < before.serial:
        raise _refuse(context, remote, f"its serial {policy.serial} is below {before.serial}")
    policy_file.keep_fetched(context.data, context.home, data, envelope)
    context.read_settings()
    log.record(context, "policy", "done", origin=remote.url, key=found)
    return PolicyUpdate(remote.url, found, policy.serial, before != policy)


def _before(context: Context, remote: RemotePolicy) -> OrganisationPolicy | None:
    try:
        return policy_file.read_fetched(context.data, remote)
    except (MetierError, ValueError):
        return None


def _get(context: Context, url: str) -> bytes:
    # The administrator named this address, so it may be one of their own network; the signature
    # proves what comes from there.
    place = address_of(url).place
    limits = context.settings.supply._replace(hosts=(), private_hosts=(place,))
    client = HttpClient(limits, named=(place,))
    reply = client.get(url, most=MAX_CONFIG_BYTES)
    if reply.status != OK:
        raise SourceError(f"{url} answers {reply.status}", hint="the last good policy stays")
    return reply.body


def _refuse(context: Context, remote: RemotePolicy, why: str) -> RefusedError:
    log.record(context, "policy", "refused", origin=remote.url, reason=why[:500])
    return RefusedError(
        f"the policy at {remote.url} is refused: {why}",
        code="policy-damaged",
        hint="the last good policy stays in force. Ask whoever signs it",
    )
