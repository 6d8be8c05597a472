"""Asks an OpenID Connect provider: what it is, its keys, and for the ID token behind a code. Everything
goes over https to the issuer that the hub's admin named, or to addresses that this issuer names.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlencode

from metier.errors import ConfigError, MetierError, SourceError
from metier.hub.id_token import read_keys
from metier.settings.model import SupplySettings
from metier.supply.io.http import HttpClient
from metier.supply.sources.addresses import parse_url
from metier.supply.sources.oci_names import is_this_machine
from metier.supply.sources.proxies import safe_proxies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from joserfc.jwk import Key

WELL_KNOWN = "/.well-known/openid-configuration"
MAX_ANSWER_BYTES = 1 << 20
ASK_SECONDS = 10.0
FACTS_SECONDS = 3600.0
"""How long what a provider says about itself is believed."""
KEYS_AGAIN_SECONDS = 30.0
"""How often its keys are asked for when an unknown one has signed."""


class ProviderFacts(NamedTuple):
    """Where a provider takes which question."""

    authorization: str
    token: str
    keys: str
    device: str
    """Nothing where it knows no device codes."""
    takes_basic: bool
    """Whether the client's secret goes into a header, and not into the form."""


class ProviderAnswer(NamedTuple):
    """What a provider answers to a form."""

    status: int
    told: Mapping[str, Any]


class OidcProvider:
    """One provider, whose answers are kept for a while. Many threads ask it."""

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str,
        *,
        env: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Know who it is; nothing is asked yet."""
        at = parse_url(f"{issuer.rstrip('/')}/")
        if at.scheme != "https" and not is_this_machine(at.host):
            raise ConfigError(
                f"the provider {at.shown} would be asked without encryption",
                hint="write https:// in --issuer",
            )
        self.issuer, self.client_id, self._secret = issuer, client_id, client_secret
        self._at, self._env, self._clock = at, env, clock
        self._guard = threading.Lock()
        self._facts: tuple[float, ProviderFacts] | None = None
        self._keys: tuple[float, list[Key]] | None = None

    def facts(self) -> ProviderFacts:
        """Ask the provider about itself, once in a while."""
        with self._guard:
            if self._facts is None or self._facts[0] < self._clock() - FACTS_SECONDS:
                self._facts = self._clock(), self._read_facts()
            return self._facts[1]

    def keys(self, *, again: bool = False) -> Sequence[Key]:
        """Give its public keys; `again` asks for them anew, but not all the time."""
        where = self.facts().keys
        with self._guard:
            most = KEYS_AGAIN_SECONDS if again else FACTS_SECONDS
            if self._keys is None or self._keys[0] < self._clock() - most:
                answer = self._ask("GET", where)
                self._keys = self._clock(), read_keys(answer.told)
            return self._keys[1]

    def send(self, url: str, form: Mapping[str, str]) -> ProviderAnswer:
        """Send a form as the client that the hub is to the provider."""
        given = dict(form)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if self._secret and self.facts().takes_basic:
            pair = f"{quote(self.client_id, safe='')}:{quote(self._secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"
        else:
            given["client_id"] = self.client_id
            if self._secret:
                given["client_secret"] = self._secret
        return self._ask("POST", url, urlencode(given).encode(), headers)

    def _read_facts(self) -> ProviderFacts:
        told = self._ask("GET", f"{self.issuer.rstrip('/')}{WELL_KNOWN}").told
        if told.get("issuer") != self.issuer:
            raise _odd("it calls itself otherwise")
        methods = told.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return ProviderFacts(
            authorization=self._place(told, "authorization_endpoint"),
            token=self._place(told, "token_endpoint"),
            keys=self._place(told, "jwks_uri"),
            device=self._place(told, "device_authorization_endpoint", needed=False),
            takes_basic="client_secret_basic" in methods if isinstance(methods, list) else True,
        )

    def _place(self, told: Mapping[str, Any], name: str, *, needed: bool = True) -> str:
        """Read an address. Only https will do, or the place that the issuer itself has."""
        found = told.get(name)
        if not isinstance(found, str):
            if needed:
                raise _odd(f"it names no {name}")
            return ""
        try:
            at = parse_url(found)
        except MetierError as error:
            raise _odd(f"its {name} is no address") from error
        if at.scheme != "https" and at.place != self._at.place:
            raise _odd(f"its {name} is not encrypted")
        return found

    def _ask(
        self,
        method: str,
        url: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> ProviderAnswer:
        at = parse_url(url)
        # the admin who names an issuer may have it in the own network; where it leads, not so
        limits = SupplySettings(private_hosts=(self._at.place,), redirects=0)
        client = HttpClient(
            limits, named=(at.place,), seconds=ASK_SECONDS, env=safe_proxies(at.scheme, self._env)
        )
        sent = {"Accept": "application/json", **(headers or {})}
        if method == "POST":
            sent["Content-Length"] = str(len(body))
        try:
            with client.exchanged(
                url, most=MAX_ANSWER_BYTES, method=method, body=body, headers=sent, follow=False
            ) as answer:
                status, data = answer.status, b"".join(answer.chunks)
        except MetierError as error:
            raise SourceError(
                f"the login provider does not answer: {error.message}",
                code="hub-provider",
                hint="try again later, or ask an admin of the hub",
            ) from error
        told = _object(data)
        if method == "GET" and (status != 200 or told is None):
            raise _odd(f"it answers {status} at {at.shown}")
        return ProviderAnswer(status, told or {})


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _odd(why: str) -> SourceError:
    return SourceError(
        f"the login provider cannot be used: {why}",
        code="hub-provider",
        hint="ask an admin of the hub to check METIER_HUB_OIDC_ISSUER",
    )
