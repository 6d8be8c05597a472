"""An OpenID Connect provider on a loopback port that logs everybody in at once, and tells every lie that it
is asked to. The real one of the tests is oidc-provider-mock; this one also knows device codes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

CLIENT_ID = "metier-hub"
CLIENT_SECRET = "the hub's secret"


@cache
def rsa_key(name: str) -> RSAKey:
    """Give a key; making one takes a while."""
    return RSAKey.generate_key(2048, {"kid": name})


class FakeProvider:
    """What it says; whatever is not changed is true."""

    def __init__(self) -> None:
        """Know one person."""
        self.key = rsa_key("one")
        self.issuer = ""
        self.claims: dict[str, Any] = {}
        """What replaces or, where it is None, removes a claim of the next ID tokens."""
        self.person: dict[str, Any] = {"sub": "ann-1", "preferred_username": "ann", "groups": []}
        self.facts: dict[str, Any] = {}
        self.jwks: Any = None
        self.sign = self.sign_well
        self.pending = 0
        """How often a device code is not typed yet."""
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"

    # --- ID tokens

    def id_token(self, nonce: str = "") -> str:
        """Make one."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            **({"nonce": nonce} if nonce else {}),
            **self.person,
            **self.claims,
        }
        return self.sign({name: told for name, told in claims.items() if told is not None})

    def sign_well(self, claims: dict[str, Any]) -> str:
        """Sign as a provider does."""
        return signed({"alg": "RS256", "kid": "one"}, claims, self.key)

    def sign_not_at_all(self, claims: dict[str, Any]) -> str:
        """Say that no signature is needed."""
        return f"{packed({'alg': 'none'})}.{packed(claims)}."

    def sign_with_the_public_key(self, claims: dict[str, Any]) -> str:
        """Take the public key, which everybody has, for a shared secret."""
        head = f"{packed({'alg': 'HS256', 'kid': 'one'})}.{packed(claims)}"
        made = hmac.digest(self.key.as_pem(private=False), head.encode(), "sha256")
        return f"{head}.{base64.urlsafe_b64encode(made).decode().rstrip('=')}"

    def sign_with_another_key(self, claims: dict[str, Any]) -> str:
        """Use a key of one's own under the provider's name for its own."""
        return signed({"alg": "RS256", "kid": "one"}, claims, rsa_key("strange"))

    def sign_with_a_key_of_another_kind(self, claims: dict[str, Any]) -> str:
        """Use a curve under the name of an RSA key."""
        return signed({"alg": "ES256", "kid": "one"}, claims, ECKey.generate_key("P-256"))

    def sign_with_a_key_that_comes_along(self, claims: dict[str, Any]) -> str:
        """Send the key along in the head of the token."""
        key = rsa_key("strange")
        header = {"alg": "RS256", "jwk": key.as_dict(private=False)}
        return signed(header, claims, key)

    def sign_and_change(self, claims: dict[str, Any]) -> str:
        """Change what was signed afterwards."""
        head, _body, signature = self.sign_well(claims).split(".")
        return f"{head}.{packed({**claims, 'sub': 'bob-2'})}.{signature}"

    # --- what is asked over HTTP

    def answer(self, method: str, path: str, form: Mapping[str, str]) -> tuple[int, Any, str]:
        """Give a status, a JSON document, and where it leads."""
        if path == "/.well-known/openid-configuration":
            told = {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "device_authorization_endpoint": f"{self.issuer}/device",
                **self.facts,
            }
            return 200, {name: one for name, one in told.items() if one is not None}, ""
        if path == "/keys":
            own = {"keys": [self.key.as_dict(private=False)]}
            return 200, own if self.jwks is None else self.jwks, ""
        if path == "/authorize":
            return self._authorize(form)
        if path == "/device":
            told = {
                "device_code": secrets.token_urlsafe(),
                "user_code": "ABCD-EFGH",
                "verification_uri": f"{self.issuer}/activate",
                "interval": 1,
                "expires_in": 60,
            }
            self.codes[told["device_code"]] = {}
            return 200, told, ""
        if path == "/token" and method == "POST":
            return self._token(form)
        return 404, {}, ""

    def _authorize(self, form: Mapping[str, str]) -> tuple[int, Any, str]:
        code = secrets.token_urlsafe()
        self.codes[code] = dict(form)
        back = urlencode({"code": code, "state": form["state"]})
        return 303, {}, f"{form['redirect_uri']}?{back}"

    def _token(self, form: Mapping[str, str]) -> tuple[int, Any, str]:
        if "device_code" in form:
            if form["device_code"] not in self.codes:
                return 400, {"error": "invalid_grant"}, ""
            if self.pending:
                self.pending -= 1
                return 400, {"error": "authorization_pending"}, ""
            del self.codes[form["device_code"]]
            return 200, {"id_token": self.id_token()}, ""
        begun = self.codes.pop(form.get("code", ""), None)
        if begun is None or form.get("redirect_uri") != begun["redirect_uri"]:
            return 400, {"error": "invalid_grant"}, ""
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != begun["code_challenge"]:
            return 400, {"error": "invalid_grant"}, ""
        return 200, {"id_token": self.id_token(begun["nonce"])}, ""

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                at = urlsplit(self.path)
                size = int(self.headers.get("content-length", "0"))
                text = self.rfile.read(size).decode() if size else at.query
                form = {name: values[0] for name, values in parse_qs(text).items()}
                provider.asked.append((at.path, {**form, **dict(self.headers.items())}))
                status, told, leads = provider.answer(self.command, at.path, form)
                data = json.dumps(told).encode()
                self.send_response(status)
                if leads:
                    self.send_header("Location", leads)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer  # noqa: N815 - as http.server names them

            def log_message(self, *_words: object) -> None:
                pass

        return Handler


def packed(told: Mapping[str, Any]) -> str:
    """Write a part of a token."""
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


def signed(header: dict[str, Any], claims: Mapping[str, Any], key: Any) -> str:
    """Write and sign a token, whatever one may think of its head."""
    registry = jws.JWSRegistry(algorithms=[header["alg"]], strict_check_header=False)
    return jws.serialize_compact(header, json.dumps(claims).encode(), key, registry=registry)


@contextmanager
def fake_provider() -> Iterator[FakeProvider]:
    """Serve one."""
    provider = FakeProvider()
    thread = threading.Thread(target=provider.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.server.shutdown()
        provider.server.server_close()
        thread.join()
