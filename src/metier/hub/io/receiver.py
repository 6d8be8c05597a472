"""Posts an event to where a webhook goes. The address that a name leads to is judged when it is connected
to; no redirection is followed, no proxy is asked, and of the answer only the status is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.settings.model import SupplySettings
from metier.supply.io.http import HttpClient, resolve_host
from metier.supply.sources.addresses import parse_url
from metier.supply.sources.oci_names import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

POST_SECONDS = 10.0
"""For everything: looking the name up, connecting, sending, and the head of the answer."""
MAX_ANSWER_BYTES = 4096


def post_event(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    to_this_machine: bool = False,
    resolve: Callable[[str, int], Sequence[str]] = resolve_host,
) -> int:
    """Give the status that a receiver answers."""
    at = parse_url(url)
    private = (at.place,) if to_this_machine and is_this_machine(at.host) else ()
    client = HttpClient(
        SupplySettings(private_hosts=private, redirects=0),
        named=(at.place,),
        seconds=POST_SECONDS,
        resolve=resolve,
    )
    sent = {**headers, "Content-Length": str(len(body))}
    with client.exchanged(
        url, most=MAX_ANSWER_BYTES, method="POST", body=body, headers=sent, follow=False
    ) as answer:
        return answer.status
