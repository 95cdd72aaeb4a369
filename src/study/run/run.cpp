// Runs a study: checks before the charge, the charge, the data, the noise, and the stored answer.
#include "study/api/run.hpp"

#include <exception>

#include "data/api/inspect.hpp"
#include "ledger/api/request.hpp"
#include "sotto/core/errors.hpp"
#include "study/api/outlook.hpp"
#include "study/run/measurements.hpp"
#include "study/training/train_run.hpp"

namespace sotto {
namespace {

// Returns the groups of an answer, from the texts of their keys.
std::vector<std::vector<Value>> groups_of(const Aggregate& aggregate, const QueryAnswer& answer) {
  std::vector<std::vector<Value>> groups;
  for (const Estimate& estimate : answer.estimates) {
    std::vector<Value> group;
    for (std::size_t k = 0; k < aggregate.keys.size(); ++k)
      group.push_back(parse_key(estimate.keys[k], aggregate.keys[k].value.type()));
    if (groups.empty() || groups.back() != group) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::string request_id(const Study& study, const Ledger& ledger) {
  const auto field = [](const std::string& text) {
    return std::to_string(text.size()) + ":" + text;
  };
  return digest(field(study.text) + field(study.data_name) + field(study.data_version) +
                field(study.declared) + field(ledger.id()));
}

Design design_for(const Study& study, const Ledger& ledger, const RunOptions& options) {
  if (!options.again || !options.request.empty()) {
    const auto charge =
        ledger.charge_of(options.request.empty() ? request_id(study, ledger) : options.request);
    if (charge) return design_as_charged(study, ledger.terms(), charge->plan);
  }
  return make_design(study, ledger.terms());
}

void require_fit(const Study& study, const Terms& terms) {
  require_fit(study, terms, identity(study.source));
}

void require_fit(const Study& study, const Terms& terms, const std::string& source) {
  const auto differ = [](const std::string& what, const std::string& data,
                         const std::string& ledger, const std::string& instead,
                         Remedy remedy = Remedy::none) {
    return StudyError("the data file " + what + " " + data + ", its ledger " + ledger +
                          ", which cannot change: " + instead,
                      0, remedy);
  };
  const auto in_quotes = [](const std::string& text) { return "\"" + text + "\""; };
  if (study.data_name != terms.name)
    throw differ("is about", in_quotes(study.data_name), in_quotes(terms.name),
                 "give each data file its own ledger");
  if (study.unit != terms.unit) {
    // Suggest the stronger protection first: a unit with several rows protects more than single
    // rows.
    const std::string as_ledger = "write unit = " + in_quotes(terms.unit);
    const std::string as_data = "make a ledger for each " + in_quotes(study.unit);
    throw differ("protects each", in_quotes(study.unit), "each " + in_quotes(terms.unit),
                 terms.unit == "row"
                     ? as_data + ", or, if nobody has more than one row, " + as_ledger
                     : as_ledger + ", or " + as_data,
                 Remedy::data_ledger);
  }
  const std::string import = "make one for the data, or import it with ";
  const std::string type =
      study.unit == "row" ? "row" : name_of(column_of(study, study.unit, 0).type);
  if (type != terms.unit_type) {
    throw differ(
        "has a unit of type", in_quotes(type), in_quotes(terms.unit_type),
        terms.unit_type.empty()
            ? import + "the unit's type " + type
            : "write type = " + in_quotes(terms.unit_type) + " below [columns." + study.unit + "]",
        terms.unit_type.empty() ? Remedy::data_ledger | Remedy::import_ledger : Remedy::none);
  }
  if (source != terms.source) {
    throw differ(
        "reads", source, terms.source.empty() ? "names no source" : "pays for " + terms.source,
        terms.source.empty() ? import + "the source " + source : "make one for these data",
        terms.source.empty() ? Remedy::data_ledger | Remedy::import_ledger : Remedy::data_ledger);
  }
}

namespace {

// Reads the data, draws the noise, and trains the models. Reads before drawing noise where
// possible: a run that fails before the first noise can be repeated under its charge.
Release make_release(const Study& study, const Design& design, Ledger& ledger, Engine& engine,
                     const std::string& request, const BeginMark& begin, const RunOptions& options,
                     const std::vector<std::optional<Examples>>& on_public,
                     const Watcher& on_progress) {
  study_detail::Trainings trainings(study, design, engine, ledger, request, options, on_public,
                                    on_progress);
  trainings.read();
  if (trainings.resumed()) {
    Release release = *trainings.resumed();
    trainings.train(release);
    return release;
  }
  Release release = study_detail::blank_release(study, design, ledger.id(), request);
  study_detail::Measurements measurements(study, design, engine, on_progress);
  measurements.aggregate();
  if (design.measurements.empty()) {
    begin(trainings.first_checkpoint(
        release));  // no noise is drawn before the first step, so a resumed run starts here
  } else {
    begin();
    measurements.answer(release);
    trainings.keep(release);
  }
  trainings.train(release);
  return release;
}

// Adds a cheaper alternative to a refusal.
RequestAnswer charge_and_run(const Study& study, const Design& design, Ledger& ledger,
                             const Ledger::ChargeRequest& order, const RequestWork& work) {
  try {
    return run_request(ledger, order, work);
  } catch (const BudgetRefused& refused) {
    throw BudgetRefused(
        refused.what() + with_alternative(study, design, ledger.terms(), ledger.filter()),
        refused.missing());
  }
}

}  // namespace

RunResult run(const Study& study, const Design& design, Ledger& ledger,
              const std::function<std::unique_ptr<Engine>()>& open, const RunOptions& options,
              const Watcher& on_progress) {
  require_fit(study, ledger.terms(), options.source ? *options.source : identity(study.source));
  if (!options.request.empty() && !ledger.charge_of(options.request)) {
    throw LedgerError("the ledger has no request " + options.request, Remedy::show_ledger);
  }
  const Ledger::ChargeRequest order{
      .request = options.request.empty() ? request_id(study, ledger) : options.request,
      .content = digest(study.text),
      .event = design.plan,
      .at = design.at,
      .title = study.title,
      .again = options.again && options.request.empty()};
  // A request that an earlier version charged without a chosen limit keeps the limit that it
  // applied.
  if (order.again || !ledger.charge_of(order.request)) require_limits(study);
  std::unique_ptr<Engine> engine;
  std::vector<std::optional<Examples>> on_public;
  RequestWork work;
  // Check before the charge that the data exist and have the declared columns, and that memory
  // suffices. These checks depend on public information only: the schema, the groups and the bins.
  work.prepare = [&] {
    if (!design.trainings.empty()) CheckpointFile::require_folder(ledger, options.checkpoints);
    engine = open();
    for (const Measurement& m : design.measurements) {
      require_memory(m.aggregate, engine->memory());
      require_plannable(*engine, stored_columns(study),
                        m.search ? m.search->aggregate : m.aggregate, m.search.has_value());
    }
    for (const TrainDesign& training : design.trainings) {
      on_public.push_back(
          study_detail::public_examples(study, training, options.open_public, options.memory));
    }
  };
  work.run = [&](const Entry& charge, const BeginMark& begin) {
    return to_json(make_release(study, design, ledger, *engine, charge.request, begin, options,
                                on_public, on_progress));
  };
  if (!design.trainings.empty()) {
    work.obstacle = [&](const std::string& request) {
      return CheckpointFile::obstacle(ledger, options.checkpoints, request);
    };
  }
  try {
    const RequestAnswer answer = charge_and_run(study, design, ledger, order, work);
    // Also for a stored answer: a run that was killed right after storing its answer left its
    // checkpoint behind.
    if (!design.trainings.empty()) CheckpointFile::remove(options.checkpoints, answer.request);
    return {read_release(answer.answer), answer.repeated, answer.head,
            study_detail::rows_read(engine.get())};
  } catch (const RequestFailed& failed) {
    try {
      std::rethrow_if_nested(failed);
    } catch (const EngineError& error) {
      throw EngineError(failed.what(), error.detail(), failed.remedy());
    } catch (const std::exception&) {  // what() already contains it
    }
    throw;
  }
}

std::vector<QueryAnswer> exact_answers(const Study& study, const Design& design, Engine& engine,
                                       const Release& release) {
  const auto columns = stored_columns(study);
  std::vector<QueryAnswer> all(study.queries.size());
  for (const Measurement& m : design.measurements) {
    Aggregate aggregate = m.aggregate;
    if (m.search) aggregate.groups = groups_of(aggregate, release.answers[m.queries.front()]);
    std::vector<double> numbers;
    if (!aggregate.groups.empty())
      numbers = coordinates(m, gather(engine, columns, aggregate, study_detail::draw_key()));
    for (const std::size_t q : m.queries)
      all[q] = answer(study, study.queries[q], m, aggregate.groups, numbers, true);
  }
  return all;
}

}  // namespace sotto
