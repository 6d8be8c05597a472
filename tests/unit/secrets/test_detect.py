"""What of a lent file no output may show, by how such files are written; and what stays readable."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies

from metier.run.output import OutputCleaner, hide
from metier.secrets.detect import MAX_TOTAL_CHARS, MAX_VALUES, find_secrets, first_secrets

ACCOUNT = json.dumps(
    {
        "type": "service_account",
        "project_id": "storm-123",
        "private_key_id": "0123abcd4567ef890123abcd4567ef8901234567",
        "private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END PRIVATE KEY-----\n",
        "client_email": "svc@storm-123.iam.example.com",
        "token_uri": "https://oauth2.example.com/token",
    },
    indent=2,
)
FILES = [
    ('{"password":"hunter2pass","p2":"Tr0ub4dor&3!xyz9"}', ["hunter2pass", "Tr0ub4dor&3!xyz9"], ["password"]),
    ('{"a": [{"b": {"secret": "monkey", "secret": "donkey"}}], "pin": 4711}', ["monkey", "donkey", "4711"], ["secret"]),
    (ACCOUNT, ["0123abcd4567ef890123abcd4567ef8901234567", "MIIEvQIBADANBgkqhkiG9w0"],
     ["service_account", "storm-123", "svc@storm-123.iam.example.com", "https://oauth2.example.com/token", "-----BEGIN"]),
    ("[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalr/K7MDENG/bPxRfi\nregion = eu-west-1\n",
     ["AKIAIOSFODNN7EXAMPLE", "wJalr/K7MDENG/bPxRfi"], ["[default]", "region = eu-west-1", "eu-west-1"]),
    ("machine api.example.com\n  login ada\n  password monkey\n", ["monkey"], ["machine api.example.com", "login ada", "password"]),
    ("machine api.example.com login ada password monkey\n", ["monkey"], ["api.example.com"]),
    ("db.example.com:5432:shop:ada:monkeys\n", ["monkeys"], ["db.example.com"]),
    ("https://ada:s3cr@git.example.com\n", ["s3cr"], ["git.example.com"]),
    ("//registry.example.com/:_authToken=npm_abcdEFGH1234\n", ["npm_abcdEFGH1234"], ["registry.example.com"]),
    ("correct horse battery staple\n", ["correct horse battery staple"], ["correct", "battery"]),
    ("correcthorsebattery", ["correcthorsebattery"], []),
    ("export TOKEN='abc def'\nDEBUG=true\nMODE=default\n", ["abc def"], ["true", "default"]),
    ("# password: oldone\n# how the storm client is configured, for python3\n", ["oldone"], ["configured", "python3", "storm"]),
    ("HOOK_URL=https://hooks.example.com/services/T00/XXXX1234XXXX5678\n", ["XXXX1234XXXX5678"], ["https://hooks.example.com"]),
    ("url: https://example.com/?key=abcd&page=second\n", ["abcd"], ["second"]),
    ("hosts:\n  oauth_token: gho_abc\n  user: ada\n  version: 10.20.30\n  since: 2024-05-06\n  home: /srv/storm\n", ["gho_abc"],
     ["10.20.30", "2024-05-06", "/srv/storm", "hosts:"]),
    ("<server><username>adalove</username><password>mypw1</password></server>", ["mypw1"], ["adalove"]),
    ("ada:$apr1$abc$def\n", ["$apr1$abc$def"], []),
    ("{'password': 'hunter2pass', 'n': 5}", ["hunter2pass"], []),
    (("apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    server: https://10.0.0.1:6443\n  name: kubernetes\ncontexts:\n- context:\n"
     "    namespace: production\nusers:\n- name: kubernetes-admin\n  user:\n    client-key-data: LS0tLS1CRUdJTiBSU0E\n"),
     ["LS0tLS1CRUdJTiBSU0E"], ["kubernetes", "Config", "clusters", "contexts", "production", "kubernetes-admin"]),
    ('{"auths": {"https://index.example.com/v1/": {"auth": "dXNlcjpwYXNz"}}, "credsStore": "pass"}', ["dXNlcjpwYXNz"],
     ["pass", "credsStore"]),
    ("machine localhost\n  login ada\n  password monkey\n", ["monkey"], ["localhost"]),
    ("[profile main]\nsts_regional_endpoints = regional\noutput = json\ncredential_source = Environment\nretry_mode = standard\n", [],
     ["regional", "Environment", "standard", "main"]),
    ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----\n", ["MIIEvQIBADANBgkqhkiG9w0BAQEF"],
     ["PRIVATE", "-----BEGIN"]),
    ("[distutils]\nindex-servers =\n    pypi\n[pypi]\nusername = __token__\npassword = pypi-AgEIcHlwaS5vcmc\n", ["pypi-AgEIcHlwaS5vcmc"],
     ["distutils", "[distutils]"]),
    ("APP_ENV=production\nDB_DRIVER=database\nAUTH=basic\nCACHE=file\n", [], ["production", "database", "basic", "file"]),
    ('[drive]\ntype = drive\ntoken = {"access_token":"ya29.a0AfH6SMBx","token_type":"Bearer","expiry":"2024-05-06T07:08:09Z"}\n',
     ["ya29.a0AfH6SMBx"], ["access_token", "token_type", "expiry"]),
    ('user = "ada" # note\nsecret = "a \\"quoted\\" one"\n', ['a "quoted" one'], ["ada"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret", "plain"), FILES)
def test_values_are_found_and_what_any_text_may_hold_is_left(
    text: str, secret: list[str], plain: list[str]
) -> None:
    found = find_secrets(text.encode())

    assert (secret, []) == (
        [one for one in secret if one in found],
        [one for one in plain if one in found],
    )


@pytest.mark.parametrize(("text", "secret", "plain"), FILES)
def test_a_file_that_is_printed_shows_no_value(
    text: str,
    secret: list[str],
    plain: list[str],  # noqa: ARG001 - one table
) -> None:
    cleaner = OutputCleaner(hide({}, dict.fromkeys(find_secrets(text.encode()), "~/key")))

    shown = (
        cleaner.feed(f"{text}\n{json.dumps(secret)}\n{' '.join(secret)}\n".encode())
        + cleaner.finish()
    )

    assert [] == [one for one in secret if one in shown]


@given(strategies.binary(max_size=300) | strategies.text(max_size=300).map(str.encode))
@settings(max_examples=200, deadline=None)
def test_nothing_that_a_file_can_hold_is_too_odd(data: bytes) -> None:
    found = find_secrets(data)

    assert (sorted(set(found)), True) == (sorted(found), all(len(one) >= 4 for one in found))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, '\\"' * 50_000, "'" * 100_000, "a=" * 50_000, "9" * 100_000],
)
def test_no_file_takes_long(text: str) -> None:
    found = find_secrets(text.encode())

    assert 3 > len(found)


def test_so_much_is_looked_for_and_no_more() -> None:
    many, long = (
        [f"value-{number}" for number in range(MAX_VALUES + 5)],
        ["x" * 2000 + str(number) for number in range(1000)],
    )

    assert (many[:MAX_VALUES], MAX_TOTAL_CHARS // 1024) == (
        first_secrets(many),
        len(first_secrets(long)),
    )
