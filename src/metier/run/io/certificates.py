"""The authority of the stand-in network: it issues a certificate for whoever is asked for. Nobody
outside a sandbox trusts it, and its keys never lie on the disk.

By `cryptography`, which comes with the extra `sign`; else by the `openssl` command; where there is
neither, an encrypted connection is known by its name and its size alone.
"""

from __future__ import annotations

import ipaddress
import os
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

TITLE = "Northlight Internal CA"
"""What the authority is called: a company's own, of which there are many."""
MAX_ISSUED = 500
_NAME = re.compile(r"[A-Za-z0-9_*](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?")
_DAYS = 3_650
"""Valid for long: a try may have its clock moved."""


class _Issuer(Protocol):
    """Makes certificates."""

    pem: bytes

    def issue(self, name: str, *, address: bool) -> bytes:
        """Give a certificate and its key."""


class Authority:
    """Issues certificates, each once."""

    def __init__(self, *, library: bool = True) -> None:
        """Make a key and the authority's own certificate; without `library` by the command."""
        self._issued: dict[str, bytes] = {}
        self._issuer = (_by_library() if library else None) or _by_command()
        self.pem = self._issuer.pem if self._issuer is not None else b""
        """The authority's own certificate; nothing where none can be made."""

    def issue(self, name: str) -> bytes:
        """Give a certificate for a name or an address, with its key; nothing where none can be
        had.
        """
        address = _is_address(name)
        if self._issuer is None or not (address or _NAME.fullmatch(name)):
            return b""
        if name not in self._issued and len(self._issued) < MAX_ISSUED:
            with suppress(OSError, ValueError, subprocess.SubprocessError):
                self._issued[name] = self._issuer.issue(name, address=address)
        return self._issued.get(name, b"")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


# --- by the library


def _by_library() -> _Issuer | None:
    try:
        return _LibraryIssuer()
    except ImportError:
        return None


_KEY_USES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


class _LibraryIssuer:
    def __init__(self) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        self._x509, self._hash = x509, hashes.SHA256()
        self._key, self._leaf_key = (ec.generate_private_key(ec.SECP256R1()) for _key in range(2))
        self._encoding = serialization.Encoding.PEM
        self._leaf_pem = self._leaf_key.private_bytes(
            self._encoding,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        self._name = self._named(TITLE)
        made = self._begin(self._name, self._key.public_key())
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        uses = dict.fromkeys(_KEY_USES, False) | {"key_cert_sign": True, "digital_signature": True}
        self.pem = self._signed(made.add_extension(x509.KeyUsage(**uses), critical=True))

    def issue(self, name: str, *, address: bool) -> bytes:
        x509 = self._x509
        other = x509.IPAddress(ipaddress.ip_address(name)) if address else x509.DNSName(name)
        made = self._begin(self._named(name[:64]), self._leaf_key.public_key())
        made = made.add_extension(x509.SubjectAlternativeName([other]), critical=False)
        return self._signed(made) + self._leaf_pem

    def _named(self, text: str) -> Any:
        x509 = self._x509
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    def _begin(self, subject: Any, key: Any) -> Any:
        """Begin a certificate; both kinds name the key that signs, which newer programs insist on."""
        x509, now = self._x509, datetime.now(UTC)
        made = x509.CertificateBuilder(self._name, subject, key, x509.random_serial_number())
        made = made.not_valid_before(now - timedelta(days=30))
        made = made.not_valid_after(now + timedelta(days=_DAYS))
        by = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        own = x509.SubjectKeyIdentifier.from_public_key(key)
        return made.add_extension(by, critical=False).add_extension(own, critical=False)

    def _signed(self, made: Any) -> bytes:
        found: bytes = made.sign(self._key, self._hash).public_bytes(self._encoding)
        return found


# --- by the command

_CONFIG = """[req]
distinguished_name = dn
prompt = no
[dn]
CN = {name}
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, digitalSignature, keyCertSign
subjectKeyIdentifier = hash
[leaf]
subjectAltName = {kind}:{other}
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""
_OPENSSL = "/usr/bin/openssl"
_SECONDS = 20


def _by_command() -> _Issuer | None:
    try:
        return _CommandIssuer()
    except (OSError, subprocess.SubprocessError):
        return None


class _CommandIssuer:
    def __init__(self) -> None:
        curve = ("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        self._key, self._leaf_key = (_openssl(curve, []) for _key in range(2))
        config = _CONFIG.format(name=TITLE, kind="DNS", other="localhost").encode()
        words = ("req", "-x509", "-new", "-days", str(_DAYS), "-extensions", "authority")
        self.pem = _openssl((*words, "-key", "{0}", "-config", "{1}"), [self._key, config])

    def issue(self, name: str, *, address: bool) -> bytes:
        kind = "IP" if address else "DNS"
        config = _CONFIG.format(name=name[:64], kind=kind, other=name).encode()
        asked = _openssl(("req", "-new", "-key", "{0}", "-config", "{1}"), [self._leaf_key, config])
        words = ("x509", "-req", "-days", str(_DAYS), "-set_serial", f"0x{os.urandom(8).hex()}")
        files = ("-in", "{0}", "-CA", "{1}", "-CAkey", "{2}", "-extfile", "{3}")
        given = [asked, self.pem, self._key, config]
        return _openssl((*words, *files, "-extensions", "leaf"), given) + self._leaf_key


def _openssl(words: Sequence[str], files: Sequence[bytes]) -> bytes:
    """Run the command with files that lie in memory; `{0}` in its words is the first of them."""
    numbers: list[int] = []
    try:
        for data in files:
            numbers.append(os.memfd_create("metier"))
            os.write(numbers[-1], data)
        paths = [f"/proc/self/fd/{number}" for number in numbers]
        return subprocess.run(  # noqa: S603 - the system's own, with words of ours
            [_OPENSSL, *(word.format(*paths) for word in words)],
            pass_fds=numbers,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env={},
        ).stdout
    finally:
        for number in numbers:
            os.close(number)
