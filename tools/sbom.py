#!/usr/bin/env python3
"""What a built sotto consists of, as a CycloneDX bill of materials: sbom.py BUILD, to stdout.

The libraries it links, shared (as the loader finds them) and static (as the link line names them), the headers it is compiled from, and what it
loads at run time: libpq from the system, and DuckDB by the hash in cmake/duckdb.sha256. Versions are those of the Debian packages that own the
files. There is no time stamp, so that equal builds have equal bills.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = {"libcli11-dev": "/usr/include/CLI/CLI.hpp", "libtomlplusplus-dev": "/usr/include/toml++/toml.h"}


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def owner(path):
    """The Debian package that owns a file, whichever side of the merged /usr its list names."""
    real = str(Path(path).resolve())
    for name in dict.fromkeys((str(path), real, real.removeprefix("/usr"), "/usr" + real, str(path).removeprefix("/usr"), "/usr" + str(path))):
        if found := said("dpkg", "-S", name):
            return found.split(":")[0].split(",")[0]
    return ""


def component(path, how):
    package = owner(path)
    found = {"type": "library", "name": Path(path).name, "scope": "required", "properties": [{"name": "sotto:linked", "value": how}]}
    if package:
        version, architecture, source = said("dpkg-query", "-W", "-f=${Version} ${Architecture} ${source:Package}", package).split("\n")[0].split(" ")
        found["version"] = version
        found["purl"] = f"pkg:deb/debian/{package}@{version}?arch={architecture}"
        found["properties"].append({"name": "debian:source", "value": source})
    return found


def shared_libraries(program):
    return [line.split("=>")[1].split()[0] for line in said("ldd", str(program)).splitlines() if "=> /" in line]


def static_libraries(build):
    """The archives of the system on the command's link line."""
    block = re.search(r"^build bin/sotto: .*?\n\n", (build / "build.ninja").read_text(encoding="utf-8"), re.M | re.S)[0]
    line = re.search(r"^  LINK_LIBRARIES = (.*)$", block, re.M)[1]
    return sorted({word for word in line.split() if word.startswith("/") and word.endswith(".a")})


def duckdb():
    for line in (ROOT / "cmake/duckdb.sha256").read_text(encoding="utf-8").splitlines():
        digest, name, version, machine = line.split()
        linked = "header" if name.endswith(".h") else "loaded when a file of data is read"
        yield {"type": "library", "name": name, "version": version, "scope": "optional", "purl": f"pkg:github/duckdb/duckdb@v{version}",
               "licenses": [{"license": {"id": "MIT"}}], "hashes": [{"alg": "SHA-256", "content": digest}],
               "properties": [{"name": "sotto:linked", "value": linked}, {"name": "machine", "value": machine}]}


def bill(build):
    version = re.search(r"project\(sotto VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    parts = [component(path, "shared") for path in shared_libraries(build / "bin/sotto")]
    parts += [component(path, "static") for path in static_libraries(build)]
    parts += [component(path, "header") for path in HEADERS.values()]
    if libpq := next(iter(sorted(Path("/usr/lib").glob("*/libpq.so.5"))), None):
        parts.append({**component(libpq, "loaded when a database is reached"), "scope": "optional"})
    parts += duckdb()
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "name": "sotto", "version": version}}, "components": parts}


if __name__ == "__main__":
    print(json.dumps(bill(Path(sys.argv[1]).resolve()), indent=1))
