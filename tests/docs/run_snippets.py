#!/usr/bin/env python3
"""Runs the examples of the documentation: run_snippets.py [--build BUILD] [--fix] [FILE…].

FILEs are README.md and docs/**/*.md by default. Each file runs in a temporary folder, with the
built sotto in PATH. The first line of a fenced block says how it is run:

  console     Lines `$ command`, each followed by the expected output (stdout and stderr) and, if the exit status is not
              0, by `# exit N`. A line `…` or `...` matches any lines, and `…` inside a line matches any text. A command
              whose line ends in `\\` continues on the next line.
  sh          Commands that must succeed. Their output is ignored.
  sh duckdb, console duckdb   The block is skipped, with a message, unless the build tree has DuckDB (./dev duckdb).
  sh grpc, console grpc   The block is skipped, with a message, unless sotto-federate was built.
  console noisy, console duckdb noisy   The output has random noise: a number matches any number, and the width of
              columns is ignored. All other text must match.
  cpp         A program that is compiled and run. A `text` block that follows immediately is its expected output.
  cpp duckdb  As cpp, if the build tree has DuckDB. The program loads it from ../lib/sotto, as an installed one does.
  sh norun    Not run.         cpp norun    Compiled and not run.

--fix replaces the expected output of the console blocks by the actual one.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(\s*)(```+)\s*(.*?)\s*$")
EXIT = re.compile(r"^# exit (\d+)$")
SECONDS = 300


def environment(build, home):
    """Returns the environment of the commands.

    The user's files are below `home`, which is empty at first.
    """
    path = f"{build / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return {**inherited, "HOME": str(home), "PATH": path, "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8", "SOTTO_SOURCE": str(ROOT)}


# --- transcripts: commands with their output ---


class Step:
    """A command of a transcript. lines[first:end] of the transcript are its expected output and its
    exit line.
    """

    def __init__(self, command, line, first, body):
        self.command, self.line, self.first, self.end = command, line, first, first + len(body)
        self.status = 0
        body = trimmed(body)
        if body and (exit_line := EXIT.match(body[-1])):
            self.status = int(exit_line[1])
            body = trimmed(body[:-1])
        self.expected = body


def trimmed(lines):
    """Returns the lines without the blank lines at the end."""
    lines = list(lines)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def steps_of(lines):
    """Returns the steps of a transcript. Lines before the first command are prose."""
    steps, at = [], 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            at += 1
            continue
        start, command = at, lines[at][2:]
        while command.endswith("\\") and at + 1 < len(lines):
            at += 1
            command += "\n" + re.sub(r"^> ", "", lines[at])
        end = at + 1
        while end < len(lines) and not lines[end].startswith("$ "):
            end += 1
        steps.append(Step(command, start, at + 1, lines[at + 1 : end]))
        at = end
    return steps


LONG_NUMBER = re.compile(r"\d*\.\d{10,}(?:e[-+]?\d+)?")


NUMBER = re.compile(r"\b[0-9a-f]{64}\b|(?<![A-Za-z])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def without_numbers(line):
    """Returns the line with a placeholder for each number and hash, and with single spaces."""
    return " ".join(NUMBER.sub("#", line).split())


def shortened(line):
    """Returns the line with long numbers rounded to eight digits, since further ones depend on the
    processor.
    """
    return LONG_NUMBER.sub(lambda number: f"{float(number.group()):.8g}", line)


def matches(expected, actual, noisy=False):
    """Returns whether the lines match: an ellipsis matches any text, and with `noisy` a number
    matches any number.
    """
    normal = without_numbers if noisy else shortened
    expected, actual = map(normal, expected), map(normal, actual)
    pattern = ""
    for line in expected:
        if line.strip() in ("…", "..."):
            pattern += r"(?:[^\n]*\n)*"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in line.split("…")) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


def run(command, cwd, env):
    """Runs a command, and returns the lines of its output and its exit status."""
    try:
        process = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return [f"(stopped after {SECONDS} s)"], 124
    return trimmed(process.stdout.decode(errors="replace").splitlines()), process.returncode


def difference(expected, actual):
    """Returns a unified diff, indented."""
    return "\n".join("    " + line for line in list(difflib.unified_diff(expected, actual, "expected", "actual", lineterm=""))[2:])


def run_transcript(name, lines, cwd, env, offset=0, fix=False, noisy=False):
    """Runs every step of a transcript.

    `offset` is the number of lines before the transcript in the file `name`. Returns the number of
    steps, the failures as text (none with `fix`), and the lines with the actual output.
    """
    failures, actual_lines = [], list(lines)
    steps = steps_of(lines)
    replacements = []
    for step in steps:
        actual, status = run(["sh", "-c", step.command], cwd, env)
        if matches(step.expected, actual, noisy) and status == step.status:
            continue
        replacements.append((step, actual + ([f"# exit {status}"] if status else [])))
        problem = "" if status == step.status else f" (exit {status}, expected {step.status})"
        failures.append(f"{name}:{offset + step.line + 1}: $ {step.command}{problem}\n{difference(step.expected, actual)}")
    for step, body in reversed(replacements):
        blanks = len(lines[step.first : step.end]) - len(trimmed(lines[step.first : step.end]))
        actual_lines[step.first : step.end] = body + [""] * blanks
    return len(steps), [] if fix else failures, actual_lines


# --- pages: fenced blocks in Markdown ---


class Block:
    """A fenced block of a page: the info string, the indentation of the fence, and the lines of the
    content.
    """

    def __init__(self, info, indent, first, end):
        self.info, self.indent, self.first, self.end = info, indent, first, end  # content is lines[first:end]

    def content(self, lines):
        return [line[len(self.indent) :] if line.startswith(self.indent) else line for line in lines[self.first : self.end]]


def blocks_of(lines):
    """Returns the fenced blocks of a page. A longer fence may contain shorter ones."""
    blocks, fence_start = [], None
    for at, line in enumerate(lines):
        if not (fence := FENCE.match(line)):
            continue
        if fence_start is None:
            fence_start = (fence[3], fence[1], at + 1, fence[2])
        elif fence[2].startswith(fence_start[3]) and not fence[3]:
            blocks.append(Block(*fence_start[:3], at))
            fence_start = None
    return blocks


def library_flags(build):
    """Returns the linker flags of the built library, in the order of pkg-config for an installed
    one.
    """
    text = (build / "sotto.pc").read_text()
    libs = re.search(r"^Libs:(.*)$", text, re.MULTILINE)[1].split()
    other_libs = []
    if others := re.search(r"^Requires:(.*)$", text, re.MULTILINE):
        other_libs = subprocess.run(["pkg-config", "--libs", *others[1].split()], capture_output=True, text=True, check=True).stdout.split()
    return [f"-L{build}"] + [flag for flag in libs if not flag.startswith("-L")] + other_libs


def run_program(name, line, source, expected, only_compile, build, cwd, env):
    """Compiles and runs a C++ program, and returns the failures as text."""
    program = cwd / "bin" / f"snippet_{line}"
    program.parent.mkdir(exist_ok=True)
    if (build / "lib").exists() and not (cwd / "lib").exists():
        (cwd / "lib").symlink_to(build / "lib")  # a program looks for DuckDB in ../lib/sotto
    program.with_suffix(".cpp").write_text("\n".join(source) + "\n", encoding="utf-8")
    output, status = run(["g++", "-std=c++20", f"-I{ROOT / 'include'}", f"{program}.cpp", "-o", program, *library_flags(build)], cwd, env)
    if status:
        return [f"{name}:{line}: does not compile\n" + "\n".join("    " + text for text in output)]
    if only_compile:
        return []
    output, status = run([program], cwd, env)
    if status:
        return [f"{name}:{line}: exit {status}\n" + "\n".join("    " + text for text in output)]
    if expected is not None and not matches(trimmed(expected), output):
        return [f"{name}:{line}: the output differs\n{difference(trimmed(expected), output)}"]
    return []


def run_page(page, build, fix=False):
    """Runs the blocks of a page, and returns the number of snippets and the failures as text."""
    lines = page.read_text(encoding="utf-8").splitlines()
    name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
    count, failures, fixes = 0, [], []
    with tempfile.TemporaryDirectory(prefix="sotto-docs-") as folder, tempfile.TemporaryDirectory(prefix="sotto-home-") as home:
        env = environment(build, home)
        blocks = blocks_of(lines)
        for block, following in zip(blocks, [*blocks[1:], None]):
            content, line = block.content(lines), block.first + 1
            if block.info.endswith(" grpc"):
                if not (build / "bin/sotto-federate").exists():
                    print(f"{name}:{line}: skipped: sotto-federate is not built; type: ./dev federated")
                    continue
                block.info = block.info.removesuffix(" grpc")
            if block.info in ("sh duckdb", "cpp duckdb", "console duckdb", "console duckdb noisy"):
                if not (build / "duckdb/libduckdb.so").exists():
                    print(f"{name}:{line}: skipped: the build tree has no DuckDB; type: ./dev duckdb")
                    continue
                block.info = block.info.replace(" duckdb", "")
            if block.info in ("console", "console noisy"):
                steps, problems, actual = run_transcript(name, content, folder, env, block.first, fix, noisy=block.info == "console noisy")
                count += steps
                failures += problems
                fixes.append((block, actual))
            elif block.info == "sh":
                count += 1
                output, status = run(["sh", "-e", "-c", "\n".join(content)], folder, env)
                if status:
                    failures.append(f"{name}:{line}: exit {status}\n" + "\n".join("    " + text for text in output))
            elif block.info in ("cpp", "cpp norun"):
                count += 1
                is_next = following is not None and not "".join(lines[block.end + 1 : following.first - 1]).strip()
                expected = following.content(lines) if is_next and following.info == "text" else None
                failures += run_program(name, line, content, expected, block.info == "cpp norun", build, Path(folder), env)
    if fix:
        for block, actual in reversed(fixes):
            lines[block.first : block.end] = [block.indent + text if text else text for text in actual]
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return count, failures


def report(what, results):
    """Prints all failures and a summary, and returns the exit status."""
    results = list(results)
    failures = [failure for _, problems in results for failure in problems]
    for failure in failures:
        print(failure)
    print(f"{sum(count for count, _ in results)} {what}, {len(failures)} failures")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build tree (build/)")
    parser.add_argument("--fix", action="store_true", help="rewrite the outputs of console blocks")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    pages = arguments.files or [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if p.exists()]
    with ThreadPoolExecutor(2) as pool:
        return report("snippets", pool.map(lambda page: run_page(page.resolve(), build, arguments.fix), pages))


if __name__ == "__main__":
    sys.exit(main())
