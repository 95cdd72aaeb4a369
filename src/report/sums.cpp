#include "sotto/report/sums.hpp"

#include "sotto/core/decimal.hpp"
#include "sotto/core/text.hpp"
#include "sotto/report/csv.hpp"

namespace sotto {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::string sums_text(const std::vector<PartySum>& sums, Format format) {
  if (format == Format::json) return to_json(sums) + "\n";
  std::string table;
  std::string csv = "round,name,coordinate,members,sum,mean\n";
  for (std::size_t round = 0; round < sums.size(); ++round) {
    const PartySum& sum = sums[round];
    const auto members = static_cast<double>(sum.members.size());
    if (sums.size() > 1) table += std::string(round == 0 ? "" : "\n") + "round       " + std::to_string(round + 1) + ": " + sum.name + "\n";
    table += "members     " + joined(sum.members) + "\n";
    if (!sum.missing.empty()) table += "missing     " + joined(sum.missing) + "\n";
    table += "noise       of standard deviation " + rounded(sum.noise, 4, Side::upper) + " in each sum, " + rounded(sum.noise / members, 4, Side::upper) +
             " in each mean\n";
    for (std::size_t i = 0; i < sum.numbers.size(); ++i) {
      const std::string mean = rounded(sum.numbers[i] / members, 6, Side::lower);
      table += "sum         " + shortest(sum.numbers[i]) + "   mean " + mean + "\n";
      csv += std::to_string(round + 1) + "," + csv_field(sum.name) + "," + std::to_string(i + 1) + "," + shortest(members) + "," +
             shortest(sum.numbers[i]) + "," + mean + "\n";
    }
  }
  return format == Format::csv ? csv : escaped_document(table);
}

}  // namespace sotto
