// Real data sets as examples, for benchmarks: Adult, California housing, MNIST. The folder that holds them is no part of the project.
#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sotto/data/examples.hpp"

namespace sotto::bench {

struct Split {
  Examples train, test;
};

inline std::vector<std::vector<std::string>> read_table(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::vector<std::string>> rows;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty()) continue;
    std::vector<std::string> fields;
    std::stringstream stream(line);
    std::string field;
    while (std::getline(stream, field, ',')) {
      field.erase(0, field.find_first_not_of(' '));
      while (!field.empty() && (field.back() == '\r' || field.back() == '.')) field.pop_back();
      fields.push_back(field);
    }
    rows.push_back(fields);
  }
  return rows;
}

/// A column's public description: bounds, or values.
struct Described {
  std::size_t column;
  bool number;
  Scaled scale{0, 1};
  std::vector<std::string> values{};
};

inline Examples encoded(const std::vector<std::vector<std::string>>& rows, const std::vector<Described>& features, const Described& target) {
  std::size_t width = 0;
  for (const Described& f : features) width += f.number ? 1 : f.values.size();
  Examples::Maker maker(width);
  for (const auto& row : rows) {
    std::int16_t y = 0;
    if (target.number) {
      y = code_of(std::stod(row[target.column]), target.scale);
    } else {
      while (row[target.column] != target.values.at(static_cast<std::size_t>(y))) ++y;
    }
    const auto codes = maker.add(y);
    std::size_t at = 0;
    for (const Described& f : features) {
      const std::string& text = row[f.column];
      if (f.number) {
        codes[at++] = code_of(text.empty() ? (f.scale.lower + f.scale.upper) / 2 : std::stod(text), f.scale);
      } else {
        for (const std::string& value : f.values) codes[at++] = text == value ? feature_one : std::int16_t{0};
      }
    }
  }
  return std::move(maker).made();
}

inline std::vector<std::string> values_in(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  std::map<std::string, int> seen;
  for (const auto& row : rows) seen[row[column]] = 1;
  std::vector<std::string> values;
  for (const auto& [value, _] : seen) values.push_back(value);
  return values;
}

/// 108 features: six numbers by bounds that are public knowledge of such a census (0 to 10,000 of capital gain, …), eight categories by their
/// published values.
inline Split adult(const std::filesystem::path& folder) {
  const auto train = read_table(folder / "adult/adult.data");
  const auto test = read_table(folder / "adult/adult.test");
  std::vector<Described> features{{0, true, {17, 90}},          {2, true, {0, 1000000, true}}, {4, true, {1, 16}},
                                  {10, true, {0, 10000, true}}, {11, true, {0, 3000, true}},   {12, true, {0, 80}}};
  for (const std::size_t column : {1, 3, 5, 6, 7, 8, 9, 13}) features.push_back({column, false, {0, 1}, values_in(train, column)});
  const Described target{14, false, {0, 1}, {"<=50K", ">50K"}};
  return {encoded(train, features, target), encoded(test, features, target)};
}

/// 13 features; every fifth row is for testing.
inline Split california(const std::filesystem::path& folder) {
  auto rows = read_table(folder / "california_housing/housing.csv");
  rows.erase(rows.begin());
  std::vector<std::vector<std::string>> train;
  std::vector<std::vector<std::string>> test;
  for (std::size_t i = 0; i < rows.size(); ++i) (i % 5 == 4 ? test : train).push_back(rows[i]);
  std::vector<Described> features{{0, true, {-125, -114}}, {1, true, {32, 42}},  {2, true, {0, 52}},   {3, true, {0, 10000}},
                                  {4, true, {0, 2000}},    {5, true, {0, 5000}}, {6, true, {0, 2000}}, {7, true, {0, 12}}};
  features.push_back({9, false, {0, 1}, values_in(train, 9)});
  return {encoded(train, features, {8, true, {0, 500001}}), encoded(test, features, {8, true, {0, 500001}})};
}

inline Split mnist(const std::filesystem::path& folder) {
  const auto at = [&](const char* name) { return folder / "mnist" / name; };
  return {read_idx(at("train-images-idx3-ubyte.gz"), at("train-labels-idx1-ubyte.gz")).examples,
          read_idx(at("t10k-images-idx3-ubyte.gz"), at("t10k-labels-idx1-ubyte.gz")).examples};
}

}  // namespace sotto::bench
