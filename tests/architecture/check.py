#!/usr/bin/env python3
"""The rules of the house, checked: check.py [ROOT] [--strict-bib].

Ranks of folders (src/README.md), clean public headers, slow headers in one file, one definition a name, private names in their folder's
namespace, references that exist, sizes, no printing in the library, noise from `mechanisms` alone, no marks of unfinished work. Prints each violation as file:line: message; exits 1 if there is one.
"""
import argparse
import os
import re
import statistics
import sys
from pathlib import Path

import names

STANDARD_HEADERS = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream
functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore
set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view strstream
syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
variant vector version
""".split())
HEAVY = ("CLI/", "nlohmann/")  # headers that take seconds to compile: behind one source file each
HEADER_MEDIAN, HEADER_LINES, SOURCE_LINES = 120, 400, 520
FOLDER_FILES, PUBLIC_HEADERS, FUNCTION_LINES = 24, 45, 60

KEY = r"[A-Z][A-Za-z]+\d{4}[a-z]?"
CITATION = re.compile(rf"\[{KEY}(?:[,;][^\]]*)?\]")
LITERAL = re.compile(rf'"{KEY}(?:[,;][^"]*)?"')  # a reference as a value
SIDE_EFFECT = re.compile(r"std::(?:cout|cerr|clog)|\b(?:v?f?printf|puts|abort|_?exit|quick_exit|getenv)\s*\(")
FLAG = re.compile(r"(?<![\w(-])--[a-z]")
COMMAND = re.compile(r"[^\"]\bsotto (?:run|data|study|predict|epsilon|delta|divergence|tradeoff|compare|explain|calibrate|ledger|serve|noise|dpsgd|attack|audit|figures)\b")
# Noise is drawn by the objects of `mechanisms`, which hold the plan event that the noise costs. Course material releases nothing: it draws as it likes.
NOISE = re.compile(r"\bRoundedNoise\b")
NOISE_FOLDERS = ("include/sotto/random/", "src/random/", "include/sotto/mechanisms/", "src/mechanisms/")
NOISE_IN_COURSE = ("src/course/",)
MARK = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
PARTICIPLE = re.compile(r"\b(?:told|asked|looked|taken|wholes|whoever|dear|found|kept|made|given|shown|Asking|Asked|Borrowed|Kept|Taken|Told|Made|Looked|"
                        r"Grown|Found|Given)\b")
FREE_RELATIVE = re.compile(r"//[/!]?<? (?:What|Whoever|Who|Which|So many|Of each|Whatever|Whose)\b(?! is\b.*\?)")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
ROW = re.compile(r"^\|\s*(\d+)\s*\|\s*`([a-z_/]+?)/?`\s*\|")
ORDER = re.compile(r"^\|\s*`([a-z_]+)`\s*\|\s*(`[a-z_.]+`(?: < `[a-z_.]+`)+)\s*\|")


class Tree:
    def __init__(self, root):
        self.root = Path(root)
        self.violations = []
        self.warnings = []
        self.words = {}

    def violation(self, path, line, message):
        self.violations.append(f"{path.relative_to(self.root)}:{line}: {message}")

    def files(self, *folders, suffixes=(".hpp", ".cpp")):
        for folder in folders:
            yield from sorted(p for p in (self.root / folder).rglob("*") if p.suffix in suffixes and p.is_file())

    def public_words(self, folder):
        """Every word of a folder's public and interface headers."""
        if folder not in self.words:
            headers = self.files(f"include/sotto/{folder}", f"src/{folder}/api")
            self.words[folder] = set(re.findall(r"\w+", "\n".join(code(line) for p in headers for _, line in lines(p))))
        return self.words[folder]

    def folders(self, place):
        return {p.name: p for p in sorted((self.root / place).glob("*")) if p.is_dir()}


def lines(path):
    return list(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))


def code(line):
    """The line without a // comment."""
    return line.split("//", 1)[0]


def includes(path):
    for number, line in lines(path):
        if found := INCLUDE.match(line):
            yield number, found[1], found[2]


