// How accurate is what is learned? DP-SGD, output and objective perturbation and sufficient statistics at four ε, on Adult and California housing.
//
//   bench_learning_accuracy encode FOLDER [DATA]     writes the encoded tables, for peers
//   bench_learning_accuracy tables [DATA [PEERS]]    trains and prints; PEERS has a peer's lines "table<TAB>method<TAB>epsilon<TAB>mean<TAB>sd"
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

#include "sotto/accounting/calibrate.hpp"
#include "sotto/learning/defaults.hpp"
#include "sotto/learning/perturbation.hpp"
#include "sotto/learning/sufficient_statistics.hpp"
#include "sotto/learning/train.hpp"

namespace {

using namespace sotto;

constexpr double delta = 1e-5;
constexpr int seeds = 10;
const std::vector<double> epsilons{0.1, 0.3, 1, 3};

struct Table {
  std::size_t width = 0;
  std::vector<Scaled> scales{};
  double longest = 1;  // no row (x, 1) is longer
  double norm2 = 1;    // of typical_row_norm: rows (x, 1) are shortened to it
  std::vector<double> train_x{}, train_y{}, test_x{}, test_y{};
  bool classes = false;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) {
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first));
  }
  return cells;
}

double share(const std::string& cell, double low, double high) {
  const double x = cell.empty() ? low : std::stod(cell);
  return std::clamp((x - low) / (high - low), 0.0, 1.0);
}

struct NumberColumn {
  std::size_t place;
  double low, high;  // public
};

// One feature a number, one a value of a category. The values are public: adult.names lists them, and housing's are five.
class Encoder {
 public:
  Encoder(std::vector<NumberColumn> numbers, std::vector<std::pair<std::size_t, std::vector<std::string>>> categories)
      : numbers_(std::move(numbers)), categories_(std::move(categories)) {}
  [[nodiscard]] std::size_t width() const {
    std::size_t sum = numbers_.size();
    for (const auto& [place, values] : categories_) sum += values.size();
    return sum;
  }
  [[nodiscard]] std::vector<Scaled> scales() const {
    std::vector<Scaled> all(width(), Scaled{0, 1, true});
    std::fill(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(numbers_.size()), Scaled{-1, 1});
    return all;
  }
  [[nodiscard]] double longest() const { return std::sqrt(static_cast<double>(numbers_.size() + categories_.size() + 1)); }
  [[nodiscard]] double norm2() const { return static_cast<double>(numbers_.size()) / 3 + static_cast<double>(categories_.size() + 1); }
  void add(const std::vector<std::string>& cells, std::vector<double>& x) const {
    for (const auto& number : numbers_) x.push_back(2 * share(cells[number.place], number.low, number.high) - 1);
    for (const auto& [place, values] : categories_) {
      for (const std::string& value : values) x.push_back(cells[place] == value ? 1 : 0);
    }
  }

 private:
  std::vector<NumberColumn> numbers_;
  std::vector<std::pair<std::size_t, std::vector<std::string>>> categories_;
};

// The values of the category in this column of adult.names, in which the columns follow each other.
std::vector<std::string> values_in(const std::filesystem::path& names, const std::string& column) {
  std::ifstream file(names);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(column + ":")) continue;
    std::string text = line.substr(column.size() + 1);
    text.erase(std::find(text.begin(), text.end(), '.'), text.end());
    return cells_of(text);
  }
  throw std::runtime_error("no column " + column);
}

