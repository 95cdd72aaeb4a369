// δ(ε) from the losses' three parts: what the heap alone gives, what the middle adds to it, and all outcomes in which some step is far.
#include "tail_split/rare.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "saddle_point/inversion_integral.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double wider = 1e-8;            // more than the parameters' room
constexpr double most_power = 690;        // log r^c where the weights end: doubles end at 709
constexpr double most_beside = 100;       // B/μ, with which a Gaussian no longer smooths what is beside it
constexpr double most_work = 1.6e9;       // terms to sum: some seconds
constexpr double most_beside_work = 3e8;  // a ladder may be the better way
constexpr double most_reach = 2000;

// The standard deviation of the heap, roughly.
double spread_of(const RarePlan& plan) {
  double square = 0;
  for (const Law& law : plan.distributions) {
    square += law.count * law.q.value * law.q.value * std::expm1(std::min(law.noise->log_square(), 3.0));
  }
  return std::sqrt(square);
}

double spread_beside(const RarePlan& plan) {
  double square = 0;
  for (const LossStep& step : plan.others) square += step.count * step.loss->standard_deviation() * step.loss->standard_deviation();
  return std::sqrt(square);
}

// The least order with which the weights fall faster than the densities, which fall like a power of y, or leave next to nothing far below.
int order_for(const RarePlan& plan, double reach, double wanted) {
  // from cut to cut are many factors of e there
  if (reach > 20) return 8;
  if (reach > 10) return 16;
  for (const int order : {32, 64}) {
    bool enough = true;
    for (const Law& law : plan.distributions) {
      const double m = law.mu.value;
      const double z = std::max(0.0, std::log(std::expm1(reach) / law.q.value) / m + m / 2 - law.noise->beside());
      const double fall = 2 * order * m;
      enough = enough && (order > z / m + 15 || fall * z - fall * fall / 2 > 20 - wanted);
    }
    if (enough) return order;
  }
  return 128;
}

// The lines on which an outline is made: closer where powers are high.
std::vector<double> lines_up_to(double most, double reach) {
  std::vector<double> lines;
  for (double c = 0.2; c < most; c += std::min(0.25 * c, std::max(6.0, 0.06 * c))) lines.push_back(c / reach);
  return lines;
}

// log of a part's transform on every line of an outline; without `from` all that is below `to`.
std::vector<double> heights_of(const Outline& outline, std::optional<std::size_t> from, std::size_t to) {
  std::vector<double> heights;
  for (std::size_t i = 0; i < outline.lines().size(); ++i) heights.push_back(from ? outline.between(*from, to, i) : outline.below(to, i));
  return heights;
}

// log of about how large each law's middle is to be, for its error to be small beside all of them.
std::vector<double> middles_of(const RarePlan& plan, const Outline& outline, std::optional<std::size_t> from, std::size_t to, std::size_t line) {
  double all = -infinity;
  for (std::size_t i = 0; from && i < plan.distributions.size(); ++i)
    all = log_sum(all, std::log(plan.distributions[i].count) + outline.part(i, *from, to, line));
  std::vector<double> logs;
  for (const Law& law : plan.distributions) logs.push_back(all - std::log(law.count));
  return logs;
}

// About how large the sum over each line is, at ε; and over the best one.
std::vector<double> levels_of(const Outline& outline, const std::vector<double>& heights, double epsilon) {
  std::vector<double> levels;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    const double c = outline.lines()[i];
    const double level = heights[i] - c * epsilon - std::log1p(c);
    levels.push_back(std::isnan(level) ? infinity : level);
  }
  return levels;
}
double least_of(const std::vector<double>& levels) { return *std::min_element(levels.begin(), levels.end()); }

// log of about what the integral comes to: the saddle's width in place of c where it is narrower.
double saddle_of(const Outline& outline, const std::vector<double>& levels) {
  const auto at = static_cast<std::size_t>(std::min_element(levels.begin(), levels.end()) - levels.begin());
  const std::vector<double>& lines = outline.lines();
  const std::size_t far = std::min(Outline::between_lines, std::min(at, lines.size() - 1 - at));
  if (far == 0) return levels[at] - 1.2;
  const double up = (levels[at + far] - levels[at]) / (lines[at + far] - lines[at]);
  const double down = (levels[at] - levels[at - far]) / (lines[at] - lines[at - far]);
  const double bend = 2 * (up - down) / (lines[at + far] - lines[at - far]);  // without that of log c, which is 1/c²
  return levels[at] - 0.5 * std::log(2 * pi * std::max(1.0, std::min(1e300, lines[at] * lines[at] * bend + 1)));
}

}  // namespace

