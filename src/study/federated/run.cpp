// A party's side of a study that several parties answer together.
#include <algorithm>
#include <cmath>
#include <exception>

#include "learning/api/describe.hpp"
#include "learning/api/share.hpp"
#include "mechanisms/api/noisy_sum.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/federated.hpp"
#include "study/federated/party_request.hpp"
#include "study/run/measurements.hpp"
#include "study/training/checkpoint.hpp"
#include "study/training/train_run.hpp"

namespace sotto {
namespace {

using study_detail::Checkpoint;
using study_detail::TrainTestSplit;

// The place of a session's step in the design: which measurement, training or test the step sums.
struct Place {
  enum class Kind { measurement, gradient, test } kind;
  std::size_t index;  // of the measurement or the training in the design
  std::size_t item;
  bool is_last = true;  // whether this is the last of the item's rounds
};

// The party's contributions to the rounds of a session, and what it does with their results.
class PartyWork final : public MemberWork {
 public:
  PartyWork(const Study& study, const FederatedDesign& federated, const Session& session,
            Release release, const RunOptions& options)
      : study_(study),
        federated_(federated),
        session_(session),
        options_(options),
        state_{.release = std::move(release)} {}

  // Reads the data of all steps that are still to be summed. Draws only the secret that decides
  // which rows of a unit count.
  void read(Engine& engine, std::vector<std::optional<Examples>> on_public,
            const Watcher& on_progress) {
    if (std::any_of(state_.release.answers.begin(), state_.release.answers.end(),
                    [](const QueryAnswer& answer) { return answer.name.empty(); })) {
      study_detail::Measurements measurements(study_, federated_.design, engine, on_progress);
      measurements.aggregate();
      for (std::size_t i = 0; i < federated_.design.measurements.size(); ++i)
        numbers_.push_back(measurements.numbers(i));
    }
    for (std::size_t i = 0; i < federated_.design.trainings.size(); ++i) {
      splits_.emplace_back();
      if (i < state_.release.models.size()) continue;
      splits_[i] = study_detail::read_split(engine, study_, federated_.design.trainings[i], i,
                                            state_.secret, options_.memory, {});
      splits_[i]->on_public = std::move(on_public[i]);
    }
  }

  Bytes contribution(std::int64_t step) override {
    const Place place = place_of(step);
    const SumItem& item = session_.items[place.item];
    const PartyNoise noise = share_of(item, session_.honest);
    if (place.kind == Place::Kind::gradient) {
      Trainer& trainer = trainer_of(place.index);
      const auto& training = std::get<Training>(federated_.design.trainings[place.index].how);
      const GradientShare share(*model_, training.clipping, noise);
      if (share.grid() != item.grid)
        throw ProtocolError("the grid of the session is not that of this training");
      return elements(share.noisy(trainer.sum()), session_.bits);
    }
    std::vector<double> numbers =
        place.kind == Place::Kind::test
            ? study_detail::right_and_wrong(*model_, splits_[place.index]->test,
                                            trainer_of(place.index).parameters())
            : numbers_.at(place.index);
    return elements(NoisyShare(noise, item.grid).release(std::move(numbers)), session_.bits);
  }

  void take(std::int64_t step, const RoundResult& result) override {
    const Place place = place_of(step);
    const SumItem& item = session_.items[place.item];
    std::vector<double> numbers;
    for (const std::int64_t number : centred(result.total, session_.bits))
      numbers.push_back(std::ldexp(static_cast<double>(number), item.grid));
    note_missing(result);
    // More members may survive than the `honest` that are certain, and the sum has the noise of all
    // of them.
    const double survived = std::sqrt(static_cast<double>(result.survivors.size()) /
                                      static_cast<double>(session_.honest));
    switch (place.kind) {
      case Place::Kind::measurement:
        return answer(federated_.design.measurements[place.index], numbers, survived);
      case Place::Kind::gradient: return move(place, numbers);
      case Place::Kind::test: return test(place, numbers, item.sigma * survived);
    }
  }

  Bytes progress() const override {
    Checkpoint checkpoint = state_;
    if (trainer_) checkpoint.iterate = trainer_->iterate();
    return to_text(checkpoint);
  }
  void resume(const Bytes& progress) override {
    state_ = study_detail::checkpoint_in(progress);
    trainer_.reset();
  }

  [[nodiscard]] const Release& release() const { return state_.release; }

 private:
  [[nodiscard]] Place place_of(std::int64_t step) const {
    std::size_t item = 0;
    while (step >= session_.items[item].rounds) step -= session_.items[item++].rounds;
    const std::size_t measurements = federated_.design.measurements.size();
    if (item < measurements) return {Place::Kind::measurement, item, item};
    std::size_t at = measurements;
    for (std::size_t i = 0; i < federated_.design.trainings.size(); ++i) {
      const TrainDesign& training = federated_.design.trainings[i];
      if (at++ == item)
        return {Place::Kind::gradient, i, item, step + 1 == session_.items[item].rounds};
      if (has_test(training) && at++ == item) return {Place::Kind::test, i, item};
    }
    throw ProtocolError("the session has more sums than the study");
  }
  static bool has_test(const TrainDesign& training) {
    return training.test_event && training.loss.is_of_classes();
  }

