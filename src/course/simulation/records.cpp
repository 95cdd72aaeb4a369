// Records for simulations of learning: made up, or from a CSV file of public data.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>

#include "core/api/file.hpp"
#include "course/api/simulation_learning.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"

namespace sotto {
namespace {

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

bool as_number(const std::string& text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void normalise(std::vector<double>& x) {
  double square = 0;
  for (const double one : x) square += one * one;
  const double length = std::sqrt(square) * (1 + 1e-12);
  for (double& one : x) one = length > 0 ? one / length : 0;
}

// Shuffles the records into an order that is the same on every call.
void shuffle(SimulatedRecords& records) {
  std::mt19937_64 words(7);
  for (std::size_t i = records.features.size(); i > 1; --i) {
    const std::size_t j = words() % i;
    std::swap(records.features[i - 1], records.features[j]);
    const bool label = records.labels[i - 1];
    records.labels[i - 1] = records.labels[j];
    records.labels[j] = label;
  }
}

// A CSV file as text: the names of its columns, and rows with as many cells.
struct Cells {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
};

Cells read_cells(const std::string& path) {
  std::istringstream file(read_text_file(path, max_generated_file_size));
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error("cannot read " + path + ": it is empty");
  Cells cells{cells_of(line), {}};
  while (std::getline(file, line)) {
    cells.rows.push_back(cells_of(line));
    if (cells.rows.back().size() != cells.names.size())
      throw InvalidValue(path + ": row " + std::to_string(cells.rows.size()) + " has " +
                         std::to_string(cells.rows.back().size()) + " cells, the header " +
                         std::to_string(cells.names.size()));
  }
  return cells;
}

}  // namespace

SimulatedRecords made_up_records(std::int64_t count, std::int64_t width) {
  (void)require_count(count, 10, "records");
  (void)require_count(width, 1, "width");
  std::mt19937_64 words(11);
  const auto uniform = [&words] { return (static_cast<double>(words() >> 11U) + 0.5) * 0x1p-53; };
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::acos(-1.0) * uniform());
  };
  SimulatedRecords records;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool label = uniform() < 0.4;
    std::vector<double> x;
    for (std::int64_t j = 0; j < width; ++j)
      x.push_back(normal() + (label ? 1 : -1) * (j % 2 == 0 ? 0.5 : 0.2));
    x.push_back(1);  // for the intercept
    normalise(x);
    records.features.push_back(std::move(x));
    records.labels.push_back(label);
  }
  return records;
}

SimulatedRecords read_records(const std::string& path, const std::string& label) {
  const auto [names, rows] = read_cells(path);
  double number = 0;
  std::vector<std::size_t> numeric;  // columns whose first row is a number
  std::size_t target = names.size();
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (rows.empty() || !as_number(rows.front()[j], number)) continue;
    (names[j] == label ? target : numeric.emplace_back()) = j;
  }
  if (target == names.size())
    throw InvalidValue(path + " has no numeric column '" + label +
                       "': name one whose cells are numbers");
  std::vector<std::vector<double>> columns(names.size());
  for (const auto& row : rows) {
    std::vector<double> values(names.size());
    bool whole = as_number(row[target], values[target]);
    for (const std::size_t j : numeric) whole = whole && as_number(row[j], values[j]);
    if (!whole) continue;
    for (std::size_t j = 0; j < names.size(); ++j) columns[j].push_back(values[j]);
  }
  if (columns[target].size() < 10)
    throw InvalidValue(path + " has " + std::to_string(columns[target].size()) +
                       " rows in which all numeric cells can be read: at least ten are needed");
  SimulatedRecords records;
  const double middle = mean_of(columns[target]);
  for (const std::size_t j : numeric) {
    const double mean = mean_of(columns[j]);
    double variance = 0;
    for (const double x : columns[j])
      variance += (x - mean) * (x - mean) / static_cast<double>(columns[j].size());
    for (double& x : columns[j]) x = variance > 0 ? (x - mean) / std::sqrt(variance) : 0;
  }
  for (std::size_t i = 0; i < columns[target].size(); ++i) {
    std::vector<double> x;
    for (const std::size_t j : numeric) x.push_back(columns[j][i]);
    x.push_back(1);
    normalise(x);
    records.features.push_back(std::move(x));
    records.labels.push_back(columns[target][i] > middle);
  }
  shuffle(records);
  return records;
}

}  // namespace sotto
