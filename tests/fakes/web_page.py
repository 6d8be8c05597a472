"""Starts `metier web` as a process of its own in a home that was made for it, and asks it over plain HTTP."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode, urlsplit

import metier

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE = 60
"""Seconds after which a server counts as hanging; no test measures time."""
HTML = {"accept": "text/html"}


class PageAnswer(NamedTuple):
    """What the server answered."""

    status: int
    headers: dict[str, str]
    cookies: list[str]
    text: str


class WebPage:
    """A page that is served, and a browser that does nothing by itself."""

    def __init__(
        self, env: Mapping[str, str], cwd: Path, *options: str, opens: bool = False
    ) -> None:
        """Start it, and wait for its address; with `opens` it opens a browser."""
        source = str(Path(metier.__file__).parent.parent)
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "metier",
                "web",
                "--port",
                "0",
                *options,
                *(() if opens else ("--no-open",)),
            ],
            env={**env, "PYTHONPATH": source, "METIER_SCAN_MODEL": "off"},
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip().removeprefix("metier web: ")
        parts = urlsplit(self.url)
        assert parts.port, self.process.communicate(timeout=PATIENCE)
        self.port = parts.port
        self.host = f"127.0.0.1:{self.port}"
        self.origin = f"http://{self.host}"
        self.cookie = ""

    def close(self) -> tuple[int, str]:
        """Stop it as Ctrl-C does; give its exit code and what it said on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: str | bytes | None = None,
        headers: Mapping[str, str] = HTML,
        *,
        cookie: str | None = None,
    ) -> PageAnswer:
        """Send one request; `cookie` in the place of the one that it was given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = {"host": self.host, **headers}
        known = self.cookie if cookie is None else cookie
        if known:
            sent["cookie"] = known
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        finally:
            connection.close()
        pairs = answer.getheaders()
        cookies = [value for name, value in pairs if name.lower() == "set-cookie"]
        found = {name.lower(): value for name, value in pairs}
        return PageAnswer(answer.status, found, cookies, text)

    def enter(self) -> PageAnswer:
        """Let this browser in."""
        answer = self.ask(self.url.removeprefix(self.origin))
        self.cookie = answer.cookies[0].partition(";")[0]
        return answer

    def form_key(self, path: str) -> str:
        """Give the number of the first form of a page."""
        found = re.search(r'name="form_key" value="([^"]+)"', self.ask(path).text)
        assert found, f"{path} has no form"
        return found.group(1)

    def post(
        self, path: str, headers: Mapping[str, str] | None = None, **fields: str
    ) -> PageAnswer:
        """Send a form, as the page itself would."""
        sent = {
            **HTML,
            "origin": self.origin,
            "content-type": "application/x-www-form-urlencoded",
            **(headers or {}),
        }
        return self.ask(path, "POST", urlencode(fields), sent)

    def wait_for(self, path: str, words: str) -> str:
        """Ask for a page until it says something."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.ask(path).text
            if words in text:
                return text
            time.sleep(0.1)
        raise AssertionError(f"{path} never said {words!r}: {text[-2000:]}")


def web_env(home: Path) -> dict[str, str]:
    """Give the environment of a page whose user lives in a folder."""
    return {
        "HOME": str(home),
        "METIER_HOME": str(home / ".metier"),
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
    }
