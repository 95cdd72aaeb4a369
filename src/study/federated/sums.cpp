// A party's side of a session that sums numbers which the parties already have, without a study.
#include <algorithm>
#include <cmath>

#include "core/api/json.hpp"
#include "mechanisms/api/noisy_sum.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "study/federated/party_request.hpp"
#include "study/run/intervals.hpp"

namespace sotto {
namespace {

constexpr const char* schema = "sotto.sums/1";

void require_values(const std::vector<double>& values, const Session& session) {
  std::size_t at = 0;
  for (const SumItem& item : session.items) {
    for (std::int64_t i = 0; i < item.size; ++i, ++at) {
      if (at >= values.size())
        throw InvalidValue("a number is missing: \"" + item.name + "\" has " +
                           std::to_string(item.size));
      if (!(std::fabs(values[at]) <= item.most)) {  // the position is shown to this party alone,
                                                    // and says nothing about the value
        throw InvalidValue("number " + std::to_string(at + 1) + " is not between " +
                           shortest(-item.most) + " and " + shortest(item.most) +
                           ", as the session says");
      }
    }
  }
  if (at < values.size()) throw InvalidValue("there are more numbers than the session sums");
}

class ValuesWork final : public MemberWork {
 public:
  ValuesWork(const Session& session, const std::vector<double>& values)
      : session_(session), values_(values) {}

  Bytes contribution(std::int64_t step) override {
    const SumItem& item = session_.item_of(step);
    std::size_t from = 0;
    for (const SumItem* one = session_.items.data(); one != &item; ++one)
      from += static_cast<std::size_t>(one->size);
    std::vector<double> numbers(values_.begin() + static_cast<std::ptrdiff_t>(from),
                                values_.begin() + static_cast<std::ptrdiff_t>(from) + item.size);
    const NoisyShare share(share_of(item, session_.honest), item.grid);
    return elements(share.release(std::move(numbers)), session_.bits);
  }
  void take(std::int64_t step, const RoundResult& result) override {
    sums_.push_back(sum_of(session_, step, result));
  }
  Bytes progress() const override { return to_json(sums_); }
  void resume(const Bytes& progress) override { sums_ = read_sums(progress); }

 private:
  const Session& session_;
  const std::vector<double>& values_;
  std::vector<PartySum> sums_;
};

}  // namespace

// Adds up in whole numbers of steps, which is exact: 2^32 units of 2^20 steps are below 2^53.
std::vector<double> halves_of(const std::vector<double>& values, const SumItem& item) {
  constexpr double steps = 0x1p20;
  if (static_cast<double>(values.size()) > item.most) {
    throw InvalidValue("there are more values than " + shortest(item.most) +
                       ", the most units of a member that the session allows");
  }
  const auto [lower, upper] = *item.bounds;
  std::int64_t below = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]))
      throw InvalidValue("value " + std::to_string(i + 1) + " is not a number: leave it out");
    const double share = (std::clamp(values[i], lower, upper) - lower) / (upper - lower);
    below += static_cast<std::int64_t>(std::nearbyint(std::clamp(share, 0.0, 1.0) * steps));
  }
  const std::int64_t all =
      static_cast<std::int64_t>(values.size()) * static_cast<std::int64_t>(steps);
  return {static_cast<double>(below) / steps, static_cast<double>(all - below) / steps};
}

std::optional<PartyMean> mean_of(const Session& session, const PartySum& sum) {
  const SumItem& item = session.items.front();
  if (!item.bounds) return std::nullopt;
  constexpr double alpha = 0.05;
  // each member rounds its own noise to the grid, so the rounding errors of all members add up
  const study_detail::Noise noise{NoiseKind::gaussian, sum.noise,
                                  std::ldexp(static_cast<double>(sum.members.size()), item.grid)};
  const auto [lower, upper] = *item.bounds;
  const study_detail::Interval share =
      study_detail::mean_of_halves(noise, sum.numbers, 0, 1, alpha);
  const study_detail::Interval count = study_detail::Linear(noise, {1, 1}, alpha)(sum.numbers);
  const auto at = [&](double x) { return std::clamp(lower + x * (upper - lower), lower, upper); };
  return PartyMean{at(share.value),          at(share.low), at(share.high), count.value,
                   std::max(0.0, count.low), count.high};
}

PartySum sum_of(const Session& session, std::int64_t step, const RoundResult& result) {
  const SumItem& item = session.item_of(step);
  PartySum sum{
      item.name, {}, {}, {}, share_of(item, session.honest).scale_of(result.survivors.size())};
  for (std::int64_t i = 0; i < session.size(); ++i) {
    const bool is_in = std::binary_search(result.survivors.begin(), result.survivors.end(), i);
    (is_in ? sum.members : sum.missing)
        .push_back(session.members[static_cast<std::size_t>(i)].name);
  }
  for (const std::int64_t number : centred(result.total, session.bits))
    sum.numbers.push_back(std::ldexp(static_cast<double>(number), item.grid));
  return sum;
}

std::string to_json(const std::vector<PartySum>& sums) {
  Json all = Json::array();
  for (const PartySum& sum : sums) {
    all.push_back({{"name", sum.name},
                   {"members", sum.members},
                   {"missing", sum.missing},
                   {"numbers", sum.numbers},
                   {"noise", sum.noise}});
  }
  return Json({{"schema", schema}, {"sums", all}}).dump();
}

std::vector<PartySum> read_sums(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != schema) throw JsonError("another version");
    std::vector<PartySum> sums;
    for (const Json& sum : json.at("sums")) {
      sums.push_back({sum.at("name"), sum.at("members").get<std::vector<std::string>>(),
                      sum.at("missing").get<std::vector<std::string>>(),
                      sum.at("numbers").get<std::vector<double>>(), sum.at("noise")});
    }
    return sums;
  } catch (const JsonError& error) {
    throw LedgerError(std::string("the kept sums cannot be read: ") + error.what());
  }
}

SumsRun run_sums(const std::vector<double>& typed, Ledger& ledger, const PartySide& side) {
  const Session& session = side.context.session;
  if (!session.study.empty()) throw ProtocolError("the session runs a study, not numbers at hand");
  if (session.relation != name(ledger.terms().relation)) {
    throw ProtocolError("the session is about " + session.relation +
                        ", and this party's ledger about " +
                        std::string(name(ledger.terms().relation)));
  }
  const bool is_mean = session.items.front().bounds.has_value();
  const std::vector<double> values = is_mean ? halves_of(typed, session.items.front()) : typed;
  require_values(values, session);
  study_detail::PartyRequest request;
  request.event = parse(session.plan);
  // The charge to an (ε, δ) ledger is at a tenth of the ledger's δ, or at the δ that is left in it
  // if that is less.
  if (const auto* budget = std::get_if<ApproximateBudget>(&ledger.terms().budget))
    request.at = Delta(std::min(budget->delta / 10, ledger.filter().left().delta));
  request.run = [&](const Entry&, MemberStore& store) {
    ValuesWork work(session, values);
    study_detail::take_part_in(side, store, work);
    return work.progress();
  };
  const RequestAnswer result = study_detail::run_party(ledger, side, request);
  return {read_sums(result.answer), result.repeated, result.head};
}

}  // namespace sotto
