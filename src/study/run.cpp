#include "sotto/study/run.hpp"

#include <algorithm>
#include <ctime>
#include <exception>

#include "sotto/core/errors.hpp"
#include "sotto/data/inspect.hpp"
#include "sotto/ledger/request.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/relation.hpp"
#include "sotto/random/random.hpp"
#include "train_run.hpp"

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
std::vector<std::vector<Value>> shown_keys(const KeySearch& search, const Present& present) {
  const RoundedNoise noise(search.kind, search.scale);
  std::vector<std::vector<Value>> shown;
  for (std::size_t i = 0; i < present.groups.size(); ++i) {
    if (noise.add(static_cast<double>(present.units[i])) >= search.threshold) shown.push_back(present.groups[i]);
  }
  // their order must not tell where they stood
  std::sort(shown.begin(), shown.end());
  return shown;
}

// What the data say of a measurement before any noise: its numbers or, where its keys are private, the keys that there are.
struct Looked {
  Present present = {};
  std::vector<double> numbers = {};
};

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
  const auto differ = [](const std::string& what, const std::string& data, const std::string& ledger, const std::string& instead,
                         Remedy remedy = Remedy::none) {
    return StudyError("the data file " + what + " " + data + ", its ledger " + ledger + ", which cannot change: " + instead, 0, remedy);
  };
  const auto in_quotes = [](const std::string& text) { return "\"" + text + "\""; };
  if (study.data_name != terms.name)
    throw differ("is about", in_quotes(study.data_name), in_quotes(terms.name), "each data file has a ledger of its own");
  if (study.unit != terms.unit) {
    // the way that protects more comes first: all rows of someone are more than each by itself
    const std::string as_ledger = "write unit = " + in_quotes(terms.unit);
    const std::string as_data = "make a ledger for each " + in_quotes(study.unit);
    throw differ("protects each", in_quotes(study.unit), "each " + in_quotes(terms.unit),
                 terms.unit == "row" ? as_data + ", or, if nobody has more than one row, " + as_ledger : as_ledger + ", or " + as_data,
                 Remedy::data_ledger);
  }
  const std::string import = "make one for the data, or import it with ";
  const std::string type = study.unit == "row" ? "row" : name_of(column_of(study, study.unit, 0).type);
  if (type != terms.unit_type) {
    throw differ("has a unit of type", in_quotes(type), in_quotes(terms.unit_type),
                 terms.unit_type.empty() ? import + "the unit's type " + type
                                         : "write type = " + in_quotes(terms.unit_type) + " below [columns." + study.unit + "]",
                 terms.unit_type.empty() ? Remedy::data_ledger | Remedy::import_ledger : Remedy::none);
  }
  if (const std::string source = identity(study.source); source != terms.source) {
    throw differ("reads", source, terms.source.empty() ? "names no source" : "pays for " + terms.source,
                 terms.source.empty() ? import + "the source " + source : "make one for these data",
                 terms.source.empty() ? Remedy::data_ledger | Remedy::import_ledger : Remedy::data_ledger);
  }
}