Table adult(const std::filesystem::path& data) {
  const auto names = data / "adult/adult.names";
  std::vector<std::pair<std::size_t, std::vector<std::string>>> categories;
  const std::map<std::size_t, std::string> columns{{1, "workclass"}, {3, "education"}, {5, "marital-status"}, {6, "occupation"}, {7, "relationship"},
                                                   {8, "race"},      {9, "sex"},       {13, "native-country"}};
  for (const auto& [place, column] : columns) {
    categories.emplace_back(place, values_in(names, column));
    if (place == 1 || place == 6 || place == 13) categories.back().second.emplace_back("?");
  }
  const Encoder encoder({{0, 17, 90}, {2, 0, 1'500'000}, {4, 1, 16}, {10, 0, 99'999}, {11, 0, 4356}, {12, 1, 99}}, categories);
  Table table{.width = encoder.width(), .scales = encoder.scales(), .longest = encoder.longest(), .norm2 = encoder.norm2(), .classes = true};
  for (const bool test : {false, true}) {
    std::ifstream file(data / (test ? "adult/adult.test" : "adult/adult.data"));
    for (std::string line; std::getline(file, line);) {
      const auto cells = cells_of(line);
      if (cells.size() != 15) continue;
      encoder.add(cells, test ? table.test_x : table.train_x);
      (test ? table.test_y : table.train_y).push_back(cells[14].starts_with(">") ? 1 : 0);
    }
  }
  return table;
}

// Every fifth row, in the order of a hash of its number, is for testing.
Table housing(const std::filesystem::path& data) {
  const Encoder encoder({{0, -125, -114}, {1, 32, 42}, {2, 0, 52}, {3, 0, 10'000}, {4, 0, 2000}, {5, 0, 5000}, {6, 0, 2000}, {7, 0, 15}},
                        {{9, {"<1H OCEAN", "INLAND", "NEAR OCEAN", "NEAR BAY", "ISLAND"}}});
  Table table{.width = encoder.width(), .scales = encoder.scales(), .longest = encoder.longest(), .norm2 = encoder.norm2()};
  std::ifstream file(data / "california_housing/housing.csv");
  std::string line;
  std::getline(file, line);
  for (std::uint64_t row = 0; std::getline(file, line); ++row) {
    const auto cells = cells_of(line);
    if (cells.size() != 10) continue;
    const bool test = (row * 0x9e3779b97f4a7c15U >> 32U) % 5 == 0;
    encoder.add(cells, test ? table.test_x : table.train_x);
    (test ? table.test_y : table.train_y).push_back(std::stod(cells[8]));
  }
  return table;
}

constexpr Scaled target_scale{0, 500'001};

Examples examples_in(const Table& table, bool test) {
  return examples_of(Matrix{.values = test ? table.test_x : table.train_x,
                            .width = table.width,
                            .scales = table.scales,
                            .targets = test ? table.test_y : table.train_y,
                            .target_scale = table.classes ? std::nullopt : std::optional<Scaled>(target_scale)});
}

// Accuracy in percent, or the root of the mean squared error in dollars.
double quality(const Table& table, const Examples& test, const std::vector<double>& parameters) {
  const LossFunction loss{.kind = table.classes ? LossKind::logistic : LossKind::squared};
  const auto model = make_model(LinearModel{.width = table.width, .loss = loss});
  std::vector<double> z(test.rows());
  model->prepare(parameters)->outputs(test, 0, z);
  double sum = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (table.classes) {
      sum += (z[i] > 0) == (table.test_y[i] > 0) ? 1 : 0;
    } else {
      const double predicted = target_scale.lower + (std::clamp(z[i], -1.0, 1.0) + 1) / 2 * (target_scale.upper - target_scale.lower);
      sum += (predicted - table.test_y[i]) * (predicted - table.test_y[i]);
    }
  }
  const double mean = sum / static_cast<double>(z.size());
  return table.classes ? 100 * mean : std::sqrt(mean);
}

using Method = std::function<std::vector<double>(const Examples& train, double epsilon)>;

// sotto's own settings, or Poisson batches and Adam; the same for both tables.
Method dp_sgd(const Table& table, bool adam) {
  return [&table, adam](const Examples& train_set, double epsilon) {
    const LossFunction loss{.kind = table.classes ? LossKind::logistic : LossKind::squared};
    const std::shared_ptr<const Model> model = make_model(LinearModel{.width = table.width, .loss = loss});
    const auto n = static_cast<double>(table.train_y.size());
    const double one_release = calibrate(gaussian(hole), Epsilon(epsilon), Delta(delta)).value;
    Training training = default_training(*model, {.units = n, .row_norm = table.longest, .mu = 1 / one_release}, Relation::add_remove);
    if (adam) {
      training = {.sampling = PoissonSampling{0.1}, .steps = 300, .clipping = {.norm = 1}, .batch = 0.1 * n};
      training.optimiser = {.kind = OptimiserKind::adam, .size = 0.1, .averaging = Averaging::second};
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
    p.problem.strength = balanced_strength(p.problem, p.noise, static_cast<double>(table.train_y.size()));
    return learn(train_set, p);
  };
}

Method objective_perturbation(const Table& table) {
  return [&table](const Examples& train_set, double epsilon) {
    return learn(train_set, objective_perturbation_for(problem_of(table, 0), Epsilon(epsilon), Delta(delta)));
  };
}

Method statistics(const Table& table) {
  return [&table](const Examples& train_set, double epsilon) {
    SufficientStatistics s{.width = table.width, .norm = std::sqrt(table.norm2 + 1.0 / 3)};
    s.noise = calibrate(plan_to_calibrate(s), Epsilon(epsilon), Delta(delta)).value;
    return fit(release(train_set, s)).parameters;
  };
}

// Without noise: the minimum itself.
double without_noise(const Table& table, const Examples& train_set, const Examples& test_set) {
  if (!table.classes) return quality(table, test_set, statistics(table)(train_set, 1e8));
  OutputPerturbation p{.problem = problem_of(table, 1), .noise = 1e-9};
  return quality(table, test_set, learn(train_set, p));
}

struct Line {
  std::string method;
  std::map<double, std::pair<double, double>> at;  // mean and deviation
};

Line measured(const std::string& name, const Table& table, const Examples& train_set, const Examples& test_set, const Method& method) {
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
    line.at[epsilon] = {mean, std::sqrt(std::max(0.0, (square - seeds * mean * mean) / (seeds - 1)))};
  }
  return line;
}

void print(const Line& line, bool classes) {
  std::printf("%-34s", line.method.c_str());
  for (const double epsilon : epsilons) {
    const auto found = line.at.find(epsilon);
    if (found == line.at.end()) {
      std::printf("  %16s", "-");
    } else {
      std::printf(classes ? "   %7.2f ± %-5.2f" : "  %7.0f ± %-6.0f", found->second.first, found->second.second);
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
    const Table table = name == "adult" ? adult(data) : housing(data);
    const Examples train_set = examples_in(table, false);
    const Examples test_set = examples_in(table, true);
    std::printf("%s: %zu rows to learn from, %zu to test on, %zu features; %s; delta %g, add/remove, %d seeds\n\n%-34s", name.c_str(),
                table.train_y.size(), table.test_y.size(), table.width, table.classes ? "accuracy in percent" : "root mean squared error in dollars",
                delta, seeds, "epsilon");
    for (const double epsilon : epsilons) std::printf("  %12g    ", epsilon);
    std::printf("\n");
    print(measured("DP-SGD, sotto's settings", table, train_set, test_set, dp_sgd(table, false)), table.classes);
    print(measured("DP-SGD, Poisson batches and Adam", table, train_set, test_set, dp_sgd(table, true)), table.classes);
    print(measured("objective perturbation", table, train_set, test_set, objective_perturbation(table)), table.classes);
    print(measured("output perturbation", table, train_set, test_set, output_perturbation(table)), table.classes);
    if (!table.classes) print(measured("sufficient statistics", table, train_set, test_set, statistics(table)), table.classes);
    print_peers(peers, name, table.classes);
    std::printf(table.classes ? "without noise %.2f\n\n" : "without noise %.0f\n\n", without_noise(table, train_set, test_set));
  }
}

void encode(const std::filesystem::path& folder, const std::filesystem::path& data) {
  std::filesystem::create_directories(folder);
  for (const std::string name : {"adult", "housing"}) {
    const Table table = name == "adult" ? adult(data) : housing(data);
    for (const bool test : {false, true}) {
      std::ofstream file(folder / (name + (test ? "_test.csv" : "_train.csv")));
      const auto& x = test ? table.test_x : table.train_x;
      const auto& y = test ? table.test_y : table.train_y;
      for (std::size_t i = 0; i < y.size(); ++i) {
        for (std::size_t j = 0; j < table.width; ++j) file << x[i * table.width + j] << ',';
        file << y[i] << '\n';
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