  Trainer& trainer_of(std::size_t index) {
    if (trainer_ && training_ == index) return *trainer_;
    const TrainDesign& design = federated_.design.trainings[index];
    model_ = model_of(design.model);
    training_ = index;
    trainer_ =
        std::make_unique<Trainer>(model_, splits_[index]->train, std::get<Training>(design.how),
                                  Resources{.threads = options_.threads});
    if (state_.iterate) trainer_->resume(*state_.iterate);
    state_.iterate.reset();
    return *trainer_;
  }

  void answer(Measurement measurement, const std::vector<double>& numbers, double survived) {
    const std::string event = print(measurement.event);
    measurement.scale *= survived;
    measurement.event = gaussian(measurement.scale, measurement.l2);
    study_detail::add_answers(study_, measurement, measurement.aggregate.groups, numbers,
                              state_.release);
    for (const std::size_t q : measurement.queries) state_.release.answers[q].event = event;
  }

  void move(const Place& place, const std::vector<double>& numbers) {
    Trainer& trainer = trainer_of(place.index);
    trainer.step(numbers);
    if (place.is_last && !has_test(federated_.design.trainings[place.index]))
      finish(place.index, std::nullopt, 0);
  }

  void test(const Place& place, const std::vector<double>& numbers, double noise) {
    (void)trainer_of(place.index);
    finish(place.index, numbers, noise);
  }

  void finish(std::size_t index, const std::optional<std::vector<double>>& noisy, double noise) {
    const TrainDesign& design = federated_.design.trainings[index];
    TrainedModel result = study_detail::blank_model(study_, design);
    result.parameters = trainer_->parameters();
    if (const auto& on_public = splits_[index]->on_public) {
      const std::int64_t steps = std::get<Training>(design.how).steps;
      study_detail::add_evaluation(
          result, study_, design, on_public,
          {study_detail::measured_on(*model_, *on_public, design.query.target, result.parameters,
                                     steps, options_.threads)});
    }
    if (noisy) study_detail::add_accuracy(result, *noisy, noise, study_.confidence);
    state_.release.models.push_back(std::move(result));
    trainer_.reset();
  }

  void note_missing(const RoundResult& result) {
    std::vector<std::string>& missing = state_.release.federation->missing;
    for (std::size_t i = 0; i < session_.members.size(); ++i) {
      const std::string& name = session_.members[i].name;
      const bool is_in = std::binary_search(result.survivors.begin(), result.survivors.end(),
                                            static_cast<std::int64_t>(i));
      if (!is_in && std::find(missing.begin(), missing.end(), name) == missing.end())
        missing.push_back(name);
    }
  }

  const Study& study_;
  const FederatedDesign& federated_;
  const Session& session_;
  const RunOptions& options_;
  Checkpoint state_;
  std::vector<std::vector<double>> numbers_;  // the exact numbers of the measurements, before noise
  std::vector<std::optional<TrainTestSplit>> splits_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Trainer> trainer_;
  std::size_t training_ = 0;
};

Release first_release(const Study& study, const FederatedDesign& federated, const Ledger& ledger,
                      const Entry& charge, const Session& session) {
  Release release =
      study_detail::blank_release(study, federated.design, ledger.id(), charge.request);
  release.cost = charge.cost;
  release.federation = Federation{{}, {}, session.colluding, session.threshold, session.honest};
  for (const Member& member : session.members) release.federation->members.push_back(member.name);
  return release;
}

}  // namespace

RunResult run_federated(const Study& study, Ledger& ledger, const PartySide& side) {
  require_fit(study, ledger.terms());
  const Session& session = side.context.session;
  const FederatedDesign federated = design_in(session, study, ledger.terms());
  std::unique_ptr<Engine> engine;
  std::vector<std::optional<Examples>> on_public;
  study_detail::PartyRequest request;
  request.event = federated.plan;
  request.at = federated.design.at;
  request.refuse = [&] { require_limits(study); };
  request.prepare = [&] {
    engine = side.open();
    for (const Measurement& m : federated.design.measurements) {
      require_memory(m.aggregate, engine->memory());
      require_plannable(*engine, stored_columns(study), m.aggregate, false);
    }
    for (const TrainDesign& training : federated.design.trainings) {
      on_public.push_back(study_detail::public_examples(study, training, side.options.open_public,
                                                        side.options.memory));
    }
  };
  request.run = [&](const Entry& charge, MemberStore& store) {
    PartyWork party(study, federated, session,
                    first_release(study, federated, ledger, charge, session), side.options);
    if (const auto checkpoint = store.last_state()) party.resume(progress_in(*checkpoint));
    party.read(*engine, std::move(on_public), side.on_progress);
    study_detail::take_part_in(side, store, party);
    return to_json(party.release());
  };
  const RequestAnswer result = study_detail::run_party(ledger, side, request);
  return {read_release(result.answer), result.repeated, result.head,
          study_detail::rows_read(engine.get())};
}

}  // namespace sotto
