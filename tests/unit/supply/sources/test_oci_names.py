"""How skills in registries are named, and what is no name of one."""

from __future__ import annotations

import pytest

from metier.errors import MetierError
from metier.supply.sources.oci_names import parse_oci, repository_of
from metier.supply.sources.source_name import canonical, hosts_of, parse, request_of

DIGEST = "sha256:" + "a1" * 32


@pytest.mark.parametrize(
    ("said", "location", "ref", "asked"),
    [
        ("oci://ghcr.io/acme/pdf", "oci://ghcr.io/acme/pdf", "", "https://ghcr.io/v2/acme/pdf/x"),
        ("oci://GHCR.io/acme/pdf:1.0", "oci://ghcr.io/acme/pdf", "1.0", "https://ghcr.io/v2/acme/pdf/x"),
        (f"oci://ghcr.io:443/a__b/c.d@{DIGEST}", "oci://ghcr.io/a__b/c.d", DIGEST, "https://ghcr.io/v2/a__b/c.d/x"),
        (f"oci://h:8443/a:tag@{DIGEST}", "oci://h:8443/a", DIGEST, "https://h:8443/v2/a/x"),
        ("oci://docker.io/pdf:v1", "oci://docker.io/library/pdf", "v1", "https://registry-1.docker.io/v2/library/pdf/x"),
        ("oci://localhost:5000/pdf", "oci://localhost:5000/pdf", "", "http://localhost:5000/v2/pdf/x"),
        ("oci://[::1]:5000/pdf", "oci://[::1]:5000/pdf", "", "http://[::1]:5000/v2/pdf/x"),
        ("oci+http://lan:5000/pdf", "oci+http://lan:5000/pdf", "", "http://lan:5000/v2/pdf/x"),
    ],
)  # fmt: skip
def test_a_repository_has_one_spelling_and_one_address(
    said: str, location: str, ref: str, asked: str
) -> None:
    request = parse(said, cwd="/", home=None, kind_of=lambda _path: None)

    assert ("oci", location, ref) == (request.kind, request.location, request.ref)
    assert asked == repository_of(location).at("x")
    assert request._replace(said=location) == request_of("oci", canonical(request), ref, "")
    assert (repository_of(location).base.place,) == hosts_of(request)


@pytest.mark.parametrize(
    "said",
    [
        "oci://ghcr.io/", "oci://ghcr.io", "oci:///pdf", "oci://ghcr.io/Acme/pdf", "oci://ghcr.io/a//b", "oci://ghcr.io/../x",
        "oci://ghcr.io/a:", "oci://me:secret@ghcr.io/a", "oci://ghcr.io/a@sha512:00", "oci://ghcr.io/a@sha256:zz", "oci://ghcr.io/a:-x",
        "oci://ghcr.io/a#v1", "oci://ghcr.io/a?token=x", "oci://ghcr.io/a:" + "x" * 129, "oci://ghcr.io/" + "a" * 256, "oci://ghcr.io/a b",
        "oci://ghcr.io/a#:../b",
    ],
)  # fmt: skip
def test_what_is_no_repository_is_refused_and_no_secret_in_it_repeated(said: str) -> None:
    if said.endswith("a:"):
        assert "" == parse_oci(said).ref  # a colon without a tag asks for none
        return
    with pytest.raises(MetierError) as refused:
        parse_oci(said)

    assert "secret" not in refused.value.message + refused.value.hint
    assert refused.value.code in {"malformed", "unsafe-ref", "unsafe-path", "credentials", "usage"}
