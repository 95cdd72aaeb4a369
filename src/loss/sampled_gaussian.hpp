// What a Poisson-sampled Gaussian step tells of itself to those who split its law.
#pragma once

#include "sotto/loss/loss.hpp"

namespace sotto::detail {

class SampledGaussianStep : public Loss {
 public:
  [[nodiscard]] virtual const Real& mu() const = 0;
  [[nodiscard]] virtual const Real& rate() const = 0;
  [[nodiscard]] virtual Direction direction() const = 0;
};

}  // namespace sotto::detail
