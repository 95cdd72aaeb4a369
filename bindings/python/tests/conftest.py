"""Fixtures of all tests: the command of the build, and DuckDB."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def _command() -> Path:
    return Path(os.environ.get("SOTTO_COMMAND", ROOT / "build/bin/sotto"))


@pytest.fixture(scope="session")
def command():
    """Returns a function that runs the command and returns its JSON: command("epsilon", plan, "--delta", "1e-5")."""
    path = _command()
    if not path.exists():
        pytest.skip(f"there is no {path}: ./dev build")

    def ask(*words):
        done = subprocess.run([path, *map(str, words), "--format", "json", "--quiet"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="session")
def duckdb_library():
    path = ROOT / "build/duckdb/libduckdb.so"
    if not path.exists():
        pytest.skip(f"there is no {path}: ./dev duckdb")
    return path
