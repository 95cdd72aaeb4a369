// The attacker's trade-off curve and the distribution of the privacy loss, as text and as charts.
#pragma once

#include <string>
#include <vector>

#include "accounting/api/privacy_loss_distribution.hpp"
#include "report/api/answers.hpp"
#include "report/api/chart.hpp"
#include "sotto/accounting/tradeoff.hpp"

namespace sotto {

/// Returns the true-positive rate at each false-positive rate, the advantage, and the probability
/// of success at a prior; sotto.tradeoff/1. `by_order` is empty or has an element for each of
/// `fprs`: the rate that a single Rényi order allows, which is written beside the tight rate.
std::string tradeoff_text(const Plan& plan, const Tradeoff& tradeoff,
                          const std::vector<double>& fprs, double prior, Format format,
                          const std::vector<RenyiRate>& by_order = {});
/// The curve on two logarithmic axes, from a false-positive rate of 1e-5 to 1.
Chart tradeoff_chart(const Plan& plan, const Tradeoff& tradeoff);

/// Returns δ(ε) and P(L > ε), with L the privacy loss, at each ε; sotto.loss/1.
std::string loss_text(const Plan& plan, const PrivacyLossDistribution& distribution,
                      const std::vector<double>& epsilons, Format format);
/// A chart of δ(ε) and P(L > ε).
Chart loss_chart(const Plan& plan, const PrivacyLossDistribution& distribution);
/// Returns eleven round values of ε, evenly spaced from 0 to about the distribution's reach().
std::vector<double> round_losses(const PrivacyLossDistribution& distribution);

}  // namespace sotto
