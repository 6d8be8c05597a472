"""A store of the kind S3 in a process of its own, which goes when whoever started it goes."""

from __future__ import annotations

import subprocess
import sys
import urllib.request

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "tests",
    "AWS_REGION": "us-east-1",
}
LISTEN = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.disable(logging.CRITICAL)
port = 0
server = None
for line in sys.stdin:
    if line == "start\\n":
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
        server.start()
        _host, port = server.get_host_and_port()
    else:
        server.stop()
    print(port, flush=True)
"""


class BucketServer:
    """A server whose buckets live as long as it does; it can be away and come back."""

    def __init__(self) -> None:
        """Start it, and wait until it listens."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", LISTEN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = 0
        self.start()

    @property
    def endpoint(self) -> str:
        """Give its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Have it listen, where it listened before."""
        self.port = int(self._say("start"))

    def stop(self) -> None:
        """Have it refuse every connection; what it holds stays."""
        self._say("stop")

    def _say(self, word: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def make_bucket(self, name: str) -> str:
        """Make a bucket, and give the address that a hub takes."""
        ask = urllib.request.Request(f"{self.endpoint}/{name}", method="PUT")  # noqa: S310 - loopback
        urllib.request.urlopen(ask).close()  # noqa: S310 - loopback
        return f"s3://{name}/hub?endpoint={self.endpoint}"

    def remove(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
