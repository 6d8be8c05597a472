"""A served hub with a public and a private namespace, a version that was yanked and one that waits."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from fakes.hub_skills import CAUTION, publish_archive, skill_archive
from fakes.served_hub import ServedHub, served_hub

from metier.hub import decide
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_SECONDS = 60


class Heard(NamedTuple):
    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.data)


class Offering(NamedTuple):
    """A hub with public and private skills, whose token opens the private ones."""

    served: ServedHub
    token: str

    def get(self, path: str, token: str = "", *, basic: bool = False) -> Heard:
        return self._ask(path, None, token, basic=basic)

    def post(self, path: str, told: object, token: str = "", *, basic: bool = False) -> Heard:
        return self._ask(path, json.dumps(told).encode(), token, basic=basic)

    def _ask(self, path: str, body: bytes | None, token: str, *, basic: bool) -> Heard:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if token:
            shown = base64.b64encode(f"me:{token}".encode()).decode()
            headers["Authorization"] = f"Basic {shown}" if basic else f"Bearer {token}"
        url = f"{self.served.url}{path}"
        asked = urllib.request.Request(url, body, headers)  # noqa: S310 - a hub of this test
        try:
            with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
                return Heard(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            return Heard(error.code, dict(error.headers), error.read())


@contextmanager
def hub_offering(folder: Path) -> Iterator[Offering]:
    """Serve it below a folder."""
    with served_hub(folder) as served:
        hub = served.hub
        add_namespace(hub, LOCAL, "open", "", "public")
        add_namespace(hub, LOCAL, "secret", "", "private")
        for text, version in (("One.", "1.0.0"), ("Two.", "1.1.0"), ("Three.", "2.0.0")):
            publish_archive(
                hub, LOCAL, "table-tidy", skill_archive("table-tidy", text), "open", version
            )
        publish_archive(hub, LOCAL, "hidden-thing", skill_archive("hidden-thing"), "secret")
        publish_archive(hub, LOCAL, "cleaner", skill_archive("cleaner", CAUTION), "open")
        decide.yank(hub, LOCAL, "open", "table-tidy", "2.0.0", reason="breaks tables")
        yield Offering(served, served.token("reviewer", "secret"))
