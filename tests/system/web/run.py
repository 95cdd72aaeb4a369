#!/usr/bin/env python3
"""The page in headless Chromium: run.py BUILD. It answers within a second, gives the command's numbers, teaches where a plan is wrong, carries its
plan in its link, loads nothing, and fits a desktop and a telephone, of which BUILD/web/*.png are pictures. Skipped without the page or a browser."""
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

from browser import Browser

# Questions to the page and the same to the command.
PLANS = [
    ("10000 * poisson(0.01, gaussian(1))", "1e-5"),
    ("3516 * poisson(256/60000, gaussian(1.1))", "1e-5"),
    ("500 * gaussian(200)", "1e-5"),
    ("20 * gaussian(20) + 5 * laplace(20)", "1e-6"),
    ("1000 * laplace(100)", "1e-5"),
    ("parallel(laplace(1), laplace(2))", "0"),
    ("100 * without_replacement(256, 60000, gaussian(1.1))", "1e-5"),
    ("group(3, laplace(10))", "1e-5"),
    ("20 * discrete_gaussian(20)", "1e-5"),
    ("10 * discrete_laplace(10)", "1e-5"),
    ("10 * randomized_response(0.6)", "1e-5"),
    ("10 * aggregated_gaussian(4, 10)", "1e-5"),
    ("shuffle(1, 10000)", "1e-6"),
    ("5 * zcdp(0.01) + approx(0.1, 1e-8)", "1e-6"),
]
ASKS = {
    "epsilon": lambda delta: ["epsilon", "--delta", delta],
    "delta": lambda delta: ["delta", "--epsilon", "1"],
    "compare": lambda delta: ["compare", "--delta", delta],
    "explain": lambda delta: ["explain", "--delta", delta],
    "tradeoff": lambda delta: ["tradeoff"],
}
STEPS = [("10000 * poisson(0.01, gaussian(1))", "1e-5"), ("500 * gaussian(200)", "1e-5"), ("1000 * laplace(100)", "1e-5")]
HOLES = ["100 * gaussian(?)", "1000 * poisson(0.01, gaussian(?))", "? * laplace(50)"]

wrong = []


def claim(holds, words):
    if not holds:
        wrong.append(words)
        print("not so:", words)


def differences(ours, theirs, at=""):
    """Every place where two answers differ: (where, the page's, the command's)."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in {**ours, **theirs}:
            yield from differences(ours.get(key), theirs.get(key), f"{at}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (one, other) in enumerate(zip(ours, theirs)):
            yield from differences(one, other, f"{at}[{i}]")
    elif ours != theirs:
        yield at, ours, theirs


def disjoint(ours, theirs):
    """Whether some bracket of one answer misses that of the other: then one of the two is no proof."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if {"lower", "upper"} <= ours.keys() & theirs.keys():
            end = lambda x, otherwise: otherwise if x is None else float(x)
            return (end(ours["lower"], -math.inf) > end(theirs["upper"], math.inf) or end(theirs["lower"], -math.inf) > end(ours["upper"], math.inf))
        return any(disjoint(ours[key], theirs[key]) for key in ours.keys() & theirs.keys())
    if isinstance(ours, list) and isinstance(theirs, list):
        return any(disjoint(one, other) for one, other in zip(ours, theirs))
    return False


def compare_numbers(browser, command):
    """The page's answers beside the command's. Where they differ it is by the C library's exp, log, sin and cos, which are right to a unit or two in
    either and steer searches and grids (docs/decisions/0037-web.md): by no more than a part in 10^9, and the brackets overlap."""
    same, apart = 0, []
    questions = [(ask, plan, delta, words(delta)) for plan, delta in PLANS for ask, words in ASKS.items()]
    questions += [("calibrate", plan, "1e-5", ["calibrate", "--epsilon", "1", "--delta", "1e-5"]) for plan in HOLES]
    questions += [("over-steps", plan, delta, ["epsilon", "--delta", delta, "--over-steps", "25", "--even"]) for plan, delta in STEPS]
    for ask, plan, delta, words in questions:
        question = json.dumps({"ask": ask, "plan": plan, "delta": delta, "epsilon": "1", "points": "25", "spacing": "even"})
        ours = browser.evaluate(f"ask({{...{question}, digits: undefined}})")
        theirs = json.loads(subprocess.run([command, words[0], plan, *words[1:], "--format", "json", "--quiet"], capture_output=True, check=True).stdout)
        claim("error" not in ours, f"{ask} of {plan} answers: {ours.get('error')}")
        claim(not disjoint(ours, theirs), f"{ask} of {plan}: the brackets overlap")
        found = list(differences(ours, theirs))
        if not found:
            same += 1
            continue
        worst = 0.0
        for at, one, other in found:
            if isinstance(one, (int, float)) and isinstance(other, (int, float)) and not isinstance(one, bool):
                worst = max(worst, abs(one - other) / max(abs(one), abs(other)))
            else:
                claim(at.endswith((".guarantee", ".notes")) or "conditions" in at or "notes" in at, f"{ask} of {plan}: {at} is {one}, the command's {other}")
        noise = ".waste" in found[0][0] or ask == "compare"  # found by a search, to five digits
        claim(worst <= (1e-4 if noise else 1e-9), f"{ask} of {plan}: differs by {worst:.1e}")
        apart.append(f"  {ask} of {plan}: {len(found)} numbers, the most by {worst:.1e} ({found[0][0].lstrip('.')})")
    print(f"{same} of {len(questions)} answers are the command's to the last bit; the others:")
    print("\n".join(apart))


