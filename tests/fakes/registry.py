"""A real OCI registry on loopback, Debian's docker-registry, with a folder of its own; and what stands before it: a proxy
that cuts connections, and a client that pushes anything.
"""

from __future__ import annotations

import atexit
import hashlib
import http.client
import json
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
TITLE = "org.opencontainers.image.title"
PATIENCE_SECONDS = 60


class Registry(NamedTuple):
    """A registry that runs."""

    place: str

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        """Ask it directly; the answer is read, its bytes are in `told`."""
        connection = http.client.HTTPConnection(self.place, timeout=PATIENCE_SECONDS)
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        answer.told = answer.read()  # type: ignore[attr-defined]
        connection.close()
        return answer

    def blob(self, repository: str, data: bytes) -> str:
        """Put a blob there; give its digest."""
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        begun = self.ask("POST", f"/v2/{repository}/blobs/uploads/")
        target = "/" + begun.headers["Location"].partition("://")[2].partition("/")[2]
        mark = "&" if "?" in target else "?"
        done = self.ask(
            "PUT",
            f"{target}{mark}digest={digest}",
            data,
            {"Content-Type": "application/octet-stream"},
        )
        assert done.status == 201, done.status
        return digest

    def manifest(
        self, repository: str, tag: str, document: dict[str, Any], kind: str = MANIFEST
    ) -> str:
        """Put a manifest there; give its digest."""
        done = self.ask(
            "PUT",
            f"/v2/{repository}/manifests/{tag}",
            json.dumps(document).encode(),
            {"Content-Type": kind},
        )
        assert done.status == 201, done.status
        return done.headers["Docker-Content-Digest"]

    def get(self, repository: str, ref: str) -> Any:
        """Give a manifest as the registry has it."""
        return json.loads(self.raw(repository, ref))

    def push(
        self,
        repository: str,
        tag: str,
        layers: Sequence[tuple[str, bytes, Mapping[str, str]]],
        **more: Any,
    ) -> str:
        """Put an artifact there: its layers, each with type, bytes and annotations."""
        rows = [
            {
                "mediaType": kind,
                "digest": self.blob(repository, data),
                "size": len(data),
                "annotations": dict(notes),
            }
            for kind, data, notes in layers
        ]
        config = {
            "mediaType": "application/vnd.oci.empty.v1+json",
            "digest": self.blob(repository, b"{}"),
            "size": 2,
        }
        return self.manifest(
            repository,
            tag,
            {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": rows, **more},
        )

    def collection(self, repository: str, tag: str, named: Mapping[str, str]) -> str:
        """Put a collection there: manifests by the names of their skills."""
        rows = [
            {
                "mediaType": MANIFEST,
                "digest": digest,
                "size": len(self.raw(repository, digest)),
                "annotations": {"io.agentskills.skill.name": name},
            }
            for name, digest in named.items()
        ]
        return self.manifest(
            repository,
            tag,
            {
                "schemaVersion": 2,
                "mediaType": INDEX,
                "artifactType": "application/vnd.agentskills.collection.v1",
                "manifests": rows,
            },
            INDEX,
        )

    def raw(self, repository: str, ref: str) -> bytes:
        """Give the bytes of a manifest."""
        answer = self.ask(
            "GET", f"/v2/{repository}/manifests/{ref}", headers={"Accept": f"{MANIFEST}, {INDEX}"}
        )
        assert answer.status == 200, answer.status
        return answer.told  # type: ignore[attr-defined, no-any-return]


@contextmanager
def running(folder: Path, auth: str = "") -> Iterator[Registry]:
    """Start a registry on a port that was free, and end it afterwards; `auth` is that part of its configuration."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "registry.yml"
    file.write_text(
        f"version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n    rootdirectory: {folder}/data\n"
        f"http:\n  addr: {place}\n{auth}"
    )
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(
            ["docker-registry", "serve", str(file)],
            stdout=log,
            stderr=log,
        )
    try:
        _wait_for(place, child)
        yield Registry(place)
    finally:
        child.terminate()
        child.wait(PATIENCE_SECONDS)


@cache
def shared() -> Registry:
    """Give the registry that all tests of this process share, each with repositories of its own."""
    held = ExitStack()
    atexit.register(held.close)
    folder = held.enter_context(tempfile.TemporaryDirectory(prefix="metier-registry-"))
    return held.enter_context(running(Path(folder)))


def _wait_for(place: str, child: subprocess.Popen[bytes]) -> None:
    host, _, port = place.partition(":")
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        assert child.poll() is None, "the registry ended by itself"
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("the registry did not begin to answer")


class Between:
    """A proxy before a registry: `cut` sees what is asked for and says after how many bytes of it to hang up, if at all."""

    def __init__(self, place: str, cut: Callable[[bytes], int | None]) -> None:
        """Listen on a port that was free."""
        self.behind = place.partition(":")[0], int(place.partition(":")[2])
        self.cut = cut
        self.asked: list[bytes] = []
        """The first line of every request."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Between:
        """Begin."""
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                near, _address = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        with near, socket.create_connection(self.behind) as far:
            try:
                self._talk(near, far)
            except OSError:
                pass  # one side hung up

    def _talk(self, near: socket.socket, far: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head and (data := near.recv(65536)):
            head += data
        self.asked.append(head.partition(b"\r\n")[0])
        most = self.cut(head)
        head = head.replace(self.place.encode(), f"{self.behind[0]}:{self.behind[1]}".encode())
        far.sendall(head if most is None else head[:most])
        if most is not None:
            most -= len(head)
            while most > 0 and (data := near.recv(min(65536, most))):
                far.sendall(data)
                most -= len(data)
            return
        back = threading.Thread(target=self._answer, args=(far, near), daemon=True)
        back.start()
        while data := near.recv(65536):
            far.sendall(data)
        back.join(PATIENCE_SECONDS)

    def _answer(self, far: socket.socket, near: socket.socket) -> None:
        try:
            first = True
            while data := far.recv(65536):
                if first:
                    data = data.replace(
                        f"{self.behind[0]}:{self.behind[1]}".encode(), self.place.encode()
                    )
                first = False
                near.sendall(data)
            near.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one side hung up
