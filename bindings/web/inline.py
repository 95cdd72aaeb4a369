#!/usr/bin/env python3
"""One file from the page's parts: inline.py SOURCES ENGINE OUT. index.html names each part as <!--inline:NAME-->; `engine` is what Emscripten made."""
import sys
from pathlib import Path

sources, engine, out = (Path(argument) for argument in sys.argv[1:])
page = (sources / "index.html").read_text(encoding="utf-8")
for name in ("page.css", "engine", "worker.js", "page.js"):
    text = (engine if name == "engine" else sources / name).read_text(encoding="utf-8")
    if "</script" in text or "</style" in text:
        sys.exit(f"{name} would end its own element: it holds </script or </style")
    mark = f"<!--inline:{name}-->"
    if page.count(mark) != 1:
        sys.exit(f"index.html must have {mark} once")
    page = page.replace(mark, text)
out.write_text(page, encoding="utf-8")
