#!/usr/bin/env python3
"""Every rule of check.py fires on a small tree that breaks it, and none on one that breaks none."""
import tempfile
import unittest
from pathlib import Path

import check

GOOD = {
    "src/README.md": "| 0 | `core` | a |\n| 2 | `privacy` | b |\n| 2 | `random` | c |\n| 9 | `apps/cli` | d |\n",
    "CMakeLists.txt": "sotto_folder(core)\nsotto_folder(privacy DEPENDS core)\nsotto_folder(random)\n",
    "docs/references.bib": "@article{Known2017,\n}\n",
    "include/sotto/core/bound.hpp": "#include <limits>\n",
    "include/sotto/privacy/dp.hpp": '#include "sotto/core/bound.hpp"\n/// The line [Known2017, Thm 3].\n',
    "include/sotto/random/source.hpp": "#include <cstdint>\n",
    "src/core/bound.cpp": '#include "sotto/core/bound.hpp"\n#include "core/detail.hpp"\n',
    "src/core/detail.hpp": "",
    "src/privacy/dp.cpp": '#include <sqlite3.h>\n#include "sotto/privacy/dp.hpp"\n',
    "src/random/source.cpp": "",
    "apps/cli/main.cpp": '#include "sotto/privacy/dp.hpp"\nint main() { std::cout << 1; }\n',
    "docs/theory/privacy.md": "As shown [Known2017].\n",
    "docs/README.md": "[privacy](theory/privacy.md#proof), [the web](https://example.org/x), [references](references.bib)\n",
}


