// Turns the result of each attack into its report: columns, two sentences and a chart.
#include "course/api/attacks.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

using Style = Series::Style;

std::string digits(double x, int count = 3) { return rounded(x, count, Side::upper); }
std::string whole(std::int64_t x) { return std::to_string(x); }
std::string percent(double share) {
  return rounded(std::round(1000 * share) / 10, 4, Side::upper) + "%";
}
std::string at_most(double share) { return rounded(100 * share, 3, Side::upper) + "%"; }
double number(std::int64_t x) { return static_cast<double>(x); }

// Returns a column with one member of each point.
template <class Point, class Member>
AttackReport::Column column(const char* name, const char* heading, const std::vector<Point>& points,
                            Member Point::*member) {
  AttackReport::Column result{.name = name, .heading = heading};
  for (const Point& point : points) result.values.push_back(static_cast<double>(point.*member));
  return result;
}

template <class Point, class X, class Y>
Series series(std::string name, const std::vector<Point>& points, X Point::*x, Y Point::*y,
              Style style = Style::line) {
  Series result{.name = std::move(name), .style = style};
  for (const Point& point : points) {
    result.x.push_back(static_cast<double>(point.*x));
    result.y.push_back(static_cast<double>(point.*y));
  }
  return result;
}

template <class Point, class X>
Series level(std::string name, const std::vector<Point>& points, X Point::*x, double y) {
  Series result{.name = std::move(name), .style = Style::dashed};
  for (const Point& point : points) {
    result.x.push_back(static_cast<double>(point.*x));
    result.y.push_back(y);
  }
  return result;
}

// Returns what a ledger with the budget does to the averaging attack.
std::string averaging_stopped_by(const AveragingAttack& attack) {
  const AveragingSettings& settings = attack.settings;
  const AveragingPoint& allowed = attack.allowed;
  const std::string budget = shortest(settings.budget);
  if (allowed.questions == 0)
    return "a ledger with the budget epsilon = " + budget + ", which refuses the first question.";
  if (allowed.questions == settings.questions) {
    return "a smaller budget: a ledger with epsilon = " + budget + " admits all " +
           whole(settings.questions) + " questions.";
  }
  return "a ledger with the budget epsilon = " + budget + ", which admits " +
         whole(allowed.questions) + " questions: the error is then " +
         digits(allowed.typical_error) + ", and the secret found in " + percent(allowed.recovered) +
         " of the runs.";
}

// A step function that rises by 1 at each release that revealed everything.
Series revealed_series(const CatastropheAttack& attack) {
  Series revealed{.name = "revealed everything", .x = {0}, .y = {0}};
  for (const std::int64_t release : attack.when) {
    revealed.x.insert(revealed.x.end(), {number(release), number(release)});
    revealed.y.insert(revealed.y.end(), {revealed.y.back(), revealed.y.back() + 1});
  }
  revealed.x.push_back(number(attack.settings.releases));
  revealed.y.push_back(number(attack.points.back().revealed));
  return revealed;
}

}  // namespace

