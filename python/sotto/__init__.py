"""One certified privacy budget for everything that is done with a sensitive table.

>>> import sotto
>>> from sotto import gaussian, poisson
>>> sotto.epsilon(10_000 * poisson(0.01, gaussian(1.0)), delta=1e-5)
<epsilon <= 6.187713 (>= 6.187712) at delta = 1e-05, by pld, add-remove>
"""

from ._sotto import (
    Bound,
    Calibration,
    Chart,
    Derivation,
    Hole,
    OverSteps,
    Plan,
    PrivacyLoss,
    Tradeoff,
    __version__,
    approx,
    arsinh,
    catastrophe,
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    gdp,
    group,
    hole,
    laplace,
    parallel,
    poisson,
    pure,
    randomized_response,
    rdp,
    staircase,
    tcdp,
    without_replacement,
    zcdp,
)
from . import display as _display  # noqa: F401  (methods for notebooks)
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
    NoEntropy,
    OutOfWork,
    OutsideConditions,
    ParseError,
    RequestClosed,
    RequestFailed,
    SottoError,
    StudyError,
)

__all__ = sorted(name for name in globals() if not name.startswith("_"))