class Rules(unittest.TestCase):
    def findings(self, changes, opening_lines=False, **options):
        """The findings for the good tree with these changes. Few of its files have an opening line: only one test asks for them."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            tree = check.check(folder, **options)
        if not opening_lines:
            tree.violations = [v for v in tree.violations if "has no opening line" not in v]
        return tree

    def expect(self, name, text, violation, **options):
        found = self.findings({name: text}, **options).violations
        self.assertEqual(len(found), 1, found)
        self.assertIn(violation, found[0])

    def test_good_tree_has_no_violation(self):
        self.assertEqual(self.findings({}).violations, [])

    def test_higher_rank(self):
        found = self.findings({"src/core/up.cpp": '\n#include "sotto/privacy/dp.hpp"\n'}).violations
        self.assertIn("src/core/up.cpp:2: core (rank 0) includes privacy (rank 2)", found)

    def test_equal_rank(self):
        found = self.findings({"include/sotto/random/x.hpp": '#include "sotto/privacy/dp.hpp"\n'}).violations
        self.assertIn("include/sotto/random/x.hpp:1: random (rank 2) includes privacy (rank 2)", found)

    def test_include_of_a_header_that_does_not_exist(self):
        self.expect("apps/cli/main.cpp", '#include "sotto/attic/x.hpp"\n', "there is no sotto/attic/x.hpp")

    def test_folder_outside_the_table(self):
        self.expect("src/attic/x.cpp", "", "folder attic is not in the table")
        self.expect("include/sotto/attic/x.hpp", "", "folder attic is not in the table")

    def test_table_names_a_folder_that_does_not_exist(self):
        self.expect("src/README.md", GOOD["src/README.md"] + "| 5 | `ledger` | e |\n", "src/README.md:5: the table names ledger")

    def test_private_header_of_another_folder(self):
        for spelling in ("../core/detail.hpp", "core/detail.hpp"):
            self.expect("src/privacy/x.cpp", f'#include "{spelling}"\n', "private header of another folder")

    def test_interface_headers(self):
        api = {"src/core/api/text.hpp": ""}
        self.assertEqual(self.findings({**api, "src/privacy/x.cpp": '#include "core/api/text.hpp"\n'}).violations, [])
        self.assertEqual(self.findings({**api, "apps/cli/x.cpp": '#include "core/api/text.hpp"\n'}).violations, [])
        for place, include, violation in (("src/core/x.cpp", "privacy/api/x.hpp", "core (rank 0) includes privacy (rank 2)"),
                                          ("include/sotto/core/x.hpp", "core/api/text.hpp", "which is not installed"),
                                          ("src/core/api/y.hpp", "core/detail.hpp", "which is private to core")):
            found = self.findings({**api, "src/privacy/api/x.hpp": "", place: f'#include "{include}"\n'}).violations
            self.assertIn(violation, found[0])

    def test_order_of_subfolders(self):
        table = {"src/README.md": GOOD["src/README.md"] + "| `core` | `low` < `high` < `.` |\n", "src/core/low/a.hpp": "", "src/core/high/b.hpp": ""}
        self.assertEqual(self.findings({**table, "src/core/high/x.cpp": '#include "core/low/a.hpp"\n'}).violations, [])
        self.assertIn("core/low includes core/high, which comes after it",
                      self.findings({**table, "src/core/low/x.cpp": '#include "core/high/b.hpp"\n'}).violations[0])
        self.assertIn("lacks new", self.findings({**table, "src/core/new/x.cpp": ""}).violations[0])
        lost = {**table, "src/README.md": table["src/README.md"].replace("high", "gone")}
        self.assertIn("the table names core/gone", self.findings(lost).violations[0])

    def test_stated_dependencies(self):
        for change, violation in (("sotto_folder(privacy DEPENDS core random)\n", "privacy includes no header of random"),
                                  ("sotto_folder(privacy)\n", "privacy includes headers of core")):
            self.expect("CMakeLists.txt", change, violation)

    def test_crowds(self):
        many = {f"src/core/{i}.cpp": "" for i in range(25)}
        self.assertIn("27 files; a folder has at most 24", self.findings(many).violations[0])
        headers = {f"include/sotto/core/{part}/{i}.hpp": "" for part in "abc" for i in range(15)}
        self.assertIn("48 public headers; at most 45", self.findings(headers).violations[0])

    def test_public_header_with_third_party_include(self):
        self.expect("include/sotto/core/x.hpp", "#include <sqlite3.h>\n", "<sqlite3.h>, which is not a standard header")

    def test_public_header_with_private_include(self):
        self.expect("include/sotto/core/x.hpp", '#include "core/detail.hpp"\n', '"core/detail.hpp", which is not installed')

    def test_heavy_header_in_two_files(self):
        one = {"apps/cli/line.cpp": "#include <CLI/CLI.hpp>\n"}
        self.assertEqual(self.findings(one).violations, [])
        two = self.findings({**one, "apps/cli/more.cpp": "#include <CLI/App.hpp>\n"}).violations
        self.assertEqual(len(two), 1, two)
        self.assertIn("apps/cli/more.cpp:1: <CLI/App.hpp> takes seconds to compile", two[0])
        self.expect("apps/cli/line.hpp", "#include <CLI/CLI.hpp>\n", "one source file alone")

    def test_doubled_names(self):
        field = "namespace sotto {\nstruct Field {\n  int a;\n};\n}\n"
        twice = {"include/sotto/core/field.hpp": field, "include/sotto/privacy/field.hpp": field}
        found = self.findings(twice).violations
        self.assertEqual(len(found), 1, found)
        self.assertIn("include/sotto/privacy/field.hpp:2: sotto::Field is defined in include/sotto/core/field.hpp:2, too", found[0])
        # in private headers of one folder, as functions, as templates, as enumerations
        for one in ("struct Part { int a; };", "template <class T>\nclass Part final : public Base<T> {};", "enum class Part { a, b };",
                    "inline double part(double x, const std::vector<int>& many = {}) { return x; }", "template <class T>\nauto part(T&& x) -> T {}"):
            home = f"namespace sotto::core_detail {{\n{one}\n}}\n"
            found = self.findings({"src/core/a.hpp": home, "src/core/b.hpp": home}).violations
            self.assertEqual(len(found), 1, (one, found))
            self.assertIn("is defined in src/core/a.hpp", found[0])

    def test_names_that_only_look_doubled(self):
        for a, b in (("struct Part;", "struct Part { int a; };"), ("double f(int x) { return x; }", "double f(double x) { return x; }"),
                     ("// struct Part { int a; };", "struct Part { int a; };"), ('auto s = "struct Part {";', "struct Part { int a; };"),
                     ("struct A { struct Part { int a; }; };", "struct B { struct Part { int a; }; };"),
                     ("int f() { if (a) { struct Part {}; } return 1; }", "struct Part { int a; };")):
            trees = [f"namespace sotto::core_detail {{\n{x}\n}}\n" for x in (a, b)]
            self.assertEqual(self.findings({"src/core/a.hpp": trees[0], "src/core/b.hpp": trees[1]}).violations, [], (a, b))
        unnamed = "namespace sotto {\nnamespace {\nstruct Part { int a; };\nint f() { return 1; }\n}\n}\n"
        self.assertEqual(self.findings({"src/core/a.cpp": unnamed, "src/privacy/b.cpp": unnamed}).violations, [])

    def test_private_names_in_their_own_namespace(self):
        outside = "put it into sotto::core_detail"
        self.expect("src/core/detail.hpp", "namespace sotto {\nstruct Part { int a; };\n}\n", "src/core/detail.hpp:2: sotto::Part is in no public or interface header of core: ")
        self.expect("src/core/detail.hpp", "namespace sotto::privacy_detail {\ninline int f(int x) { return x; }\n}\n", outside)
        self.expect("src/core/bound.cpp", "namespace sotto {\nint helper() { return 1; }\n}\n", outside)
        text = "namespace sotto::text {\nstruct %s { int a; };\n}\n"
        found = self.findings({"src/core/detail.hpp": text % "One", "src/privacy/detail.hpp": text % "Other"}).violations
        self.assertEqual(len(found), 1, found)
        self.assertIn("src/privacy/detail.hpp:2: sotto::text::Other is in no public or interface header of privacy", found[0])
        self.expect("src/core/detail.hpp", "namespace sotto::core_detail {\nnamespace {\nint f() { return 1; }\n}\n}\n", "in an unnamed namespace of a header")
        declared = {"include/sotto/core/bound.hpp": "namespace sotto {\nint width();\nstruct Bound;\n}\n",
                    "src/core/bound.cpp": "namespace sotto {\nint width() { return 1; }\nstruct Bound::Inner { int a; };\n}\n",
                    "src/core/detail.hpp": "namespace sotto::core_detail {\nstruct Part { int a; };\n}\nnamespace sotto::core_detail::text {\nenum Kind { a };\n}\n"}
        self.assertEqual(self.findings(declared).violations, [])

    def test_unknown_citation(self):
        for text in ("/// [Lost2018]\n", "/// [Lost2018, Prop 1]\n", "/// [Known2017, Thm 3; Lost2018, Prop 1]\n",
                     "/// [Known2017, Thm 3;\n/// Lost2018]\n"):
            self.expect("include/sotto/core/x.hpp", text, "include/sotto/core/x.hpp:1: Lost2018 is not in docs/references.bib")

    def test_unknown_citation_in_theory_pages(self):
        self.expect("docs/theory/privacy.md", "\n[Known2017], [Lost2018]\n", "docs/theory/privacy.md:2: Lost2018")

    def test_unknown_reference_in_a_string(self):
        self.expect("src/privacy/x.cpp", 'cite("Lost2018", "Thm 3");\n', "Lost2018 is not in docs/references.bib")
        self.expect("src/privacy/x.cpp", 'step.reference = "Lost2018, Thm 3"\n', "Lost2018 is not in docs/references.bib")

    def test_bibliography(self):
        twice = GOOD["docs/references.bib"] * 2
        self.expect("docs/references.bib", twice, "docs/references.bib:3: Known2017 is there twice")
        unused = {"docs/references.bib": GOOD["docs/references.bib"] + "@book{Spare2020,\n}\n"}
        self.assertEqual(self.findings(unused).violations, [])
        self.assertIn("Spare2020 is used nowhere", self.findings(unused).warnings[0])
        self.assertIn("docs/references.bib:3: Spare2020", self.findings(unused, strict_bib=True).violations[0])

    def test_sizes(self):
        self.expect("include/sotto/core/x.hpp", "\n" * 401, "401 lines; a public header has at most 400")
        self.expect("src/core/x.cpp", "\n" * 521, "521 lines; a source file has at most 520")
        long = {f"include/sotto/core/{i}.hpp": "\n" * 121 for i in range(5)}
        self.assertIn("the median public header", self.findings(long).violations[0])

    def test_side_effects(self):
        for text in ("std::cout << 1;", "std::cerr << 1;", 'printf("1");', 'std::fprintf(stderr, "");', "abort();", "std::exit(1);",
                     'getenv("HOME");'):
            self.expect("src/core/x.cpp", text, "never prints, aborts or reads the environment")
        self.assertEqual(self.findings({"src/core/x.cpp": 'snprintf(b, n, "");  // never std::cout\n'}).violations, [])

    def test_noise_without_a_charge(self):
        draws = "\nauto noise = RoundedNoise(NoiseKind::gaussian, 1);  // RoundedNoise\n"
        self.expect("apps/cli/x.cpp", draws, "apps/cli/x.cpp:2: RoundedNoise is for random and mechanisms alone: draw with an object of mechanisms")
        for place in ("include/sotto/privacy/x.hpp", "src/privacy/x.cpp", "src/core/x.hpp"):
            self.expect(place, draws, f"{place}:2: RoundedNoise")
        self.assertEqual(self.findings({"src/core/x.cpp": "// RoundedNoise\nMyRoundedNoise x;\n"}).violations, [])
        table = {"src/README.md": GOOD["src/README.md"] + "| 3 | `mechanisms` | e |\n| 4 | `course` | f |\n"}
        drawing = {place: draws for place in ("src/random/x.cpp", "include/sotto/random/x.hpp", "src/mechanisms/x.cpp", "include/sotto/mechanisms/x.hpp",
                                              "src/course/x.cpp", "tests/unit/random/x.cpp", "bench/x.cpp")}
        self.assertEqual(self.findings({**table, **drawing}).violations, [])

    def test_words_of_the_command_line(self):
        for text in ('throw Refused("use --by rdp");', 'throw Refused("there is none: `sotto ledger create` makes one");', 'return "see sotto tradeoff";'):
            self.expect("src/core/x.cpp", text, "the library knows no command line")
        fine = 'a("sotto ledger head"); b("color: var(--soft)"); c("what sotto reads");  // as by `sotto run --new`\n'
        self.assertEqual(self.findings({"src/core/x.cpp": fine, "apps/cli/x.cpp": 'say("add --new");'}).violations, [])

    def test_index_of_the_documentation(self):
        index = GOOD["docs/README.md"]
        self.expect("docs/howto/run.md", "", "docs/README.md:1: howto/run.md is not listed")
        self.expect("docs/README.md", index + "[gone](howto/gone.md)\n", "docs/README.md:2: the link howto/gone.md leads to no file")
        records = {f"docs/decisions/000{i}-x.md": "" for i in (1, 2)}
        first, second = (f"[{i}](decisions/000{i}-x.md)\n" for i in (1, 2))
        self.assertEqual(self.findings({**records, "docs/README.md": index + first + second}).violations, [])
        for wrong in (second + first, first + second + second):
            found = self.findings({**records, "docs/README.md": index + wrong}).violations
            self.assertEqual(len(found), 1, found)
            self.assertIn("list each once, in order", found[0])

    def test_paths_through_the_source(self):
        step = GOOD["src/README.md"] + "1. `apps/cli/main.cpp` → `%s` starts.\n"
        self.assertEqual(self.findings({"src/README.md": step % "Program::main"}).violations, [])
        self.expect("src/README.md", step % "run", "src/README.md:5: apps/cli/main.cpp has no run")
        place = GOOD["src/README.md"] + "`%s` (`apps/cli/main.cpp`) starts.\n"
        self.assertEqual(self.findings({"src/README.md": place % "Program::main"}).violations, [])
        self.expect("src/README.md", place % "run", "src/README.md:5: apps/cli/main.cpp has no run")
        self.expect("src/README.md", (step % "main").replace("main.cpp", "gone.cpp"), "src/README.md:5: there is no file apps/cli/gone.cpp")

    def test_opening_lines(self):
        without = "src/core/x.cpp:1: the file has no opening line"
        for text, violation in (("#include <limits>\n", True), ("// Sums that are exact.\n#include <limits>\n", False)):
            found = [v for v in self.findings({"src/core/x.cpp": text}, opening_lines=True).violations if v.startswith(without)]
            self.assertEqual(len(found), 1 if violation else 0)

    def test_vocabulary(self):
        for text in ("int told = 1;", "struct Asking {};", "const auto found = f();", "void kept();"):
            self.expect("apps/cli/x.cpp", f"\n{text}\n", "is no name: types are nouns")
        for text in ("// What is left of it.", "/// Whoever asks.", "int a;  ///< So many rows"):
            self.expect("src/core/x.cpp", f"{text}\n", "a comment is a sentence")
        fine = '// The bytes that were found in it.\nsay("found, kept and told");\nint not_found = founder;\n'
        self.assertEqual(self.findings({"src/core/x.cpp": fine}).violations, [])

    def test_long_functions(self):
        body = "namespace {\nint f(int x) {\n" + "  ++x;\n" * 59 + "  return x;\n}\n}\n"
        self.expect("apps/cli/x.cpp", body, "apps/cli/x.cpp:2: f has 62 lines, more than 60")
        listed = {"tests/architecture/long_functions.txt": "# reasons\napps/cli/x.cpp f: a table\n"}
        self.assertEqual(self.findings({"apps/cli/x.cpp": body, **listed}).violations, [])
        self.assertIn("is listed, but is not longer", self.findings(listed).violations[0])

    def test_marks(self):
        for mark in ("TODO", "FIXME", "XXX"):
            self.expect("apps/cli/x.cpp", f"\n// {mark}: later\n", f"apps/cli/x.cpp:2: {mark}")
        self.assertEqual(self.findings({"tests/x.sh": "mktemp -d /tmp/a.XXXXXX\n"}).violations, [])


if __name__ == "__main__":
    unittest.main()
