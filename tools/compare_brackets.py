#!/usr/bin/env python3
"""Compares the brackets of two builds: compare_brackets.py OLD.tsv NEW.tsv.

Both files are written by bench_brackets with the same count and seed. Counts brackets that are equal to the last bit, narrower or wider, and lists
contradictions: two brackets of one value that do not meet prove that one of the builds is wrong. Exits 1 if there is one.
"""
import sys
from collections import Counter, defaultdict


def read(path):
    rows = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            family, plan, delta, lower, upper = line.rstrip("\n").split("\t")
            bracket = None if lower == "refused" else (float.fromhex(lower), float.fromhex(upper))
            rows.append((family, plan, delta, bracket))
    return rows


def width(bracket):
    lower, upper = bracket
    return 0 if upper == lower else (upper - lower) / upper


def main():
    old, new = read(sys.argv[1]), read(sys.argv[2])
    if [row[:3] for row in old] != [row[:3] for row in new]:
        sys.exit("compare_brackets: the files hold different plans: use the same count and seed")
    kinds, widest, contradictions = Counter(), defaultdict(float), 0
    for (family, plan, delta, a), (_, _, _, b) in zip(old, new):
        if a is None or b is None:
            kinds["both refused" if a == b else "refused by one"] += 1
            if a != b:
                print(f"refused by one build: sotto epsilon '{plan}' --delta {delta}")
            continue
        widest[family] = max(widest[family], width(b))
        if a[0] > b[1] or b[0] > a[1]:
            contradictions += 1
            print(f"contradiction: sotto epsilon '{plan}' --delta {delta}: [{a[0]!r}, {a[1]!r}] and [{b[0]!r}, {b[1]!r}]")
        elif a == b:
            kinds["equal"] += 1
        else:
            kinds["wider" if width(b) > width(a) else "narrower"] += 1
    print(f"{len(old)} plans: {contradictions} contradictions, " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    for family, value in widest.items():
        print(f"  {family:30} widest {value:.1e}")
    sys.exit(contradictions > 0)


if __name__ == "__main__":
    main()
