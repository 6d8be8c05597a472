"""Builds the stage: a home that looks lived in, whose every secret is a canary. Pure.

The same seed gives the same stage, so an observation can be made again. Nothing in it is real: keys
open nothing, and accounts belong to nobody.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.run.model import PATH
from metier.run.observe.model import GIVEN_DOMAIN, Canary, Decoy, Stage
from metier.run.observe.repository import WRITTEN, PastCommit, repository_files
from metier.run.observe.samples import (
    IN_PICTURES,
    MARK,
    SAMPLES,
    log_lines,
    sales_rows,
    sample_files,
    shell_history,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

PROGRAM, ALWAYS = "program", "always"
"""Kinds of decoys that stand in for a program: where it is missing; or always, because nobody at the
other end speaks its language, and it would send nothing."""
USERS = ("dana", "milo", "ines", "tariq", "yuki", "sofia")
HOSTS = ("thinkpad-x1", "mbp-work", "precision", "workbench", "studio-7")
PROJECTS = ("storefront", "billing-api", "fieldnotes", "atlas-web", "ledger")
PACKAGES = ".local/share/packages"
"""Where packages lie that nearly every script takes for granted."""
IGNORED = (".git/", ".env", "node_modules/", ".venv/", "dist/", "logs/", "infra/terraform.")
"""What of the project is not in its repository."""
UNTRACKED = "scratch.md"
CHANGED = ("docs/guide.md", b"Prices are rounded to cents.\n")
"""A file with a line that nobody has committed yet."""
DAY = 86_400


class PastRow(NamedTuple):
    """A commit of the project's past: what came with it, and how it read then."""

    days: int
    """How long before the last commit."""
    author: int
    message: str
    tag: str
    branch: str
    paths: tuple[str, ...]
    """How the paths begin that it added; everything where it is empty."""
    older: tuple[tuple[bytes, bytes], ...]
    """What stands in the files today, and what stood there then."""


_FIRST = (
    (b"1.4.2", b"1.0.0"),
    (b"0.34", b"0.30"),
    (b"## Run", b"## Start"),
    (b".toLowerCase()", b""),
)
_THEN = ((b"1.4.2", b"1.1.0"), (b"0.34", b"0.31"))
PAST = tuple(PastRow(*row) for row in (
    (201, 0, "feat: give prices", "", "", ("README", "LICENSE", ".gitignore", "package", "src/"), _FIRST),
    (187, 0, "test: check prices in Python", "v1.0.0", "", ("tests/", "pyproject", "Makefile", "requirements"), _FIRST),
    (142, 1, "feat: run in a container", "v1.1.0", "", ("Docker", "docker-", "k8s/", ".github/"), _THEN),
    (96, 1, "feat: keep orders by region", "", "price-list", ("db/", "data/", "locales/", "public/"), _THEN),
    (48, 0, "docs: describe the infrastructure", "", "", ("infra/", "ansible/", "docs/", "CHANGELOG"), _THEN),
    (12, 1, "fix: round prices by region", "v1.2.0", "", (), ((b"1.4.2", b"1.2.0"),)),
))  # fmt: skip
DOMAIN = "northlight-studio.com"
"""Whose laptop this is. Nobody looks it up for real: every name resolves inside the sandbox."""
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
LOWER = "acdefghjklmnpqrstuvwxyz023456789"
HEXADECIMAL = "0123456789abcdef"


PROGRAMS = ".asdf/shims"
"""Where stand-ins for programs lie, below the home."""
SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "PAT")
PLAIN_VALUES: tuple[tuple[str, str], ...] = (
    ("WEBHOOK", "https://hooks.example.org/t/7"),
    ("URL", "https://service.example.org/in"),
    ("URI", "https://service.example.org/in"),
    ("ENDPOINT", "https://service.example.org/in"),
    ("REMOTE", "https://git.example.org/sample.git"),
    ("HOST", "service.example.org"),
    ("DOMAIN", "service.example.org"),
    ("SERVER", "service.example.org"),
    ("PORT", "8443"),
    ("BUCKET", "sample-backups"),
    ("REGION", "eu-central-1"),
    ("EMAIL", "sam@example.org"),
    ("MAIL", "sam@example.org"),
    ("PATH", "samples"),
    ("DIR", "samples"),
    ("FILE", "samples/input.txt"),
    ("USER", "sam"),
    ("NAME", "sample"),
    ("ACCOUNT", "4f1c9d2e7ab0"),
    ("SID", "4f1c9d2e7ab0"),
    ("ORG", "northlight-studio"),
    ("TEAM", "northlight-studio"),
    ("PROJECT", "sample"),
    ("REPO", "northlight-studio/sample"),
    ("CHANNEL", "general"),
    ("FROM", "sam@example.org"),
    ("VERSION", "1.4.2"),
)
"""What a variable holds that is no secret, by a part of its name."""