AttackReport report_of(const AveragingAttack& attack) {
  using Point = AveragingPoint;
  const AveragingSettings& settings = attack.settings;
  const Point& end = attack.points.back();
  const double deviation = std::sqrt(2.0) * attack.scale;
  AttackReport report{
      .attack = "averaging",
      .settings = {{"epsilon", settings.epsilon},
                   {"questions", number(settings.questions)},
                   {"runs", number(settings.runs)},
                   {"delta", settings.delta},
                   {"budget", settings.budget},
                   {"scale", attack.scale},
                   {"secret", number(attack.secret)},
                   {"guess", attack.guess},
                   {"allowed", number(attack.allowed.questions)}},
      .columns = {column("questions", "questions", attack.points, &Point::questions),
                  column("typical_error", "typical error", attack.points, &Point::typical_error),
                  column("large_error", "95% below", attack.points, &Point::large_error),
                  column("found", "found", attack.points, &Point::recovered),
                  column("epsilon", "epsilon <=", attack.points, &Point::epsilon)},
      .learnt = "the secret count is " + whole(attack.secret) + "; the mean of " +
                whole(settings.questions) + " answers, each with epsilon " +
                shortest(settings.epsilon) + ", is " + rounded(attack.guess, 7, Side::lower) +
                ". Rounded, the mean is the secret in " + percent(end.recovered) + " of " +
                whole(settings.runs) + " runs. All answers together cost epsilon " +
                digits(end.epsilon) + " at delta " + shortest(settings.delta) + ", not " +
                shortest(settings.epsilon) + "."};
  report.stopped_by = averaging_stopped_by(attack);
  Series theory{.name = "theory: deviation √2 b/√n", .style = Style::dashed};
  for (const Point& point : attack.points) {
    theory.x.push_back(number(point.questions));
    theory.y.push_back(deviation / std::sqrt(number(point.questions)));
  }
  report.chart = {
      .id = "attack-averaging",
      .title = "Averaging: the same question, again and again",
      .caption =
          "How far the mean of n noisy answers is from the secret: the band shrinks as 1/√n. Below "
          "0.5 the rounded mean is the secret.",
      .x_label = "questions n",
      .y_label = "error of the mean",
      .log_x = true,
      .log_y = true,
      .series = {
          series("95% of runs are below", attack.points, &Point::questions, &Point::large_error),
          series("half of the runs are below", attack.points, &Point::questions,
                 &Point::typical_error),
          theory, level("the secret is found below 0.5", attack.points, &Point::questions, 0.5)}};
  if (attack.allowed.questions > 0 && attack.allowed.questions < settings.questions) {
    report.chart.marks.push_back(
        {number(attack.allowed.questions), attack.allowed.large_error,
         "a ledger with ε = " + shortest(settings.budget) + " stops here"});
  }
  report.chart.marks.push_back(
      {number(end.questions), end.typical_error, "all together: ε = " + digits(end.epsilon)});
  return report;
}

AttackReport report_of(const ReconstructionAttack& attack) {
  using Point = ReconstructionPoint;
  const ReconstructionSettings& settings = attack.settings;
  const Point& within = attack.within_budget;
  std::vector<Point> points = attack.points;
  points.insert(std::upper_bound(points.begin(), points.end(), within,
                                 [](const Point& a, const Point& b) { return a.noise < b.noise; }),
                within);
  const auto best =
      std::max_element(points.begin(), points.end(),
                       [](const Point& a, const Point& b) { return a.recovered < b.recovered; });
  AttackReport report{
      .attack = "reconstruction",
      .settings = {{"people", number(settings.people)},
                   {"queries", number(settings.queries)},
                   {"runs", number(settings.runs)},
                   {"delta", settings.delta},
                   {"budget", settings.budget},
                   {"sensitivity", attack.sensitivity},
                   {"budget_noise", within.noise}},
      .columns = {column("noise", "noise", points, &Point::noise),
                  column("epsilon", "epsilon <=", points, &Point::epsilon),
                  column("recovered", "recovered", points, &Point::recovered),
                  column("ceiling", "at most", points, &Point::ceiling)},
      .learnt = "of " + whole(settings.people) + " secret bits, " + percent(best->recovered) +
                " from " + whole(settings.queries) +
                " counts over random subsets, each with noise of standard deviation " +
                digits(best->noise) + ". Chance is 50%.",
      .stopped_by = "a budget for all answers together: epsilon = " + shortest(settings.budget) +
                    " at delta " + shortest(settings.delta) + " asks for noise of " +
                    digits(within.noise, 4) + ", and then " + percent(within.recovered) +
                    " are right; no attacker gets more than " + at_most(within.ceiling) + "."};
  report.chart = {.id = "attack-reconstruction",
                  .title = "Reconstruction: " + whole(settings.people) + " secret bits from " +
                           whole(settings.queries) + " noisy counts",
                  .caption =
                      "The share of the bits that least squares gets right, against the noise on "
                      "each count, below the most that any attacker can.",
                  .x_label = "standard deviation of the noise on each count",
                  .y_label = "share of the bits recovered",
                  .log_x = true,
                  .series = {series("recovered", points, &Point::noise, &Point::recovered),
                             series("at most, by any attack", points, &Point::noise,
                                    &Point::ceiling, Style::dashed),
                             level("chance", points, &Point::noise, 0.5)}};
  report.chart.marks.push_back(
      {within.noise, within.recovered, "all answers: ε = " + shortest(settings.budget)});
  for (const Point& point : attack.points) {
    if (point.recovered > 0.6 && point.recovered < 0.99) {
      report.chart.marks.push_back({point.noise, point.recovered, "ε = " + digits(point.epsilon)});
    }
  }
  return report;
}

