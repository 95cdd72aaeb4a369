// Sums of a federated session: the noise of all members is in them, so nothing here is private.
#include "report/api/sums.hpp"

#include "core/api/join.hpp"
#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "report/api/csv.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
std::string session_text(const Session& session, std::optional<std::int64_t> self, Delta at) {
  Question question;
  question.relation = relation_named(session.relation);
  std::string text = "session     " + session.title + "\n";
  for (std::int64_t i = 0; i < session.size(); ++i) {
    const Member& member = session.members[static_cast<std::size_t>(i)];
    text += (i == 0 ? "members     " : "            ") + member.name + "   " +
            fingerprint_words(member.key) + (self == i ? "   (you)" : "") + "\n";
  }
  text += "collude     up to " + std::to_string(session.colluding) + " of " +
          std::to_string(session.size()) + ", with the coordinator\n";
  text += "threshold   " + std::to_string(session.threshold) +
          " members open a sum; the noise of " + std::to_string(session.honest) +
          (self ? " of them hides each of you\n" : " of them hides each of its members\n");
  for (const SumItem& item : session.items) {
    if (item.bounds) {
      text += "mean        of one value of each unit, from " + readable(item.bounds->lower) +
              " to " + readable(item.bounds->upper) + "; at most " + readable(item.most) +
              " units of a member, noise of " + readable(item.sigma) + " on the count\n";
      continue;
    }
    text += "sums        " + std::to_string(item.size) + " numbers up to " + readable(item.most) +
            ", one unit moves them by " + readable(item.sensitivity) + ", noise of " +
            readable(item.sigma) + ", " + std::to_string(item.rounds) +
            (item.rounds == 1 ? " round\n" : " rounds\n");
  }
  text += "plan        " + session.plan + "   (with " + std::to_string(session.spare) +
          " spare rounds)\n";
  text += "epsilon     <= " +
          rounded(epsilon(parse(session.plan), at, question).value.upper, 6, Side::upper) +
          "   at delta = " + shortest(at.value()) + ", " + session.relation + "\n";
  text += "coordinator " + session.coordinator + "\n";
  return escaped_document(text);
}

namespace {

std::string joined_row(std::initializer_list<double> numbers) {
  std::string row;
  for (const double number : numbers) row += (row.empty() ? "" : ",") + shortest(number);
  return row;
}

std::string mean_text(const Session& session, const std::vector<PartySum>& sums, Format format) {
  Json json = Json::parse(to_json(sums));
  std::string table;
  std::string csv = "round,members,mean,mean_low,mean_high,count,count_low,count_high\n";
  for (std::size_t round = 0; round < sums.size(); ++round) {
    const PartySum& sum = sums[round];
    const PartyMean mean = *mean_of(session, sum);
    Json& one = json["sums"][round];
    one["mean"] = {{"value", mean.mean}, {"low", mean.low}, {"high", mean.high}};
    one["count"] = {{"value", mean.count}, {"low", mean.count_low}, {"high", mean.count_high}};
    csv +=
        std::to_string(round + 1) + "," + std::to_string(sum.members.size()) + "," +
        joined_row({mean.mean, mean.low, mean.high, mean.count, mean.count_low, mean.count_high}) +
        "\n";
    if (sums.size() > 1)
      table +=
          std::string(round == 0 ? "" : "\n") + "round       " + std::to_string(round + 1) + "\n";
    table += "members     " + join(sum.members) + "\n";
    if (!sum.missing.empty()) table += "missing     " + join(sum.missing) + "\n";
    table += "mean        " + readable(mean.mean) + "   (" + readable(mean.low) + " to " +
             readable(mean.high) + ")\n";
    table += "count       " + readable(mean.count) + "   (" + readable(mean.count_low) + " to " +
             readable(mean.count_high) + ")\n";
  }
  if (format == Format::json) return json.dump() + "\n";
  return format == Format::csv ? csv : escaped_document(table);
}

}  // namespace

std::string sums_text(const Session& session, const std::vector<PartySum>& sums, Format format) {
  if (session.items.front().bounds) return mean_text(session, sums, format);
  if (format == Format::json) return to_json(sums) + "\n";
  std::string table;
  std::string csv = "round,name,coordinate,members,sum,mean\n";
  for (std::size_t round = 0; round < sums.size(); ++round) {
    const PartySum& sum = sums[round];
    const auto members = static_cast<double>(sum.members.size());
    if (sums.size() > 1)
      table += std::string(round == 0 ? "" : "\n") + "round       " + std::to_string(round + 1) +
               ": " + sum.name + "\n";
    table += "members     " + join(sum.members) + "\n";
    if (!sum.missing.empty()) table += "missing     " + join(sum.missing) + "\n";
    table += "noise       of standard deviation " + rounded(sum.noise, 4, Side::upper) +
             " in each sum, " + rounded(sum.noise / members, 4, Side::upper) + " in each mean\n";
    for (std::size_t i = 0; i < sum.numbers.size(); ++i) {
      const std::string mean = rounded(sum.numbers[i] / members, 6, Side::lower);
      table += "sum         " + shortest(sum.numbers[i]) + "   mean " + mean + "\n";
      csv += std::to_string(round + 1) + "," + csv_field(sum.name) + "," + std::to_string(i + 1) +
             "," + shortest(members) + "," + shortest(sum.numbers[i]) + "," + mean + "\n";
    }
  }
  return format == Format::csv ? csv : escaped_document(table);
}

}  // namespace sotto
