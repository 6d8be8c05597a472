"""Whatever a registry says, it is read or refused, and never anything else."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.supply.sources import oci_manifest
from metier.supply.sources.docker_config import find_login, read_helper
from metier.supply.sources.oci_names import parse_oci, repository_of

ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
DIGEST = st.just("sha256:" + "0" * 64)
TYPE = st.sampled_from(
    [
        oci_manifest.MANIFEST_TYPE, oci_manifest.INDEX_TYPE, oci_manifest.SKILL_LAYER_TYPE, "application/vnd.oci.image.layer.v1.tar",
        "a/b+zip", "",
    ]
)  # fmt: skip
NOTES = st.dictionaries(
    st.sampled_from([oci_manifest.TITLE, oci_manifest.SKILL_NAME, "io.deis.oras.content.unpack"]),
    st.sampled_from(["true", "SKILL.md", "../x", "a.zip", "\ud800", ""]) | ODD,
)
BLOB = (
    st.fixed_dictionaries(
        {"mediaType": TYPE | ODD, "digest": DIGEST | ODD, "size": st.integers(0, 99) | ODD},
        optional={
            "annotations": NOTES | ODD,
            "artifactType": TYPE | ODD,
            "platform": st.fixed_dictionaries({"os": ODD}) | ODD,
        },
    )
    | ODD
)
DOCUMENT = st.fixed_dictionaries(
    {"schemaVersion": st.just(2) | ODD},
    optional={
        "mediaType": TYPE | ODD,
        "config": BLOB,
        "subject": BLOB,
        "annotations": NOTES | ODD,
        "artifactType": TYPE | ODD,
        "layers": st.lists(BLOB, max_size=4) | ODD,
        "manifests": st.lists(BLOB, max_size=4) | ODD,
    },
)


@given(DOCUMENT | ODD, TYPE, st.text(max_size=4))
def test_a_document_is_read_or_refused(document: Any, said: str, wanted: str) -> None:
    with suppress(MetierError):
        found = oci_manifest.read_manifest(json.dumps(document).encode(), said)
        if isinstance(found, oci_manifest.Artifact):
            uses = oci_manifest.uses_of(found, SupplySettings())
            assert len(uses) == len(found.layers)
        else:
            assert oci_manifest.chosen_entries(found, wanted)
            oci_manifest.signatures_in(found.entries)


@given(st.binary(max_size=64))
def test_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(MetierError):
        oci_manifest.read_manifest(data, "")
    with suppress(MetierError):
        assert find_login(data, "h", "config.json") is None or data.strip().startswith(b"{")
    with suppress(MetierError):
        assert read_helper(data, "x") is None or data.strip().startswith(b"{")


@given(st.dictionaries(st.sampled_from(["auths", "credHelpers", "credsStore"]), ODD))
def test_a_configuration_is_read_or_refused(config: Any) -> None:
    with suppress(MetierError):
        find_login(json.dumps(config).encode(), "", "config.json")


@given(st.text("oci:/+htp@#.ab0[]-_ \ud800", max_size=24))
def test_a_name_is_read_or_refused(text: str) -> None:
    with suppress(MetierError):
        repository_of(parse_oci(f"oci://{text}").location).at("x")