AttackReport report_of(const MembershipAttack& attack) {
  using Point = MembershipPoint;
  const MembershipSettings& settings = attack.settings;
  const Point& low = attack.points.front();
  AttackReport report{
      .attack = "membership",
      .settings = {{"sites", number(settings.sites)},
                   {"people", number(settings.people)},
                   {"runs", number(settings.runs)},
                   {"epsilon", settings.epsilon},
                   {"delta", settings.delta},
                   {"noise", attack.noise},
                   {"sensitivity", attack.sensitivity},
                   {"members", number(attack.members)}},
      .columns = {column("fpr", "fpr", attack.points, &Point::fpr),
                  column("tpr_exact", "tpr, exact", attack.points, &Point::exact),
                  column("tpr_private", "tpr, private", attack.points, &Point::noisy),
                  column("margin", "give or take", attack.points, &Point::margin),
                  column("ceiling", "at most", attack.points, &Point::ceiling)},
      .learnt = "whether somebody is in the pool: who accuses 1% of those who are not finds " +
                percent(low.exact) + " of those who are, from the exact frequencies of " +
                whole(settings.sites) + " alleles among " + whole(settings.people) + " people.",
      .stopped_by = "a private release of all frequencies as one vector with epsilon = " +
                    shortest(settings.epsilon) + " at delta " + shortest(settings.delta) +
                    " (noise of " + digits(attack.noise) + " on each): the same attack finds " +
                    percent(low.noisy) + " (give or take " + percent(low.margin) + ") of " +
                    whole(attack.members) + " people, and no attack more than " +
                    at_most(low.ceiling) + "."};
  Series blind{.name = "by guessing"};
  for (const Point& point : attack.curve) {
    blind.x.push_back(point.fpr);
    blind.y.push_back(point.fpr);
  }
  report.chart = {.id = "attack-membership",
                  .title = "Membership: who is in the pool of " + whole(settings.people) + "?",
                  .caption =
                      "True-positive against false-positive rate of Homer's attack, on exact "
                      "frequencies and on a private release, with the "
                      "ceiling that no attack on the private release exceeds (but for the chance "
                      "in measuring).",
                  .x_label = "false-positive rate",
                  .y_label = "true-positive rate",
                  .log_x = true,
                  .log_y = true,
                  .series = {series("exact frequencies", attack.curve, &Point::fpr, &Point::exact),
                             series("private: ε = " + shortest(settings.epsilon) +
                                        ", δ = " + shortest(settings.delta),
                                    attack.curve, &Point::fpr, &Point::noisy),
                             series("private, at most by any attack", attack.curve, &Point::fpr,
                                    &Point::ceiling, Style::dashed),
                             blind}};
  report.chart.marks.push_back(
      {low.fpr, low.exact, percent(low.exact) + " found at 1% false accusations"});
  report.chart.marks.push_back({low.fpr, low.ceiling, "at most " + at_most(low.ceiling)});
  return report;
}

