#!/usr/bin/env python3
"""Tests that the snippet runner passes correct pages and fails wrong ones."""
import tempfile
import textwrap
import unittest
from pathlib import Path

import run_snippets


class Matching(unittest.TestCase):
    def test_exact_lines(self):
        self.assertTrue(run_snippets.matches(["a.b", ""], ["a.b", ""]))
        self.assertFalse(run_snippets.matches(["a.b"], ["axb"]))
        self.assertFalse(run_snippets.matches(["a"], ["a", "b"]))
        self.assertFalse(run_snippets.matches(["a", "b"], ["a"]))

    def test_the_last_of_many_digits_may_differ(self):
        self.assertTrue(run_snippets.matches(["x 6.187712389858452"], ["x 6.187712389858461"]))
        self.assertFalse(run_snippets.matches(["x 6.187712389858452"], ["x 6.187714389858452"]))
        self.assertFalse(run_snippets.matches(["x 6.187712"], ["x 6.187713"]))

    def test_ellipsis_line_is_any_lines(self):
        for dots in ("…", "..."):
            self.assertTrue(run_snippets.matches(["a", dots, "z"], ["a", "z"]))
            self.assertTrue(run_snippets.matches(["a", dots, "z"], ["a", "b", "c", "z"]))
            self.assertFalse(run_snippets.matches(["a", dots, "z"], ["a", "b"]))

    def test_ellipsis_in_a_line_is_any_text(self):
        self.assertTrue(run_snippets.matches(["took … s"], ["took 0.3 s"]))
        self.assertFalse(run_snippets.matches(["took … s"], ["took 0.3 ms", "s"]))

    def test_noisy_numbers_are_any_numbers(self):
        expected = ["      answer  95 % interval", "all   1,234  1.2e3 to 1300", "head  3:" + "a" * 64]
        actual = ["         answer     95 % interval", "all   -5  -20 to 10.5", "head  12:" + "0" * 64]
        self.assertTrue(run_snippets.matches(expected, actual, noisy=True))
        self.assertFalse(run_snippets.matches(expected, actual))
        self.assertFalse(run_snippets.matches(["all 5"], ["all"], noisy=True))
        self.assertFalse(run_snippets.matches(["all 5 to 6"], ["all 5 of 6"], noisy=True))
        self.assertFalse(run_snippets.matches(["all 5"], ["all 5 6"], noisy=True))


class Pages(unittest.TestCase):
    def page(self, text, fix=False):
        with tempfile.TemporaryDirectory() as folder:
            build = Path(folder, "build")
            (build / "bin").mkdir(parents=True)
            (build / "sotto.pc").write_text("Libs: -L${libdir}\n")
            path = Path(folder, "page.md")
            path.write_text(textwrap.dedent(text), encoding="utf-8")
            count, failures = run_snippets.run_page(path, build, fix)
            return count, failures, path.read_text(encoding="utf-8")

    def passes(self, text, count):
        self.assertEqual(self.page(text)[:2], (count, []))

    def fails(self, text, *words):
        _, failures, _ = self.page(text)
        self.assertEqual(len(failures), 1, failures)
        for word in words:
            self.assertIn(word, failures[0])

    def test_console(self):
        self.passes("```console\n$ echo a\na\n$ echo b >f; cat f\nb\n```\n\n```console\n$ cat f\nb\n$ true\n```\n", 4)
        self.fails("Words\n\n```console\n$ true\n$ echo a\nb\n```\n", "page.md:5: $ echo a", "-b", "+a")
        self.fails("```console\n$ echo a\n```\n", "+a")

    def test_console_sees_stderr_and_environment(self):
        self.passes("```console\n$ echo a >&2\na\n$ echo $TERM $NO_COLOR\ndumb 1\n```\n", 2)

    def test_console_exit(self):
        self.passes("```console\n$ echo a; exit 3\na\n# exit 3\n$ false\n# exit 1\n```\n", 2)
        self.fails("```console\n$ exit 3\n```\n", "exit 3, expected 0")
        self.fails("```console\n$ true\n# exit 1\n```\n", "exit 0, expected 1")

    def test_console_long_command(self):
        self.passes("```console\n$ echo a \\\n>   b\na b\n```\n", 1)

    def test_indented_block(self):
        self.passes("1. First\n\n   ```console\n   $ echo a\n   a\n   ```\n", 1)

    def test_sh(self):
        self.passes("```sh\ntrue\n```\n", 1)
        self.passes("```sh norun\nfalse\n```\n", 0)
        self.fails("```sh\nfalse\ntrue\n```\n", "page.md:2: exit 1")

    def test_console_noisy(self):
        self.passes("```console noisy\n$ echo all 12 to 14\nall 1,000 to 2.5\n```\n", 1)
        self.fails("```console noisy\n$ echo all 12\nany 12\n```\n", "-any 12", "+all 12")

    def test_duckdb_blocks_are_skipped_without_duckdb(self):
        self.passes("```sh duckdb\nfalse\n```\n```console duckdb\n$ false\n```\n```console duckdb noisy\n$ false\n```\n", 0)

    def test_other_blocks_are_left_alone(self):
        self.passes("```text\n$ false\n```\n```\n$ false\n```\n", 0)

    def test_cpp(self):
        program = "```cpp\n#include <cstdio>\nint main() { std::puts(\"%s\"); return %d; }\n```\n"
        self.passes(program % ("a", 0) + "\n```text\na\n```\n", 1)
        self.passes(program % ("a", 0) + "\nWords\n\n```text\nb\n```\n", 1)
        self.fails(program % ("a", 0) + "\n```text\nb\n```\n", "page.md:2: the output differs")
        self.fails(program % ("a", 1), "page.md:2: exit 1")
        self.fails("```cpp norun\nint main() { return x; }\n```\n", "page.md:2: does not compile")
        self.passes("```cpp norun\nint main() { return 1; }\n```\n", 1)

    def test_fix(self):
        wrong = "```console\n$ echo a; exit 2\nb\n\n$ echo c\n…\n$ echo d\n```\nEnd\n"
        right = "```console\n$ echo a; exit 2\na\n# exit 2\n\n$ echo c\n…\n$ echo d\nd\n```\nEnd\n"
        self.assertEqual(self.page(wrong, fix=True), (3, [], right))
        self.assertEqual(self.page(right, fix=True), (3, [], right))
        self.assertEqual(self.page("- x\n\n  ```console\n  $ echo a\n  ```\n", fix=True)[2], "- x\n\n  ```console\n  $ echo a\n  a\n  ```\n")


if __name__ == "__main__":
    unittest.main()