def table_of_ranks(tree):
    """The rank of each folder and program, from the first table of src/README.md."""
    readme = tree.root / "src/README.md"
    ranks = {}
    for number, line in lines(readme):
        if row := ROW.match(line):
            ranks[row[2]] = int(row[1])
            if not any((tree.root / place / row[2]).is_dir() for place in ("include/sotto", "src", "")):
                tree.violation(readme, number, f"the table names {row[2]}, but there is no such folder")
    return ranks


def table_of_subfolders(tree):
    """The subfolders of each folder, lowest first, from the second table of src/README.md."""
    readme = tree.root / "src/README.md"
    orders = {}
    for number, line in lines(readme):
        if row := ORDER.match(line):
            orders[row[1]] = row[2].replace("`", "").split(" < ")
            for name in orders[row[1]]:
                if name != "." and not (tree.root / "src" / row[1] / name).is_dir():
                    tree.violation(readme, number, f"the table names {row[1]}/{name}, but there is no such folder")
    return orders


def place_of(tree, path):
    """(folder, subfolder) of a file: ("data", "sql"), ("data", "."), ("apps/cli", "."); a public header has the subfolder "public"."""
    parts = path.relative_to(tree.root).parts
    if parts[0] == "include":
        return parts[2] if len(parts) > 3 else ".", "public"
    if parts[0] == "src":
        return parts[1], parts[2] if len(parts) > 3 else "."
    return "/".join(parts[:2]), "."


def target_of(tree, path, quoted):
    """The file that an include means, by the include folders of the build; None if it is not in the tree."""
    for base in (path.parent, tree.root / "include", tree.root / "src", tree.root / "apps"):
        if (base / quoted).is_file():
            return Path(os.path.normpath(base / quoted))
    return None


def check_ranks(tree):
    """A folder includes folders of strictly lower rank, through include/sotto/<folder>/ and src/<folder>/api/. Inside a folder, a subfolder includes
    those before it in the second table. CMakeLists.txt names for each folder the folders that it includes."""
    ranks, orders = table_of_ranks(tree), table_of_subfolders(tree)
    for name, path in {**tree.folders("src"), **tree.folders("include/sotto")}.items():
        if name not in ranks:
            tree.violation(path, 1, f"folder {name} is not in the table of src/README.md")
        subfolders = {p.name for p in (tree.root / "src" / name).glob("*") if p.is_dir()} - {"api"}
        if missing := subfolders - set(orders.get(name, [])):
            tree.violation(path, 1, f"the order of {name}'s subfolders in src/README.md lacks {', '.join(sorted(missing))}")
    used = {}
    for path in tree.files("include/sotto", "src", "apps", "bindings"):
        folder, sub = place_of(tree, path)
        for number, quoted, _ in includes(path):
            if quoted is None or folder not in ranks and folder != ".":
                continue
            target = target_of(tree, path, quoted)
            if target is None:
                if quoted.startswith("sotto/"):
                    tree.violation(path, number, f"there is no {quoted}")
                continue
            if not target.is_relative_to(tree.root):
                continue
            other, other_sub = place_of(tree, target)
            if other != folder:
                used.setdefault(folder, set()).add(other)
            if sub == "public":
                if other_sub != "public":
                    tree.violation(path, number, f"a public header includes \"{quoted}\", which is not installed")
                elif folder == ".":
                    continue
            if other != folder and other in ranks and ranks[other] >= ranks.get(folder, 0):
                tree.violation(path, number, f"{folder} (rank {ranks[folder]}) includes {other} (rank {ranks[other]})")
            elif other == folder and folder in orders and sub not in ("public", "api"):
                order = orders[folder]
                if other_sub in order and sub in order and order.index(other_sub) > order.index(sub):
                    tree.violation(path, number, f"{folder}/{sub} includes {folder}/{other_sub}, which comes after it in src/README.md")
            if sub == "api" and other_sub not in ("public", "api"):
                tree.violation(path, number, f"an interface header includes {quoted}, which is private to {other}")
            elif other != folder and other_sub not in ("public", "api") and not other.startswith("apps/"):
                tree.violation(path, number, f"{quoted} is a private header of another folder")
    check_dependencies(tree, used)


