// Simulated and computed figures on trust models and network DP.
#include "course/figures/federated_figures.hpp"

#include "course/api/simulation.hpp"
#include "course/api/simulations.hpp"

namespace sotto::course_detail {

Chart trust_figure() {
  const std::vector<std::int64_t> users{10, 30, 100, 300, 1000, 3000, 10'000};
  Chart chart{.id = "trust-models",
              .title = "The error of a mean by whom one trusts",
              .caption =
                  "Values in [0, 1], ε = 1, δ = 1e-6; root mean square of 200 runs with noise of "
                  "their own. Noise that users add "
                  "together under masks that cancel (GOPA) errs as a trusted curator does, by "
                  "√(1/ρ) more where a share ρ is honest; local DP errs √n "
                  "times as much.",
              .x_label = "users n",
              .y_label = "error of the mean",
              .log_x = true,
              .log_y = true};
  struct Curve {
    const char* name;
    TrustModel model;
    double honest;
    Series::Style style = Series::Style::line;
  };
  for (const Curve& curve :
       {Curve{"trusted curator", TrustModel::central, 1},
        {"aggregated, all honest", TrustModel::gopa, 1,
         Series::Style::dashed},  // dashed, since it lies on the curator's curve
        {"aggregated, half honest", TrustModel::gopa, 0.5},
        {"local DP", TrustModel::local, 1}}) {
    Series measured{.name = curve.name, .style = curve.style};
    for (const std::int64_t n : users) {
      const AveragingOutcome outcome = simulate_averaging({.model = curve.model,
                                                           .users = n,
                                                           .honest = curve.honest,
                                                           .runs = 200,
                                                           .message_by_message = 100});
      measured.x.push_back(static_cast<double>(n));
      measured.y.push_back(outcome.measured);
    }
    chart.series.push_back(std::move(measured));
  }
  return chart;
}

Chart network_figure() {
  Chart chart = simulation_table("network-epsilon").chart;
  chart.id = "network-dp";
  return chart;
}

}  // namespace sotto::course_detail