AttackReport report_of(const FloatingPointAttack& attack) {
  using Point = FloatingPointPoint;
  const FloatingPointSettings& settings = attack.settings;
  std::int64_t mistaken = 0;
  double least = 1, most = 0, of_sotto = 0;
  for (const Point& point : attack.points) {
    mistaken += point.mistaken;
    least = std::min(least, point.identified);
    most = std::max(most, point.identified);
    of_sotto = std::max(of_sotto, point.sotto_identified);
  }
  const std::string range = least == most ? percent(most) : percent(least) + " to " + percent(most);
  AttackReport report{
      .attack = "floating-point",
      .settings = {{"value", settings.value}, {"releases", number(settings.releases)}},
      .columns = {column("epsilon", "epsilon", attack.points, &Point::epsilon),
                  column("identified", "identified", attack.points, &Point::identified),
                  column("mistaken", "mistaken", attack.points, &Point::mistaken),
                  column("textbook", "right, textbook", attack.points, &Point::textbook),
                  column("sotto_identified", "identified, sotto", attack.points,
                         &Point::sotto_identified),
                  column("sotto", "right, sotto", attack.points, &Point::sotto),
                  column("ceiling", "at most", attack.points, &Point::ceiling)},
      .learnt = "whether the value is " + shortest(settings.value) + " or " +
                shortest(settings.value + 1) + ": " + range +
                " of single textbook outputs can come from one of the two only, which the attacker "
                "finds out by looking for the random bits behind them; " +
                whole(mistaken) + " of these were mistaken.",
      .stopped_by =
          "no budget: the textbook's noise has no epsilon at all. sotto's noise is rounded to a "
          "public grid as if in exact arithmetic: " +
          percent(of_sotto) +
          " of its outputs identify a value, and what is left to guess is what epsilon allows."};
  report.chart = {
      .id = "attack-floating-point",
      .title = "Floating point: which of two values had Laplace noise added?",
      .caption =
          "How often one output tells the value: textbook noise in doubles against sotto's, and "
          "what ε allows.",
      .x_label = "ε of the noise, as claimed",
      .y_label = "share of outputs",
      .log_x = true,
      .series = {
          series("textbook: guessed rightly", attack.points, &Point::epsilon, &Point::textbook),
          series("textbook: known for certain", attack.points, &Point::epsilon, &Point::identified),
          series("sotto: guessed rightly", attack.points, &Point::epsilon, &Point::sotto),
          series("sotto: known for certain", attack.points, &Point::epsilon,
                 &Point::sotto_identified),
          series("at most, by ε", attack.points, &Point::epsilon, &Point::ceiling, Style::dashed)}};
  return report;
}

AttackReport report_of(const DifferencingAttack& attack) {
  using Point = DifferencingPoint;
  const DifferencingSettings& settings = attack.settings;
  const Point& first = attack.points.front();
  AttackReport report{
      .attack = "differencing",
      .settings = {{"people", number(settings.people)},
                   {"trials", number(settings.trials)},
                   {"exact", attack.exact}},
      .columns = {column("epsilon", "epsilon", attack.points, &Point::epsilon),
                  column("difference", "by difference", attack.points, &Point::difference),
                  column("informed", "knows the rest", attack.points, &Point::informed),
                  column("mechanism", "two counts, at most", attack.points, &Point::mechanism),
                  column("response", "by response", attack.points, &Point::response),
                  column("ceiling", "epsilon, at most", attack.points, &Point::ceiling)},
      .learnt = "one person's bit: the exact count over " + whole(settings.people) +
                " people, less the exact count without that person, is the bit, in " +
                percent(attack.exact) + " of " + whole(settings.trials) + " trials.",
      .stopped_by = "noise on both counts: with epsilon = " + shortest(first.epsilon) +
                    " for the two together the difference is right in " +
                    percent(first.difference) +
                    " of the trials, and no attacker on any release with that epsilon in more than "
                    "e^eps/(1 + e^eps) = " +
                    at_most(first.ceiling) + "."};
  report.chart = {
      .id = "attack-differencing",
      .title = "Differencing: one person's bit from two counts",
      .caption =
          "How often the attacker names the bit rightly. Randomized response lets through all that "
          "ε allows; two noisy counts less.",
      .x_label = "ε of everything that is released",
      .y_label = "guesses that are right",
      .log_x = true,
      .series = {
          series("by the difference of two counts", attack.points, &Point::epsilon,
                 &Point::difference),
          series("knowing everybody else's bit", attack.points, &Point::epsilon, &Point::informed),
          series("from randomized response", attack.points, &Point::epsilon, &Point::response),
          series("at most: e^ε/(1 + e^ε)", attack.points, &Point::epsilon, &Point::ceiling,
                 Style::dashed),
          level("chance", attack.points, &Point::epsilon, 0.5)}};
  report.chart.marks.push_back({first.epsilon, 1, "exact counts: " + percent(attack.exact)});
  return report;
}

