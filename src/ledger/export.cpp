// Writes a ledger as lines of JSON, and reads it back. An import accepts only the exact bytes that
// an export writes, of a ledger that passes the full verification.
#include "ledger/export.hpp"

#include <sstream>

#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "ledger/chain/chain.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/chain/text.hpp"
#include "ledger/chain/verified_chain.hpp"
#include "ledger/writer.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {
namespace {

using ledger_detail::Record;

using Contents = Ledger::Store::Contents;
constexpr const char* schema_1 = "sotto.ledger/1";
constexpr const char* schema_2 = "sotto.ledger/2";

// --- Export ---

std::string text_of_version_1(const Contents& contents) {
  const auto& f = contents.founding;
  std::string text = Json{{"schema", schema_1}, {"id", f.id},     {"created", f.created},
                          {"name", f.name},     {"unit", f.unit}, {"relation", f.relation},
                          {"budget", f.budget}}
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
    if (const auto answer = contents.answers.find(r.request); answer != contents.answers.end())
      line["answer"] = answer->second;
    text += line.dump() + "\n";
  }
  return text;
}

std::string text_of(const Contents& contents) {
  if (contents.version == 1) return text_of_version_1(contents);
  Json founding{{"schema", schema_2}};
  const auto terms = Ledger::Store::fields_of_founding(contents.founding);
  for (std::size_t i = 0; i < terms.size(); ++i)
    founding[Ledger::Store::founding_names[i]] = *terms[i];
  std::string text = founding.dump() + "\n";
  for (const Record& r : contents.records) {
    const auto answer =
        r.kind == "answer" ? contents.answers.find(r.request) : contents.answers.end();
    text +=
        ledger_detail::line_of(
            r, answer == contents.answers.end() ? std::nullopt : std::optional(answer->second)) +
        "\n";
  }
  return text;
}

// --- Import ---

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

Contents read(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line))
    throw LedgerError("the import is empty: it must be the text of an exported ledger");
  const Json f = Json::parse(line);
  const std::string schema = f.at("schema");
  if (schema != schema_1 && schema != schema_2)
    throw LedgerError("the import has the schema '" + schema.substr(0, 100) +
                      "', and an exported ledger has " + schema_1 + " or " + schema_2);
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
  for (std::size_t i = 0; i < terms.size(); ++i)
    *terms[i] = f.at(Ledger::Store::founding_names[i]).text();
  while (std::getline(lines, line)) {
    const Json e = Json::parse(line);
    Record r{.number = e.at("number")};
    const auto fields = fields_of(r);
    for (std::size_t i = 0; i < fields.size(); ++i)
      *fields[i] = e.at(ledger_detail::record_names[i]).text();
    if (e.contains("answer")) contents.answers.emplace(r.request, e.at("answer").text());
    contents.records.push_back(std::move(r));
  }
  // The text must be, byte for byte, what an export writes for these records. Unknown members,
  // repeated members or another spelling of a number would otherwise pass unsigned.
  if (const std::string written = text_of(contents);
      written != text && escaped_json(written) != text)
    throw LedgerError(
        "the import was changed: an export of these records has other bytes. Export the ledger "
        "again");
  return contents;
}

// --- Version 1 as version 2 ---

// Returns the records of version 1 with the marks that version 1 did not have. Every charge is
// marked as begun: a request without an answer may have drawn noise, so it must not be run again.
std::vector<Record> with_marks(const Contents& old) {
  std::vector<Record> records;
  const std::string zero = ledger_detail::exact(Real(0));
  for (Record r : old.records) {
    r.slack = zero;
    Record mark = r;
    mark.content = mark.plan = "";
    mark.cost = mark.cost_delta = mark.cost_slack = "0";
    records.push_back(std::move(r));
    mark.kind = "begun";
    records.push_back(mark);
    if (const auto answer = old.answers.find(mark.request); answer != old.answers.end()) {
      mark.kind = "answer";
      mark.content = digest(answer->second);
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

std::string Ledger::export_text(bool unverified) const {
  const auto lock = writer_->lock();
  if (store_->version() == 2 && !unverified)
    (void)writer_->verified_chain();  // also compares the chain with the witness
  // The snapshot is read apart from the verification, so its own links are verified, too.
  const Store::Contents contents = store_->contents();
  if (contents.version == 2 && !unverified)
    ledger_detail::require_links(contents, terms_.budget, writer_->place());
  return text_of(contents);
}

Ledger Ledger::import(const std::string& place, const std::string& text,
                      const LedgerOptions& options) {
  try {
    Store::Contents contents = read(text);
    const Finding finding = ledger_detail::check(contents, std::nullopt);
    if (!finding.sound) throw LedgerError("the import is not a sound ledger: " + finding.words);
    if (contents.version == 2) return Writer::create(place, std::move(contents), options);

    // A ledger of version 1 gets a new key and new hashes, since it had no signatures.
    Store::Contents now{.founding = contents.founding, .answers = contents.answers};
    now.founding.unit_type = now.founding.unit == "row" ? "row" : options.unit_type;
    now.founding.source = options.source;
    return Writer::create(
        place, std::move(now), options,
        [&](Store::Contents& signed_contents, const SigningKey& key) {
          signed_contents.records = with_marks(contents);
          Head head{0, signed_contents.founding.hash};
          for (Record& r : signed_contents.records) {
            r.number = head.number + 1;
            // An answer's mark and the last record are signed, as if each had been written alone.
            const bool is_signed = r.kind == "answer" || &r == &signed_contents.records.back();
            if (is_signed) r.signer = key.public_key();
            r.hash = ledger_detail::hash_of(head.hash, r);
            head = {r.number, r.hash};
            if (is_signed)
              r.signature = key.sign(ledger_detail::head_bytes(signed_contents.founding.id, head));
          }
        });
  } catch (const JsonError& error) {
    throw LedgerError(std::string("the import is not an exported ledger: ") + error.what());
  }
}

}  // namespace sotto
