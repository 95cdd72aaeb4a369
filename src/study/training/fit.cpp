// Fits one model to rows that the caller provides, charged to a ledger and with checkpoints.
#include "study/api/fit.hpp"

#include <chrono>

#include "core/api/json.hpp"
#include "core/api/stop.hpp"
#include "ledger/api/checkpoint.hpp"
#include "ledger/api/request.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "study/training/checkpoint.hpp"

namespace sotto {
namespace {

constexpr const char* schema = "sotto.fit/1";

Json of(const Region& region) {
  if (const auto* ball = std::get_if<Ball>(&region)) return {{"radius", ball->radius}};
  const auto& box = std::get<Box>(region);
  return {{"lower", box.lower}, {"upper", box.upper}};
}

Json of(const Training& training) {
  const auto& [kind, size, sizes, momentum, beta2, l2, region, averaging] = training.optimiser;
  Json json{{"steps", training.steps},
            {"batch", training.batch},
            {"seed", training.seed},
            {"clipping", name_of(training.clipping.kind)},
            {"norm", training.clipping.norm},
            {"stability", training.clipping.stability},
            {"optimiser", name_of(kind)},
            {"size", size},
            {"sizes", name_of(sizes)},
            {"momentum", momentum},
            {"beta2", beta2},
            {"l2", l2},
            {"averaging", name_of(averaging)}};
  if (region) json["region"] = of(*region);
  if (const auto& adaptive = training.clipping.adaptive)
    json["adaptive"] = std::vector<double>{adaptive->quantile, adaptive->rate, adaptive->noise};
  return json;
}

Json of(const SufficientStatistics& statistics) {
  return {{"norm", statistics.norm}, {"rows", statistics.rows_a_unit}};
}

// Returns the digest that identifies the fit in the ledger, from public or released settings. Do
// not change it: earlier requests would not be found.
std::string content_of(const FitTask& fit, const std::string& settings) {
  const Json json{{"schema", schema},
                  {"model", fit.model->description()},
                  {"plan", print(plan_of(fit))},
                  {"how", std::visit([](const auto& how) { return of(how); }, fit.how)},
                  {"start", fit.start},
                  {"settings", settings}};
  return digest(json.dump());
}

std::string text_of(const Iterate& iterate) {
  Json json;
  json["schema"] = schema;
  json["iterate"] = study_detail::to_json(iterate);
  return json.dump();
}

Iterate iterate_of(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != schema) throw JsonError("it is of another version of sotto");
    return study_detail::iterate_in(json.at("iterate"));
  } catch (const JsonError& error) {
    throw LedgerError(
        "the checkpoint cannot be read (" + std::string(error.what()) +
            "); the fit stays charged. Run it as a new request, which is charged again",
        Remedy::new_request);
  }
}

// Takes the remaining steps and writes checkpoints, one of them after the last step: only the
// process that marked the final checkpoint stores the answer, so two processes cannot complete one
// fit with different noise.
std::vector<double> by_steps(const FitTask& fit, const Training& training, const Examples& examples,
                             CheckpointFile& file, const BeginMark& begin, int threads,
                             const StepWatcher& on_step) {
  using Clock = std::chrono::steady_clock;
  Trainer trainer(fit.model, examples, training, {.threads = threads});
  if (!fit.start.empty()) trainer.start_at(fit.start);
  if (const auto checkpoint = file.read())
    trainer.resume(iterate_of(*checkpoint));
  else
    begin(file.prepare(text_of(trainer.iterate())));
  const auto start = Clock::now();
  double last = 0;
  while (!trainer.done()) {
    trainer.step();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (trainer.done() || study_detail::is_time_to_keep(seconds - last, seconds)) {
      file.write(text_of(trainer.iterate()));
      last = seconds;
    }
    const std::int64_t step = trainer.iterate().step;
    if (on_step && !on_step(step, training.steps)) {
      if (!trainer.done()) file.write(text_of(trainer.iterate()));
      throw LedgerError("stopped at step " + std::to_string(step) + " of " +
                        std::to_string(training.steps));
    }
  }
  return trainer.parameters();
}

void require_sound(const FitTask& fit) {
  if (!fit.model) throw InvalidValue("`model` is empty: a fit needs a model");
  if (!fit.start.empty() && !std::holds_alternative<Training>(fit.how))
    throw InvalidValue(
        "a fit by sufficient statistics cannot start from given parameters: leave `start` empty, "
        "or train by gradient steps");
  if (!fit.start.empty() && fit.start.size() != fit.model->parameters()) {
    throw InvalidValue("the model has " + std::to_string(fit.model->parameters()) +
                       " parameters, and `start` has " + std::to_string(fit.start.size()) +
                       ": give one number per parameter, or leave it empty");
  }
}

}  // namespace

Plan plan_of(const FitTask& fit) {
  return std::visit([](const auto& how) { return plan_of(how); }, fit.how);
}

std::vector<double> learn(const FitTask& fit, const Examples& examples, int threads,
                          const StepWatcher& on_step) {
  require_sound(fit);
  if (const auto* statistics = std::get_if<SufficientStatistics>(&fit.how))
    return sotto::fit(release(examples, *statistics)).parameters;
  const auto& training = std::get<Training>(fit.how);
  Trainer trainer(fit.model, examples, training, {.threads = threads});
  if (!fit.start.empty()) trainer.start_at(fit.start);
  while (!trainer.done()) {
    trainer.step();
    if (on_step && !on_step(trainer.iterate().step, training.steps)) throw Stopped();
  }
  return trainer.parameters();
}

Fitted fit(Ledger& ledger, const FitTask& fit, const FitOptions& options,
           const std::function<Examples()>& read, const StepWatcher& on_step) {
  require_sound(fit);
  const Ledger::ChargeRequest order{.request = options.request,
                                    .content = content_of(fit, options.settings),
                                    .event = plan_of(fit),
                                    .at = options.at,
                                    .title = options.title};
  // Sufficient statistics have no steps, so no checkpoints.
  const bool has_steps = std::holds_alternative<Training>(fit.how);
  const std::filesystem::path folder = has_steps ? options.checkpoints : std::filesystem::path();
  std::optional<Examples> examples;
  RequestWork work;
  work.prepare = [&] {
    CheckpointFile::require_folder(ledger, folder);
    examples = read();
  };
  work.run = [&](const Entry& charge, const BeginMark& begin) {
    std::vector<double> parameters;
    if (has_steps) {
      CheckpointFile file(ledger, folder, charge.request);
      parameters = by_steps(fit, std::get<Training>(fit.how), *examples, file, begin,
                            options.threads, on_step);
    } else {
      begin();
      parameters = learn(fit, *examples, options.threads);
    }
    Json json;
    json["model"] = fit.model->description();
    json["parameters"] = parameters;
    return json.dump();
  };
  work.obstacle = [&](const std::string& request) {
    return CheckpointFile::obstacle(ledger, folder, request);
  };
  const RequestAnswer answer = run_request(ledger, order, work);
  CheckpointFile::remove(
      folder, answer.request);  // a run that was killed after storing its answer may have left one
  return {Json::parse(answer.answer).at("parameters").get<std::vector<double>>(), answer.repeated};
}

}  // namespace sotto