namespace {

// A release without answers.
Release blank(const Study& study, const Design& design, const std::string& ledger, const std::string& request) {
  return {request,
          now(),
          study.title,
          study.data_name,
          study.data_version,
          ledger,
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
}

// The measurements of a study: what the data say of them first, then their noise.
class Measurements {
 public:
  Measurements(const Study& study, const Design& design, Engine& engine, const Watcher& told)
      : study_(study), design_(design), engine_(engine), told_(told), columns_(stored_columns(study)), looked_(design.measurements.size()) {}

  // Without noise.
  void look() {
    for (std::size_t i = 0; i < looked_.size(); ++i) {
      const Measurement& m = design_.measurements[i];
      if (m.search)
        looked_[i].present = present(engine_, columns_, m.search->aggregate, draw_key(), progress_of(i, 0, 0.5));
      else if (!m.aggregate.groups.empty())
        looked_[i].numbers = coordinates(m, gather(engine_, columns_, m.aggregate, draw_key(), progress_of(i, 0, 1)));
    }
  }
  // Noise, and the answers.
  void answer(Release& release) {
    for (std::size_t i = 0; i < looked_.size(); ++i) {
      const Measurement& m = design_.measurements[i];
      std::vector<std::vector<Value>> groups = m.aggregate.groups;
      std::vector<double> numbers = std::move(looked_[i].numbers);
      if (m.search) {
        Aggregate aggregate = m.aggregate;
        aggregate.groups = shown_keys(*m.search, looked_[i].present);
        if (!aggregate.groups.empty()) numbers = coordinates(m, gather(engine_, columns_, aggregate, draw_key(), progress_of(i, 0.5, 1)));
        groups = std::move(aggregate.groups);
      }
      if (!groups.empty()) numbers = Additive(m.event).release(numbers);
      for (const std::size_t q : m.queries) release.answers[q] = sotto::answer(study_, study_.queries[q], m, groups, numbers);
    }
  }

 private:
  [[nodiscard]] Progress progress_of(std::size_t i, double start, double end) const {
    return [this, i, start, end](double share) {
      const std::string& what = study_.queries[design_.measurements[i].queries.front()].name;
      const double parts = static_cast<double>(looked_.size() + 2 * design_.trainings.size());
      return !told_ || told_(what, (static_cast<double>(i) + start + share * (end - start)) / parts);
    };
  }

  const Study& study_;
  const Design& design_;
  Engine& engine_;
  const Watcher& told_;
  std::vector<Column> columns_;
  std::vector<Looked> looked_;
};

// The data are read before the first noise is drawn, as far as that can be: what fails until then costs no second charge.
Release measured(const Study& study, const Design& design, Ledger& ledger, Engine& engine, const std::string& request, const Begin& begin,
                 const Asking& asking, const std::vector<std::optional<Examples>>& on_public, const Watcher& told) {
  study_detail::Trainings trainings(study, design, engine, ledger, request, asking, on_public, told);
  trainings.read();
  if (trainings.resumed()) {
    Release release = *trainings.resumed();
    trainings.train(release);
    return release;
  }
  Release release = blank(study, design, ledger.id(), request);
  Measurements measurements(study, design, engine, told);
  measurements.look();
  if (design.measurements.empty()) {
    begin(trainings.first_checkpoint(release));  // no noise comes before the first step: it can go on from here
  } else {
    begin();
    measurements.answer(release);
    trainings.keep(release);
  }
  trainings.train(release);
  return release;
}

}  // namespace

Run run(const Study& study, const Design& design, Ledger& ledger, const std::function<std::unique_ptr<Engine>()>& open, const Asking& asking,
        const Watcher& told) {
  require_fit(study, ledger.terms());
  if (!asking.request.empty() && !ledger.charge_of(asking.request)) {
    throw LedgerError("the ledger has no request " + asking.request, Remedy::show_ledger);
  }
  const Ledger::Order order{.request = asking.request.empty() ? request_id(study, ledger) : asking.request,
                            .content = digest(study.text),
                            .event = design.plan,
                            .at = design.at,
                            .title = study.title,
                            .again = asking.again && asking.request.empty()};
  std::unique_ptr<Engine> engine;
  std::vector<std::optional<Examples>> on_public;
  RequestWork work;
  // the schema is public, and so are the groups and bins that are asked for: that the data are there and have its columns, and that memory is
  // enough, is found out before the charge
  work.prepare = [&] {
    if (!design.trainings.empty()) CheckpointFile::require_place(ledger, asking.checkpoints);
    engine = open();
    for (const Measurement& m : design.measurements) require_memory(m.aggregate, engine->memory());
    for (const TrainDesign& training : design.trainings) {
      on_public.push_back(study_detail::public_examples(study, training, asking.open_public, asking.memory));
    }
  };
  work.run = [&](const Entry& charge, const Begin& begin) {
    return to_json(measured(study, design, ledger, *engine, charge.request, begin, asking, on_public, told));
  };
  if (!design.trainings.empty()) {
    work.obstacle = [&](const std::string& request) { return CheckpointFile::obstacle(ledger, asking.checkpoints, request); };
  }
  try {
    const RequestAnswer found = run_request(ledger, order, work);
    if (!design.trainings.empty() && !found.repeated) CheckpointFile::remove(asking.checkpoints, found.request);
    return {read_release(found.answer), found.repeated, found.head};
  } catch (const RequestFailed& failed) {
    try {
      std::rethrow_if_nested(failed);
    } catch (const EngineError& error) {
      throw EngineError(failed.what(), error.detail(), failed.remedy());
    } catch (const std::exception&) {  // what() says it
    }
    throw;
  }
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
