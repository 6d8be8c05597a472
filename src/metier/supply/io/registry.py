"""Talks to an OCI registry by the distribution specification: manifests and blobs, each held to its
digest, uploads, referrers, and the login that a registry asks for.

A login goes to the registry that it is for, and to the place that this registry names for tokens;
over https, or on this very machine. It is in no message, and nothing of it is kept.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from metier.errors import IntegrityError, MetierError, RefusedError, SourceError
from metier.supply.io.docker_login import login_for
from metier.supply.safe_names import printable
from metier.supply.sources import oci_names
from metier.supply.sources.addresses import escape_step, parse_url
from metier.supply.sources.oci_manifest import (
    ACCEPTED,
    INDEX_TYPE,
    MANIFEST_TYPE,
    MAX_MANIFEST_BYTES,
    SIGNATURE_TYPE,
    ArtifactIndex,
    Blob,
    blob_of,
    digest_of,
    read_manifest,
    signatures_in,
    write_index,
)
from metier.supply.sources.oci_names import is_blob_digest, is_oci_digest, is_this_machine
from metier.supply.sources.registries import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from metier.ports import DiskCalls
    from metier.supply.io.http import HttpAnswer, HttpClient
    from metier.supply.model import Chunks
    from metier.supply.sources.addresses import Url
    from metier.supply.sources.docker_config import RegistryLogin
    from metier.supply.sources.oci_manifest import Artifact
    from metier.supply.sources.oci_names import OciRepository

CHUNK_BYTES = 8 * 1024 * 1024
"""What is sent at once of a large blob; a smaller one is sent whole."""
MAX_RESUMES = 5
"""How often an upload that broke off is taken up again."""
MAX_TOKEN_BYTES = 256 * 1024
MAX_TAGS = 10_000
MAX_TAG_BYTES = 1 << 20
"""Of one page of tags."""
MAX_TAG_PAGES = 100
"""A registry may give fewer at once than it is asked for."""
TAGS_AT_ONCE = 1_000
MAX_ERROR_BYTES = 64 * 1024
SLACK_BYTES = 1 << 20
"""What may come beyond a blob's size before the client hangs up: the check of its size comes first."""
_PARAMETER = re.compile(r'([A-Za-z_]{1,32})="([^"\r\n]{0,2048})"')
_ERROR_CODE = re.compile(r"[A-Z_]{3,40}\Z")
_RANGE = re.compile(r"(?:bytes=)?0-([0-9]{1,18})\Z")


