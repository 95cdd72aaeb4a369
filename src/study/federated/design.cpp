// What a study of several parties sums, and what that costs.
#include <cmath>
#include <variant>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "learning/api/describe.hpp"
#include "learning/api/share.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/federated.hpp"

namespace sotto {
namespace {

// A member's vector has at most 2^53 grid steps in every coordinate: more saturate (RoundedNoise).
constexpr double most_steps = 0x1p53;

void require_possible(const Study& study) {
  if (!study.epsilon || study.delta.value_or(0) == 0) {
    throw StudyError("a study of several parties has its own budget, in Gaussian noise: write [budget] with epsilon = 1 and delta = 1e-6",
                     study.budget_line);
  }
  for (const Query& query : study.queries) {
    const std::string what = "query \"" + query.name + "\": ";
    if (query.private_keys) throw StudyError(what + "parties cannot look for private keys together: name the keys by values = [...]", query.line);
    if (query.noise == NoiseChoice::laplace) throw StudyError(what + "parties add up Gaussian noise: leave out noise = \"laplace\"", query.line);
  }
  for (const TrainAsk& ask : study.trainings) {
    const std::string what = "train \"" + ask.name + "\": ";
    if (!ask.method.empty() && ask.method != "gradient") throw StudyError(what + "parties learn together by method = \"gradient\"", ask.line);
    if (ask.individual) throw StudyError(what + "parties have no individual accounts: leave out individual = true", ask.line);
  }
}

// The same study with Gaussian noise and steps alone.
Study as_summed(Study study) {
  for (Query& query : study.queries) query.noise = NoiseChoice::gaussian;
  for (TrainAsk& ask : study.trainings) ask.method = "gradient";
  return study;
}

// No ledger in particular: parties have theirs, each in its own currency.
Terms neutral(const Study& study, Relation relation) {
  return {study.data_name, study.unit, relation, ApproximateBudget{*study.epsilon, *study.delta}};
}

SumItem item_of(const std::string& name, std::size_t size, double sigma, double sensitivity, int grid, std::int64_t rounds = 1) {
  return {name, static_cast<std::int64_t>(size), sigma, sensitivity, grid, std::ldexp(most_steps, grid), rounds};
}

// What a spare round may repeat: any of the items, so each kind is paid for.
Plan with_spare(const Plan& plan, const FederatedDesign& found, std::int64_t spare) {
  if (spare == 0) return plan;
  Plan all = plan;
  for (const SumItem& item : found.items) all = all + static_cast<double>(spare) * gaussian(item.sigma, item.sensitivity);
  return all;
}

}  // namespace

FederatedDesign federated_design(const Study& study, Relation relation, const Collusion& collusion) {
  require_possible(study);
  const Study summed = as_summed(study);
  Design design = sotto::design(summed, neutral(summed, relation));
  FederatedDesign found{std::move(design), {}, gaussian(1)};
  const auto own = [&](double sigma) { return own_sigma({.sigma = sigma}, collusion.honest); };
  for (const Measurement& m : found.design.measurements) {
    const std::size_t size = m.aggregate.groups.size() * numbers_of_group(m);
    if (size == 0)
      throw StudyError("query \"" + study.queries[m.queries.front()].name + "\" has no groups to sum", study.queries[m.queries.front()].line);
    found.items.push_back(item_of(study.queries[m.queries.front()].name, size, m.scale, m.l2, RoundedNoise::grid_for(own(m.scale))));
  }
  for (const TrainDesign& training : found.design.trainings) {
    const auto& how = std::get<Training>(training.how);
    const std::string& name = study.trainings[training.ask].name;
    if (std::holds_alternative<FixedSizeSampling>(how.sampling)) {
      throw StudyError("train \"" + name +
                           "\": nobody knows how many units all parties have together, so a batch cannot have a fixed size: use a ledger for "
                           "add-remove, or leave out `batch`",
                       study.trainings[training.ask].line);
    }
    const auto model = model_of(training.model);
    const double sigma = (Real(how.noise) * Real(how.clipping.norm)).upper();
    const double moved = relation == Relation::replace_one ? 2 * how.clipping.norm : how.clipping.norm;
    const NoiseShare share(*model, how.clipping, own(sigma));
    found.items.push_back(item_of(name, model->parameters(), sigma, moved, share.grid(), how.steps));
    if (training.test_event && training.loss.is_of_classes()) {
      const auto* test = training.test_event->as<Gaussian>();
      const double noise = test->sigma.value();
      found.items.push_back(item_of(name + ": test", 2, noise, test->sensitivity.value(), RoundedNoise::grid_for(own(noise))));
    }
  }
  found.plan = with_spare(found.design.plan, found, collusion.spare);
  const double slack = slack_of_sums(found.items, collusion.honest, collusion.spare);
  if (slack > 0) found.plan = found.plan + approx(0, slack);
  found.design.plan = found.plan;
  found.design.total = epsilon(found.plan, *found.design.total_delta, {.relation = relation});
  return found;
}

Session session_for(const Study& study, Relation relation, Session base) {
  require_limits(study);
  base.bits = 64;
  base.honest = base.threshold - base.colluding;
  const FederatedDesign found = federated_design(study, relation, {base.honest, base.spare});
  base.items = found.items;
  base.plan = print(found.plan);
  base.relation = std::string(name(relation));
  base.study = study.text;
  if (base.title.empty()) base.title = study.title;
  require_sound(base);
  return base;
}

FederatedDesign design_in(const Session& session, const Study& study, const Terms& terms) {
  if (session.relation != name(terms.relation)) {
    throw ProtocolError("the session is about " + session.relation + ", and the ledger of this party's data about " +
                        std::string(name(terms.relation)));
  }
  FederatedDesign own = federated_design(study, terms.relation, {session.honest, session.spare});
  if (own.items != session.items || print(own.plan) != session.plan) {
    throw ProtocolError("this party's data file makes another plan of the study than the session has, " + print(own.plan) + " instead of " +
                        session.plan + ": its columns, bounds or values differ from those of whoever made the session");
  }
  own.design.at = std::holds_alternative<ApproximateBudget>(terms.budget) ? std::optional(Delta(*study.delta)) : std::nullopt;
  own.design.cost = Filter(terms.budget, terms.relation).admit(own.plan, own.design.at).cost;
  if (std::holds_alternative<GdpBudget>(terms.budget)) own.design.at = Delta(own.design.cost.delta);
  return own;
}

}  // namespace sotto
