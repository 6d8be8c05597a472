"""Writes what a lock has as a CycloneDX 1.6 document: the skills, who needs whom, and the packages
and containers that their own files name.

The same lock gives the same bytes. There is no time in it, unless `SOURCE_DATE_EPOCH` says one. What
is named without a version is listed without one: nothing is looked up, and nothing is guessed.
"""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.discover.io import disk
from metier.errors import MetierError
from metier.standard.document import read_document
from metier.standard.plain_text import words
from metier.standard.script_block import read_block
from metier.supply import places
from metier.supply.deploy import working_of
from metier.supply.io.lock_file import put_file
from metier.supply.needed import APM_FILE, needs_in
from metier.supply.places import hands_of, place_of, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from metier.context import Context
    from metier.supply.model import Pin

    JsonObject = dict[str, Any]
    ReadFile = Callable[[str], bytes]

MAX_FILE_BYTES = 1 << 20
"""How much of a file is read for the packages that it names."""
MAX_FILES_READ = 500
"""Files of one skill that are read for that."""
MAX_PACKAGES = 1_000
"""Packages and containers of one skill that are listed."""
SPDX = words(
    "0BSD AFL-3.0 AGPL-3.0 AGPL-3.0-only AGPL-3.0-or-later Apache-1.1 Apache-2.0 Artistic-2.0 "
    "BlueOak-1.0.0 BSD-1-Clause BSD-2-Clause BSD-2-Clause-Patent BSD-3-Clause BSD-3-Clause- "
    "Clear BSD-4-Clause BSL-1.0 BUSL-1.1 CC-BY-3.0 CC-BY-4.0 CC-BY-NC-4.0 CC-BY-NC-SA-4.0 CC- "
    "BY-ND-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 ECL-2.0 Elastic-2.0 EPL-1.0 EPL-2.0 EUPL-1.1 "
    "EUPL-1.2 GPL-2.0 GPL-2.0-only GPL-2.0-or-later GPL-3.0 GPL-3.0-only GPL-3.0-or-later ISC "
    "LGPL-2.1 LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0 LGPL-3.0-only LGPL-3.0-or-later MIT "
    "MIT-0 MPL-1.1 MPL-2.0 MS-PL MulanPSL-2.0 NCSA OFL-1.1 OSL-3.0 PostgreSQL PSF-2.0 "
    "Python-2.0 Unlicense UPL-1.0 Vim W3C WTFPL X11 Zlib ZPL-2.1"
)
"""Names of licences that are written as SPDX has them; any other is a name."""
_PLAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)\s*(?:\[[^\[\]]{0,200}\])?\s*"
    r"(?:\(?((?:===?|~=|!=|>=?|<=?)[^;#@]{1,200}?)\)?)?\s*(?:@[^;#]{0,500})?(?:;.{0,300})?(?:\s#.*)?"
)
_EXACT = re.compile(r"={2,3}\s*([A-Za-z0-9][A-Za-z0-9.!+_-]{0,80})")
_FROM = re.compile(
    r"^[ \t]*FROM[ \t]+(?:--platform=\S{1,100}[ \t]+)?(\S{1,400})(?:[ \t]+AS[ \t]+(\S{1,100}))?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NPM = re.compile(r"(?:@[a-z0-9~][a-z0-9._~-]{0,100}/)?[A-Za-z0-9~][A-Za-z0-9._~-]{0,200}")
_NPM_EXACT = re.compile(r"=?v?(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]{1,80})?)")


class NamedPackage(NamedTuple):
    """A package or container that a skill's files name."""

    kind: str
    """`pypi`, `npm` or `docker`."""
    name: str
    version: str = ""
    wanted: str = ""
    """The range that is written, where it is not one version."""

    @property
    def purl(self) -> str:
        """Its address as a package URL."""
        version = f"@{_quoted(self.version, safe=':')}" if self.version else ""
        return f"pkg:{self.kind}/{_quoted(self.name, safe='/')}{version}"


def sbom(context: Context, *, user: bool = False) -> JsonObject:
    """Give the document of a lock."""
    place = place_of(context, user=user)
    kept = places.read(place)
    store = store_of(context)

    def reader(pin: Pin) -> ReadFile:
        """Give who reads a locked file: from the store, or where the skill lies."""

        def read(path: str) -> bytes:
            try:
                return store.read(pin.digest, path)[:MAX_FILE_BYTES]
            except MetierError:
                head = disk.read_head(f"{working_of(place, pin)}/{path}", MAX_FILE_BYTES)
                return b"" if head.fault else head.data

        return read

    name = place.base.rpartition("/")[2] if place.scope == "project" else "user"
    return document_of(
        name or "project",
        [(pin, reader(pin)) for pin in kept.lock.pins],
        context.env.get("SOURCE_DATE_EPOCH", ""),
    )


def write_sbom(context: Context, file: str, *, user: bool = False) -> str:
    """Write the document to a file, and give its path."""
    folder, _, name = (file if file.startswith("/") else f"{context.cwd}/{file}").rpartition("/")
    return put_file(hands_of(context), folder or "/", name, sbom_bytes(sbom(context, user=user)))


def sbom_bytes(document: JsonObject) -> bytes:
    """Give the bytes of a document: the same for the same document."""
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode("ascii")


def document_of(name: str, pins: Iterable[tuple[Pin, ReadFile]], epoch: str = "") -> JsonObject:
    """Put the document together."""
    from metier import __version__

    packages: dict[str, JsonObject] = {}
    skills = []
    graph: dict[str, list[str]] = {}
    rows = sorted(pins, key=lambda row: (row[0].name, row[0].key))
    refs = {pin.name: f"skill:{pin.name}" for pin, _read in rows}
    for pin, read in rows:
        skills.append(_skill(pin, read))
        named = _named(pin, read)
        for one in named:
            packages.setdefault(one.purl, _package(one))
        needed = [refs[other] for other in pin.requires if other in refs]
        graph[refs[pin.name]] = sorted({*needed, *(one.purl for one in named)})
    root = f"project:{name}"
    graph[root] = sorted(refs[pin.name] for pin, _read in rows if not pin.dependency)
    metadata: JsonObject = {
        "tools": {
            "components": [{"type": "application", "name": "metier", "version": __version__}]
        },
        "component": {"type": "application", "bom-ref": root, "name": name},
    }
    if epoch.isdigit() and len(epoch) <= 11:
        metadata["timestamp"] = datetime.fromtimestamp(int(epoch), UTC).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        )
    components = [*skills, *(packages[purl] for purl in sorted(packages))]
    seed = json.dumps([metadata["component"], components, sorted(graph.items())], sort_keys=True)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{_serial(seed)}",
        "version": 1,
        "metadata": metadata,
        "components": components,
        "dependencies": [
            {"ref": ref, "dependsOn": graph.get(ref, [])} for ref in sorted({*graph, *packages})
        ],
    }