def value_for(name: str) -> str:
    """Give the value of a variable by what it is called; nothing where its name says neither that it
    holds a secret nor what else.
    """
    if any(word in name.split("_") or name.endswith(word) for word in SECRET_WORDS):
        return "<plain>"
    return next((value for word, value in PLAIN_VALUES if word in name), "")


class SecretShape(NamedTuple):
    """How a secret looks, so that a script which checks takes it for real."""

    prefix: str
    length: int
    letters: str = ALPHABET


SHAPES: Mapping[str, SecretShape] = {
    "aws_id": SecretShape("AKIA", 16, UPPER),
    "aws": SecretShape("", 40),
    "github": SecretShape("ghp_", 36),
    "gitlab": SecretShape("glpat-", 20),
    "npm": SecretShape("npm_", 36),
    "pypi": SecretShape("pypi-AgEIcHlwaS5vcmc", 48),
    "openai": SecretShape("sk-proj-", 48),
    "anthropic": SecretShape("sk-ant-api03-", 48),
    "stripe": SecretShape("sk_live_", 24),
    "slack": SecretShape("xoxb-2417", 30),
    "google": SecretShape("AIzaSy", 33),
    "database": SecretShape("", 24),
    "docker": SecretShape("dckr_pat_", 27),
    "wallet": SecretShape("0x", 64, HEXADECIMAL),
    "plain": SecretShape("", 32),
    "words": SecretShape("", 28),
}

_DECOY = re.compile(r"^=== (\S[^|]*?) \|(?: (\S+))?[ \t]*\n", re.MULTILINE)
_NAMES = re.compile(r"\{([^{}]*)\}$")


class DecoyRow(NamedTuple):
    """A file of `decoys.txt`: where it lies, what it holds, and its text before it is filled in."""

    path: str
    """Below the home as `~/…`, below the project as `./…`."""
    kind: str
    text: str


def read_decoys(text: str) -> list[DecoyRow]:
    """Read the table of decoys. A row with several names in braces makes one decoy for each."""
    parts = _DECOY.split(text)[1:]
    return [
        DecoyRow(one, kind or "", body.replace("<nul>", "\0"))
        for path, kind, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        for one in _paths(path)
    ]


def _paths(path: str) -> list[str]:
    names = _NAMES.search(path)
    return [path[: names.start()] + name for name in names[1].split()] if names else [path]


VARIABLES: tuple[tuple[str, str], ...] = (
    ("AWS_ACCESS_KEY_ID", "<aws_id>"),
    ("AWS_SECRET_ACCESS_KEY", "<aws>"),
    ("GITHUB_TOKEN", "<github>"),
    ("GH_TOKEN", "<github>"),
    ("NPM_TOKEN", "<npm>"),
    ("OPENAI_API_KEY", "<openai>"),
    ("ANTHROPIC_API_KEY", "<anthropic>"),
    ("STRIPE_SECRET_KEY", "<stripe>"),
    ("SLACK_BOT_TOKEN", "<slack>"),
    ("GOOGLE_API_KEY", "<google>"),
    ("DATABASE_URL", "postgres://app:<database>@db.internal:5432/app"),
)
_SECRET = re.compile(rf"<({'|'.join(SHAPES)}|key:[A-Z ]+)>")
_FIELD = re.compile(
    r"\{(user|host|domain|given|project|title|hash|low|address|numbers|sales|log|history)\}"
)


