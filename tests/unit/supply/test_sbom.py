"""The SBOM of a lock: valid CycloneDX 1.6, the same bytes for the same lock, and nothing that was not declared."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema
from fakes.shop import Shop, yes
from referencing import Registry, Resource

from metier.supply.sbom import sbom_bytes

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = "# /// script\n# dependencies = ['httpx==0.27.0', 'Rich_Text>=1,<2']\n# ///\nprint(1)\n"
FILES = {
    "scripts/run.py": SCRIPT,
    "scripts/plain.py": "import os\n",
    "requirements.txt": "# a list\n-r more.txt\nnumpy==2.1.0  # pinned\npillow[all]>=10; python_version>'3'\n",
    "package.json": '{"dependencies": {"left-pad": "1.3.0", "@scope/tool": "^2.0.0"}, "devDependencies": {"x": "1"}}',
    "Dockerfile": "FROM python:3.12-slim AS build\nFROM build\nFROM ghcr.io/o/i@sha256:"
    + "a" * 64
    + "\nFROM $X\n",
    "broken/package.json": "{",
    "broken/pyproject.toml": "[",
}


def faults(document: dict[str, Any]) -> list[str]:
    """Hold a document against the schema that CycloneDX publishes, with those it refers to."""
    folder = files("cyclonedx.schema._res")
    named = {
        name: json.loads((folder / f"{name}.SNAPSHOT.schema.json").read_text("utf-8"))
        for name in ("bom-1.6", "spdx", "jsf-0.82")
    }
    base = "http://cyclonedx.org/schema/"
    known = Registry().with_resources(
        [
            (f"{base}{name}.SNAPSHOT.schema.json", Resource.from_contents(one))
            for name, one in named.items()
        ]
    )
    checker = jsonschema.Draft7Validator(named["bom-1.6"], registry=known)
    return [one.message for one in checker.iter_errors(json.loads(sbom_bytes(document)))]


def test_it_is_valid_says_what_the_files_declare_and_is_the_same_every_time(
    shop: Shop, tmp_path: Path
) -> None:
    shop.offer("a", files=FILES, fields='license: Apache-2.0\nversion: "1.2.0"\ndepends-on: [b]\n')
    shop.offer("b", fields="license: Ask me, nicely\n")

    with shop.open() as m:
        empty = m.sbom()
        m.add("../shelf", skills=["a"], consent=yes)
        found, again = m.sbom(), m.sbom()
        written = m.write_sbom(str(tmp_path / "out" / "skills.json"))
    with shop.open(SOURCE_DATE_EPOCH="1700000000") as m:
        dated = m.sbom()

    assert [[], [], []] == [faults(one) for one in (empty, found, dated)]
    assert faults({**found, "components": [{"type": "skill", "name": "x"}]})
    assert sbom_bytes(found) == sbom_bytes(again) == (tmp_path / "out/skills.json").read_bytes()
    assert str(tmp_path / "out/skills.json") == written
    assert ("2023-11-14T22:13:20Z", False) == (
        dated["metadata"]["timestamp"],
        "timestamp" in found["metadata"],
    )
    components = {one["bom-ref"]: one for one in found["components"]}
    assert {
        "skill:a",
        "skill:b",
        "pkg:pypi/httpx@0.27.0",
        "pkg:pypi/rich-text",
        "pkg:pypi/numpy@2.1.0",
        "pkg:pypi/pillow",
        "pkg:npm/left-pad@1.3.0",
        "pkg:npm/%40scope/tool",
        "pkg:docker/python@3.12-slim",
        f"pkg:docker/ghcr.io/o/i@sha256:{'a' * 64}",
    } == set(components)
    assert [{"license": {"id": "Apache-2.0"}}] == components["skill:a"]["licenses"]
    assert [{"license": {"name": "Ask me, nicely"}}] == components["skill:b"]["licenses"]
    assert "1.2.0" == components["skill:a"]["version"]
    assert [{"name": "metier:requirement", "value": ">=1,<2"}] == components["pkg:pypi/rich-text"][
        "properties"
    ]
    graph = {one["ref"]: one["dependsOn"] for one in found["dependencies"]}
    assert ["skill:a"] == graph["project:project"]
    assert "skill:b" in graph["skill:a"]
    assert [] == graph["skill:b"]
    assert {"pkg:docker/python@3.12-slim", "pkg:npm/left-pad@1.3.0"} < set(graph["skill:a"])