def check_dependencies(tree, used):
    """`sotto_folder(x DEPENDS a b)` in CMakeLists.txt lists exactly the folders that the files of x include."""
    file = tree.root / "CMakeLists.txt"
    if not file.is_file():
        return
    for number, line in lines(file):
        if call := re.match(r"sotto_folder\((\w+)(?: DEPENDS ([\w ]+))?\)", line):
            stated, included = set((call[2] or "").split()), used.get(call[1], set()) - {"."}
            for name in sorted(included - stated):
                tree.violation(file, number, f"{call[1]} includes headers of {name}: add it behind DEPENDS")
            for name in sorted(stated - included):
                tree.violation(file, number, f"{call[1]} includes no header of {name}: remove it behind DEPENDS")


def check_crowds(tree):
    """A folder has at most FOLDER_FILES files of its own, and there are at most PUBLIC_HEADERS public headers."""
    counts = {}
    for path in tree.files("include", "src", "apps", "bindings"):
        counts[path.parent] = counts.get(path.parent, 0) + 1
    for folder, count in counts.items():
        if count > FOLDER_FILES:
            tree.violation(folder, 1, f"{count} files; a folder has at most {FOLDER_FILES}: make subfolders, each with one idea")
    if (count := len(list(tree.files("include")))) > PUBLIC_HEADERS:
        tree.violation(tree.root / "include", 1, f"{count} public headers; at most {PUBLIC_HEADERS}: put what users do not need into src/<folder>/api/")


def check_public_headers(tree):
    for path in tree.files("include"):
        for number, _, angled in includes(path):
            if angled is not None and angled not in STANDARD_HEADERS:
                tree.violation(path, number, f"a public header includes <{angled}>, which is not a standard header")


def check_heavy_headers(tree):
    for prefix in HEAVY:
        found = [(path, number, angled) for path in tree.files("include", "src", "apps", "bindings", "tests", "bench", "examples")
                 for number, _, angled in includes(path) if angled is not None and angled.startswith(prefix)]
        for path, number, angled in found[1:] or [f for f in found if f[0].suffix == ".hpp"]:
            tree.violation(path, number, f"<{angled}> takes seconds to compile: one source file alone includes it, not also {found[0][0].name}")


def check_names(tree):
    """One definition a name, in the whole library: two types of one qualified name in two files break the one-definition rule, and the linker says
    nothing. What a folder does not declare in its public headers is in sotto::<folder>_detail, or another namespace that no other folder has."""
    seen = {}
    owners = {f"sotto::{folder}_detail": folder for folder in tree.folders("src")}
    for path in tree.files("include", "src"):
        parts = path.relative_to(tree.root).parts
        folder = parts[1] if parts[0] == "src" else parts[2]
        private = parts[0] == "src" and parts[2] != "api"
        public = tree.public_words(folder) if private else set()
        home = f"sotto::{folder}_detail"
        for name in names.definitions(path.read_text(encoding="utf-8")):
            if name.unnamed and path.suffix == ".hpp":
                tree.violation(path, name.line, f"{name.name} is in an unnamed namespace of a header: each source has another one")
            if name.unnamed:
                continue
            first = seen.setdefault(name.qualified, (path, name.line))
            if first[0] != path:
                tree.violation(path, name.line, f"{name.qualified} is defined in {first[0].relative_to(tree.root)}:{first[1]}, too")
            word = name.name.split("(")[0]
            declared = word in public or word.startswith("operator")
            owner = owners.setdefault(name.space, folder) if name.space not in ("", "sotto") else None
            if private and owner != folder and not declared:
                tree.violation(path, name.line, f"{name.qualified} is in no public or interface header of {folder}: put it into {home}, or an unnamed namespace")