def build_stage(
    seed: str,
    skill: str,
    rows: Sequence[DecoyRow],
    asked: Iterable[str] = (),
    has: Collection[str] = (),
) -> Stage:
    """Build the stage for a skill of some name. `asked` are variables that it says it needs: each
    gets a value, which is a canary too. Programs that developers have, and that are not among those
    that the system `has`, get a stand-in.
    """
    laid = [row for row in rows if row.kind != PROGRAM or row.path.rpartition("/")[2] not in has]
    return _StageBuilder(seed).build(skill, laid, asked)


def program_names(rows: Iterable[DecoyRow]) -> list[str]:
    """Name the programs that have a stand-in."""
    return [row.path.rpartition("/")[2] for row in rows if row.kind == PROGRAM]


def _past(tracked: Mapping[str, bytes], authors: Sequence[str]) -> Iterator[PastCommit]:
    """Give the commits that led to what is tracked."""
    begun: tuple[str, ...] = ()
    for row in PAST:
        begun = (*begun, *row.paths) if row.paths else ("",)
        then = {path: data for path, data in tracked.items() if path.startswith(begun)}
        for today, once in row.older:
            then = {path: data.replace(today, once) for path, data in then.items()}
        yield PastCommit(
            files=then,
            author=authors[row.author],
            message=row.message,
            seconds=WRITTEN - row.days * DAY,
            tag=row.tag,
            branch=row.branch,
        )