def _serial(seed: str) -> str:
    """Give the number of a document, as an identifier of one's own making (RFC 9562, version 8)."""
    data = bytearray(blake2b(seed.encode(), digest_size=16).digest())
    data[6] = data[6] & 0x0F | 0x80
    data[8] = data[8] & 0x3F | 0x80
    text = data.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _quoted(text: str, safe: str = "/") -> str:
    """Give a text as a part of an address."""
    plain = _PLAIN + safe.encode()
    data = text.encode("utf-8", "surrogatepass")
    return "".join(chr(one) if one in plain else f"%{one:02X}" for one in data)


# --- components


def _skill(pin: Pin, read: ReadFile) -> JsonObject:
    data = read("SKILL.md")
    apm = read(APM_FILE) if any(file.path == APM_FILE for file in pin.files) else b""
    document = read_document(data, folder=pin.name, file="SKILL.md", size=len(data))
    said = needs_in(dict(document.fields) if document is not None else {}, apm)
    found: JsonObject = {
        "type": "library",
        "bom-ref": f"skill:{pin.name}",
        "name": pin.name,
        "purl": _skill_purl(pin),
        "hashes": [{"alg": "SHA-256", "content": pin.digest.removeprefix("sha256:")}],
        "properties": [
            {"name": f"metier:{key}", "value": value}
            for key, value in (
                ("digest", pin.digest),
                ("source", pin.source),
                ("path", pin.path),
                ("ref", pin.ref),
                ("commit", pin.commit),
                ("verdict", pin.verdict.level),
                ("signature", pin.signature),
                ("dependency", "true" if pin.dependency else ""),
            )
            if value
        ],
        "components": [
            {
                "type": "file",
                "name": file.path.encode("utf-8", "replace").decode(),
                "hashes": [{"alg": "SHA-256", "content": file.sha256}],
            }
            for file in pin.files
        ],
    }
    version = said.version or pin.ref or pin.commit
    if version:
        found["version"] = version
    if document is not None and document.description:
        found["description"] = " ".join(document.description.split())[:1024]
    if said.licence:
        known = said.licence in SPDX
        licence = {"id": said.licence} if known else {"name": said.licence[:500]}
        found["licenses"] = [{"license": licence}]
    if pin.source.startswith(("https://", "http://", "ssh://")):
        kind = "vcs" if pin.kind in {"git", "marketplace"} else "distribution"
        found["externalReferences"] = [
            {"type": kind, "url": _quoted(pin.source, safe=":/?#@%&=+~")}
        ]
    return found