class RegistryClient:
    """One repository of a registry, as long as one client's time lasts."""

    def __init__(
        self,
        repository: OciRepository,
        http: HttpClient,
        env: Mapping[str, str],
        home: str,
        *,
        push: bool = False,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        """Know where it is and whose configuration has the login; nothing is asked yet."""
        self.repository = repository
        self.http = http
        self.env = env
        self.home = home
        self.chunk_bytes = chunk_bytes
        self._scope = f"repository:{repository.name}:{'pull,push' if push else 'pull'}"
        self._authorization = ""

    @property
    def place(self) -> str:
        """The registry, for a message."""
        return printable(self.repository.base.place)

    # --- reading

    def resolve(self, ref: str) -> str:
        """Give the digest of what a tag means now."""
        if is_oci_digest(ref):
            return ref
        url = self.repository.at("manifests", ref)
        with self._asked("HEAD", url, most=0, headers={"Accept": ACCEPTED}) as answer:
            digest = answer.headers.get("docker-content-digest", "")
            if answer.status == 200 and is_blob_digest(digest):
                return digest
            if answer.status not in {200, 404, 405}:
                raise self._refusal(answer, f"the tag {ref}")
        return self.manifest(ref)[0].digest  # the specification leaves the header to the registry

    def tags(self) -> tuple[str, ...]:
        """Give the tags of the repository, page by page; not too many."""
        found: list[str] = []
        after = ""
        for _page in range(MAX_TAG_PAGES):
            page = f"list?n={TAGS_AT_ONCE}" + (f"&last={escape_step(after)}" if after else "")
            url = self.repository.at("tags", page)
            with self._asked("GET", url, most=MAX_TAG_BYTES) as answer:
                if answer.status == 404:
                    return ()
                if answer.status != 200:
                    raise self._refusal(answer, "the list of tags")
                rows = oci_names.tags_in(read_json(b"".join(answer.chunks)))
                is_more = "link" in answer.headers
            new = [tag for tag in rows if tag > after] if after else list(rows)
            found += new
            if not is_more or not new or len(found) >= MAX_TAGS:
                break
            after = new[-1]  # its link could lead anywhere: this is where the next page begins
        return tuple(found[:MAX_TAGS])

    def manifest(self, ref: str) -> tuple[Blob, Artifact | ArtifactIndex]:
        """Give a manifest, held to its digest where that is what was asked for."""
        blob, data = self._document(ref)
        return blob, read_manifest(data, blob.type)

    def _document(self, ref: str) -> tuple[Blob, bytes]:
        url = self.repository.at("manifests", ref)
        with self._asked(
            "GET", url, most=MAX_MANIFEST_BYTES, headers={"Accept": ACCEPTED}
        ) as answer:
            if answer.status != 200:
                raise self._refusal(answer, f"the manifest {ref}")
            said = answer.headers.get("content-type", "")
            data = b"".join(answer.chunks)
        digest = digest_of(data)
        if is_oci_digest(ref) and ref != digest:
            raise _differs("a manifest", "the digest that was asked for")
        return Blob(said.partition(";")[0].strip() or MANIFEST_TYPE, digest, len(data), {}), data

    def save(self, blob: Blob, path: str, hands: DiskCalls) -> None:
        """Fetch a blob onto the disk; bytes that are not those that the manifest names are never
        handed on.
        """
        url = self.repository.at("blobs", blob.digest)
        with self._asked("GET", url, most=blob.size + SLACK_BYTES) as answer:
            if answer.status != 200:
                raise self._refusal(answer, f"the blob {blob.digest[:19]}…")
            hands.write(path, _held(blob, answer.chunks), 0o600)

    def read(self, blob: Blob, most: int) -> bytes:
        """Fetch a small blob into memory."""
        if blob.size > most:
            raise RefusedError(
                f"a blob of {self.place} has {blob.size:,} bytes",
                hint=f"at most {most:,} are read",
                code="too-large",
            )
        url = self.repository.at("blobs", blob.digest)
        with self._asked("GET", url, most=blob.size + SLACK_BYTES) as answer:
            if answer.status != 200:
                raise self._refusal(answer, f"the blob {blob.digest[:19]}…")
            return b"".join(_held(blob, answer.chunks))

    def signatures(self, digest: str) -> tuple[Blob, ...]:
        """List the manifests that hold signatures of another one; registries that do not keep such
        lists have them under a tag.
        """
        listed = self._referrers(digest)
        if listed is None:
            listed = self._tagged(digest)
        return signatures_in(listed)

    def _referrers(self, digest: str) -> tuple[Blob, ...] | None:
        kind = escape_step(SIGNATURE_TYPE)
        url = self.repository.at("referrers", f"{digest}?artifactType={kind}")
        with self._asked(
            "GET", url, most=MAX_MANIFEST_BYTES, headers={"Accept": INDEX_TYPE}
        ) as answer:
            if answer.status != 200:
                return None
            found = read_manifest(b"".join(answer.chunks), INDEX_TYPE)
        return found.entries if isinstance(found, ArtifactIndex) else None

    def _tagged(self, digest: str) -> tuple[Blob, ...]:
        try:
            _blob, found = self.manifest(digest.replace(":", "-"))
        except SourceError as error:
            if error.code != "not-found":
                raise
            return ()
        return found.entries if isinstance(found, ArtifactIndex) else ()

    # --- writing

    def put_blob(self, data: bytes, digest: str) -> None:
        """Bring a blob to the registry, unless it is there."""
        with self._asked("HEAD", self.repository.at("blobs", digest), most=0) as answer:
            if answer.status == 200:
                return
            if answer.status != 404:
                raise self._refusal(answer, "a blob")
        for is_last in (False, True):
            place, broke_off, body = self._begin(), False, data
            if len(data) > self.chunk_bytes:
                place, broke_off = self._send_chunks(place, data)
                body = b""
            mark = "&" if "?" in place.target else "?"
            url = f"{place}{mark}digest={escape_step(digest)}"
            with self._asked(
                "PUT", url, most=MAX_ERROR_BYTES, headers=_OCTETS, body=body
            ) as answer:
                # A part that broke off may have come after all, and then there is too much.
                if broke_off and not is_last and answer.status in _GIVEN_UP:
                    continue
                self._check_written(answer, digest, "a blob")
                return

    def _begin(self) -> Url:
        url = self.repository.at("blobs", "uploads", "")
        with self._asked("POST", url, most=MAX_ERROR_BYTES) as answer:
            if answer.status != 202:
                raise self._refusal(answer, "an upload")
            return self._upload_at(answer, parse_url(url))

    def _upload_at(self, answer: HttpAnswer, before: Url) -> Url:
        """Give where an upload goes on: on this registry, and nowhere else."""
        said = answer.headers.get("location", "")
        after = self.http.led_to(before, said) if said else before
        if (after.scheme, after.place) != (before.scheme, before.place):
            raise RefusedError(
                f"{self.place} would have the upload sent to {printable(after.place)}",
                hint="nothing was sent there",
                code="redirect",
            )
        return after

    def _send_chunks(self, place: Url, data: bytes) -> tuple[Url, bool]:
        """Send a blob piece by piece; what broke off is taken up where the registry has got to.
        Tell whether any did.
        """
        at = tries = 0
        while at < len(data):
            piece = data[at : at + self.chunk_bytes]
            span = {"Content-Range": f"{at}-{at + len(piece) - 1}", **_OCTETS}
            try:
                with self._asked(
                    "PATCH", str(place), most=MAX_ERROR_BYTES, headers=span, body=piece
                ) as answer:
                    if answer.status == 202:
                        place = self._upload_at(answer, place)
                        at = self._got_to(answer, at + len(piece), len(data))
                        continue
                    if answer.status not in _GIVEN_UP and answer.status < 500:
                        raise self._refusal(answer, "a part of a blob")
            except SourceError as error:
                if tries == MAX_RESUMES or error.code not in {"unreachable", "malformed"}:
                    raise
            tries += 1
            if tries > MAX_RESUMES:
                raise SourceError(
                    f"the upload to {self.place} broke off {tries} times",
                    hint="try again later",
                    code="unreachable",
                )
            place, at = self._resumed(place, len(data))
        return place, tries > 0

    def _resumed(self, place: Url, size: int) -> tuple[Url, int]:
        """Ask how much of an upload has come; one that the registry gave up begins anew."""
        with self._asked("GET", str(place), most=MAX_ERROR_BYTES) as answer:
            if answer.status == 204:
                return self._upload_at(answer, place), self._got_to(answer, 0, size)
        return self._begin(), 0

    def _got_to(self, answer: HttpAnswer, otherwise: int, size: int) -> int:
        found = _RANGE.match(answer.headers.get("range", ""))
        last = int(found[1]) if found else 0
        at = last + 1 if last else otherwise  # nothing yet is written 0-0
        if not 0 <= at <= size:
            raise SourceError(
                f"{self.place} has more of the upload than was sent",
                hint="try again",
                code="malformed",
            )
        return at

    def put_manifest(self, data: bytes, ref: str, kind: str = MANIFEST_TYPE) -> bool:
        """Bring a manifest to the registry; tell whether it keeps a list of what refers to
        another.
        """
        url = self.repository.at("manifests", ref)
        with self._asked(
            "PUT", url, most=MAX_ERROR_BYTES, headers={"Content-Type": kind}, body=data
        ) as answer:
            self._check_written(answer, digest_of(data), "a manifest")
            return bool(answer.headers.get("oci-subject"))

    def attach(self, data: bytes, subject: str) -> None:
        """Bring a manifest that refers to another; where the registry keeps no list of such, it is
        added to the one under the tag that the specification gives it.
        """
        listed = self.put_manifest(data, digest_of(data))
        if listed:
            return
        entry = blob_of(data, MANIFEST_TYPE)._replace(artifact=SIGNATURE_TYPE)
        others = [one for one in self._tagged(subject) if one.digest != entry.digest]
        self.put_manifest(write_index([*others, entry]), subject.replace(":", "-"), INDEX_TYPE)

    def _check_written(self, answer: HttpAnswer, digest: str, what: str) -> None:
        if answer.status != 201:
            raise self._refusal(answer, what)
        said = answer.headers.get("docker-content-digest", digest)
        if said != digest:
            raise _differs(f"{what} that {self.place} took", "what was sent")

    # --- one question

    @contextmanager
    def _asked(
        self,
        method: str,
        url: str,
        *,
        most: int,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Iterator[HttpAnswer]:
        """Ask; a registry that wants a login first gets it, once."""
        sent = dict(headers or {})
        if method in {"POST", "PUT", "PATCH"}:
            sent["Content-Length"] = str(len(body))
        reads = method in {"GET", "HEAD"}
        for is_last in (False, True):
            if self._authorization:
                sent["Authorization"] = self._authorization
            with self.http.exchanged(
                url,
                most=max(most, MAX_ERROR_BYTES),
                method=method,
                body=body,
                headers=sent,
                follow=reads,
            ) as answer:
                own = answer.url.place == self.repository.base.place
                if answer.status == 401 and own and not is_last and self._log_in(answer):
                    continue
                yield answer
                return

    def _refusal(self, answer: HttpAnswer, what: str) -> MetierError:
        """Say what an answer that is no success means; of its own words only a code is repeated."""
        said = ""
        try:
            found = read_json(b"".join(answer.chunks)[:MAX_ERROR_BYTES])
            code = found["errors"][0]["code"]
            said = f" ({code})" if _ERROR_CODE.match(code) else ""
        except (MetierError, KeyError, IndexError, TypeError):
            pass  # not every registry says why
        where = printable(answer.url.place)
        if answer.status in {401, 403}:
            return SourceError(
                f"{where} lets nobody in without a login that may do this{said}",
                hint=f"log in: docker login {self.repository.host}, or oras login",
                code="unauthorized",
            )
        if answer.status in {404, 410}:
            return SourceError(
                f"{where} does not have {what} of {self.repository.name}{said}",
                hint="check the name, the tag and the digest",
                code="not-found",
            )
        return SourceError(
            f"{where} answers {answer.status} when asked for {what}{said}",
            hint="try again later",
            code="unreachable",
        )

    # --- logging in

    def _log_in(self, answer: HttpAnswer) -> bool:
        """Get what the registry wants to see; tell whether there is something new to show."""
        challenge = answer.headers.get("www-authenticate", "")
        scheme = challenge.strip().partition(" ")[0].lower()
        login = self._login()
        before = self._authorization
        if scheme == "basic" and login is not None and login.user:
            self._authorization = login.basic
        elif scheme == "bearer":
            fields = {name.lower(): value for name, value in _PARAMETER.findall(challenge)}
            token = self._token(fields.get("realm", ""), fields.get("service", ""), login)
            self._authorization = f"Bearer {token}"
        return self._authorization != before

    def _login(self) -> RegistryLogin | None:
        base = self.repository.base
        if base.scheme != "https" and not is_this_machine(base.host):
            return None  # a password is not for whoever listens
        return login_for(self.repository.host, self.env, self.home)

    def _token(self, realm: str, service: str, login: RegistryLogin | None) -> str:
        """Ask for a token where the registry says; a login goes along over https, or on this very
        machine.
        """
        at = self.http.led_to(self.repository.base, realm)
        if at.scheme != "https" and not is_this_machine(at.host):
            login = None
        words = f"service={escape_step(service)}&scope={escape_step(self._scope)}"
        headers = {}
        method, url, body = "GET", f"{at}{'&' if '?' in at.target else '?'}{words}", b""
        if login is not None and login.token:
            method, url = "POST", str(at)
            body = (
                f"grant_type=refresh_token&client_id=metier&{words}"
                f"&refresh_token={escape_step(login.token)}"
            ).encode("ascii")
            headers = {
                "Content-Type": "application/x-www-form-urlencoded",
                "Content-Length": str(len(body)),
            }
        elif login is not None:
            headers = {"Authorization": login.basic}
        with self.http.exchanged(
            url, most=MAX_TOKEN_BYTES, method=method, body=body, headers=headers, follow=False
        ) as answer:
            if answer.status != 200:
                raise self._refusal(answer, "a token")
            found = read_json(b"".join(answer.chunks))
        token = (found.get("token") or found.get("access_token")) if isinstance(found, dict) else ""
        if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]{1,65536}", token):
            raise SourceError(
                f"{printable(at.place)} gives no token", hint="try again later", code="malformed"
            )
        return token


_OCTETS = {"Content-Type": "application/octet-stream"}
_GIVEN_UP = frozenset({400, 404, 416})
"""What a registry answers that has something else of an upload than the next part follows on."""


def _held(blob: Blob, chunks: Chunks) -> Chunks:
    """Hand the bytes of a blob on, and fail when they turn out not to be what its manifest says."""
    size = 0
    found = hashlib.sha256()
    for chunk in chunks:
        size += len(chunk)
        if size > blob.size:
            raise _differs("a blob", f"the {blob.size:,} bytes that its manifest says")
        found.update(chunk)
        yield chunk
    if size != blob.size or f"sha256:{found.hexdigest()}" != blob.digest:
        raise _differs("a blob", "its digest and size in the manifest")


def _differs(what: str, than: str) -> IntegrityError:
    return IntegrityError(
        f"{what} is not {than}",
        hint="it was changed, or the registry is broken. Nothing was kept",
        code="digest",
    )