std::optional<RarePlan> rare_plan(const std::vector<LossStep>& steps) {
  RarePlan plan{Direction::remove, {}, {}, {}, {}};
  for (const LossStep& step : steps) {
    const auto* one = dynamic_cast<const SampledStep*>(step.loss.get());
    if (one == nullptr) {
      plan.others.push_back(step);
      continue;
    }
    if (!plan.distributions.empty() && one->direction() != plan.direction) return std::nullopt;
    plan.direction = one->direction();
    const Law law{one->mu(), one->rate(), step.count, one->noise()};
    const double m = law.mu.value;
    if (!(m > 1e-3 && m < 60) || !(law.q.value <= 0.98) || law.mu.relative > 1e-9 || law.q.relative > 1e-9) return std::nullopt;
    if (law.noise->beside() > most_beside) return std::nullopt;
    plan.distributions.push_back(law);
    plan.added.push_back({plan.direction == Direction::add ? step.loss : step.loss->reversed(), step.count});
  }
  for (const LossStep& step : plan.others) {
    const bool same = plan.direction == Direction::add || step.loss->symmetric();
    plan.back.push_back({same ? step.loss : step.loss->reversed(), step.count});
    if (plan.back.back().loss == nullptr) return std::nullopt;
  }
  double rates = 0;
  for (const Law& law : plan.distributions) rates += law.count * law.q.value;
  if (plan.distributions.empty() || plan.distributions.size() > 16 || rates > 1e5) return std::nullopt;
  return plan;
}

namespace {

// Where one step alone has this δ, summed over the steps.
double one_jump(const RarePlan& plan, double delta) {
  struct Outcome {
    double log_rise, log_mass;  // r - 1, under Q, times the count
  };
  std::vector<Outcome> outcomes;
  for (const Law& law : plan.distributions) {
    const double m = law.mu.value;
    const double width = 0.1 / std::max(1.0, m);
    for (double z = 0; z < 40 + m + law.noise->beside(); z += width) {
      const double loss = m * z - m * m / 2;
      if (loss > 0) outcomes.push_back({std::log(law.q.value) + log_expm1(loss), std::log(law.count * width) + law.noise->log_near(z)});
    }
  }
  const auto sum_at = [&](double epsilon) {
    const double log_rise = log_expm1(epsilon);
    double sum = 0;
    for (const Outcome& one : outcomes) sum += std::exp(one.log_mass + one.log_rise) * std::max(0.0, -std::expm1(log_rise - one.log_rise));
    return sum;
  };
  double low = 1e-15;
  double high = most_reach;
  for (int turn = 0; turn < 20; ++turn) {
    const double middle = std::sqrt(low * high);
    (sum_at(middle) > delta ? low : high) = middle;
  }
  return low;
}

}  // namespace

double rare_variation(const RarePlan& plan) {
  if (!plan.others.empty()) return 1;
  double sum = 0;
  for (const Law& law : plan.distributions) sum += law.count * law.q.value * law.noise->variation() * (1 + law.q.relative);
  return sum * (1 + 64 * unit);
}

namespace {

// The parts between many places, for guesses of δ(ε) at ε near `at`.
class Guess {
 public:
  Guess(const RarePlan& plan, double at) : outline_(outline_near(plan, at)), parts_{heights_of(outline_, std::nullopt, 0)} {
    for (std::size_t i = 1; i < outline_.places().size(); ++i) parts_.push_back(heights_of(outline_, i - 1, i));
  }
  [[nodiscard]] double log_delta(double epsilon) const {
    double sum = -infinity;
    for (const std::vector<double>& part : parts_) sum = log_sum(sum, saddle_of(outline_, levels_of(outline_, part, epsilon)));
    return std::min(-0.1, sum);
  }

 private:
  static Outline outline_near(const RarePlan& plan, double at) {
    std::vector<double> places;
    for (double share = plan.direction == Direction::remove ? 0.02 : 10; share < 12; share *= 1.3) {
      places.push_back(log_expm1(share * at));
    }
    return {plan.distributions, plan.others, plan.direction, 64, std::move(places), lines_up_to(600, at)};
  }

