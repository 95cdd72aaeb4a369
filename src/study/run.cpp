#include "sotto/study/run.hpp"

#include <algorithm>
#include <ctime>

#include "sotto/core/errors.hpp"
#include "sotto/data/inspect.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/relation.hpp"
#include "sotto/random/random.hpp"

namespace sotto {
namespace {

BoundingKey draw_key() {
  BoundingKey key{};
  for (std::uint64_t& word : key.seed) word = Random::here().word();
  return key;
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// The keys that are shown: those whose noisy count of units reaches the threshold.
std::vector<std::vector<Value>> search(const KeySearch& search, Engine& engine, const std::vector<Column>& columns, const Progress& progress) {
  const Present present = sotto::present(engine, columns, search.aggregate, draw_key(), progress);
  const RoundedNoise noise(search.kind, search.scale);
  std::vector<std::vector<Value>> shown;
  for (std::size_t i = 0; i < present.groups.size(); ++i) {
    if (noise.add(static_cast<double>(present.units[i])) >= search.threshold) shown.push_back(present.groups[i]);
  }
  // their order must not tell where they stood
  std::sort(shown.begin(), shown.end());
  return shown;
}

// The groups of an answer, from their names.
std::vector<std::vector<Value>> shown_groups(const Aggregate& aggregate, const QueryAnswer& answer) {
  std::vector<std::vector<Value>> groups;
  for (const Estimate& estimate : answer.estimates) {
    std::vector<Value> group;
    for (std::size_t k = 0; k < aggregate.keys.size(); ++k) group.push_back(key_named(estimate.keys[k], aggregate.keys[k].value.type()));
    if (groups.empty() || groups.back() != group) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::string request_id(const Study& study, const Ledger& ledger) {
  const auto field = [](const std::string& text) { return std::to_string(text.size()) + ":" + text; };
  return digest(field(study.text) + field(study.data_name) + field(study.data_version) + field(study.declared) + field(ledger.id()));
}

void require_fit(const Study& study, const Terms& terms) {
  const auto differ = [](const std::string& what, const std::string& data, const std::string& ledger, const std::string& instead) {
    return StudyError("the data file " + what + " " + data + ", its ledger " + ledger + ", which cannot change: " + instead, 0);
  };
  const auto in_quotes = [](const std::string& text) { return "\"" + text + "\""; };
  if (study.data_name != terms.name)
    throw differ("is about", in_quotes(study.data_name), in_quotes(terms.name), "each data file has a ledger of its own");
  if (study.unit != terms.unit) {
    // the way that protects more comes first: all rows of someone are more than each by itself
    const std::string as_ledger = "write unit = " + in_quotes(terms.unit);
    const std::string as_data = "make a ledger for each " + in_quotes(study.unit) + " by `sotto data ledger`";
    throw differ("protects each", in_quotes(study.unit), "each " + in_quotes(terms.unit),
                 terms.unit == "row" ? as_data + ", or, if nobody has more than one row, " + as_ledger : as_ledger + ", or " + as_data);
  }
  const std::string type = study.unit == "row" ? "row" : name_of(column_of(study, study.unit, 0).type);
  if (!terms.unit_type.empty() && type != terms.unit_type) {
    throw differ("has a unit of type", in_quotes(type), in_quotes(terms.unit_type),
                 terms.unit_type.empty() ? "make it by `sotto data ledger`"
                                         : "write type = " + in_quotes(terms.unit_type) + " below [columns." + study.unit + "]");
  }
  if (const std::string source = identity(study.source); !terms.source.empty() && source != terms.source) {
    throw differ("reads", source, terms.source.empty() ? "names no source" : "pays for " + terms.source,
                 "make one for these data by `sotto data ledger`");
  }
}

Run run(const Study& study, const Design& design, Ledger& ledger, const std::function<std::unique_ptr<Engine>()>& open, const Asking& asking,
        const Watcher& told) {
  require_fit(study, ledger.terms());
  const std::string first = request_id(study, ledger);
  std::string request = asking.request.empty() ? first : asking.request;
  if (asking.again) {
    const auto entries = ledger.entries();
    const auto is_taken = [&](const std::string& id) {
      return std::any_of(entries.begin(), entries.end(), [&](const Entry& e) { return e.request == id; });
    };
    for (int i = 2; is_taken(request); ++i) request = first + "/" + std::to_string(i);
  }
  if (const auto kept = ledger.answer(request)) return {read_release(*kept), true, ledger.head()};

  // the schema is public: that the data are there and have its columns is found out before the charge
  const std::unique_ptr<Engine> engine = open();
  ledger.charge({Ledger::Order{.request = request, .content = digest(study.text), .event = design.plan, .at = design.at}});

  const auto columns = stored_columns(study);
  Release release{request,
                  now(),
                  study.title,
                  study.data_name,
                  study.data_version,
                  ledger.id(),
                  study.unit,
                  std::string(name(design.relation)),
                  study.confidence,
                  print(design.plan),
                  design.cost,
                  design.at ? std::optional(design.at->value()) : std::nullopt,
                  design.total->value.upper,
                  design.total_delta->value(),
                  study.text,
                  std::vector<QueryAnswer>(study.queries.size())};
  for (std::size_t i = 0; i < design.measurements.size(); ++i) {
    const Measurement& m = design.measurements[i];
    const std::string what = study.queries[m.queries.front()].name;
    const auto progress = [&](double share) {
      return !told || told(what, (static_cast<double>(i) + share) / static_cast<double>(design.measurements.size()));
    };
    Aggregate aggregate = m.aggregate;
    if (m.search) aggregate.groups = search(*m.search, *engine, columns, progress);
    std::vector<double> numbers;
    if (!aggregate.groups.empty()) {
      numbers = coordinates(m, gather(*engine, columns, aggregate, draw_key(), progress));
      numbers = Additive(m.event).release(numbers);
    }
    for (const std::size_t q : m.queries) release.answers[q] = answer(study, study.queries[q], m, aggregate.groups, numbers);
  }
  try {
    ledger.keep_answer(request, to_json(release));
  } catch (const LedgerError&) {
    // two runs of one request under its one charge: the first answer is the answer
    if (const auto kept = ledger.answer(request)) return {read_release(*kept), true, ledger.head()};
    throw;
  }
  return {release, false, ledger.head()};
}

std::vector<QueryAnswer> exact_answers(const Study& study, const Design& design, Engine& engine, const Release& release) {
  const auto columns = stored_columns(study);
  std::vector<QueryAnswer> all(study.queries.size());
  for (const Measurement& m : design.measurements) {
    Aggregate aggregate = m.aggregate;
    if (m.search) aggregate.groups = shown_groups(aggregate, release.answers[m.queries.front()]);
    std::vector<double> numbers;
    if (!aggregate.groups.empty()) numbers = coordinates(m, gather(engine, columns, aggregate, draw_key()));
    for (const std::size_t q : m.queries) all[q] = answer(study, study.queries[q], m, aggregate.groups, numbers, true);
  }
  return all;
}

}  // namespace sotto
