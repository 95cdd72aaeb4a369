// Reads public data sets for benchmarks: Adult, California housing, MNIST. Their folder is not part
// of the project.
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

inline Examples encoded(const std::vector<std::vector<std::string>>& rows,
                        const std::vector<Described>& features, const Described& target) {
  std::size_t width = 0;
  for (const Described& f : features) width += f.number ? 1 : f.values.size();
  Examples::Builder builder(width);
  for (const auto& row : rows) {
    std::int16_t y = 0;
    if (target.number) {
      y = code_of(std::stod(row[target.column]), target.scale);
    } else {
      while (row[target.column] != target.values.at(static_cast<std::size_t>(y))) ++y;
    }
    const auto codes = builder.add(y);
    std::size_t at = 0;
    for (const Described& f : features) {
      const std::string& text = row[f.column];
      if (f.number) {
        codes[at++] = code_of(text.empty() ? f.scale.lower : std::stod(text), f.scale);
      } else {
        for (const std::string& value : f.values)
          codes[at++] = text == value ? feature_one : std::int16_t{0};
      }
    }
  }
  return std::move(builder).build();
}

/// A training and a test set, and their public description.
struct Table {
  Examples train, test;
  std::vector<Described> features;
  Described target;
};

/// Returns the values of a category in adult.names, which are public; "?" stands for a missing
/// value.
inline std::vector<std::string> adult_values(const std::filesystem::path& names,
                                             const std::string& column) {
  std::ifstream file(names);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(column + ":")) continue;
    std::vector<std::string> values;
    std::stringstream text(line.substr(column.size() + 1, line.find('.') - column.size() - 1));
    for (std::string value; std::getline(text, value, ',');)
      values.push_back(value.substr(value.find_first_not_of(' ')));
    if (column == "workclass" || column == "occupation" || column == "native-country")
      values.emplace_back("?");
    return values;
  }
  throw std::runtime_error("no column " + column + " in " + names.string());
}

/// Bounds of Adult's numbers that are public knowledge about a census (a capital gain of 0 to
/// 10,000, …).
inline const std::vector<Described> adult_numbers{
    {0, true, {17, 90}},          {2, true, {0, 1000000, true}}, {4, true, {1, 16}},
    {10, true, {0, 10000, true}}, {11, true, {0, 3000, true}},   {12, true, {0, 80}}};

/// Returns 108 features: six numbers by their bounds, eight categories by their published values.
inline Table adult(const std::filesystem::path& folder,
                   std::vector<Described> features = adult_numbers) {
  const std::map<std::size_t, std::string> categories{
      {1, "workclass"},  {3, "education"},      {5, "marital-status"},
      {6, "occupation"}, {7, "relationship"},   {8, "race"},
      {9, "sex"},        {13, "native-country"}};
  for (const auto& [column, name] : categories)
    features.push_back({column, false, {0, 1}, adult_values(folder / "adult/adult.names", name)});
  const Described target{14, false, {0, 1}, {"<=50K", ">50K"}};
  const auto rows_of = [&](const char* name) {
    auto rows = read_table(folder / "adult" / name);
    std::erase_if(rows, [](const auto& row) {
      return row.size() != 15;
    });  // adult.test starts with a comment line
    return encoded(rows, features, target);
  };
  return {rows_of("adult.data"), rows_of("adult.test"), features, target};
}

/// Returns California housing with 13 features; a hash of the row number puts about one row in five
/// into the test set.
inline Table california(const std::filesystem::path& folder) {
  auto rows = read_table(folder / "california_housing/housing.csv");
  rows.erase(rows.begin());
  std::vector<std::vector<std::string>> train;
  std::vector<std::vector<std::string>> test;
  for (std::uint64_t i = 0; i < rows.size(); ++i)
    ((i * 0x9e3779b97f4a7c15U >> 32U) % 5 == 0 ? test : train).push_back(rows[i]);
  std::vector<Described> features{
      {0, true, {-125, -114}}, {1, true, {32, 42}},  {2, true, {0, 52}},   {3, true, {0, 10000}},
      {4, true, {0, 2000}},    {5, true, {0, 5000}}, {6, true, {0, 2000}}, {7, true, {0, 15}}};
  features.push_back(
      {9, false, {0, 1}, {"<1H OCEAN", "INLAND", "NEAR OCEAN", "NEAR BAY", "ISLAND"}});
  const Described target{8, true, {0, 500001}};
  return {encoded(train, features, target), encoded(test, features, target), features, target};
}

struct Split {
  Examples train, test;
};

inline Split mnist(const std::filesystem::path& folder) {
  const auto at = [&](const char* name) { return folder / "mnist" / name; };
  return {read_idx(at("train-images-idx3-ubyte.gz"), at("train-labels-idx1-ubyte.gz")).examples,
          read_idx(at("t10k-images-idx3-ubyte.gz"), at("t10k-labels-idx1-ubyte.gz")).examples};
}

}  // namespace sotto::bench
