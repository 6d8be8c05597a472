"""How other clients show a token: as a bearer's, or as the password of any user, for programs that
know only names and passwords.
"""

from __future__ import annotations

import base64
import binascii

from metier.errors import RefusedError

MAX_HEADER_CHARS = 1024
CHALLENGE = 'Basic realm="metier hub", charset="UTF-8"'
"""What makes such programs send what they have."""


def token_in(header: str) -> str:
    """Give the token of an Authorization header; nothing where it holds a name without a password."""
    kind, _, told = header[:MAX_HEADER_CHARS].partition(" ")
    if kind.lower() == "bearer":
        return told.strip()
    if kind.lower() == "basic":
        try:
            user, _, password = (
                base64.b64decode(told.strip(), validate=True).decode().partition(":")
            )
        except (binascii.Error, ValueError):
            user, password = "", ""
        if user or password:
            return password or user
    raise RefusedError(
        "the hub takes tokens only",
        code="hub-token",
        hint="send 'Bearer TOKEN', or the token as a password",
    )
