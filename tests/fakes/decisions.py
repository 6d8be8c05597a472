"""Files of decisions in the form that metier wrote before they had a checksum."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from metier.trust.decision_records import state_bytes

if TYPE_CHECKING:
    from metier.trust.decision_records import Decisions


def old_document(state: Decisions) -> dict[str, Any]:
    """Give the document of a file without sequence and checksum."""
    document = json.loads(state_bytes(state))
    del document["sequence"], document["sha256"]
    if not document["own"]:
        del document["own"]
    return {**document, "schema": 1}


def old_bytes(state: Decisions) -> bytes:
    """Give such a file."""
    return (json.dumps(old_document(state), indent=1) + "\n").encode()
