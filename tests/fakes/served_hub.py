"""A real hub on a loopback port, in this process: an embedded database and folder, and every way to
make it lie.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from fakes.hub_skills import publish_archive, skill_archive

from metier.hub.accounts import add_token
from metier.hub.app import make_app
from metier.hub.hub import Hub, HubOptions
from metier.hub.model import LOCAL, Release

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_SECONDS = 120


class ServedHub:
    """A hub that can be asked over HTTP, and changed behind its back."""

    def __init__(self, hub: Hub, url: str) -> None:
        """Know both sides of it."""
        self.hub, self.url = hub, url

    def publish(self, name: str, text: str = "Align the columns.", version: str = "") -> Release:
        """Publish a skill as the hub's own admin."""
        data = skill_archive(name, text)
        return publish_archive(self.hub, LOCAL, name, data, version=version).release

    def token(self, role: str, namespace: str = "", name: str = "somebody") -> str:
        """Make a token; from then on everybody needs one."""
        return add_token(self.hub, LOCAL, name=name, role=role, namespace=namespace).token

    def forge(self, sql: str, *values: object) -> None:
        """Change the hub's database, as whoever has broken into it could; it keeps no zero byte."""
        kept = [one.replace("\0", "") if isinstance(one, str) else one for one in values]
        with self.hub.database.write() as connection:
            connection.run(sql, *kept)


@contextmanager
def served_hub(folder: Path, options: HubOptions | None = None) -> Iterator[ServedHub]:
    """Serve an embedded hub below a folder, or the one of some options."""
    hub = Hub(options or HubOptions(home=str(folder)), env={"METIER_SCAN_MODEL": "off"})
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)
    config = uvicorn.Config(make_app(hub), log_config=None, http="h11", ws="none", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    ends = time.monotonic() + PATIENCE_SECONDS
    while not server.started and time.monotonic() < ends:
        time.sleep(0.01)
    try:
        yield ServedHub(hub, f"http://127.0.0.1:{listening.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        listening.close()
        hub.close()
