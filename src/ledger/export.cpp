// A ledger as lines of JSON, and back.
#include "ledger/export.hpp"

#include <sstream>

#include "ledger/chain/chain.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "sotto/ledger/ledger.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/chain/text.hpp"
#include "ledger/chain/verified_chain.hpp"
#include "ledger/writer.hpp"

namespace sotto {
namespace {

using ledger_detail::Record;

using Contents = Ledger::Store::Contents;
constexpr const char* schema_1 = "sotto.ledger/1";
constexpr const char* schema_2 = "sotto.ledger/2";

// --- Written ---

std::string text_of_version_1(const Contents& contents) {
  const auto& f = contents.founding;
  std::string text = Json{{"schema", schema_1},     {"id", f.id},        {"created", f.created}, {"name", f.name}, {"unit", f.unit},
                          {"relation", f.relation}, {"budget", f.budget}}
                         .dump() +
                     "\n";
  for (const Record& r : contents.records) {
    Json line{{"number", r.number},
              {"time", r.time},
              {"request", r.request},
              {"content", r.content},
              {"plan", r.plan},
              {"cost", read_number(r.cost)},
              {"cost_delta", read_number(r.cost_delta)},
              {"amount", r.amount},
              {"delta", r.delta},
              {"hash", r.hash}};
    if (const auto kept = contents.answers.find(r.request); kept != contents.answers.end()) line["answer"] = kept->second;
    text += line.dump() + "\n";
  }
  return text;
}

std::string text_of(const Contents& contents) {
  if (contents.version == 1) return text_of_version_1(contents);
  Json founding{{"schema", schema_2}};
  const auto terms = Ledger::Store::fields_of_founding(contents.founding);
  for (std::size_t i = 0; i < terms.size(); ++i) founding[Ledger::Store::founding_names[i]] = *terms[i];
  std::string text = founding.dump() + "\n";
  for (const Record& r : contents.records) {
    const auto kept = r.kind == "answer" ? contents.answers.find(r.request) : contents.answers.end();
    text += ledger_detail::line_of(r, kept == contents.answers.end() ? std::nullopt : std::optional(kept->second)) + "\n";
  }
  return text;
}

// --- Read ---

void read_lines_of_version_1(std::istringstream& lines, Contents& contents) {
  contents.founding.hash = ledger_detail::first_hash_of_version_1(contents.founding);
  for (std::string line; std::getline(lines, line);) {
    const Json e = Json::parse(line);
    Record r{.number = e.at("number"), .kind = "charge"};
    r.time = e.at("time").text();
    r.request = e.at("request").text();
    r.content = e.at("content").text();
    r.plan = e.at("plan").text();
    r.cost = shortest(e.at("cost"));
    r.cost_delta = shortest(e.at("cost_delta"));
    r.cost_slack = "0";
    r.amount = e.at("amount").text();
    r.delta = e.at("delta").text();
    r.hash = e.at("hash").text();
    if (e.contains("answer")) contents.answers.emplace(r.request, e.at("answer").text());
    contents.records.push_back(std::move(r));
  }
}

Contents read(const std::string& exported) {
  std::istringstream lines(exported);
  std::string line;
  if (!std::getline(lines, line)) throw LedgerError("there is nothing to import");
  const Json f = Json::parse(line);
  const std::string schema = f.at("schema");
  if (schema != schema_1 && schema != schema_2) throw LedgerError("this is not an exported ledger");
  Contents contents{.version = schema == schema_1 ? 1 : 2, .founding = {}};
  if (contents.version == 1) {
    auto& g = contents.founding;
    g = {.id = f.at("id"),
         .created = f.at("created"),
         .name = f.at("name"),
         .unit = f.at("unit"),
         .relation = f.at("relation"),
         .budget = f.at("budget")};
    read_lines_of_version_1(lines, contents);
    return contents;
  }
  const auto terms = Ledger::Store::fields_of_founding(contents.founding);
  for (std::size_t i = 0; i < terms.size(); ++i) *terms[i] = f.at(Ledger::Store::founding_names[i]).text();
  while (std::getline(lines, line)) {
    const Json e = Json::parse(line);
    Record r{.number = e.at("number")};
    const auto fields = fields_of(r);
    for (std::size_t i = 0; i < fields.size(); ++i) *fields[i] = e.at(ledger_detail::record_names[i]).text();
    if (e.contains("answer")) contents.answers.emplace(r.request, e.at("answer").text());
    contents.records.push_back(std::move(r));
  }
  // what reads alike is written alike: every byte counts
  if (const std::string written = text_of(contents); written != exported && escaped_json(written) != exported)
    throw LedgerError("the import was changed: it is not as an export wrote it");
  return contents;
}

// --- Version 1 as version 2 ---

// Each charge is followed by the marks that version 1 did not have. A request without an answer may have drawn noise: it is closed.
std::vector<Record> marked(const Contents& old) {
  std::vector<Record> records;
  const std::string none = ledger_detail::exact(Real(0));
  for (Record r : old.records) {
    r.slack = none;
    Record mark = r;
    mark.content = mark.plan = "";
    mark.cost = mark.cost_delta = mark.cost_slack = "0";
    records.push_back(std::move(r));
    mark.kind = "begun";
    records.push_back(mark);
    if (const auto kept = old.answers.find(mark.request); kept != old.answers.end()) {
      mark.kind = "answer";
      mark.content = digest(kept->second);
      records.push_back(std::move(mark));
    }
  }
  return records;
}

}  // namespace

std::string ledger_detail::line_of(const Record& record, const std::optional<std::string>& answer) {
  Json line{{"number", record.number}};
  const auto fields = fields_of(record);
  for (std::size_t i = 0; i < fields.size(); ++i) line[record_names[i]] = *fields[i];
  if (answer) line["answer"] = *answer;
  return line.dump();
}

std::string Ledger::exported(bool unverified) const {
  const auto lock = writer_->lock();
  if (store_->version() == 2 && !unverified) (void)writer_->chain();  // that the witness knows it
  const Store::Contents contents = store_->contents();
  if (contents.version == 2 && !unverified) ledger_detail::require_links(contents, terms_.budget);
  return text_of(contents);
}

Ledger Ledger::import(const std::string& place, const std::string& exported, const LedgerOptions& options) {
  try {
    Store::Contents contents = read(exported);
    const Finding finding = ledger_detail::check(contents, std::nullopt);
    if (!finding.sound) throw LedgerError("the import is not sound: " + finding.words);
    if (contents.version == 2) return Writer::found(place, std::move(contents), options);

    Store::Contents now{.founding = contents.founding, .answers = contents.answers};
    now.founding.unit_type = now.founding.unit == "row" ? "row" : options.unit_type;
    now.founding.source = options.source;
    return Writer::found(place, std::move(now), options, [&](Store::Contents& made, const SigningKey& key) {
      made.records = marked(contents);
      Head head{0, made.founding.hash};
      for (Record& r : made.records) {
        r.number = head.number + 1;
        // an answer's mark is signed itself, and so is the end
        const bool is_signed = r.kind == "answer" || &r == &made.records.back();
        if (is_signed) r.signer = key.public_key();
        r.hash = ledger_detail::hash_of(head.hash, r);
        head = {r.number, r.hash};
        if (is_signed) r.signature = key.sign(ledger_detail::head_bytes(made.founding.id, head));
      }
    });
  } catch (const JsonError&) {
    throw LedgerError("this is not an exported ledger");
  }
}

}  // namespace sotto