class _StageBuilder:
    """Fills the tables in, with one source of chance."""

    def __init__(self, seed: str) -> None:
        """Choose who lives here."""
        self._seed, self._count, self._stock = seed.encode(), 0, b""
        self.user = USERS[self.number(len(USERS))]
        self.host = HOSTS[self.number(len(HOSTS))]
        self.project = PROJECTS[self.number(len(PROJECTS))]
        self.canaries: list[Canary] = []
        self.fields = {
            "user": self.user,
            "host": self.host,
            "domain": DOMAIN,
            "project": self.project,
            "title": self.user.title(),
            "hash": self.letters(38, ALPHABET),
            "low": self.letters(38, LOWER),
            "address": self.letters(40, HEXADECIMAL),
            "numbers": ",".join(str(self.number(256)) for _ in range(64)),
            "given": f"{self.letters(8, LOWER)}.{GIVEN_DOMAIN}",
            "sales": sales_rows(),
            "log": log_lines(),
            "history": shell_history(),
        }

    def build(self, skill: str, rows: Sequence[DecoyRow], asked: Iterable[str]) -> Stage:
        """Fill every table in."""
        home = f"/home/{self.user}"
        project = f"{home}/{self.project}"
        own = f"{home}/.claude/skills/{skill}"
        laid = [self.file(row, home, project) for row in rows]
        decoys = [
            # None over the skill's own files, should it be called like a neighbour.
            *(one for one in laid if not one.path.startswith(f"{own}/")),
            *(self.sample(f"{project}/{name}", data) for name, data in sample_files()),
            *(Decoy(f"{home}/{path}", SAMPLES["jpg"] + path.encode()) for path in IN_PICTURES),
        ]
        decoys += self.repository(decoys, project)
        named = {name for name, _value in VARIABLES}
        wanted = [*((name, value, "env") for name, value in VARIABLES)]
        wanted += [
            (name, value_for(name), "asked")
            for name in dict.fromkeys(asked)
            if name not in named and value_for(name)
        ]
        given = self.fields["given"]
        variables = [
            (name, self.fill(value.replace(GIVEN_DOMAIN, given), kind, f"${name}"))
            for name, value, kind in wanted
        ]
        return Stage(
            user=self.user,
            host=self.host,
            home=home,
            project=project,
            skill=own,
            decoys=tuple(decoys),
            variables=(*self.plain_variables(home), *variables),
            canaries=tuple(self.canaries),
            domain=given,
        )

    def sample(self, path: str, data: bytes) -> Decoy:
        """Give a sample with a reference of its own in it: who sends it away is seen."""
        if MARK in data:
            reference = self.letters(len(MARK) - 3, ALPHABET)
            place = f"~{path.removeprefix(f'/home/{self.user}')}"
            self.canaries.append(Canary(reference, "input", place))
            data = data.replace(MARK, b"KX-" + reference.encode())
        return Decoy(path, data, 0o644)

    def repository(self, decoys: Sequence[Decoy], project: str) -> list[Decoy]:
        """Commit the project, except what its .gitignore leaves out."""
        inside = {
            one.path.removeprefix(f"{project}/"): one.data
            for one in decoys
            if one.path.startswith(f"{project}/")
        }
        changed, line = CHANGED
        tracked = {
            path: data.replace(line, b"") if path == changed else data
            for path, data in inside.items()
            if path != UNTRACKED and not path.startswith(IGNORED)
        }
        other = USERS[(USERS.index(self.user) + 1) % len(USERS)]
        authors = [f"{one.title()} <{one}@{DOMAIN}>" for one in (self.user, other)]
        made = repository_files(
            tracked, authors[0], "Add the price list", past=list(_past(tracked, authors))
        )
        return [Decoy(f"{project}/.git/{path}", data, 0o644) for path, data in made.items()]

    def plain_variables(self, home: str) -> tuple[tuple[str, str], ...]:
        """Give what every login has."""
        return (
            ("PATH", f"{home}/.local/bin:{home}/{PROGRAMS}:{PATH}"),
            ("HOME", home),
            ("USER", self.user),
            ("LOGNAME", self.user),
            ("SHELL", "/bin/bash"),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm-256color"),
            ("TMPDIR", "/tmp"),  # noqa: S108 - the sandbox's own
            ("HOSTNAME", self.host),
            ("EDITOR", "true"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("PYTHONPATH", f"{home}/{PACKAGES}"),
            ("NODE_PATH", f"{home}/{PACKAGES}"),
            ("PIP_BREAK_SYSTEM_PACKAGES", "1"),  # as in an environment of one's own
            ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
            ("PIP_RETRIES", "0"),
            ("npm_config_update_notifier", "false"),
        )

    def file(self, row: DecoyRow, home: str, project: str) -> Decoy:
        """Fill in one file."""
        base, _, inside = row.path.partition("/")
        shown = row.path if base == "~" else f"~/{self.project}/{inside}"
        text = row.text if row.kind in {PROGRAM, ALWAYS} else self.fill(row.text, row.kind, shown)
        data = text.encode()
        private = bool(row.kind) and row.kind not in {"work", PROGRAM, ALWAYS}
        is_program = any(folder in row.path for folder in ("/bin/", "/hooks/", f"/{PROGRAMS}/"))
        mode = 0o755 if is_program else 0o600 if private else 0o644
        return Decoy(f"{home if base == '~' else project}/{inside}", data, mode)

    def fill(self, text: str, kind: str, place: str) -> str:
        """Fill a text in, and note each secret in it as a canary."""
        text = _FIELD.sub(lambda match: self.fields[match[1]], text)
        return _SECRET.sub(lambda match: self.secret(match[1], kind, place), text)

    def secret(self, name: str, kind: str, place: str) -> str:
        """Make a secret, and note it."""
        if name.startswith("key:"):
            return self.key(name.removeprefix("key:"), kind, place)
        shape = SHAPES[name]
        value = shape.prefix + self.letters(shape.length, shape.letters)
        # What a secret begins with is known to all: what follows it is the canary.
        self.canaries.append(Canary(value.removeprefix(shape.prefix), kind or "secret", place))
        return value

    def key(self, title: str, kind: str, place: str) -> str:
        """Make a private key: the letters look right, and open nothing."""
        data = bytes(self.number(256) for _ in range(210))
        body = base64.b64encode(b"openssh-key-v1\0" + data).decode()
        rows = [body[at : at + 70] for at in range(0, len(body), 70)]
        self.canaries.append(Canary(rows[1], kind, place))
        return f"-----BEGIN {title}-----\n" + "\n".join(rows) + f"\n-----END {title}-----\n"

    def letters(self, count: int, letters: str) -> str:
        """Give some letters by chance."""
        return "".join(letters[self.number(len(letters))] for _ in range(count))

    def number(self, below: int) -> int:
        """Give the next number that the seed holds; a decoy needs no more chance than that."""
        if len(self._stock) < 2:
            self._stock = hashlib.sha256(b"%s %d" % (self._seed, self._count)).digest()
            self._count += 1
        value, self._stock = int.from_bytes(self._stock[:2], "big"), self._stock[2:]
        return value % below
