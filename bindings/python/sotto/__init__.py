"""Differential privacy under one certified budget for all uses of a sensitive table.

>>> import sotto
>>> from sotto import gaussian, poisson
>>> sotto.epsilon(10_000 * poisson(0.01, gaussian(1.0)), delta=1e-5)
<epsilon <= 6.187713 (>= 6.187712) at delta = 1e-05, by pld, add-remove>
"""

from typing import TYPE_CHECKING

from ._sotto import (
    Bound,
    Calibration,
    Chart,
    DataFile,
    Derivation,
    Entry,
    ExponentialMechanism,
    Hole,
    OverSteps,
    Plan,
    PrivacyLoss,
    RandomizedResponse,
    Tradeoff,
    __version__,
    aggregated_gaussian,
    approx,
    arsinh,
    catastrophe,
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    gdp,
    gopa_complete,
    gopa_connected,
    gopa_random,
    group,
    hole,
    laplace,
    parallel,
    poisson,
    pure,
    randomized_response,
    rdp,
    ring_histogram,
    ring_sum,
    shuffle,
    staircase,
    tcdp,
    walk_sgd,
    walk_sum,
    without_replacement,
    zcdp,
)
from . import display as _display  # noqa: F401  (adds notebook methods to the classes)
from . import federated, simulate, spark
from .accountant import Accountant, plan_of
from .accounting import (
    Comparison,
    Explanation,
    calibrate,
    compare,
    delta,
    divergence,
    epsilon,
    epsilon_over_steps,
    explain,
    privacy_loss,
    trade_off,
    tradeoff,
)
from .errors import (
    BudgetRefused,
    EngineError,
    InvalidValue,
    LedgerError,
    LinkLost,
    NoEntropy,
    NotApproved,
    OutOfWork,
    OutsideConditions,
    ParseError,
    PrivacyWarning,
    ProtocolError,
    RequestClosed,
    RequestFailed,
    SottoError,
    StudyError,
)
from .ledger import Ledger
from .mechanisms import Additive, Arsinh, Gaussian, Laplace, noise_for
from .session import Answers, Query, Question, Session, Study, release

# The names that need scikit-learn, with the module of each: importing sotto does not import
# scikit-learn.
_SKLEARN_MODULES = {
    **dict.fromkeys(("LinearRegression", "LinearSVC", "LogisticRegression", "MLPClassifier", "SoftmaxRegression"), "learning"),
    **dict.fromkeys(("SearchCost", "search_cost"), "search"),
    "BoundedScaler": "features",
}

__all__ = sorted(name for name in globals() if not name.startswith("_") and name != "TYPE_CHECKING")

if TYPE_CHECKING:
    from .features import BoundedScaler
    from .learning import LinearRegression, LinearSVC, LogisticRegression, MLPClassifier, SoftmaxRegression
    from .search import SearchCost, search_cost


def __dir__():
    return sorted([*globals(), *_SKLEARN_MODULES])


def __getattr__(name):
    if name in _SKLEARN_MODULES:
        import importlib

        return getattr(importlib.import_module(f".{_SKLEARN_MODULES[name]}", __name__), name)
    raise AttributeError(f"module 'sotto' has no attribute {name!r}")