  Outline outline_;
  std::vector<std::vector<double>> parts_;
};

}  // namespace

double rare_guess(const RarePlan& plan, double epsilon) { return Guess(plan, epsilon).log_delta(epsilon); }

std::vector<double> rare_starts(const RarePlan& plan, double delta) {
  const double bulk = std::hypot(spread_of(plan), spread_beside(plan)) * std::sqrt(std::max(1.0, -std::log(delta)));
  const double jump = plan.direction == Direction::remove ? one_jump(plan, delta) : bulk;
  double at = std::max(bulk, jump);
  for (int turn = 0; turn < 4; ++turn) {
    const Guess guess(plan, at);
    double low = at / 6;
    double high = at * 6;
    for (int halving = 0; halving < 12; ++halving) {
      const double middle = std::sqrt(low * high);
      (guess.log_delta(middle) > std::log(delta) ? low : high) = middle;
    }
    const double moved = low / at;
    at = low;
    if (moved > 0.4 && moved < 2.5) break;
  }
  return {at, std::max(bulk, jump), jump};
}

Rare::Rare(const RarePlan& plan, double epsilon, double log_delta, double tolerance) : direction_(plan.direction) {
  double rates = 0;
  for (const Law& law : plan.distributions) rates += law.count * law.q.value;
  const double spread = spread_of(plan);
  const double reach = epsilon + std::min(rates, 8 * spread) + 8 * spread_beside(plan);
  if (!(reach < most_reach)) return;
  const Target target{epsilon, log_delta, tolerance};
  if (direction_ == Direction::remove) {
    remove(plan, reach, target);
  } else {
    add(plan, reach, std::min(rates, 3 * spread), target);
  }
}

// Cuts from far below ε to far above it, and the parts between them, each on a line on which it is not much larger than δ.
void Rare::remove(const RarePlan& plan, double reach, const Target& target) {
  order_ = order_for(plan, reach, target.wanted());
  constexpr double shares[] = {0.05, 0.07, 0.1,  0.13, 0.17, 0.22, 0.28, 0.35, 0.43, 0.52, 0.62, 0.73,
                               0.86, 1.0,  1.15, 1.35, 1.6,  2.0,  2.5,  3.2,  4.0,  5.0,  6.5};
  double bulk_end = -infinity;  // no cut within the heap
  for (const Law& law : plan.distributions) bulk_end = std::max(bulk_end, std::log(law.q.value) + std::min(2.0, 3 * law.mu.value));
  std::vector<double> places;
  for (const double share : shares) {
    if (const double place = log_expm1(share * reach); place > bulk_end) places.push_back(place);
  }
  while (places.size() < 10) places.push_back(0.47 + (places.empty() ? bulk_end : std::max(bulk_end, places.back())));
  const Place far = choose_far(plan, places, reach, target);
  if (!far) return;
  places.resize(*far + 1);
  const Outline outline(plan.distributions, plan.others, direction_, order_, std::move(places), lines_up_to(4000, reach));
  // the largest part above `from` that fits on one line
  const auto fits = [&](Place from, std::size_t to) {
    const std::vector<double> levels = levels_of(outline, heights_of(outline, from, to), target.epsilon);
    const auto least = std::min_element(levels.begin(), levels.end());
    const double power = outline.lines()[static_cast<std::size_t>(least - levels.begin())] * log_one_plus(1.25 + outline.places()[to]);
    return saddle_of(outline, levels) <= target.log_delta + 3 && power < most_power;
  };
  const auto next = [&](Place from) {
    std::size_t to = from ? *from + 1 : 0;
    while (to < *far && fits(from, to + 1)) ++to;
    return to;
  };
  const auto chain = [&](std::size_t from) {
    while (from < *far) {
      const std::size_t to = next(from);
      if (!take(plan, outline, from, to, target)) return false;
      from = to;
    }
    return true;
  };
  // the largest heap that is surely below ε
  for (std::size_t to = *far; to-- > 0;) {
    if (!bound(plan, outline, std::nullopt, to, target)) continue;
    if (chain(to)) return;
    break;
  }
  // or one that is integrated too, as far as its tail does not count
  std::size_t bulk = 0;
  const auto level_of = [&](std::size_t to) { return least_of(levels_of(outline, heights_of(outline, std::nullopt, to), target.epsilon)); };
  while (bulk < *far && level_of(bulk + 1) <= level_of(0) + 0.01) ++bulk;
  for (std::size_t to = bulk;; to /= 2) {
    pieces_.clear();
    bounded_.clear();
    if (take(plan, outline, std::nullopt, to, target) && chain(to)) return;
    if (to == 0) break;
  }
  pieces_.clear();
}

