#!/usr/bin/env python3
"""The command line's answers, kept: run.py [--build BUILD] [--fix] [FILE…].

Each *.txt beside this file is a transcript: `$ command`, what it prints, `# exit N` if that is not 0. The rules are those
of console blocks in tests/docs/run_snippets.py; lines before the first command are prose. --fix rewrites the files.
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
    lines = path.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory(prefix="sotto-golden-") as folder, tempfile.TemporaryDirectory(prefix="sotto-home-") as home:
        environment = run_snippets.environment(build, home)
        count, failures, right = run_snippets.run_transcript(f"tests/golden/{path.name}", lines, folder, environment, fix=fix)
    if fix:
        path.write_text("\n".join(right) + "\n", encoding="utf-8")
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
