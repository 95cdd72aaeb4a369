#!/usr/bin/env python3
"""The bill of materials names all that the command links: sbom_test.py BUILD."""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
build = Path(sys.argv[1])
bill = json.loads(subprocess.run([sys.executable, ROOT / "tools/sbom.py", build], check=True, capture_output=True, text=True).stdout)
assert bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.5", bill
names = {part["name"] for part in bill["components"]}
linked = subprocess.run(["ldd", build / "bin/sotto"], check=True, capture_output=True, text=True).stdout
needed = {line.split()[0] for line in linked.splitlines() if "=>" in line}
static = {"libcrypto.a", "libsqlite3.a", "libz.a"}
loaded = {"libpq.so.5", "libduckdb.so"}
headers = {"CLI.hpp", "toml.h", "duckdb.h"}
missing = (needed | static | loaded | headers) - names
assert not missing, f"the bill lacks {sorted(missing)}"
for part in bill["components"]:
    assert part.get("version") and part.get("purl"), f"no version of {part}"
hashes = [part["hashes"][0]["content"] for part in bill["components"] if part["name"] == "libduckdb.so"]
assert hashes and all(len(h) == 64 for h in hashes), hashes
flags = subprocess.run(["readelf", "-dlW", build / "bin/sotto"], check=True, capture_output=True, text=True).stdout
assert "BIND_NOW" in flags and "GNU_RELRO" in flags and "PIE" in flags, "the command is not hardened"
print(f"{len(names)} parts")
