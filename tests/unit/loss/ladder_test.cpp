// Laws, the discrete Fourier transform and ladders: against sums made another way.
#include "../../../src/loss/ladder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "../../../src/loss/fourier.hpp"
#include "../../../src/loss/rungs.hpp"

namespace sotto::detail {
namespace {

using Long = long double;

TEST(Fourier, UndoesItselfWithinItsBound) {
  std::mt19937_64 bits(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const std::size_t size : {2U, 8U, 1024U, 65536U}) {
    const Fourier fourier(size);
    std::vector<Complex> values(size);
    for (Complex& value : values) value = {uniform(bits), uniform(bits)};
    const std::vector<Complex> before = values;
    fourier.forward(values);
    fourier.back(values);
    double off = 0;
    double all = 0;
    for (std::size_t i = 0; i < size; ++i) {
      off += std::pow(abs(values[i] - before[i]), 2);
      all += std::pow(abs(before[i]), 2);
    }
    EXPECT_LE(std::sqrt(off / all), 2 * fourier.error() * 1.01) << size;
  }
}

TEST(Fourier, MultipliesAsConvolution) {
  constexpr std::size_t size = 64;
  std::mt19937_64 bits(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Complex> a(size), b(size);
  std::vector<Long> direct(size, 0);
  for (std::size_t i = 0; i < size; ++i) a[i] = {uniform(bits), 0};
  for (std::size_t i = 0; i < size; ++i) b[i] = {uniform(bits), 0};
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) direct[(i + j) % size] += static_cast<Long>(a[i].re) * b[j].re;
  }
  const Fourier fourier(size);
  fourier.forward(a);
  fourier.forward(b);
  for (std::size_t i = 0; i < size; ++i) a[i] = a[i] * b[i];
  fourier.back(a);
  for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(a[i].re, static_cast<double>(direct[i]), 1e-12);
}

struct NamedLaw {
  std::string name;
  LawPtr law;
};

std::vector<NamedLaw> laws() {
  const Near third(Real(1) / 3);
  const Near two(Real(2));
  const Near tenth(Real(1) / 10);
  std::vector<NamedLaw> all;
  for (const auto& [name, base] :
       {NamedLaw{"gaussian 1/3", gaussian_law(third)}, NamedLaw{"gaussian 2", gaussian_law(two)}, NamedLaw{"laplace 2", laplace_law(two)}}) {
    all.push_back({name, base});
    all.push_back({name + " removed", sampled_law(base, tenth, Direction::remove)});
    all.push_back({name + " added", sampled_law(base, tenth, Direction::add)});
    all.push_back({name + " replaced", replaced_law(base, tenth)});
  }
  return all;
}

// The masses of a partition add up to 1 under P and under Q, P's mass of a short cell is e^loss of Q's, and slopes are those of the masses.
TEST(Laws, AreLawsOfPrivacyLosses) {
  for (const auto& [name, law] : laws()) {
    const double low = std::max(law->least(), -3.0);
    const double high = std::min(law->most(), 12.0);
    double p = 0;
    double q = 0;
    double off = 1e-13;
    for (const LossLaw::Place& atom : law->atoms()) {
      q += atom.mass;
      p += atom.mass * std::exp(atom.loss);
    }
    const auto take = [&](double from, double to) {
      const LossLaw::Mass without = law->without(law->edge(from), law->edge(to));
      const LossLaw::Mass with = law->with(law->edge(from), law->edge(to));
      q += without.value;
      p += with.value;
      off += without.value * without.room + with.value * with.room;
      return std::pair{with.value, without.value};
    };
    if (law->least() < low) take(law->least(), low);
    if (law->most() > high) take(high, law->most());
    const int cells = 3000;
    for (const auto& [from, to] : {std::pair{low, -0x1p-1000}, std::pair{0.0, high}}) {
      const double width = (to - from) / cells;
      double before = 0;
      for (int j = 0; j < cells; ++j) {
        const double start = from + j * width;
        const double end = j + 1 == cells ? to : start + width;
        const LossLaw::Edge b = law->edge(end);
        const auto [with, mass] = take(start, end);
        if (mass > 1e-30) {
          const double loss = std::log(with / mass);
          EXPECT_GE(loss, start - 1e-9) << name;
          EXPECT_LE(loss, end + 1e-9) << name;
          if (j > 0 && before > 1e-30) {
            const LossLaw::Slopes slopes = law->slopes(law->edge(start - width), b);
            const double slope = std::log(mass / before) / width;
            EXPECT_GE(slope, slopes.least - 1e-6 * (1 + std::abs(slope))) << name << " at " << start;
            EXPECT_LE(slope, slopes.most + 1e-6 * (1 + std::abs(slope))) << name << " at " << start;
          }
        }
        before = mass;
      }
    }
    EXPECT_NEAR(q, 1, off) << name;
    EXPECT_NEAR(p, 1, off) << name;
    EXPECT_LE(off, 1e-9) << name;
  }
}

// What is put on rungs: up, P keeps its mass, and E_Q[(X - a)₊] is nowhere smaller; down, nowhere larger.
TEST(Laws, OnRungsTheProfileIsLargerOrSmaller) {
  for (const auto& [name, law] : laws()) {
    const auto atoms = law->atoms();
    const double start = atoms.empty() ? 0 : atoms.front().loss;
    for (const double height : {0.02, 0.05}) {
      const auto rungs = [&](double by) {
        return Rungs{start, by, static_cast<std::int64_t>(std::floor((std::max(law->least(), -20.0) - start) / by)) - 1,
                     static_cast<std::int64_t>(std::ceil((std::min(law->most(), 30.0) - start) / by)) + 1};
      };
      const auto profile = [&](Side side, double by, double epsilon) {
        double sum = 0;
        const Drop drop = [&](std::int64_t, double loss, double mass) { sum += mass * std::max(0.0, std::exp(loss) - std::exp(epsilon)); };
        double lowered = 0;
        if (side == Side::upper) {
          raise_cells(*law, rungs(by), drop);
        } else {
          lowered = lower_cells(*law, rungs(by), 1, 0, drop).by;
        }
        Rungs moved = rungs(by);
        moved.start -= lowered;
        place_atoms(*law, side, moved, drop);
        return sum;
      };
      for (const double epsilon : {-0.4, -0.01, 0.0, 0.02, 0.3, 1.1}) {
        const double fine_up = profile(Side::upper, height / 16, epsilon);
        const double fine_down = profile(Side::lower, height / 16, epsilon);
        const double tiny = 1e-12;
        EXPECT_LE(fine_down, fine_up + tiny) << name << " at " << epsilon;
        EXPECT_GE(profile(Side::upper, height, epsilon), fine_down - tiny) << name << " at " << epsilon;
        EXPECT_LE(profile(Side::lower, height, epsilon), fine_up + tiny) << name << " at " << epsilon;
        EXPECT_LE(fine_up - fine_down, 0.05 * height + tiny) << name << " at " << epsilon;
      }
    }
  }
}

}  // namespace
}  // namespace sotto::detail
