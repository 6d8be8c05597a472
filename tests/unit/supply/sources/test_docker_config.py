"""Logins as docker's configuration has them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from metier.errors import ConfigError
from metier.supply.sources.docker_config import LoginHelper, RegistryLogin, find_login, read_helper

PAIR = base64.b64encode(b"ada:open:sesame").decode()


@pytest.mark.parametrize(
    ("config", "host", "login"),
    [
        ({}, "h", None),
        ({"auths": {}}, "h", None),
        ({"auths": {"h": {"auth": PAIR}}}, "h", RegistryLogin("ada", "open:sesame")),
        ({"auths": {"h": {"auth": PAIR}}}, "other", None),
        ({"auths": {"https://h/v1/": {"auth": PAIR}}}, "h", RegistryLogin("ada", "open:sesame")),
        ({"auths": {"h:5000": {"username": "a", "password": "b"}}}, "h:5000", RegistryLogin("a", "b")),
        ({"auths": {"h:5000": {"auth": PAIR}}}, "h", None),
        ({"auths": {"h": {"identitytoken": "t", "auth": PAIR}}}, "h", RegistryLogin(token="t")),
        ({"auths": {"https://index.docker.io/v1/": {"auth": PAIR}}}, "docker.io", RegistryLogin("ada", "open:sesame")),
        ({"auths": {"h": {}}}, "h", None),
        ({"auths": {"h": {}}, "credsStore": "pass"}, "h", LoginHelper("pass", "h")),
        ({"credsStore": "pass"}, "docker.io", LoginHelper("pass", "https://index.docker.io/v1/")),
        ({"auths": {"h": {"auth": PAIR}}, "credHelpers": {"h": "ecr-login"}}, "h", LoginHelper("ecr-login", "h")),
        ({"credHelpers": {"h": "ecr-login"}}, "other", None),
    ],
)  # fmt: skip
def test_the_login_of_exactly_that_registry_is_found(
    config: dict[str, Any], host: str, login: object
) -> None:
    assert login == find_login(json.dumps(config).encode(), host, "config.json")


@pytest.mark.parametrize(
    "data",
    [
        b"{", b"[]", b'{"auths": []}', b'{"auths": {"h": 1}}', b'{"auths": {"h": {"auth": "***secret***"}}}',
        b'{"credHelpers": [1]}', b'{"credsStore": "../../bin/secret"}', b'{"credsStore": 1}', b'{"auths": {}, "auths": {}}',
        b'{"auths": {"h": {"username": "a\\n", "password": "secret"}}}',
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_read_is_an_error_that_repeats_no_secret(
    data: bytes,
) -> None:
    with pytest.raises(ConfigError) as refused:
        find_login(data, "h", "config.json")

    assert "docker-config" == refused.value.code
    assert "secret" not in f"{refused.value.message} {refused.value.hint}"


def test_a_helper_gives_a_password_or_a_token_and_a_login_never_shows_what_it_holds() -> None:
    login = read_helper(b'{"ServerURL":"h","Username":"ada","Secret":"sesame"}', "pass")
    token = read_helper(b'{"Username":"<token>","Secret":"sesame"}', "pass")

    assert (RegistryLogin("ada", "sesame"), RegistryLogin(token="sesame")) == (login, token)
    assert "sesame" not in repr(login) + repr(token) + f"{login}"
    for data in (b"", b"[]", b'{"Username": 1}', b'{"Username": "a", "Secret": "b\\r\\nX: y"}'):
        with pytest.raises(ConfigError):
            read_helper(data, "pass")
