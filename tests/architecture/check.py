#!/usr/bin/env python3
"""The rules of the house, checked: check.py [ROOT] [--strict-bib].

Ranks of folders (src/README.md), clean public headers, slow headers in one file, one definition a name, private names in their folder's
namespace, references that exist, sizes, no printing in the library, noise from `mechanisms` alone, no marks of unfinished work. Prints each violation as file:line: message; exits 1 if there is one.
"""
import argparse
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
HEADER_MEDIAN, HEADER_LINES, SOURCE_LINES = 120, 400, 500

KEY = r"[A-Z][A-Za-z]+\d{4}[a-z]?"
CITATION = re.compile(rf"\[{KEY}(?:[,;][^\]]*)?\]")
LITERAL = re.compile(rf'"{KEY}(?:[,;][^"]*)?"')  # a reference as a value
SIDE_EFFECT = re.compile(r"std::(?:cout|cerr|clog)|\b(?:v?f?printf|puts|abort|_?exit|quick_exit|getenv)\s*\(")
FLAG = re.compile(r"(?<![\w(-])--[a-z]")
COMMAND = re.compile(r"[^\"]\bsotto (?:run|data|study|predict|epsilon|delta|divergence|tradeoff|compare|explain|calibrate|ledger|serve|noise|dpsgd|attack|audit|figures)\b")
# Noise is drawn by the objects of `mechanisms`, which hold the plan event that the noise costs. Course material releases nothing: it draws as it likes.
NOISE = re.compile(r"\bRoundedNoise\b")
NOISE_FOLDERS = ("include/sotto/random/", "src/random/", "include/sotto/mechanisms/", "src/mechanisms/")
NOISE_IN_COURSE = ("src/federated/simulation/", "src/report/learning_figures.cpp", "src/course/")
MARK = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
ROW = re.compile(r"^\|\s*(\d+)\s*\|\s*`([a-z_]+)/?`\s*\|")


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
        """Every word of a folder's public headers."""
        if folder not in self.words:
            headers = self.files(f"include/sotto/{folder}")
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


def check_ranks(tree):
    readme = tree.root / "src/README.md"
    ranks = {}
    for number, line in lines(readme):
        if row := ROW.match(line):
            ranks[row[2]] = int(row[1])
            if not any((tree.root / place / row[2]).is_dir() for place in ("include/sotto", "src", "")):
                tree.violation(readme, number, f"the table names {row[2]}, but there is no such folder")
    places = {**tree.folders("src"), **tree.folders("include/sotto")}
    for name, path in places.items():
        if name not in ranks:
            tree.violation(path, 1, f"folder {name} is not in the table of src/README.md")
    owned = [(p, p.relative_to(tree.root / place).parts[0]) for place in ("include/sotto", "src") for p in tree.files(place)]
    owned += [(p, folder) for folder in ("cli", "mpi", "grpc", "spark", "python", "web") for p in tree.files(folder)]
    for path, folder in owned:
        for number, quoted, _ in includes(path):
            if quoted is None or folder not in ranks:
                continue
            if not quoted.startswith("sotto/"):
                other = quoted.split("/")[0]
                if other != "cli" or ranks.get(other, 99) >= ranks[folder]:  # a program beside the command may use its commands
                    check_private_include(tree, path, number, folder, quoted, ranks)
                continue
            other = quoted.split("/")[1]
            if other not in ranks:
                tree.violation(path, number, f"{quoted} is in no folder of the table")
            elif other != folder and ranks[other] >= ranks[folder]:
                tree.violation(path, number, f"{folder} (rank {ranks[folder]}) includes {other} (rank {ranks[other]})")


def check_private_include(tree, path, number, folder, quoted, ranks):
    """A header of the folder itself, or, in the library's sources, one of a lower folder that has no public headers."""
    if "include" == path.relative_to(tree.root).parts[0]:
        return  # check_public_headers says so
    home = tree.root / (folder if folder in ("cli", "mpi", "grpc", "spark", "python", "web") else f"src/{folder}")
    other = quoted.split("/")[0]
    if other in ranks and (tree.root / "src" / quoted).is_file() and not (tree.root / "include/sotto" / other).is_dir():
        if ranks[other] >= ranks[folder]:
            tree.violation(path, number, f"{folder} (rank {ranks[folder]}) includes {other} (rank {ranks[other]})")
        elif path.relative_to(tree.root).parts[0] != "src":
            tree.violation(path, number, f"{quoted} is for sources of the library alone")
    elif not any((base / quoted).resolve().is_relative_to(home.resolve()) and (base / quoted).exists() for base in (path.parent, home)):
        tree.violation(path, number, f"{quoted} is a private header of another folder")


def check_public_headers(tree):
    for path in tree.files("include"):
        for number, quoted, angled in includes(path):
            if quoted is not None and not quoted.startswith("sotto/"):
                tree.violation(path, number, f"a public header includes \"{quoted}\", which is not installed")
            if angled is not None and angled not in STANDARD_HEADERS:
                tree.violation(path, number, f"a public header includes <{angled}>, which is not a standard header")


def check_heavy_headers(tree):
    for prefix in HEAVY:
        found = [(path, number, angled) for path in tree.files("include", "src", "cli", "tests", "bench", "examples")
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
        private = parts[0] == "src"
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
                tree.violation(path, name.line, f"{name.qualified} is in no public header of {folder}: put it into {home}, or an unnamed namespace")


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
    for path in tree.files("src", "cli", "mpi", "grpc", "spark", "python", "web"):
        if (count := len(lines(path))) > SOURCE_LINES:
            tree.violation(path, count, f"{count} lines; a source file has at most {SOURCE_LINES}")


def check_side_effects(tree):
    for path in tree.files("include", "src"):
        for number, line in lines(path):
            if found := SIDE_EFFECT.search(code(line)):
                tree.violation(path, number, f"the library never prints, aborts or reads the environment: {found[0]}")


def check_noise(tree):
    """A released value and the event that it costs come from one object, so code outside of `mechanisms` does not draw RoundedNoise itself."""
    for path in tree.files("include", "src", "cli", "mpi", "grpc", "spark", "python", "web"):
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
                    tree.violation(path, number, f"the library knows no command line: {found[0].strip()} is for cli/ to say, by a Remedy")


def check_marks(tree):
    kinds = (".hpp", ".cpp", ".md", ".py", ".sh", ".cmake", ".txt")
    for path in tree.files("include", "src", "cli", "tests", "bench", "docs", "examples", "tools", "cmake", suffixes=kinds):
        if path.parent.name == "architecture":
            continue  # which speaks of the marks
        for number, line in lines(path):
            if found := MARK.search(line):
                tree.violation(path, number, f"{found[0]}: finish it, or open an issue")


def check(root, strict_bib=False):
    tree = Tree(root)
    check_ranks(tree)
    check_public_headers(tree)
    check_names(tree)
    check_heavy_headers(tree)
    check_references(tree, strict_bib)
    check_sizes(tree)
    check_side_effects(tree)
    check_noise(tree)
    check_words(tree)
    check_marks(tree)
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
