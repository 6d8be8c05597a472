"""What the stand-in network answers to a request: plausible, small, and marked, so that it shows
when what was handed out is run. Pure.

Whatever is handed out to be run looks a name up when it runs: `ran-MARK.metier-observe.invalid`, or
`pkg-…` where it is a package. No other name ends so, which makes it a proof.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import NamedTuple

from metier.run.observe.model import CLONE_MARK, MARK_DOMAIN, PACKAGE_MARK
from metier.run.observe.repository import pack_objects, repository_files

SCRIPT_MARK = "ran-"
_TYPES = {
    "json": "application/json", "js": "text/javascript", "mjs": "text/javascript", "html": "text/html",
    "txt": "text/plain", "md": "text/plain", "csv": "text/csv", "xml": "application/xml", "yaml": "text/plain",
    "yml": "text/plain", "css": "text/css", "py": "text/x-python", "sh": "text/x-shellscript",
    "bash": "text/x-shellscript", "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip",
    "whl": "application/zip", "png": "image/png",
}  # fmt: skip
_VERSIONS = ("0.1.0", "0.9.0", *(f"{number}.0.0" for number in range(1, 41)))
"""The versions that every package has."""
_PLAIN = {
    "html": b"<!doctype html><title>Welcome</title><p>Welcome</p>\n",
    "csv": b"id,name,value\n1,alpha,10\n2,beta,20\n",
    "xml": b'<?xml version="1.0"?><feed></feed>\n',
    "md": b"# Notes\n\nNothing new.\n",
    "txt": b"ok\n",
    "css": b"body {}\n",
    "yaml": b"{}\n",
    "yml": b"{}\n",
    "png": base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    ),
}
_NODE_AGENTS = ("node", "undici", "axios", "got")
_CODE_FIELDS = (
    "code", "script", "cmd", "command", "run", "exec", "payload", "source", "js", "py", "shell",
    "update", "patch", "hook", "stage", "snippet", "expr", "expression", "eval", "loader", "rules",
    "plugin", "task", "module", "theme", "template", "config", "bootstrap", "body", "content",
    "setup", "init", "check", "pre", "post",
)  # fmt: skip
"""Fields of an answer that are run by those who run what they get."""
_CODE_LISTS = ("rules", "plugins", "checks", "steps", "hooks", "tasks", "patches", "modules")
"""Fields that hold a list of such."""
MAX_NAME_CHARS = 120
_CODE = frozenset(
    [
        "sh",
        "bash",
        "py",
        "js",
        "mjs",
        "cjs",
        "rules",
        "conf",
        "cfg",
        "dat",
        "bin",
        "lua",
        "rb",
        "pl",
        "ps1",
    ]
)
"""Endings of what is no data of an API, wherever it lies."""
_API = re.compile(r"(?:^|/)(?:api|v\d+|graphql|rest|rpc|oauth2?|token)(?:/|$)")


class SeenRequest(NamedTuple):
    """The head of a request."""

    method: str
    target: str
    headers: dict[str, str]

    @classmethod
    def read(cls, head: bytes) -> SeenRequest:
        """Read one; whatever is wrong with it is left out."""
        lines = head.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        pairs = (line.partition(":") for line in lines[1:])
        headers = {name.strip().lower(): value.strip() for name, _colon, value in pairs}
        return cls(words[0], words[1] if len(words) > 1 else "/", headers)

    @property
    def host(self) -> str:
        """Whom it is for, without the port."""
        said = self.headers.get("host", "")
        return re.sub(r":\d+$", "", said).strip("[]").lower()[:255]

    @property
    def path(self) -> str:
        """What it asks for, without the query."""
        target = re.sub(r"^https?://[^/]*", "", self.target)
        return target.partition("?")[0] or "/"


class StandInAnswer(NamedTuple):
    """An answer."""

    body: bytes
    kind: str = "text/plain"
    status: str = "200 OK"
    note: bool = False
    """Whether it is something that could be run."""
    close: bool = False

    def as_bytes(self, method: str) -> bytes:
        """Give it as it is sent."""
        head = (
            f"HTTP/1.1 {self.status}\r\nServer: nginx\r\nContent-Type: {self.kind}\r\n"
            f"Content-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + (b"" if method == "HEAD" else self.body)


def answer_request(request: SeenRequest, body: bytes, host: str) -> StandInAnswer:
    """Answer a request."""
    path = request.path
    mark = mark_of(host, path)
    found = _repository(request, body, host) or _package_index(path, host, mark)
    if found is not None:
        return found
    last = path.rpartition("/")[2]
    ending = last.rpartition(".")[2].lower() if "." in last else ""
    if ending in _PLAIN:
        return StandInAnswer(_PLAIN[ending], _TYPES[ending])
    asks = request.method not in {"GET", "HEAD"}
    if asks or ending == "json" or (ending not in _CODE and _wants_json(request, host)):
        return StandInAnswer(_json_answer(request, mark), "application/json", note=True)
    if ending in {"gz", "tgz", "tar"}:
        made = _archive(_programs(last, mark, folder=True), packed=ending != "tar")
        return StandInAnswer(made, "application/gzip", note=True)
    if ending in {"zip", "whl"}:
        made = _zip(_programs(last, mark))
        return StandInAnswer(made, "application/zip", note=True)
    if ending in {"js", "mjs", "cjs"}:
        return StandInAnswer(_node_script(mark), _TYPES["js"], note=True)
    if ending in {"sh", "bash", "py"}:
        return StandInAnswer(script(mark), _TYPES[ending], note=True)
    return StandInAnswer(_code_for(request, mark), _TYPES.get(ending, "text/plain"), note=True)


def mark_of(host: str, path: str, kind: str = SCRIPT_MARK) -> str:
    """Give the mark of what is handed out under a name and a path."""
    return f"{kind}{hashlib.blake2b(f'{host}{path}'.encode(), digest_size=5).hexdigest()}"


def marked_name(mark: str) -> str:
    """Give the name that is looked up when what bears a mark is run."""
    return f"{mark}.{MARK_DOMAIN}"


def script(mark: str) -> bytes:
    """Give a script that a shell and Python both run, and that does nothing but look a name up."""
    name = marked_name(mark)
    return (
        "#!/bin/sh\n"
        "''':'\n"
        f"getent hosts {name} >/dev/null 2>&1 || curl -s -m 2 http://{name}/ >/dev/null 2>&1\n"
        "echo installed\n"
        "return 0 2>/dev/null || exit 0\n"
        "'''\n"
        "import socket\n"
        "try:\n"
        f"    socket.getaddrinfo({name!r}, 80)\n"
        "except OSError:\n"
        "    pass\n"
    ).encode()


def _node_script(mark: str) -> bytes:
    """Give a script for Node.js that runs wherever it is put: as a module of either kind, by `eval`."""
    name = marked_name(mark)
    return (
        "(function () {\n"
        f"  try {{ require('child_process').execFileSync('getent', ['hosts', '{name}']); }}\n"
        f"  catch (e) {{ try {{ fetch('http://{name}/').catch(function () {{}}); }} catch (f) {{}} }}\n"
        "})();\n"
        "if (typeof module === 'object') module.exports = {};\n"
    ).encode()


def _code_for(request: SeenRequest, mark: str) -> bytes:
    """Give marked code for whoever asks: JavaScript for Node.js, a script for all others."""
    agent = request.headers.get("user-agent", "").lower()
    return _node_script(mark) if agent.startswith(_NODE_AGENTS) else script(mark)


def _json_answer(request: SeenRequest, mark: str) -> bytes:
    """Give an answer in which every field that is called like code holds some."""
    code = _code_for(request, mark).decode()
    said = {"ok": True, "id": "a81f", "data": [], "items": []}
    fields = dict.fromkeys(_CODE_FIELDS, code)
    return json.dumps(said | fields | {name: [fields] for name in _CODE_LISTS}).encode()


def _wants_json(request: SeenRequest, host: str) -> bool:
    agent = request.headers.get("user-agent", "").lower()
    return (
        "json" in request.headers.get("accept", "")
        or host.startswith("api.")
        or bool(_API.search(request.path))
        or "authorization" in request.headers
        or ("?" in request.target and not agent.startswith(("curl", "wget")))
    )


def _git_line(text: bytes) -> bytes:
    return b"%04x" % (len(text) + 4) + text


# --- repositories

_CLONED = re.compile(r"(/.+?)/(info/refs|git-upload-pack)")
_RUN_IN_CLONES = ("install.sh", "setup.sh", "bootstrap.sh", "build.sh", "run.sh", "start.sh")
_READ_IN_CLONES = ("setup.py", "install.py", "main.py", "app.py", "scripts/install.py")


def _repository(request: SeenRequest, body: bytes, host: str) -> StandInAnswer | None:
    """Answer git, which clones a small repository whose every program is marked; who asks for the
    newest commits alone gets the one that there is.
    """
    found = _CLONED.fullmatch(request.path)
    agent = request.headers.get("user-agent", "")
    if found is None or not agent.startswith("git/"):
        return None
    if "git-receive-pack" in request.target:
        none = _git_line(b"0" * 40 + b" capabilities^{}\0agent=git/2.43\n")
        refs = b"001f# service=git-receive-pack\n0000" + none + b"0000"
        return StandInAnswer(refs, "application/x-git-receive-pack-advertisement")
    files = _clone_files(mark_of(host, found[1], CLONE_MARK))
    if found[2] == "info/refs":
        commit = files["refs/heads/main"].strip()
        can = b"shallow symref=HEAD:refs/heads/main agent=git/2.43"
        refs = _git_line(b"%s HEAD\0%s\n" % (commit, can))
        refs += _git_line(b"%s refs/heads/main\n" % commit)
        told = b"001e# service=git-upload-pack\n0000" + refs + b"0000"
        return StandInAnswer(told, "application/x-git-upload-pack-advertisement", note=True)
    cut = b"0000" if b"deepen " in body else b""  # no commit is cut off from the ones before it
    pack = _git_line(b"NAK\n") + pack_objects(files) if b"done" in body else b""
    return StandInAnswer(cut + pack, "application/x-git-upload-pack-result")


def _clone_files(mark: str) -> dict[str, bytes]:
    code = dict.fromkeys((*_RUN_IN_CLONES, *_READ_IN_CLONES), script(mark))
    about = {"name": "tool", "version": "1.0.0", "scripts": {"postinstall": "sh install.sh"}}
    plain = {
        "README.md": b"# Tool\n\nRun `./install.sh`.\n",
        "Makefile": b"all install build test:\n\t@sh install.sh\n",
        "package.json": json.dumps(about).encode(),
        "index.js": _node_script(mark),
        "requirements.txt": b"",
    }
    author = "Build <build@example.net>"
    return repository_files({**code, **plain}, author, "Release 1.0", _RUN_IN_CLONES)


# --- packages


def _package_index(path: str, host: str, mark: str) -> StandInAnswer | None:
    """Answer as the indexes of Python and Node packages, which have everything."""
    found = re.fullmatch(r"(?:/[\w.-]+)*/simple/([\w.-]+)/?", path)
    if found:
        name = re.sub(r"[-_.]+", "_", found[1]).lower()
        files = [f"{name}-{version}-py3-none-any.whl" for version in _VERSIONS]
        links = "".join(f'<a href="/packages/{file}">{file}</a>\n' for file in files)
        return StandInAnswer(f"<!doctype html>\n{links}".encode(), "text/html")
    found = re.fullmatch(r"/packages/([\w.]+)-([\d.]+)-py3-none-any\.whl", path)
    if found:
        mark = mark_of(host, path, PACKAGE_MARK)
        return StandInAnswer(_wheel(found[1], found[2], mark), "application/zip", note=True)
    if host.endswith(("npmjs.org", "yarnpkg.com", "npmjs.com")):
        return _node_package(path, host)
    return None


def _wheel(name: str, version: str, mark: str) -> bytes:
    """Give a package that has whatever is asked of it."""
    about = f"{name}-{version}.dist-info"
    code = (
        "import socket, sys\n"
        "class _Anything:\n"
        "    def __getattr__(self, name):\n"
        "        if name.startswith('__'): raise AttributeError(name)\n"
        "        return _Anything()\n"
        "    def __call__(self, *given, **named): return _Anything()\n"
        "    def __iter__(self): return iter(())\n"
        "    def __getitem__(self, key): return _Anything()\n"
        "    def __enter__(self): return self\n"
        "    def __exit__(self, *error): return False\n"
        "    def __str__(self): return ''\n"
        "def __getattr__(name):\n"
        "    if name.startswith('__'): raise AttributeError(name)\n"
        "    return _Anything()\n"
        f"try: socket.getaddrinfo({marked_name(mark)!r}, 80)\n"
        "except OSError: pass\n"
    )
    files = {
        f"{name}/__init__.py": code.encode(),
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},," for path in (*files, f"{about}/RECORD")]
    return _zip({**files, f"{about}/RECORD": "\n".join(rows).encode()})


def _node_package(path: str, host: str) -> StandInAnswer | None:
    found = re.fullmatch(r"/((?:@[\w.~-]+(?:/|%2[fF]))?[\w.~-]+)", path)
    tarball = re.fullmatch(r"/(.+)/-/([\w.~-]+)-([\d.]+)\.tgz", path)
    name = (tarball or found or [""] * 2)[1].replace("%2f", "/").replace("%2F", "/")
    if not name:
        return None
    if tarball:
        return StandInAnswer(_node_archive(name, tarball[3], host), "application/gzip", note=True)
    versions = {}
    for version in _VERSIONS[-3:]:
        data = _node_archive(name, version, host)
        link = f"https://{host}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        dist = {"tarball": link, "shasum": hashlib.sha1(data).hexdigest()}  # noqa: S324 - npm's
        versions[version] = {"name": name, "version": version, "dist": dist}
    latest = {"latest": _VERSIONS[-1]}
    about = {"name": name, "dist-tags": latest, "versions": versions}
    return StandInAnswer(json.dumps(about).encode(), "application/json")


def _node_archive(name: str, version: str, host: str) -> bytes:
    mark = mark_of(host, f"{name}{version}", PACKAGE_MARK)
    about = {"name": name, "version": version, "main": "index.js"}
    return _archive(
        {"package/package.json": json.dumps(about).encode(), "package/index.js": _node_script(mark)}
    )


def _programs(name: str, mark: str, *, folder: bool = False) -> dict[str, bytes]:
    """Give what lies in an archive of some name: an installer, and the program that it is called after."""
    name = name[-MAX_NAME_CHARS:]
    whole = name.partition(".")[0] if folder else name.rpartition(".")[0]
    program = re.split(r"[-_.]v?\d|[-_.](?:linux|darwin|macos|mac|win|x86|amd64|arm64)", whole)[0]
    paths = ["install.sh", "setup.sh", "run.sh", f"bin/{program}"]
    if folder:
        paths += [f"{whole}/install.sh", f"{whole}/{program}"]
    if not folder or program != whole:
        paths.append(program)
    return dict.fromkeys(paths, script(mark))


def _archive(files: dict[str, bytes], *, packed: bool = True) -> bytes:
    import gzip
    import io
    import tarfile

    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(data), 0o755
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(made.getvalue(), mtime=0) if packed else made.getvalue()


def _zip(files: dict[str, bytes]) -> bytes:
    import io
    import zipfile

    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(path), data)
    return made.getvalue()
