// Measures the accuracy of DP-SGD, output perturbation, objective perturbation and sufficient
// statistics at four ε, on Adult and California housing.
//
//   bench_learning_accuracy encode FOLDER [DATA]     writes the encoded tables, for peers
//   bench_learning_accuracy tables [DATA [PEERS]]    trains and prints; PEERS has lines
//   "table<TAB>method<TAB>epsilon<TAB>mean<TAB>sd"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "learning/api/defaults.hpp"
#include "learning/api/perturbation.hpp"
#include "learning_data.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/learning/sufficient_statistics.hpp"
#include "sotto/learning/train.hpp"

namespace {

using namespace sotto;

constexpr double delta = 1e-5;
constexpr int seeds = 10;
const std::vector<double> epsilons{0.1, 0.3, 1, 3};

struct Table {
  bench::Table data;
  std::size_t width;
  double longest;  // the bound on the norm of a row (x, 1)
  double norm2;    // from typical_row_norm: rows (x, 1) are clipped to it
  bool classes;
};

// Scales numbers to [-1, 1], by wider bounds than elsewhere.
Table table_of(const std::string& name, const std::filesystem::path& folder) {
  const std::vector<bench::Described> numbers{{0, true, {17, 90}},   {2, true, {0, 1'500'000}},
                                              {4, true, {1, 16}},    {10, true, {0, 99'999}},
                                              {11, true, {0, 4356}}, {12, true, {1, 99}}};
  bench::Table data = name == "adult" ? bench::adult(folder, numbers) : bench::california(folder);
  double norm2 = 1;
  for (const bench::Described& feature : data.features) norm2 += feature.number ? 1.0 / 3 : 1;
  const std::size_t width = data.train.width();
  const double longest = std::sqrt(static_cast<double>(data.features.size() + 1));
  const bool classes = !data.target.number;
  return {std::move(data), width, longest, norm2, classes};
}

double target_of(const Table& table, const Examples& examples, std::size_t row) {
  const std::int16_t code = examples.target(row);
  return table.classes ? code : value_of(code, table.data.target.scale);
}

// Returns the accuracy in percent, or the root of the mean squared error in dollars.
double quality(const Table& table, const Examples& test, const std::vector<double>& parameters) {
  const LossFunction loss{.kind = table.classes ? LossKind::logistic : LossKind::squared};
  const auto model = make_model(LinearModel{.width = table.width, .loss = loss});
  std::vector<double> z(test.rows());
  model->prepare(parameters)->outputs(test, 0, z);
  double sum = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (table.classes) {
      sum += (z[i] > 0) == (target_of(table, test, i) > 0) ? 1 : 0;
    } else {
      const Scaled& scale = table.data.target.scale;
      const double off = scale.lower +
                         (std::clamp(z[i], -1.0, 1.0) + 1) / 2 * (scale.upper - scale.lower) -
                         target_of(table, test, i);
      sum += off * off;
    }
  }
  const double mean = sum / static_cast<double>(z.size());
  return table.classes ? 100 * mean : std::sqrt(mean);
}

using Method = std::function<std::vector<double>(const Examples& train, double epsilon)>;

// sotto's default settings, or Poisson batches and Adam; the same settings for both tables.
Method dp_sgd(const Table& table, bool adam) {
  return [&table, adam](const Examples& train_set, double epsilon) {
    const LossFunction loss{.kind = table.classes ? LossKind::logistic : LossKind::squared};
    const std::shared_ptr<const Model> model =
        make_model(LinearModel{.width = table.width, .loss = loss});
    const auto n = static_cast<double>(table.data.train.rows());
    const double one_release = calibrate(gaussian(hole), Epsilon(epsilon), Delta(delta)).value;
    Training training =
        default_training(*model, {.units = n, .row_norm = table.longest, .mu = 1 / one_release},
                         Relation::add_remove);
    if (adam) {
      training = {.sampling = PoissonSampling{0.1},
                  .steps = 300,
                  .clipping = {.norm = 1},
                  .batch = 0.1 * n};
      training.optimiser = {
          .kind = OptimiserKind::adam, .size = 0.1, .averaging = Averaging::second};
    }
    training.noise = calibrate(plan_to_calibrate(training), Epsilon(epsilon), Delta(delta)).value;
    return learned(train(model, train_set, training), training.optimiser);
  };
}

ConvexProblem problem_of(const Table& table, double strength) {
  return {.width = table.width,
          .loss = {.kind = table.classes ? LossKind::logistic : LossKind::huber, .bend = 0.5},
          .norm = std::sqrt(table.norm2),
          .strength = strength};
}

Method output_perturbation(const Table& table) {
  return [&table](const Examples& train_set, double epsilon) {
    OutputPerturbation p{.problem = problem_of(table, 1)};
    p.noise = calibrate(plan_to_calibrate(p), Epsilon(epsilon), Delta(delta)).value;
    p.problem.strength =
        balanced_strength(p.problem, p.noise, static_cast<double>(table.data.train.rows()));
    return learn(train_set, p);
  };
}

Method objective_perturbation(const Table& table) {
  return [&table](const Examples& train_set, double epsilon) {
    return learn(train_set,
                 objective_perturbation_for(problem_of(table, 0), Epsilon(epsilon), Delta(delta)));
  };
}

Method statistics(const Table& table) {
  return [&table](const Examples& train_set, double epsilon) {
    SufficientStatistics s{.width = table.width, .norm = std::sqrt(table.norm2 + 1.0 / 3)};
    s.noise = calibrate(plan_to_calibrate(s), Epsilon(epsilon), Delta(delta)).value;
    return fit(release(train_set, s)).parameters;
  };
}

// Trains without noise, to the minimum itself.
double without_noise(const Table& table, const Examples& train_set, const Examples& test_set) {
  if (!table.classes) return quality(table, test_set, statistics(table)(train_set, 1e8));
  OutputPerturbation p{.problem = problem_of(table, 1), .noise = 1e-9};
  return quality(table, test_set, learn(train_set, p));
}

struct Line {
  std::string method;
  std::map<double, std::pair<double, double>> at;  // mean and deviation
};

Line measured(const std::string& name, const Table& table, const Examples& train_set,
              const Examples& test_set, const Method& method) {
  Line line{.method = name, .at = {}};
  for (const double epsilon : epsilons) {
    double sum = 0;
    double square = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      const double q = quality(table, test_set, method(train_set, epsilon));
      sum += q;
      square += q * q;
    }
    const double mean = sum / seeds;
    line.at[epsilon] = {mean,
                        std::sqrt(std::max(0.0, (square - seeds * mean * mean) / (seeds - 1)))};
  }
  return line;
}

void print(const Line& line, bool classes) {
  std::printf("%-34s", line.method.c_str());
  for (const double epsilon : epsilons) {
    const auto it = line.at.find(epsilon);
    if (it == line.at.end()) {
      std::printf("  %16s", "-");
    } else {
      std::printf(classes ? "   %7.2f ± %-5.2f" : "  %7.0f ± %-6.0f", it->second.first,
                  it->second.second);
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_peers(const std::string& path, const std::string& table, bool classes) {
  std::ifstream file(path);
  std::map<std::string, Line> lines;
  for (std::string text; std::getline(file, text);) {
    std::stringstream row(text);
    std::string of, method, epsilon, mean, deviation;
    std::getline(row, of, '\t');
    std::getline(row, method, '\t');
    std::getline(row, epsilon, '\t');
    std::getline(row, mean, '\t');
    std::getline(row, deviation, '\t');
    if (of != table) continue;
    lines[method].method = method;
    lines[method].at[std::stod(epsilon)] = {std::stod(mean), std::stod(deviation)};
  }
  for (const auto& [name, line] : lines) print(line, classes);
}

void tables(const std::filesystem::path& data, const std::string& peers) {
  for (const std::string name : {"adult", "housing"}) {
    const Table table = table_of(name, data);
    const Examples& train_set = table.data.train;
    const Examples& test_set = table.data.test;
    std::printf(
        "%s: %zu rows to learn from, %zu to test on, %zu features; %s; delta %g, add/remove, %d "
        "seeds\n\n%-34s",
        name.c_str(), table.data.train.rows(), table.data.test.rows(), table.width,
        table.classes ? "accuracy in percent" : "root mean squared error in dollars", delta, seeds,
        "epsilon");
    for (const double epsilon : epsilons) std::printf("  %12g    ", epsilon);
    std::printf("\n");
    print(measured("DP-SGD, sotto's settings", table, train_set, test_set, dp_sgd(table, false)),
          table.classes);
    print(measured("DP-SGD, Poisson batches and Adam", table, train_set, test_set,
                   dp_sgd(table, true)),
          table.classes);
    print(measured("objective perturbation", table, train_set, test_set,
                   objective_perturbation(table)),
          table.classes);
    print(measured("output perturbation", table, train_set, test_set, output_perturbation(table)),
          table.classes);
    if (!table.classes)
      print(measured("sufficient statistics", table, train_set, test_set, statistics(table)),
            table.classes);
    print_peers(peers, name, table.classes);
    std::printf(table.classes ? "without noise %.2f\n\n" : "without noise %.0f\n\n",
                without_noise(table, train_set, test_set));
  }
}

void encode(const std::filesystem::path& folder, const std::filesystem::path& data) {
  std::filesystem::create_directories(folder);
  for (const std::string name : {"adult", "housing"}) {
    const Table table = table_of(name, data);
    for (const bool test : {false, true}) {
      std::ofstream file(folder / (name + (test ? "_test.csv" : "_train.csv")));
      file.precision(10);
      const Examples& examples = test ? table.data.test : table.data.train;
      for (std::size_t i = 0; i < examples.rows(); ++i) {
        for (std::size_t j = 0; j < table.width; ++j)
          file << static_cast<double>(examples.row(i)[j]) / feature_one << ',';
        file << target_of(table, examples, i) << '\n';
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "tables";
  if (what == "encode" && argc > 2) {
    encode(argv[2], argc > 3 ? argv[3] : SOTTO_SOURCE_DIR "/../shared/data");
  } else {
    tables(argc > 2 ? argv[2] : SOTTO_SOURCE_DIR "/../shared/data", argc > 3 ? argv[3] : "");
  }
  return 0;
}
