"""Adds notebook display to the classes of the library: HTML, SVG, and plots by matplotlib."""

from __future__ import annotations

import html
import json

from ._sotto import Bound, Calibration, Chart, OverSteps, Plan, PrivacyLoss, Tradeoff


def _table(caption: str, rows) -> str:
    body = "".join(f"<tr><th style='text-align:left'>{html.escape(k)}</th><td style='text-align:left'>{html.escape(v)}</td></tr>" for k, v in rows if v)
    return f"<table><caption>{html.escape(caption)}</caption>{body}</table>"


def _bound_html(bound: Bound) -> str:
    lower = "" if bound.lower is None or bound.lower <= 0 else f"≥ {bound.lower:.9g}"
    symbol = {"epsilon": "ε", "delta": "δ", "divergence": "divergence"}
    at = {"epsilon": "δ", "delta": "ε", "divergence": "order"}[bound.quantity]
    rows = [(symbol[bound.quantity], f"≤ {_up(bound.upper)} {lower}"), ("at", f"{at} = {bound.at!r}"), ("by", bound.by), ("relation", bound.relation)]
    return _table(str(bound.plan), rows + [("note", note) for note in bound.notes])


def _up(x: float) -> str:
    """Returns x with nine digits, or with all digits if nine would round it down."""
    text = f"{x:.9g}"
    return text if float(text) >= x else repr(x)


def _calibration_html(calibration: Calibration) -> str:
    tight = "" if calibration.insufficient is None else f"{calibration.insufficient!r} does not suffice"
    rows = [(calibration.hole, repr(calibration.value)), ("tight", tight)]
    return _table(str(calibration.plan), rows) + _bound_html(calibration.bound)


def _dict(self) -> dict:
    """Returns the object in its JSON format."""
    return json.loads(self.text("json"))


def _svg(self) -> str:
    """Returns the chart as SVG."""
    return self.chart.svg()


def _plot(self, ax=None):
    """Draws the chart with matplotlib, on `ax` or on a new figure, and returns the axes."""
    chart = self if isinstance(self, Chart) else self.chart
    if ax is None:
        import matplotlib.pyplot

        ax = matplotlib.pyplot.subplots()[1]
    for series in chart.series:
        if series.style == "bars":
            ax.stairs(series.y, series.x, fill=True, label=series.name or None)
        else:
            ax.plot(series.x, series.y, linestyle="--" if series.style == "dashed" else "-", label=series.name or None)
    ax.set(title=chart.title, xlabel=chart.x_label, ylabel=chart.y_label)
    ax.set(xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    if any(series.name for series in chart.series):
        ax.legend()
    return ax


Bound._repr_html_ = _bound_html
Calibration._repr_html_ = _calibration_html
Plan._repr_html_ = lambda plan: f"<code>{html.escape(str(plan))}</code>"
for _kind in (Bound, Calibration, OverSteps, Tradeoff, PrivacyLoss):
    _kind.to_dict = _dict
for _kind in (OverSteps, Tradeoff, PrivacyLoss):
    _kind._repr_svg_ = _svg
    _kind.plot = _plot
Tradeoff.__repr__ = lambda self: f"<trade-off of {self.plan}: advantage <= {_up(self.advantage[1])}>"
PrivacyLoss.__repr__ = lambda self: f"<privacy loss of {self.plan}>"
OverSteps.__repr__ = lambda self: f"<epsilon of {self.plan} at delta = {self.delta!r}, after {len(self.steps)} numbers of steps>"
for _kind in (Tradeoff, PrivacyLoss):
    _kind.__str__ = lambda self: self.text().rstrip("\n")
Chart.plot = _plot
