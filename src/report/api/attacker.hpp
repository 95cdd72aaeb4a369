// What an attacker can tell, as text and as figures: the trade-off curve and the law of the privacy loss.
#pragma once

#include <string>
#include <vector>

#include "accounting/api/privacy_loss_distribution.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "report/api/answers.hpp"
#include "report/api/chart.hpp"

namespace sotto {

/// sotto.tradeoff/1: the true-positive rate at each false-positive rate, the advantage, and the success at a prior; beside each rate what one Rényi
/// order allows, where `by_order` has it.
std::string tradeoff_text(const Plan& plan, const Tradeoff& tradeoff, const std::vector<double>& fprs, double prior, Format format,
                          const std::vector<RenyiRate>& by_order = {});
/// The curve on two logarithmic axes, from 1e-5 on.
Chart tradeoff_chart(const Plan& plan, const Tradeoff& tradeoff);

/// sotto.loss/1: δ(ε) and P(L > ε) at each ε.
std::string loss_text(const Plan& plan, const PrivacyLossDistribution& law, const std::vector<double>& epsilons, Format format);
/// Both curves over ε.
Chart loss_chart(const Plan& plan, const PrivacyLossDistribution& law);
/// About ten round values of ε, from 0 to the law's reach.
std::vector<double> round_losses(const PrivacyLossDistribution& law);

}  // namespace sotto