def first_answers(browser, address):
    times = []
    for _ in range(3):
        browser.open(address)
        answers = browser.wait_for("document.body && document.body.dataset.answers")
        times.append(int(answers.split()[0].split("@")[1]))
    print("first answer after", ", ".join(map(str, times)), "ms")
    claim(min(times) < 1000, "the first answer comes within a second")


def looks(browser, address, pictures):
    for name, width, height, telephone in (("desktop", 1280, 900, False), ("telephone", 390, 844, True)):
        browser.open(address, width, height, telephone)
        browser.wait_for("document.body && document.body.dataset.round")
        needs = browser.evaluate("document.documentElement.scrollWidth")
        claim(needs <= width, f"at {width} the page needs {needs}")
        browser.photograph(pictures / f"{name}.png", whole=True)
        claim(browser.complaints() == [], f"no complaints: {browser.complaints()}")
        strange = [a for a in browser.addresses() if not a.startswith(("file:", "blob:", "data:"))]
        claim(strange == [], f"nothing is loaded: {strange}")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.photograph(pictures / "dark.png")


def behaviour(browser, address, pictures):
    browser.open(address + "#plan=laplace(10)+%2B+gausian(1)&delta=1e-5")
    browser.wait_for("document.body && document.body.classList.contains('failed')")
    shown = browser.evaluate("document.getElementById('error').innerText")
    claim("unknown mechanism 'gausian': did you mean gaussian?" in shown and "Column 15" in shown, f"a mistake is taught: {shown}")
    browser.photograph(pictures / "error.png")
    browser.evaluate("document.getElementById('plan').value = '100 * gaussian(50)'; refresh()")
    browser.wait_for("!document.body.classList.contains('failed')")
    claim("plan=100+*+gaussian%2850%29" in browser.wait_for("location.hash.includes('100') && location.hash"), "the link carries the plan")
    browser.open(address + "#tab=federated&members=20&colluding=4&threshold=13&sigma=2&rounds=9")
    browser.wait_for("document.body && document.body.dataset.round")
    claim(browser.evaluate("document.getElementById('plan').value") == "9 * aggregated_gaussian(2, 9)", "h = t - c noises count")
    browser.evaluate("choose('statistics'); document.getElementById('find').checked = true; refresh()")
    browser.wait_for("!document.getElementById('calibration').hidden")
    browser.wait_for("Number(document.body.dataset.round) > 1")
    claim(browser.evaluate("window.answers.epsilon.epsilon.upper <= 1"), "what is found meets the target")
    unnamed = browser.evaluate("[...document.querySelectorAll('input, select, textarea')].filter((e) => !e.ariaLabel && (e.labels || []).length === 0).length")
    claim(unnamed == 0, f"every control has a label: {unnamed} have none")
    # the slider of a training's noise, dragged
    browser.open(address)
    browser.wait_for("document.body && document.body.dataset.round")
    before = browser.evaluate("window.answers.epsilon.epsilon.upper")
    took = browser.evaluate("""(async () => {
      const slider = document.querySelector('#sgd-sigma + input');
      dragging = true;
      const since = performance.now();
      for (let i = 0; i < 20; ++i) {
        slider.value = String(0.05 + i / 50);
        slider.dispatchEvent(new Event('input'));
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      const last = JSON.stringify(window.answers.epsilon);
      while (running) await new Promise((resolve) => setTimeout(resolve, 10));
      return [performance.now() - since, document.body.dataset.answers.split('epsilon@').length - 1];
    })()""")
    claim(browser.evaluate("window.answers.epsilon.epsilon.upper") < before, "more noise costs less")
    print(f"20 moves of a slider in {took[0]:.0f} ms gave {took[1] - 1} values of epsilon")
    browser.evaluate("dragging = false; refresh()")


def main():
    build = Path(sys.argv[1]).resolve()
    page = build / "web" / "sotto.html"
    if not page.is_file():
        print("skipped: the page is not built; type: ./dev web")
        return 77
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("skipped: there is no browser; type: apt-get install chromium")
        return 77
    browser = Browser(program)
    try:
        address = page.as_uri()
        first_answers(browser, address)
        behaviour(browser, address, page.parent)
        looks(browser, address, page.parent)
        browser.open(address)
        browser.wait_for("document.body && document.body.dataset.round")
        compare_numbers(browser, str(build / "bin" / "sotto"))
    finally:
        browser.close()
    return 1 if wrong else 0


sys.exit(main())