void Rare::add(const RarePlan& plan, double reach, double spread, const Target& target) {
  std::vector<double> places;
  for (const double times : {1.3, 1.6, 2.0, 2.6, 3.5, 5.0, 8.0}) places.push_back(std::log(times) + log_expm1(reach));
  for (const int order : {32, 64, 128}) {
    order_ = order;
    const Place far = choose_far(plan, places, reach, target);
    if (!far) continue;
    if (integrate(plan, Outline(plan.distributions, plan.others, direction_, order_, {places[*far]}, lines_up_to(3000, spread)), std::nullopt, 0,
                  target))
      return;
  }
}

// E_Q[(e^ε - e^L)₊; some step is far] <= e^ε κ(λ) e^(λε) E_Q[e^(-λL); some step is far], and that mean is at most the sum over the
// steps of theirs.
Rare::Place Rare::choose_far(const RarePlan& plan, const std::vector<double>& places, double reach, const Target& target) {
  const double epsilon = target.epsilon;
  std::vector<std::pair<double, double>> lines;  // λ, log Π E_Q[r^-λ]^k
  for (const double times : {2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 120.0, 180.0}) {
    const double line = times / reach;
    // r >= 1 - q, and r^-λ <= 1 - λ(r - 1) + λ(λ+1)/2 (1-q)^(-λ-2) (r - 1)²
    double square = 0;
    double trivial = 0;
    for (const Law& law : plan.distributions) {
      const double floor = -std::log1p(-law.q.value * (1 + wider));
      square += law.count * line * (line + 1) / 2 * std::exp((line + 2) * floor) * law.q.value * law.q.value * std::expm1(law.noise->log_square()) *
                (1 + 4 * wider);
      trivial += law.count * line * floor;
    }
    lines.emplace_back(line, std::min({cumulant_above(plan.added, line), square, trivial * (1 + 1e-12)}) + log_beside(plan.back, line));
  }
  for (std::size_t place = 0; place < places.size(); ++place) {
    const double y = places[place];
    if (y < log_expm1(reach)) continue;
    const Split split{order_, -infinity, Split{order_}.theta_at(y)};
    std::vector<Cells> cells;
    for (const Law& law : plan.distributions) {
      const double beside = law.noise->beside();
      const double right = std::max((1.4 + y - std::log(law.q.value)) / law.mu.value + law.mu.value, 8 + beside);
      cells.emplace_back(law, split, 0, 1, 0, Ends{right, right, 14 + beside});
    }
    leak_top_ = infinity;
    for (const auto& [line, all] : lines) {
      double log = -infinity;
      for (std::size_t i = 0; i < cells.size(); ++i) log = log_sum(log, std::log(plan.distributions[i].count) + cells[i].far_below(line));
      const double top = log + all + chernoff_factor(line) + 1e-9 * (1 + std::abs(log) + std::abs(all));
      const std::pair before{leak_top_, leak_line_};
      const double least = log_leak(epsilon);
      leak_top_ = top;
      leak_line_ = line;
      if (!(log_leak(epsilon) < least)) std::tie(leak_top_, leak_line_) = before;
    }
    if (log_leak(epsilon) <= target.wanted() - 1.5) return place;
  }
  return std::nullopt;
}

double Rare::log_leak(double epsilon) const {
  return direction_ == Direction::remove ? leak_top_ + (1 + leak_line_) * epsilon : leak_top_ - leak_line_ * epsilon * (1 - 8 * unit);
}