AttackReport report_of(const CatastropheAttack& attack) {
  using Point = CatastrophePoint;
  const CatastropheSettings& settings = attack.settings;
  const Point& end = attack.points.back();
  AttackReport report{
      .attack = "catastrophe",
      .settings = {{"epsilon", settings.epsilon},
                   {"delta", settings.delta},
                   {"releases", number(settings.releases)},
                   {"people", number(settings.people)},
                   {"learnt_people", number(attack.learnt)},
                   {"largest_loss", attack.catastrophe.largest},
                   {"renyi_2", attack.catastrophe.divergence},
                   {"gaussian_sigma", attack.sigma},
                   {"gaussian_above_epsilon", attack.gaussian.above_epsilon},
                   {"gaussian_largest_loss", attack.gaussian.largest},
                   {"gaussian_renyi_2", attack.gaussian.divergence}},
      .columns = {column("releases", "releases", attack.points, &Point::releases),
                  column("revealed", "revealed all", attack.points, &Point::revealed),
                  column("expected", "expected", attack.points, &Point::expected),
                  column("delta", "total delta <=", attack.points, &Point::delta)},
      .learnt = whole(end.revealed) + " of " + whole(settings.releases) +
                " releases were the whole table: of " + whole(settings.people) + " people, " +
                whole(attack.learnt) + " are known for certain. Each release is (" +
                shortest(settings.epsilon) + ", " + shortest(settings.delta) +
                ")-DP. Gaussian noise with the same guarantee (sigma " + digits(attack.sigma) +
                ") fails gracefully: the privacy loss exceeded epsilon in " +
                percent(attack.gaussian.above_epsilon) +
                " of as many releases, and the largest was " + digits(attack.gaussian.largest) +
                ".",
      .stopped_by =
          "delta far below one in the number of people; or a budget that does not look away with "
          "probability delta. The Rényi divergence of order 2 "
          "is " +
          shortest(attack.catastrophe.divergence) + " here and " +
          digits(attack.gaussian.divergence) +
          " for the Gaussian noise, and a zCDP ledger of any size refuses: " + attack.refusal +
          "."};
  report.chart = {.id = "attack-catastrophe",
                  .title = "Catastrophe: releases that are the whole table",
                  .caption = "A mechanism that reveals everything with probability δ = " +
                             shortest(settings.delta) +
                             " is (ε, δ)-DP. After 1/δ releases one such is to be expected.",
                  .x_label = "releases",
                  .y_label = "how many of them revealed everything",
                  .series = {revealed_series(attack),
                             {.name = "expected: δ times the releases",
                              .x = {0, number(settings.releases)},
                              .y = {0, end.expected},
                              .style = Style::dashed}}};
  if (!attack.when.empty()) {
    const std::int64_t first = attack.when.front();
    report.chart.marks.push_back(
        {number(first), 1, "everything is known from release " + whole(first) + " on"});
  }
  return report;
}

