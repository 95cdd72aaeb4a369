// A ledger as lines of JSON, and back.
#include <sstream>

#include "chain.hpp"
#include "sotto/core/json.hpp"
#include "sotto/ledger/ledger.hpp"
#include "store.hpp"

namespace sotto {
namespace {

constexpr const char* schema = "sotto.ledger/1";

Ledger::Store::Contents read(const std::string& exported) {
  std::istringstream lines(exported);
  std::string line;
  if (!std::getline(lines, line)) throw LedgerError("there is nothing to import");
  const Json f = Json::parse(line);
  if (f.at("schema") != schema) throw LedgerError("this is not an exported ledger");
  Ledger::Store::Contents contents{{f.at("id"), f.at("created"), f.at("name"), f.at("unit"), f.at("relation"), f.at("budget")}};
  while (std::getline(lines, line)) {
    const Json e = Json::parse(line);
    const std::string request = e.at("request");
    contents.entries.push_back(
        {{e.at("number"), e.at("time"), request, e.at("content"), e.at("plan"), {e.at("cost"), e.at("cost_delta")}, e.at("hash")},
         e.at("amount"),
         e.at("delta")});
    if (e.contains("answer")) contents.answers.emplace(request, e.at("answer"));
  }
  return contents;
}

}  // namespace

std::string Ledger::exported() const {
  const Store::Founding f = store_->founding();
  std::string text = Json{{"schema", schema},       {"id", f.id},        {"created", f.created}, {"name", f.name}, {"unit", f.unit},
                          {"relation", f.relation}, {"budget", f.budget}}
                         .dump() +
                     "\n";
  const std::vector<StoredEntry> entries = store_->all();
  const std::map<std::string, std::string> answers = store_->answers();
  for (const StoredEntry& s : entries) {
    const Entry& e = s.entry;
    Json line{{"number", e.number}, {"time", e.time},        {"request", e.request},       {"content", e.content},
              {"plan", e.plan},     {"cost", e.cost.amount}, {"cost_delta", e.cost.delta}, {"amount", s.amount},
              {"delta", s.delta},   {"hash", e.hash}};
    if (const auto kept = answers.find(e.request); kept != answers.end()) line["answer"] = kept->second;
    text += line.dump() + "\n";
  }
  return text;
}

Ledger Ledger::import(const std::string& place, const std::string& exported, const LedgerOptions& options) {
  try {
    const Store::Contents contents = read(exported);
    const Finding finding = ledger_detail::check(contents.founding, contents.entries, std::nullopt);
    if (!finding.sound) throw LedgerError("the import is not sound: " + finding.words);
    return Ledger(create_store(place, contents, options.writer));
  } catch (const JsonError&) {
    throw LedgerError("this is not an exported ledger");
  }
}

}  // namespace sotto
