"""`bench/conformance.py`, which runs the official suite of MCP and MCP Inspector: what it makes of their answers."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "bench/conformance.py"
BENCH = runpy.run_path(str(SCRIPT))
PASSED = {"id": "ping", "status": "SUCCESS"}
WIRE = {"id": "wire-schema-valid", "status": "SUCCESS"}


def failed(check: str) -> dict[str, str]:
    """Give a check that failed."""
    return {"id": check, "status": "FAILURE", "errorMessage": "no"}


@pytest.mark.parametrize(
    ("checks", "outcome"),
    [
        ([PASSED, WIRE], "passed"),
        ([failed("ping"), WIRE], "failed"),
        ([failed("tools-call-image"), WIRE], "not ours"),
        ([failed("tools-call-image"), PASSED, WIRE], "in part"),
        ([failed("tools-call-image"), failed("ping")], "failed"),
        ([failed("tools-call-image"), failed("wire-schema-valid")], "failed"),
        ([], "failed"),
    ],
)
def test_only_what_is_listed_with_a_reason_may_fail(
    checks: list[dict[str, Any]], outcome: str
) -> None:
    assert outcome == BENCH["judge"](checks, "a scenario", "2026-07-28").outcome


def test_every_exception_has_its_reason() -> None:
    assert all(BENCH["NOT_OURS"].values())
    assert all(BENCH["NO_EXTENSION"].values())


def test_a_machine_without_node_is_told_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--cache", str(tmp_path / "cache")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (2, "") == (done.returncode, done.stdout)
    assert "node and npm are needed" in done.stderr
    assert not (tmp_path / "cache").exists()