def check_references(tree, strict):
    bib = tree.root / "docs/references.bib"
    entries = {}
    for number, line in lines(bib):
        if entry := re.match(r"@\w+\{([^,\s]+),", line):
            if entry[1] in entries:
                tree.violation(bib, number, f"{entry[1]} is there twice")
            entries[entry[1]] = number
    citing = [*tree.files("include", "src"), *tree.files("docs/theory", suffixes=(".md",))]
    for path in citing:
        text = path.read_text(encoding="utf-8")
        for citation in [*CITATION.finditer(text), *LITERAL.finditer(text)]:
            for key in re.findall(rf"\b{KEY}\b", citation[0]):
                if key not in entries:
                    line = text.count("\n", 0, citation.start()) + 1
                    tree.violation(path, line, f"{key} is not in docs/references.bib")
    everywhere = tree.files("include", "src", "docs", "tests", suffixes=(".hpp", ".cpp", ".md"))
    words = set(re.findall(rf"\b{KEY}\b", "\n".join(p.read_text(encoding="utf-8") for p in everywhere)))
    for key, number in entries.items():
        if key not in words:
            if strict:
                tree.violation(bib, number, f"{key} is used nowhere")
            else:
                tree.warnings.append(f"docs/references.bib:{number}: warning: {key} is used nowhere")


def check_sizes(tree):
    headers = {p: len(lines(p)) for p in tree.files("include")}
    for path, count in headers.items():
        if count > HEADER_LINES:
            tree.violation(path, count, f"{count} lines; a public header has at most {HEADER_LINES}")
    if headers and statistics.median(headers.values()) > HEADER_MEDIAN:
        tree.violation(tree.root / "include", 1, f"the median public header has more than {HEADER_MEDIAN} lines")
    for path in tree.files("src", "apps", "bindings"):
        if (count := len(lines(path))) > SOURCE_LINES:
            tree.violation(path, count, f"{count} lines; a source file has at most {SOURCE_LINES}")


def check_side_effects(tree):
    for path in tree.files("include", "src"):
        for number, line in lines(path):
            if found := SIDE_EFFECT.search(code(line)):
                tree.violation(path, number, f"the library never prints, aborts or reads the environment: {found[0]}")


def check_noise(tree):
    """A released value and the event that it costs come from one object, so code outside of `mechanisms` does not draw RoundedNoise itself."""
    for path in tree.files("include", "src", "apps", "bindings"):
        if path.relative_to(tree.root).as_posix().startswith(NOISE_FOLDERS + NOISE_IN_COURSE):
            continue
        for number, line in lines(path):
            if found := NOISE.search(code(line)):
                tree.violation(path, number, f"{found[0]} is for random and mechanisms alone: draw with an object of mechanisms, and charge its event()")


def check_words(tree):
    """The library speaks of its own terms: a program that has flags for them adds those (core/errors.hpp, Remedy)."""
    for path in tree.files("include", "src"):
        for number, line in lines(path):
            for text in re.findall(r'"(?:[^"\\]|\\.)*"', code(line)):
                if found := FLAG.search(text) or COMMAND.search(text):
                    tree.violation(path, number, f"the library knows no command line: {found[0].strip()} is for apps/cli to say, by a Remedy")


def check_opening_lines(tree):
    """Each file starts with one or two comment lines that say its idea, or with `#include` of the header that does."""
    for path in tree.files("include", "src", "apps", "bindings", suffixes=(".hpp", ".cpp")):
        text = path.read_text(encoding="utf-8")
        if text and not text.startswith("// "):
            tree.violation(path, 1, "the file has no opening line: say its idea in one or two comment lines")


def check_vocabulary(tree):
    """Plain English (CONTRIBUTING.md): no participles as names, and no comment that starts with a free relative."""
    for path in tree.files("include", "src", "apps", "bindings", suffixes=(".hpp", ".cpp")):
        for number, line in enumerate(names.without_comments(path.read_text(encoding="utf-8")).splitlines(), 1):
            if match := PARTICIPLE.search(line):
                tree.violation(path, number, f"{match[0]} is no name: types are nouns, functions are verbs")
        for number, line in lines(path):
            if match := FREE_RELATIVE.search(line):
                tree.violation(path, number, f"a comment is a sentence with a subject and a verb: {match[0]}…")