// Chernoff's bound on what lies between two places, or below one, if that is enough: looked for roughly, then proved.
bool Rare::bound(const RarePlan& plan, const Outline& outline, Place from, std::size_t to, const Target& target) {
  const double wanted = target.wanted() - 1.5;
  const std::vector<double> heights = heights_of(outline, from, to);
  const Split split = split_at(outline, from, to);
  const bool with_far = direction_ == Direction::remove && to + 1 == outline.places().size();
  double enough = wanted - 0.5;
  for (std::size_t i = 0; i < heights.size() && enough > wanted - 36; ++i) {
    const double line = outline.lines()[i];
    if (!(heights[i] - line * target.epsilon + chernoff_factor(line) <= enough)) continue;
    enough -= 12;  // it may turn out higher
    const auto real = real_points(plan, outline, from, to, i, with_far ? 7 - std::log(target.tolerance) : 6);
    if (!real) continue;
    const double top = log_most(plan.distributions, split, *real, line + 1) + log_beside(plan.others, line) + chernoff_factor(line);
    if (!(top - line * target.epsilon <= wanted + 1) || (with_far && !settle_far(plan, *real, target.epsilon))) continue;
    bounded_.push_back({line, top});
    return true;
  }
  return false;
}

bool Rare::take(const RarePlan& plan, const Outline& outline, Place from, std::size_t to, const Target& target) {
  return bound(plan, outline, from, to, target) || integrate(plan, outline, from, to, target);
}

Split Rare::split_at(const Outline& outline, Place from, std::size_t to) const {
  const Split cuts{order_};
  return {order_, from ? cuts.theta_at(outline.places()[*from]) : -infinity, cuts.theta_at(outline.places()[to])};
}

// Points on the real line, for powers up to that of a line of the outline.
std::optional<std::vector<Points>> Rare::real_points(const RarePlan& plan, const Outline& outline, Place from, std::size_t to, std::size_t line,
                                                     double depth) const {
  const Split split = split_at(outline, from, to);
  const double c = outline.lines()[line];
  const std::vector<double> about = middles_of(plan, outline, from, to, line);
  std::vector<Points> real;
  for (std::size_t i = 0; i < plan.distributions.size(); ++i) {
    const Law& law = plan.distributions[i];
    real.emplace_back(law, split, 0, wide_angle(law, split) / law.mu.value, direction_ == Direction::remove ? c + 1 : -c, c + 1, depth, about[i]);
    if (real.back().failed()) return std::nullopt;
  }
  return real;
}

// What lies between two places, or below one.
bool Rare::integrate(const RarePlan& plan, const Outline& outline, Place from, std::size_t to, const Target& target) {
  const std::vector<double> heights = heights_of(outline, from, to);
  const std::vector<double> levels = levels_of(outline, heights, target.epsilon);
  const std::vector<double>& lines = outline.lines();
  const double least = least_of(levels);
  // near where the integrand is least, rather to its right
  std::size_t at = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (levels[i] <= least + 0.4) at = i;
  }
  // the nearest line to the right that allows the step which the left allows, or the best; where none does, the line itself moves left
  const double most = most_power / log_one_plus(1.25 + outline.places()[to]);
  std::size_t right = 0;
  double widest = 0;
  for (std::size_t line = at; levels[line] <= least + 0.6; --line) {
    const double enough = lines[line] / std::max(1.0, heights.front() - target.wanted());
    double own = 0;
    std::size_t beside = 0;
    for (std::size_t i = line + 1; i < lines.size() && own < enough && (beside == 0 || lines[i] < most); ++i) {
      const double need = heights[i] + chernoff_factor(lines[i]) - lines[i] * target.epsilon - target.wanted();
      const double step = need <= 0 ? infinity : (lines[i] - lines[line]) / need;
      if (!(step > (lines[i] < 1.3 * lines[line] ? 1 : 1.15) * own)) continue;
      own = step;
      beside = i;
    }
    own = std::min(own, enough);
    if (own > widest) {
      widest = own;
      at = line;
      right = beside;
    }
    if (own >= 0.7 * enough || line == 0) break;
  }
  if (right == 0) return false;
  const bool with_far = direction_ == Direction::remove && to + 1 == outline.places().size();
  // what is small need not be sharp
  const double depth = std::max(8.0, 7 - std::log(target.tolerance) + std::min(6.0, saddle_of(outline, levels) + 1 - target.log_delta));
  const auto real = real_points(plan, outline, from, to, right, with_far ? depth : 6);
  if (!real || (with_far && !settle_far(plan, *real, target.epsilon))) return false;
  Piece piece(plan.distributions, plan.others, direction_, split_at(outline, from, to), *real, lines[at], lines[right],
              middles_of(plan, outline, from, to, at), target.epsilon, target.wanted(), depth,
              (plan.others.empty() ? most_work : most_beside_work) - work_);
  if (piece.failed()) return false;
  work_ += piece.work();
  pieces_.push_back(std::move(piece));
  return true;
}

