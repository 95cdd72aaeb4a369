#!/usr/bin/env python3
"""Compares the output of commands with stored transcripts: run.py [--build BUILD] [--fix] [FILE…].

Each *.txt in this folder is a transcript with the rules of the console blocks in
tests/docs/run_snippets.py. Lines before the first command are prose. --fix replaces the expected
output by the actual one.
"""
import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "docs"))
import run_snippets  # noqa: E402


def run_file(path, build, fix):
    """Runs a transcript, and returns the number of commands and the failures as text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory(prefix="sotto-golden-") as folder, tempfile.TemporaryDirectory(prefix="sotto-home-") as home:
        environment = run_snippets.environment(build, home)
        count, failures, actual = run_snippets.run_transcript(f"tests/golden/{path.name}", lines, folder, environment, fix=fix)
    if fix:
        path.write_text("\n".join(actual) + "\n", encoding="utf-8")
    return count, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=run_snippets.ROOT / "build", help="the build tree (build/)")
    parser.add_argument("--fix", action="store_true", help="rewrite the expected outputs")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    files = arguments.files or sorted(HERE.glob("*.txt"))
    with ThreadPoolExecutor(2) as pool:
        return run_snippets.report("commands", pool.map(lambda path: run_file(path, arguments.build.resolve(), arguments.fix), files))


if __name__ == "__main__":
    sys.exit(main())