def check_functions(tree):
    """A function has at most FUNCTION_LINES lines, unless tests/architecture/long_functions.txt lists it with a reason."""
    listed = tree.root / "tests/architecture/long_functions.txt"
    reasons = dict(line.split(": ", 1) for _, line in lines(listed) if ": " in line and not line.startswith("#")) if listed.is_file() else {}
    long = {}
    for path in tree.files("include", "src", "apps", "bindings"):
        for line, name, count in names.function_lengths(path.read_text(encoding="utf-8")):
            if count > FUNCTION_LINES:
                long[f"{path.relative_to(tree.root)} {name}"] = (path, line, name, count)
    for key, (path, line, name, count) in long.items():
        if key not in reasons:
            tree.violation(path, line, f"{name} has {count} lines, more than {FUNCTION_LINES}: split it, or list it with a reason in {listed.name}")
    for key in reasons:
        if key not in long:
            tree.violation(listed, 1, f"{key} is listed, but is not longer than {FUNCTION_LINES} lines")


def check_marks(tree):
    kinds = (".hpp", ".cpp", ".md", ".py", ".sh", ".cmake", ".txt")
    for path in tree.files("include", "src", "apps", "bindings", "tests", "bench", "docs", "examples", "tools", "cmake", suffixes=kinds):
        if path.parent.name == "architecture":
            continue  # which speaks of the marks
        for number, line in lines(path):
            if found := MARK.search(line):
                tree.violation(path, number, f"{found[0]}: finish it, or open an issue")


def check_documentation_index(tree):
    """Checks that docs/README.md lists every page below docs/, the decisions once each and in order, and that its links lead to files."""
    index = tree.root / "docs/README.md"
    listed, decisions = set(), []
    for number, line in lines(index) if index.is_file() else []:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
            target = (index.parent / link).resolve()
            if "://" not in link and not target.exists():
                tree.violation(index, number, f"the link {link} leads to no file")
            listed.add(target)
            if target.parent.name == "decisions":
                decisions.append((number, target.name))
    for page in tree.files("docs", suffixes=(".md",)):
        if page != index and page.resolve() not in listed:
            tree.violation(index, 1, f"{page.relative_to(index.parent)} is not listed")
    for (_, first), (number, second) in zip(decisions, decisions[1:]):
        if second <= first:
            tree.violation(index, number, f"decision {second} is listed after {first}: list each once, in order")


def check_paths_through_the_source(tree):
    """Checks that src/README.md names functions that exist: each `file` → `function` and `function` (`file`) needs a word of that name in the file."""
    readme = tree.root / "src/README.md"
    for number, line in lines(readme):
        steps = re.findall(r"`([\w./]+)` → `(?:\w+::)*(\w+)`", line)
        steps += [(name, function) for function, name in re.findall(r"`(?:\w+::)*(\w+)` \(`([\w./]+)`\)", line)]
        for name, function in steps:
            path = tree.root / name
            if not path.is_file():
                tree.violation(readme, number, f"there is no file {name}")
            elif not re.search(rf"\b{function}\b", path.read_text(encoding="utf-8")):
                tree.violation(readme, number, f"{name} has no {function}")


def check(root, strict_bib=False):
    tree = Tree(root)
    check_ranks(tree)
    check_public_headers(tree)
    check_crowds(tree)
    check_names(tree)
    check_heavy_headers(tree)
    check_references(tree, strict_bib)
    check_sizes(tree)
    check_side_effects(tree)
    check_noise(tree)
    check_words(tree)
    check_marks(tree)
    check_opening_lines(tree)
    check_vocabulary(tree)
    check_functions(tree)
    check_documentation_index(tree)
    check_paths_through_the_source(tree)
    return tree


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parents[2], help="the checkout")
    parser.add_argument("--strict-bib", action="store_true", help="an unused bibliography entry is a violation")
    arguments = parser.parse_args()
    tree = check(arguments.root, arguments.strict_bib)
    for line in tree.warnings + tree.violations:
        print(line)
    print(f"{len(tree.violations)} violations")
    return 1 if tree.violations else 0


if __name__ == "__main__":
    sys.exit(main())
