// The design of a study that several parties answer together: the items that they sum, and the plan
// that each party is charged.
#include <cmath>
#include <variant>

#include "learning/api/describe.hpp"
#include "learning/api/share.hpp"
#include "learning/api/step_noise.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/federated.hpp"

namespace sotto {
namespace {

// Every coordinate of a member's vector has at most 2^53 grid steps: larger numbers saturate when
// the noise is added.
constexpr double most_steps = 0x1p53;

void require_possible(const Study& study) {
  if (!study.epsilon || study.delta.value_or(0) == 0) {
    throw StudyError(
        "a study of several parties has its own budget, in Gaussian noise: write [budget] with "
        "epsilon = 1 and delta = 1e-6",
        study.budget_line);
  }
  for (const Query& query : study.queries) {
    const std::string what = "query \"" + query.name + "\": ";
    if (query.private_keys)
      throw StudyError(
          what + "parties cannot look for private keys together: name the keys by values = [...]",
          query.line);
    if (query.noise == NoiseChoice::laplace)
      throw StudyError(what + "parties add up Gaussian noise: leave out noise = \"laplace\"",
                       query.line);
  }
  for (const TrainingRequest& ask : study.trainings) {
    const std::string what = "train \"" + ask.name + "\": ";
    if (!ask.method.empty() && ask.method != "gradient")
      throw StudyError(what + "parties learn together by method = \"gradient\"", ask.line);
    if (ask.individual)
      throw StudyError(what + "parties have no individual accounts: leave out individual = true",
                       ask.line);
  }
}

// Returns the study with Gaussian noise for all queries, and with trainings by gradient steps.
Study as_summed(Study study) {
  for (Query& query : study.queries) query.noise = NoiseChoice::gaussian;
  for (TrainingRequest& ask : study.trainings) ask.method = "gradient";
  return study;
}

// Returns terms that stand for no particular ledger: each party has its own ledger, in its own
// currency.
Terms neutral(const Study& study, Relation relation) {
  return {study.data_name, study.unit, relation, ApproximateBudget{*study.epsilon, *study.delta}};
}

// Returns the item whose noise is that of `share`. Members draw from the item (share_of), so an
// item never states another noise than the plan's.
SumItem item_of(const std::string& name, std::size_t size, const PartyNoise& share, int grid,
                std::int64_t rounds = 1) {
  return {name,
          static_cast<std::int64_t>(size),
          share.sum().scale(),
          share.sum().sensitivity(),
          grid,
          std::ldexp(most_steps, grid),
          rounds};
}

// Returns the plan with the spare rounds. A spare round may repeat any of the items, so each item
// is charged once for every spare round.
Plan with_spare(const Plan& plan, const FederatedDesign& federated, const Collusion& collusion) {
  if (collusion.spare == 0) return plan;
  Plan all = plan;
  for (const SumItem& item : federated.items)
    all = all + static_cast<double>(collusion.spare) * share_of(item, collusion.honest).event();
  return all;
}

}  // namespace

FederatedDesign federated_design(const Study& study, Relation relation,
                                 const Collusion& collusion) {
  require_possible(study);
  const Study summed = as_summed(study);
  Design design = sotto::make_design(summed, neutral(summed, relation));
  FederatedDesign federated{std::move(design), {}, gaussian(1)};
  const auto shared = [&](const GaussianNoise& noise) {
    return PartyNoise(noise, collusion.honest);
  };
  for (const Measurement& m : federated.design.measurements) {
    const std::size_t size = m.aggregate.groups.size() * numbers_of_group(m);
    if (size == 0)
      throw StudyError(
          "query \"" + study.queries[m.queries.front()].name + "\" has no groups to sum",
          study.queries[m.queries.front()].line);
    const PartyNoise share = shared(GaussianNoise(m.event));
    federated.items.push_back(
        item_of(study.queries[m.queries.front()].name, size, share, share.grid()));
  }
  for (const TrainDesign& training : federated.design.trainings) {
    const auto& how = std::get<Training>(training.how);
    const std::string& name = study.trainings[training.ask].name;
    if (std::holds_alternative<FixedSizeSampling>(how.sampling)) {
      throw StudyError("train \"" + name +
                           "\": nobody knows how many units all parties have together, so a batch "
                           "cannot have a fixed size: use a ledger for "
                           "add-remove, or leave out `batch`",
                       study.trainings[training.ask].line);
    }
    const auto model = model_of(training.model);
    const PartyNoise share = shared(gradient_noise(how, how.clipping.norm));
    const GradientShare gradient(*model, how.clipping, share);
    federated.items.push_back(
        item_of(name, model->parameters(), share, gradient.grid(), how.steps));
    if (training.test_event && training.loss.is_of_classes()) {
      const PartyNoise of_test = shared(GaussianNoise(*training.test_event));
      federated.items.push_back(item_of(name + ": test", 2, of_test, of_test.grid()));
    }
  }
  federated.plan = with_spare(federated.design.plan, federated, collusion);
  const double slack = slack_of_sums(federated.items, collusion.honest, collusion.spare);
  if (slack > 0) federated.plan = federated.plan + approx(0, slack);
  federated.design.plan = federated.plan;
  federated.design.total =
      epsilon(federated.plan, *federated.design.total_delta, {.relation = relation});
  return federated;
}

Session session_for(const Study& study, Relation relation, Session base) {
  require_limits(study);
  base.bits = 64;
  base.honest = base.threshold - base.colluding;
  const FederatedDesign federated = federated_design(study, relation, {base.honest, base.spare});
  base.items = federated.items;
  base.plan = print(federated.plan);
  base.relation = std::string(name(relation));
  base.study = study.text;
  if (base.title.empty()) base.title = study.title;
  require_sound(base);
  return base;
}

FederatedDesign design_in(const Session& session, const Study& study, const Terms& terms) {
  if (session.relation != name(terms.relation)) {
    throw ProtocolError("the session is about " + session.relation +
                        ", and the ledger of this party's data about " +
                        std::string(name(terms.relation)));
  }
  FederatedDesign own = federated_design(study, terms.relation, {session.honest, session.spare});
  if (own.items != session.items || print(own.plan) != session.plan) {
    throw ProtocolError(
        "this party's data file makes another plan of the study than the session has, " +
        print(own.plan) + " instead of " + session.plan +
        ": its columns, bounds or values differ from those of whoever made the session");
  }
  own.design.at = std::holds_alternative<ApproximateBudget>(terms.budget)
                      ? std::optional(Delta(*study.delta))
                      : std::nullopt;
  own.design.cost = Filter(terms.budget, terms.relation).admit(own.plan, own.design.at).cost;
  if (std::holds_alternative<GdpBudget>(terms.budget)) own.design.at = Delta(own.design.cost.delta);
  return own;
}

}  // namespace sotto