// g = E_Q[far] and d = E_Q[(r - 1) far]: Q(no step is far) = Π(1 - g)^k, P(no step is far) = Π(1 - g - d)^k. Q may be no double: it is raised by e^ε.
bool Rare::settle_far(const RarePlan& plan, const std::vector<Points>& real, double raised) {
  far_raised_ = raised;
  Bound none{0, 0};   // log Q(no step is far)
  Bound ratio{0, 0};  // log of P's over Q's
  Bound sum{0, 0};    // Σ k g, raised
  for (std::size_t i = 0; i < real.size(); ++i) {
    const Points::Value mass = real[i].far_mass(raised);
    const Points::Value rise = real[i].far_rise();
    const Bound high{std::max(0.0, mass.value - mass.error), mass.value + mass.error};
    const double back = std::exp(-raised);
    const Bound g{high.lower * back * (1 - 4 * unit * (1 + raised)), high.upper * back * (1 + 4 * unit * (1 + raised))};
    const Bound d{std::max(0.0, rise.value - rise.error), rise.value + rise.error};
    if (!(g.upper + d.upper < 0.9)) return false;
    const double k = plan.distributions[i].count;
    sum = {sum.lower + k * high.lower, sum.upper + k * high.upper};
    none = {none.lower + k * std::log1p(-g.upper), none.upper + k * std::log1p(-g.lower)};
    ratio = {ratio.lower + k * std::log1p(-d.upper / (1 - g.upper)), ratio.upper + k * std::log1p(-d.lower / (1 - g.lower))};
  }
  const double error_bound = 64 * unit * (1 + raised) * static_cast<double>(1 + plan.distributions.size());
  far_parity_ = {std::exp(none.lower) * -std::expm1(ratio.upper) * (1 - error_bound),
                 std::exp(none.upper) * -std::expm1(ratio.lower) * (1 + error_bound)};
  // Σ x - (Σ x)² <= 1 - Π(1 - x) <= Σ x, where that is as good
  if (none.lower > -1e-14) {
    far_mass_ = {sum.lower * (1 + none.lower) * (1 - error_bound), sum.upper * (1 + error_bound)};
  } else {
    far_mass_ = {-std::expm1(none.upper) * std::exp(raised) * (1 - error_bound), -std::expm1(none.lower) * std::exp(raised) * (1 + error_bound)};
  }
  return std::isfinite(far_mass_.upper);
}

// All outcomes in which some step is far: P - e^ε Q, and what is below ε.
Bound Rare::far_delta(double epsilon) const {
  const double leak = std::exp(log_leak(epsilon) + 1e-9);
  if (direction_ == Direction::add) return {0, leak};
  const double rise = std::exp(epsilon - far_raised_) - std::exp(-far_raised_);
  const double lower = far_parity_.lower - rise * far_mass_.upper * (1 + 16 * unit * (1 + epsilon));
  const double upper = far_parity_.upper - rise * far_mass_.lower * (1 - 16 * unit * (1 + epsilon));
  return {std::max(0.0, lower - 4 * unit * far_parity_.upper), std::max(0.0, upper + leak) + 4 * unit * far_parity_.upper};
}

Bound Rare::delta(double epsilon) const {
  if (failed()) return {0, 1};
  Bound sum = far_delta(epsilon);
  for (const Piece& piece : pieces_) {
    const Bound one = piece.delta(epsilon);
    sum = {sum.lower + one.lower, sum.upper + one.upper};
  }
  for (const Bounded& one : bounded_) sum.upper += std::exp(one.top - one.line * epsilon * (1 - 8 * unit) + 1e-9);
  if (std::isnan(sum.upper) || std::isnan(sum.lower)) return {0, 1};
  return {std::clamp(sum.lower * (1 - 8 * unit), 0.0, 1.0), std::clamp(sum.upper * (1 + 8 * unit), 0.0, 1.0)};
}

}  // namespace sotto::pld_detail
