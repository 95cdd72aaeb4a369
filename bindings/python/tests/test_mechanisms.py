"""Noise on arrays: in place without a copy, costing what the event says."""

import numpy
import pytest
import sotto
from sotto import Arsinh, ExponentialMechanism, Gaussian, Laplace, Plan, RandomizedResponse


def test_noise_in_place_moves_no_memory():
    values = numpy.zeros(1000)
    address = values.ctypes.data
    assert Gaussian(10).release(values, out=values) is values
    assert values.ctypes.data == address and numpy.count_nonzero(values) > 900


def test_a_release_is_new_unless_it_is_asked_for_in_place():
    values = numpy.arange(6.0).reshape(2, 3)
    original = values.copy()
    noisy = Laplace(5).release(values)
    assert noisy.shape == (2, 3) and not numpy.shares_memory(noisy, values)
    assert (values == original).all()
    assert isinstance(Gaussian(1).release(7), float)
    assert Gaussian(1).release([1, 2, 3]).shape == (3,)
    transposed = Gaussian(1e-3).release(values.T)
    assert numpy.allclose(transposed, values.T, atol=0.1)


def test_what_cannot_be_written_in_place_is_refused():
    for out in (numpy.zeros(3, dtype=numpy.float32), numpy.zeros((4, 4))[:, 1], [0.0, 0.0]):
        with pytest.raises(sotto.InvalidValue, match="out="):
            Gaussian(1).release(numpy.zeros(3), out=out)
    frozen = numpy.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(sotto.InvalidValue, match="out="):
        Gaussian(1).release(frozen, out=frozen)


def test_a_value_that_is_not_finite_changes_nothing():
    values = numpy.array([1.0, numpy.nan, 2.0])
    for each in (False, True):
        with pytest.raises(ValueError):
            Gaussian(1).release(values, out=values, each=each)
    assert values[0] == 1 and values[2] == 2


def test_noise_has_its_scale():
    noisy = Gaussian(10).release(numpy.zeros(100_000))
    assert noisy.std() == pytest.approx(10, rel=0.02)  # about 9 standard errors
    assert abs(noisy.mean()) < 0.3
    noisy = Laplace(10).release(numpy.zeros(100_000))
    assert numpy.abs(noisy).mean() == pytest.approx(10, rel=0.03)
    assert (numpy.mod(noisy, Laplace(10).grid) == 0).all()


def test_calibration_is_the_librarys():
    assert Gaussian.calibrated(epsilon=1, delta=1e-6).scale == sotto.calibrate("gaussian(?)", epsilon=1, delta=1e-6).value
    assert Laplace.calibrated(2, epsilon=0.5).event == Plan("laplace(4, sensitivity=2)")
    assert sotto.divergence(Gaussian.calibrated(epsilon=0.5, order=8).event, 8).upper <= 0.5
    assert Gaussian.calibrated(rho=0.5).scale == pytest.approx(1)
    assert sotto.noise_for("100 * gaussian(?)", epsilon=1, delta=1e-5).scale == 37.30631634815943
    with pytest.raises(sotto.InvalidValue, match="one target"):
        Gaussian.calibrated(epsilon=1)


def test_arsinh_on_several_numbers_is_refused_by_the_argument_that_helps():
    with pytest.raises(sotto.OutsideConditions, match="pass: each=True"):
        Arsinh(0.5, 8).release(numpy.zeros(3))
    assert Arsinh(0.5, 8).release(numpy.zeros(3), each=True).shape == (3,)


def test_choices():
    response = RandomizedResponse.for_epsilon(1.0)
    assert sotto.epsilon(response.event, 0).upper <= 1
    assert {response.respond(1) for _ in range(200)} == {0, 1}
    with pytest.raises(ValueError):
        response.respond(2)
    assert ExponentialMechanism(50, 1).choose(numpy.array([0.0, 100.0, 0.0])) == 1
