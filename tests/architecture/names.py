"""The names that C++ sources define at namespace scope, and the lengths of functions, read without a compiler.

Enough of C++ for this library's own style: comments and literals are cut away, braces counted, namespaces followed. A class or an enumeration is
found where it is defined, a function where it has a body; members are not looked at, and what is in an unnamed namespace belongs to its file alone.
"""
import re
from dataclasses import dataclass

CUT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^\s()\\]*)\((?:.*?)\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
    re.S | re.M)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*([\w:]*)\s*$")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.S)
TYPE = re.compile(r"\b(class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\s*\([^()]*\)\s*)?([\w:]+)\s*(?:final\b)?\s*(?::(?!:).*)?$", re.S)
FUNCTION = re.compile(r"([\w:~]+|operator\s*[^\s\w(]+|operator\s*\(\s*\))\s*\(((?:[^()]|\([^()]*\))*)\)\s*(?:const|noexcept|override|requires\b.*|->.*|\s)*(?::(?!:).*)?$",
                      re.S)
NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "static_assert"}


@dataclass(frozen=True)
class Name:
    space: str  # "sotto::loss_detail"
    name: str  # with the types of its parameters, for a function
    line: int
    kind: str  # "type" or "function"
    unnamed: bool  # in an unnamed namespace, or static: its file's alone

    @property
    def qualified(self):
        return f"{self.space}::{self.name}" if self.space else self.name


def without_comments(text):
    return CUT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if not found[0].startswith(('"', "R")) else '""' + "\n" * found[0].count("\n"), text)


def parameter_types(text):
    """The types of a parameter list, without names and defaults, so that a declaration reads as its definition."""
    types, depth, one = [], 0, ""
    for c in text + ",":
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            one = re.sub(r"=.*", "", one, flags=re.S).strip()
            one = re.sub(r"(?<=[\s&*>])\w+$", "", one) if re.search(r"[\s&*>]\w+$", one) and not re.search(r"\b(?:unsigned|const)\s+\w+$", one) else one
            types.append(re.sub(r"\s+", "", one))
            one = ""
        else:
            one += c
    return ",".join(types)


def definitions(text):
    text = without_comments(text)
    spaces = []  # one entry an open brace: the namespace it opens, "(default)" for one in a parameter list, or None
    start, found = 0, []
    for position, c in enumerate(text):
        in_default = bool(spaces) and spaces[-1] == "(default)"
        if c in ";}" and not in_default:
            start = position + 1
        if c == "}" and spaces:
            spaces.pop()
        if c != "{":
            continue
        if in_default or (not (spaces and spaces[-1] is None) and text.count("(", start, position) > text.count(")", start, position)):
            spaces.append("(default)")
            continue
        head = ATTRIBUTE.sub(" ", text[start:position]).strip()
        start = position + 1
        if spaces and spaces[-1] is None:  # inside a class, a function or an initialiser
            spaces.append(None)
            continue
        if namespace := NAMESPACE.search(head):
            spaces.append(namespace[1] or "(unnamed)")
            continue
        line = text.count("\n", 0, position) + 1
        space = "::".join(s for s in spaces if s and s != "(unnamed)")
        alone = "(unnamed)" in spaces or re.search(r"\bstatic\b", head) is not None
        plain = re.sub(r"^(?:template\s*<.*?>\s*(?=\b(?:class|struct|union|enum|inline|constexpr|auto|[\w:]+)\b))+", "", head, flags=re.S)
        spaces.append(None)
        if plain.endswith("=") or plain.startswith(",") or not plain:  # an initialiser, or the rest of a constructor's
            continue
        if (kind := TYPE.search(plain)) and "(" not in plain.split(kind[0])[0]:
            if "::" not in kind[2] and "<" not in plain[kind.end(2):].split(":")[0]:
                found.append(Name(space, kind[2], line, "type", alone))
        elif (function := FUNCTION.search(plain)) and function[1] not in NOT_FUNCTIONS and "::" not in function[1]:
            before = plain[: function.start()].strip()
            if not before or "=" in before:  # a macro, or a lambda
                continue
            found.append(Name(space, f"{re.sub(chr(92) + 's', '', function[1])}({parameter_types(function[2])})", line, "function", alone))
    return found


BODY = re.compile(r"\)\s*(?:const|noexcept|override|final|mutable|\s)*(?:->\s*[\w:<>&*,\s]+)?(?::(?!:).*)?$", re.S)


def function_lengths(text):
    """(line, name, lines) of each function with a body that is not inside another one."""
    text = without_comments(text)
    lengths, stack, start = [], [], 0
    for position, c in enumerate(text):
        if c == "{":
            head = ATTRIBUTE.sub(" ", text[start:position]).strip()
            inside = any(kind is not None for kind in stack)
            named = re.search(r"([\w:~]+|operator\s*\S+?)\s*\(", head)
            is_body = not inside and named and named[1] not in NOT_FUNCTIONS and BODY.search(head) and not re.match(r"(?:namespace|enum)\b", head)
            stack.append((text.count("\n", 0, position) + 1, named[1]) if is_body else None)
        elif c == "}" and stack:
            if (body := stack.pop()) is not None:
                lengths.append((*body, text.count("\n", 0, position) + 2 - body[0]))
        if c in "{};":
            start = position + 1
    return lengths
