#!/usr/bin/env python3
"""Tests the web page in headless Chromium: run.py BUILD.

The page must answer within a second, show the numbers of the command, say where a plan is wrong,
have its plan in its link, load nothing, and fit a desktop and a telephone. BUILD/web/*.png are
screenshots. The test is skipped without the page or a browser.
"""
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

from browser import Browser

# The plans, each with its delta, and the questions to the page with the arguments of the command.
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

failures = []


def claim(holds, words):
    """Records a failure unless the claim holds."""
    if not holds:
        failures.append(words)
        print("FAILED:", words)


def differences(ours, theirs, at=""):
    """Yields every difference of two answers: its place, the value of the page, the value of the
    command.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in {**ours, **theirs}:
            yield from differences(ours.get(key), theirs.get(key), f"{at}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (one, other) in enumerate(zip(ours, theirs)):
            yield from differences(one, other, f"{at}[{i}]")
    elif ours != theirs:
        yield at, ours, theirs


def disjoint(ours, theirs):
    """Returns whether an interval of one answer is disjoint from that of the other: one of them is
    wrong then.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if {"lower", "upper"} <= ours.keys() & theirs.keys():
            end = lambda x, otherwise: otherwise if x is None else float(x)
            return (end(ours["lower"], -math.inf) > end(theirs["upper"], math.inf) or end(theirs["lower"], -math.inf) > end(ours["upper"], math.inf))
        return any(disjoint(ours[key], theirs[key]) for key in ours.keys() & theirs.keys())
    if isinstance(ours, list) and isinstance(theirs, list):
        return any(disjoint(one, other) for one, other in zip(ours, theirs))
    return False


def compare_numbers(browser, command):
    """Compares the answers of the page with those of the command.

    The exp, log, sin and cos of the two C libraries differ by an ulp or two, and searches and grids
    depend on them (docs/decisions/0037-web.md). Answers may differ by a relative 1e-9, and their
    intervals must overlap.
    """
    identical, different = 0, []
    questions = [(ask, plan, delta, words(delta)) for plan, delta in PLANS for ask, words in ASKS.items()]
    questions += [("calibrate", plan, "1e-5", ["calibrate", "--epsilon", "1", "--delta", "1e-5"]) for plan in HOLES]
    questions += [("over-steps", plan, delta, ["epsilon", "--delta", delta, "--over-steps", "25", "--even"]) for plan, delta in STEPS]
    for ask, plan, delta, words in questions:
        question = json.dumps({"ask": ask, "plan": plan, "delta": delta, "epsilon": "1", "points": "25", "spacing": "even"})
        ours = browser.evaluate(f"ask({{...{question}, digits: undefined}})")
        theirs = json.loads(subprocess.run([command, words[0], plan, *words[1:], "--format", "json", "--quiet"], capture_output=True, check=True).stdout)
        claim("error" not in ours, f"{ask} of {plan} answers: {ours.get('error')}")
        claim(not disjoint(ours, theirs), f"{ask} of {plan}: the brackets overlap")
        places = list(differences(ours, theirs))
        if not places:
            identical += 1
            continue
        worst = 0.0
        for at, one, other in places:
            if isinstance(one, (int, float)) and isinstance(other, (int, float)) and not isinstance(one, bool):
                worst = max(worst, abs(one - other) / max(abs(one), abs(other)))
            else:
                claim(at.endswith((".guarantee", ".notes")) or "conditions" in at or "notes" in at, f"{ask} of {plan}: {at} is {one}, the command's {other}")
        noise = ".waste" in places[0][0] or ask == "compare"  # the result of a search, to five digits
        claim(worst <= (1e-4 if noise else 1e-9), f"{ask} of {plan}: differs by {worst:.1e}")
        different.append(f"  {ask} of {plan}: {len(places)} numbers, by at most {worst:.1e} ({places[0][0].lstrip('.')})")
    print(f"{identical} of {len(questions)} answers are identical to those of the command; the others:")
    print("\n".join(different))


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
        claim(needs <= width, f"the page fits a width of {width}: it needs {needs}")
        browser.photograph(pictures / f"{name}.png", whole=True)
        claim(browser.complaints() == [], f"no errors in the console: {browser.complaints()}")
        loads = [a for a in browser.addresses() if not a.startswith(("file:", "blob:", "data:"))]
        claim(loads == [], f"the page loads nothing: {loads}")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.photograph(pictures / "dark.png")


def behaviour(browser, address, pictures):
    browser.open(address + "#plan=laplace(10)+%2B+gausian(1)&delta=1e-5")
    browser.wait_for("document.body && document.body.classList.contains('failed')")
    error = browser.evaluate("document.getElementById('error').innerText")
    claim("unknown mechanism 'gausian': did you mean gaussian?" in error and "Column 15" in error, f"the error names the mistake: {error}")
    browser.photograph(pictures / "error.png")
    browser.evaluate("document.getElementById('plan').value = '100 * gaussian(50)'; refresh()")
    browser.wait_for("!document.body.classList.contains('failed')")
    claim("plan=100+*+gaussian%2850%29" in browser.wait_for("location.hash.includes('100') && location.hash"), "the link carries the plan")
    browser.open(address + "#tab=federated&members=20&colluding=4&threshold=13&sigma=2&rounds=9")
    browser.wait_for("document.body && document.body.dataset.round")
    claim(browser.evaluate("document.getElementById('plan').value") == "9 * aggregated_gaussian(2, 9)", "h = t - c members' noise counts")
    browser.evaluate("choose('statistics'); document.getElementById('find').checked = true; refresh()")
    browser.wait_for("!document.getElementById('calibration').hidden")
    browser.wait_for("Number(document.body.dataset.round) > 1")
    claim(browser.evaluate("window.answers.epsilon.epsilon.upper <= 1"), "the calibrated plan meets the target")
    unnamed = browser.evaluate("[...document.querySelectorAll('input, select, textarea')].filter((e) => !e.ariaLabel && (e.labels || []).length === 0).length")
    claim(unnamed == 0, f"every control has a label: {unnamed} have none")
    # drag the slider of the noise of a training
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
    return 1 if failures else 0


sys.exit(main())