AttackReport report_of(const OverfittingAttack& attack) {
  using Point = OverfittingPoint;
  const OverfittingSettings& settings = attack.settings;
  const Point& end = attack.points.back();
  AttackReport report{
      .attack = "overfitting",
      .settings = {{"people", number(settings.people)},
                   {"questions", number(settings.questions)},
                   {"runs", number(settings.runs)},
                   {"epsilon", settings.epsilon},
                   {"delta", settings.delta},
                   {"gap", attack.gap},
                   {"usual_gap", attack.usual}},
      .columns = {column("questions", "questions", attack.points, &Point::questions),
                  column("exact", "exact answers", attack.points, &Point::exact),
                  column("noisy", "private answers", attack.points, &Point::noisy),
                  column("margin", "+-", attack.points, &Point::margin),
                  column("most", "at most", attack.points, &Point::most),
                  column("noise", "noise", attack.points, &Point::noise)},
      .learnt = "a classifier that is right on " + percent(end.exact) + " of the " +
                whole(settings.people) +
                " people it was tested on, and on half of all others: labels and features are "
                "coins, and " +
                whole(settings.questions) +
                " exact answers about the same people fitted it to them.",
      .stopped_by =
          "answers that together cost epsilon = " + shortest(settings.epsilon) + " at delta " +
          shortest(settings.delta) + ": what they suggest is right on " + percent(end.noisy) +
          " of the same people. Whatever is learned so, the expected gap is at most " +
          digits(attack.gap) + " (by the usual e^epsilon - 1 + delta: " + digits(attack.usual) +
          "); with this noise at most " + digits(end.most - 0.5) + "."};
  report.chart = {
      .id = "attack-overfitting",
      .title = "Overfitting: one holdout set, asked again and again",
      .caption =
          "The accuracy, on the holdout set itself, of a vote of features that are coins. On new "
          "people every such vote is right half the time.",
      .x_label = "questions",
      .y_label = "accuracy on the holdout set",
      .log_x = true,
      .series = {series("exact answers", attack.points, &Point::questions, &Point::exact),
                 series("private answers, ε = " + shortest(settings.epsilon), attack.points,
                        &Point::questions, &Point::noisy),
                 series("private answers, at most", attack.points, &Point::questions, &Point::most,
                        Style::dashed),
                 level("on new people", attack.points, &Point::questions, 0.5)}};
  report.chart.marks.push_back(
      {number(end.questions), end.exact, percent(end.exact) + " where the truth is 50%"});
  return report;
}

AttackReport report_of(const GradientInversionAttack& attack) {
  using Point = GradientInversionPoint;
  const GradientInversionSettings& settings = attack.settings;
  const Point& first = attack.points.front();
  const std::string records =
      settings.batch == 1 ? "one record" : whole(settings.batch) + " records";
  AttackReport report{
      .attack = "gradient-inversion",
      .settings = {{"features", number(settings.features)},
                   {"classes", number(settings.classes)},
                   {"batch", number(settings.batch)},
                   {"runs", number(settings.runs)},
                   {"delta", settings.delta},
                   {"clip", settings.clip},
                   {"plain_error", attack.plain_error},
                   {"plain_recovered", attack.plain_recovered},
                   {"plain_whole", attack.plain_whole}},
      .columns = {column("epsilon", "epsilon", attack.points, &Point::epsilon),
                  column("noise", "noise", attack.points, &Point::noise),
                  column("recovered", "bits read", attack.points, &Point::recovered),
                  column("whole", "records read", attack.points, &Point::whole),
                  column("ceiling", "bits at most", attack.points, &Point::ceiling)},
      .learnt = "from a plain gradient of " + records +
                ", as a party of federated learning sends it, " + percent(attack.plain_recovered) +
                " of a record's " + whole(settings.features) + " bits, and in " +
                percent(attack.plain_whole) + " of " + whole(settings.runs) +
                " runs all of them: x = dW/db, off by " + digits(attack.plain_error) + " at most.",
      .stopped_by = "each record's gradient clipped to " + shortest(settings.clip) +
                    ", and exact noise of " + digits(first.noise) +
                    " on the sum: at epsilon = " + shortest(first.epsilon) + " and delta " +
                    shortest(settings.delta) + " " + percent(first.recovered) +
                    " of the bits are read, where a coin has 50% and nobody more than " +
                    at_most(first.ceiling) + "."};
  report.chart = {
      .id = "attack-gradient-inversion",
      .title = "Gradient inversion: a record read back from a gradient",
      .caption = "The share of a record's bits that one gradient of " + records +
                 " gives away. Without noise x = ∂W/∂b. With each record's gradient clipped and "
                 "Gaussian noise, δ = " +
                 shortest(settings.delta) +
                 ", the attacker projects onto the pattern of the likeliest class; the dashed "
                 "curve holds for every attacker and any one bit.",
      .x_label = "ε of the gradient",
      .y_label = "bits read rightly",
      .log_x = true,
      .series = {level("plain gradient", attack.points, &Point::epsilon, attack.plain_recovered),
                 series("private gradient", attack.points, &Point::epsilon, &Point::recovered),
                 series("private gradient, at most", attack.points, &Point::epsilon,
                        &Point::ceiling, Style::dashed),
                 level("a coin", attack.points, &Point::epsilon, 0.5)}};
  return report;
}

}  // namespace sotto