def _skill_purl(pin: Pin) -> str:
    inside = f"#{_quoted(pin.path)}" if pin.path else ""
    version = f"@{_quoted(pin.commit or pin.ref, safe='')}" if pin.commit or pin.ref else ""
    prefix = "https://github.com/"
    if pin.kind in {"git", "marketplace"} and pin.source.startswith(prefix):
        return f"pkg:github/{_quoted(pin.source[len(prefix) :].lower())}{version}{inside}"
    return f"pkg:generic/{_quoted(pin.name, safe='')}@{pin.digest.removeprefix('sha256:')}"


def _package(one: NamedPackage) -> JsonObject:
    found: JsonObject = {
        "type": "container" if one.kind == "docker" else "library",
        "bom-ref": one.purl,
        "name": one.name,
        "purl": one.purl,
    }
    if one.kind == "npm" and one.name.startswith("@"):
        found["group"], _, found["name"] = one.name.partition("/")
    if one.version:
        found["version"] = one.version
    if one.wanted:
        found["properties"] = [{"name": "metier:requirement", "value": one.wanted}]
    return found


# --- what a skill's files name


def _named(pin: Pin, read: ReadFile) -> list[NamedPackage]:
    """Give the packages and containers that a skill's files name, each once."""
    found: dict[str, NamedPackage] = {}
    count = 0
    for file in pin.files:
        how = None if file.mode == "l" else _reader(file.path.rpartition("/")[2].lower())
        if how is None:
            continue
        count += 1
        if count > MAX_FILES_READ:
            break
        for one in how(read(file.path).decode("utf-8", "replace")):
            if len(found) < MAX_PACKAGES:
                found.setdefault(one.purl, one)
    return [found[purl] for purl in sorted(found)]


def _reader(name: str) -> Callable[[str], Iterator[NamedPackage]] | None:
    if name == "package.json":
        return _from_package_json
    if name == "pyproject.toml":
        return _from_pyproject
    if name.endswith(".py"):
        return _from_script
    if name.startswith("requirements") and name.endswith((".txt", ".in")):
        return lambda text: _python(text.splitlines())
    if name in {"dockerfile", "containerfile"} or name.startswith(
        ("dockerfile.", "containerfile.")
    ):
        return _from_dockerfile
    return None


def _from_script(text: str) -> Iterator[NamedPackage]:
    block = read_block(text)
    yield from _python(block.dependencies if block is not None else ())


def _python(lines: Iterable[str]) -> Iterator[NamedPackage]:
    for line in lines:
        text = line.strip()
        match = _REQUIREMENT.fullmatch(text) if text and not text.startswith(("-", "#")) else None
        if match is None:
            continue
        name = re.sub(r"[-_.]+", "-", match[1]).lower()
        wanted = (match[2] or "").strip()
        exact = _EXACT.fullmatch(wanted)
        yield NamedPackage("pypi", name, exact[1] if exact else "", "" if exact else wanted)


def _from_pyproject(text: str) -> Iterator[NamedPackage]:
    try:
        project = tomllib.loads(text).get("project", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    listed = project.get("dependencies", []) if isinstance(project, dict) else []
    yield from _python(one for one in listed if isinstance(one, str))


def _from_package_json(text: str) -> Iterator[NamedPackage]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    tables: Mapping[str, Any] = found if isinstance(found, dict) else {}
    for key in ("dependencies", "optionalDependencies", "peerDependencies"):
        table = tables.get(key)
        for name, wanted in table.items() if isinstance(table, dict) else ():
            if not isinstance(wanted, str) or not _NPM.fullmatch(name):
                continue
            exact = _NPM_EXACT.fullmatch(wanted.strip())
            yield NamedPackage(
                "npm", name, exact[1] if exact else "", "" if exact else wanted.strip()[:200]
            )


def _from_dockerfile(text: str) -> Iterator[NamedPackage]:
    stages = {"scratch"}
    for found in _FROM.finditer(text):
        image = found[1]
        if image.lower() not in stages and "$" not in image:
            name, at, digest = image.partition("@")
            head, slash, last = name.rpartition("/")
            base, _, tag = last.partition(":")
            yield NamedPackage("docker", f"{head}{slash}{base}", digest if at else tag)
        if found[2]:
            stages.add(found[2].lower())
