// Turns queries into the fewest measurements, with their sensitivities and error targets.
#include "study/design/measure.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/api/elementary.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/privacy/sensitivity.hpp"
#include "study/files/listed_constants.hpp"

namespace sotto {

int tree_levels(std::int64_t leaves) {
  int levels = 1;
  for (std::int64_t reach = tree_branching; reach < leaves; reach *= tree_branching) ++levels;
  return levels;
}

namespace study_detail {

Expression expression(const Study& study, const std::string& text, const std::string& where,
                      int line) {
  try {
    Expression parsed = Expression::parse(text, stored_columns(study));
    require_listed_constants(parsed, study.listed, where, line);
    return parsed;
  } catch (const ParseError& error) {
    throw StudyError(where + ", column " + std::to_string(error.column()) + ": " + error.what(),
                     line);
  }
}

namespace {

constexpr std::int64_t most_groups = 1'000'000;
constexpr std::int64_t most_leaves = 65'536;

const StudyColumn& number_column(const Study& study, const Query& query) {
  const std::string what = "query \"" + query.name + "\": ";
  if (query.of.empty())
    throw StudyError(what + "`of` is missing: write the column to read, of = \"income\"",
                     query.line);
  const StudyColumn& column = column_of(study, query.of, query.line);
  if (column.type != Type::integer && column.type != Type::real) {
    throw StudyError(what + "\"" + query.of + "\" is of type " + name_of(column.type) + ", and a " +
                         name_of(query.ask) + " needs numbers",
                     query.line);
  }
  if (!column.lower) {
    throw StudyError(what + "\"" + query.of +
                         "\" has no bounds: write bounds = [0, 100] below [columns." + query.of +
                         "], from public knowledge",
                     query.line);
  }
  return column;
}

// Returns bins of width `step` that cover the bounds; without `step` about `otherwise` bins.
Bins bins_of(const StudyColumn& column, const Query& query, std::int64_t otherwise) {
  const double range = *column.upper - *column.lower;
  double width = query.step.value_or(range / static_cast<double>(otherwise));
  if (!query.step && column.type == Type::integer) width = std::max(1.0, std::ceil(width));
  // integers from 0 to 9 need ten bins of width 1
  const double count = std::max(
      1.0,
      std::ceil((column.type == Type::integer && width == std::floor(width) ? range + 1 : range) /
                width));
  if (!(count <= static_cast<double>(most_leaves))) {
    throw StudyError("query \"" + query.name + "\": `step` cuts the bounds into more than " +
                         std::to_string(most_leaves) + " parts",
                     query.line);
  }
  return {*column.lower, width, static_cast<std::int64_t>(count)};
}

// Returns all combinations of values; the value of the last key changes fastest.
std::vector<std::vector<Value>> combinations(const std::vector<std::vector<Value>>& keys) {
  std::vector<std::vector<Value>> groups{{}};
  for (const auto& values : keys) {
    std::vector<std::vector<Value>> longer;
    for (const auto& group : groups) {
      for (const Value& value : values) {
        longer.push_back(group);
        longer.back().push_back(value);
      }
    }
    groups = std::move(longer);
  }
  return groups;
}

Aggregate aggregate_of(const Study& study, const Query& query) {
  const std::string what = "query \"" + query.name + "\": ";
  Aggregate aggregate;
  if (!query.where.empty()) {
    aggregate.where = expression(study, query.where, what + "in `where`", query.line);
    if (aggregate.where->type() != Type::boolean)
      throw StudyError(
          what + "`where` must be a condition that is true or false, such as \"age >= 18\"",
          query.line);
  }
  std::vector<std::vector<Value>> values;
  for (const std::string& name : query.by) {
    const StudyColumn& column = column_of(study, name, query.line);
    if (column.type == Type::real)
      throw StudyError(
          what + "\"" + name + "\" is of type real and cannot be a key: derive a whole number",
          query.line);
    if (!query.private_keys && column.values.empty()) {
      throw StudyError(what + "the key \"" + name +
                           "\" has no values: write values = […] below [columns." + name +
                           "] if they are public, else keys = \"private\"",
                       query.line);
    }
    aggregate.keys.push_back(field_of(study, column));
    if (!query.private_keys) values.push_back(column.values);
  }
  if (!query.private_keys) {
    double groups = 1;
    for (const auto& of_key : values) groups *= static_cast<double>(of_key.size());
    if (groups > static_cast<double>(most_groups))
      throw StudyError(
          what + "`by` makes more than a million groups: use fewer keys, or keys with fewer values",
          query.line);
    aggregate.groups = combinations(values);
  }
  if (study.unit != "row") {
    const StudyColumn& unit = column_of(study, study.unit, query.line);
    if (!unit.derive.empty()) throw StudyError("the unit must be a stored column", unit.line);
    if (unit.type == Type::real) throw StudyError("the unit cannot be a real number", unit.line);
    aggregate.unit = field_of(study, unit).value;
    aggregate.groups_a_unit =
        query.private_keys
            ? query.groups
            : std::min(query.groups, static_cast<std::int64_t>(aggregate.groups.size()));
    aggregate.rows_a_group = query.rows;
  }
  return aggregate;
}

// Returns what to write for a count that names a column.
std::string words_for_of(const Study& study, const Query& query) {
  if (query.ask == Aggregation::count)
    return "a count reads no column: remove `of`, or count rows by where = \"" + query.of +
           " IS NOT NULL\"";
  const std::string counted = study.unit == "row" ? "rows" : "each " + study.unit_label + " once";
  return "`distinct` counts " + counted +
         ", and not the values of a column: remove `of`. Which values of \"" + query.of +
         "\" occur, and how often, is answered by ask = \"count\" with by = [\"" + query.of +
         "\"] and keys = \"private\"";
}

void add_column(const Study& study, const Query& query, Aggregate& aggregate, Form& form) {
  const std::string what = "query \"" + query.name + "\": ";
  if (query.clamp_total && query.ask != Aggregation::sum && query.ask != Aggregation::mean) {
    throw StudyError(what + "clamp = \"total\" belongs to a sum or a mean", query.line);
  }
  if (query.clamp_total && !aggregate.unit)
    throw StudyError(what +
                         "clamp = \"total\" needs units with several rows, and here each row is a "
                         "unit: remove `clamp`",
                     query.line);
  if (query.step && query.ask != Aggregation::histogram && query.ask != Aggregation::quantiles) {
    throw StudyError(what + "`step` belongs to a histogram or to quantiles", query.line);
  }
  switch (query.ask) {
    case Aggregation::count:
    case Aggregation::distinct:
      if (!query.of.empty()) throw StudyError(what + words_for_of(study, query), query.line);
      aggregate.gather =
          query.ask == Aggregation::distinct && aggregate.unit ? Gather::units : Gather::rows;
      form = Form::counts;
      if (aggregate.gather == Gather::units) aggregate.rows_a_group = 1;
      return;
    case Aggregation::sum:
    case Aggregation::mean: {
      const StudyColumn& column = number_column(study, query);
      aggregate.of = field_of(study, column);
      aggregate.gather = query.clamp_total ? Gather::totals : Gather::values;
      if (query.clamp_total) aggregate.rows_a_group = 1;
      // Choose fine steps, but codes small enough that the sum of a group of 2^32 rows stays below
      // 2^53.
      const double size = std::max(std::abs(*column.lower), std::abs(*column.upper));
      const Steps fine = Steps::between(*column.lower, *column.upper, column.type);
      const Steps even = Steps::between(-size, size, column.type, std::int64_t{1} << 21U);
      aggregate.steps = fine;
      if (query.ask == Aggregation::sum && even.exponent > fine.exponent) {
        const double unit = even.unit();
        aggregate.steps = {even.exponent,
                           static_cast<std::int64_t>(std::floor(*column.lower / unit)),
                           static_cast<std::int64_t>(std::ceil(*column.upper / unit))};
      }
      form = query.ask == Aggregation::sum ? Form::sums : Form::halves;
      return;
    }
    case Aggregation::variance:
    case Aggregation::deviation: {
      const StudyColumn& column = number_column(study, query);
      aggregate.of = field_of(study, column);
      aggregate.gather = Gather::squares;
      aggregate.steps =
          Steps::between(*column.lower, *column.upper, column.type, std::int64_t{1} << 15U);
      form = Form::thirds;
      return;
    }
    case Aggregation::histogram:
    case Aggregation::quantiles: {
      const StudyColumn& column = number_column(study, query);
      aggregate.of = field_of(study, column);
      aggregate.gather = Gather::bins;
      aggregate.bins = bins_of(column, query, query.ask == Aggregation::histogram ? 20 : 1024);
      form = query.ask == Aggregation::histogram ? Form::counts : Form::tree;
      return;
    }
  }
}

// Whether two aggregates have equal conditions, units, groups and limits, so that one measurement
// can serve both.
bool same_rows(const Aggregate& a, const Aggregate& b) {
  const auto text = [](const std::optional<Expression>& e) {
    return e ? e->text() : std::string();
  };
  if (text(a.where) != text(b.where) || text(a.unit) != text(b.unit) ||
      a.groups_a_unit != b.groups_a_unit || a.rows_a_group != b.rows_a_group ||
      a.groups != b.groups)
    return false;
  if (a.keys.size() != b.keys.size()) return false;
  for (std::size_t k = 0; k < a.keys.size(); ++k) {
    if (a.keys[k].value.text() != b.keys[k].value.text() || a.keys[k].if_null != b.keys[k].if_null)
      return false;
  }
  return true;
}

bool same_bins(const Bins& a, const Bins& b) {
  return a.lower == b.lower && a.width == b.width && a.count == b.count;
}

bool same_column(const Aggregate& a, const Aggregate& b) {
  return a.of && b.of && a.of->value.text() == b.of->value.text() && a.of->if_null == b.of->if_null;
}

// A form that serves two measurements of equal rows.
struct Common {
  Form form;
  bool uses_second;  // whether the merged measurement takes the second one's aggregate
};
// Returns the form that serves both. A count joins the sums of a column only if no row is dropped
// for a NULL.
std::optional<Common> common_form(const OpenMeasurement& a, const OpenMeasurement& b) {
  const auto is_moment = [](const OpenMeasurement& d) {
    return d.form == Form::sums || d.form == Form::halves || d.form == Form::thirds;
  };
  const bool alike = a.form == b.form && a.aggregate.gather == b.aggregate.gather;
  if (alike && !a.aggregate.of) return Common{a.form, false};
  if (alike && a.aggregate.gather == Gather::bins && same_column(a.aggregate, b.aggregate) &&
      same_bins(a.aggregate.bins, b.aggregate.bins)) {
    return Common{a.form, false};
  }
  if (is_moment(a) && is_moment(b)) {
    const bool totals = a.aggregate.gather == Gather::totals;
    if (!same_column(a.aggregate, b.aggregate) || totals != (b.aggregate.gather == Gather::totals))
      return std::nullopt;
    return Common{std::max(a.form, b.form), b.form > a.form};
  }
  const OpenMeasurement& sums = is_moment(a) ? a : b;
  const OpenMeasurement& count = is_moment(a) ? b : a;
  const bool joins = is_moment(sums) && sums.aggregate.of->if_null &&
                     sums.aggregate.gather != Gather::totals && count.form == Form::counts &&
                     count.aggregate.gather == Gather::rows;
  if (!joins) return std::nullopt;
  return Common{std::max(sums.form, Form::halves), !is_moment(a)};
}

// Merges `other` into `into` if one measurement can serve both; returns whether it did.
bool merge(OpenMeasurement& into, const OpenMeasurement& other, const Study& study) {
  if (!same_rows(into.aggregate, other.aggregate)) return false;
  const NoiseChoice choice = study.queries[other.queries.front()].noise;
  for (const std::size_t q : into.queries) {
    const NoiseChoice has = study.queries[q].noise;
    if (choice != NoiseChoice::best && has != NoiseChoice::best && choice != has) return false;
  }
  const auto common = common_form(into, other);
  if (!common) return false;
  if (common->uses_second) into.aggregate = other.aggregate;
  into.form = common->form;
  into.queries.insert(into.queries.end(), other.queries.begin(), other.queries.end());
  into.share += other.share;
  return true;
}

void set_sensitivity(OpenMeasurement& measurement, Relation relation) {
  const Aggregate& a = measurement.aggregate;
  const bool one_group = a.keys.empty() && !measurement.search;
  const Contribution part{a.groups_a_unit, a.rows_a_group};
  const auto range = static_cast<double>(a.steps.range());
  Sensitivity sensitivity{1, 1};
  switch (measurement.form) {
    case Form::counts:
      if (one_group && a.gather != Gather::bins) {
        sensitivity = {static_cast<double>(part.rows), static_cast<double>(part.rows)};
      } else {
        sensitivity = grouped_sum_sensitivity({0, 1}, part, relation);
      }
      break;
    case Form::sums: {
      const Clamp clamp{a.steps.lower(), a.steps.upper()};
      if (one_group) {
        sensitivity = sum_sensitivity(clamp, relation, Presence::uncertain);
        sensitivity = {sensitivity.l1 * Real(static_cast<double>(part.rows)),
                       sensitivity.l2 * Real(static_cast<double>(part.rows))};
      } else {
        sensitivity = grouped_sum_sensitivity(clamp, part, relation);
      }
      break;
    }
    case Form::halves:
      sensitivity = grouped_sum_sensitivity({0, range * a.steps.unit()}, part, relation);
      break;
    case Form::thirds: {
      // Each number is rounded down to a multiple of 2^shift, which adds up to one step to the
      // change of each of the three numbers, once per group.
      const double square = range * range;
      const double step = std::ldexp(1.0, square_shift(a.steps));
      sensitivity = grouped_sum_sensitivity({0, square}, part, relation);
      if (step > 1) {
        const Sensitivity three = grouped_sum_sensitivity({0, step}, {part.groups, 1}, relation);
        sensitivity = {sensitivity.l1 + Real(3) * three.l1, sensitivity.l2 + Real(2) * three.l2};
      }
      const Real unit = a.steps.unit() * a.steps.unit();
      sensitivity = {sensitivity.l1 * unit, sensitivity.l2 * unit};
      break;
    }
    case Form::tree: {
      const Real levels = tree_levels(a.bins.count);
      sensitivity = grouped_sum_sensitivity({0, 1}, part, relation);
      sensitivity = {levels * sensitivity.l1, sqrt(levels) * sensitivity.l2};
      break;
    }
  }
  measurement.l1 = sensitivity.l1.upper();
  measurement.l2 = sensitivity.l2.upper();
  if (measurement.search) {
    const Sensitivity units = grouped_sum_sensitivity({0, 1}, {part.groups, 1}, relation);
    measurement.search_l1 = units.l1.upper();
    measurement.search_l2 = units.l2.upper();
  }
}

void set_target(OpenMeasurement& measurement, const Study& study) {
  for (const std::size_t q : measurement.queries) {
    const Query& query = study.queries[q];
    if (!query.error) continue;
    if (query.ask != Aggregation::count && query.ask != Aggregation::distinct &&
        query.ask != Aggregation::sum && query.ask != Aggregation::histogram) {
      throw StudyError("query \"" + query.name + "\": the error of a " + name_of(query.ask) +
                           " depends on the data, so `error` cannot be met: write `share`, a "
                           "weight in the budget, instead",
                       query.line);
    }
    const auto weights = weights_of(measurement.form, measurement.aggregate.steps, query);
    for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::laplace}) {
      // rounding to the grid adds at most 2^-10 of the scale to each number
      double rounding = 0;
      for (const Weight& w : weights) rounding += std::abs(w.size) * w.times * 0x1p-10;
      const double scale = read_number(
          rounded(*query.error / (distance_at(kind, 1, weights, 1 - study.confidence) + rounding),
                  6, Side::lower));
      double& target = measurement.target_scale[static_cast<int>(kind)];
      target = measurement.has_target ? std::min(target, scale) : scale;
    }
    measurement.has_target = true;
  }
}

}  // namespace

int square_shift(const Steps& steps) {
  const auto range = static_cast<double>(steps.range());
  return std::max(0, static_cast<int>(std::ceil(std::log2(2 * range * range) + 32)) - 52);
}

std::vector<Weight> weights_of(Form form, const Steps& steps, const Query& query) {
  const double range = static_cast<double>(steps.range()) * steps.unit();
  const bool is_sum = query.ask == Aggregation::sum;
  switch (form) {
    case Form::halves:
      // Σx = (upper a + lower b)/range, n = (a + b)/range
      return is_sum ? std::vector<Weight>{{steps.upper() / range}, {steps.lower() / range}}
                    : std::vector<Weight>{{1 / range}, {1 / range}};
    case Form::thirds: {
      // with t = (x - lower)/range: n = c0 + c1 + c2 and Σt = c1/2 + c2, in range²
      const double square = range * range;
      if (!is_sum) return {{1 / square}, {1 / square}, {1 / square}};
      return {{steps.lower() / square},
              {(steps.lower() + steps.upper()) / 2 / square},
              {steps.upper() / square}};
    }
    default: return {{1.0}};
  }
}

std::vector<OpenMeasurement> open_measurements(const Study& study, Relation relation) {
  std::vector<OpenMeasurement> all;
  for (std::size_t q = 0; q < study.queries.size(); ++q) {
    const Query& query = study.queries[q];
    OpenMeasurement measurement{};
    measurement.aggregate = aggregate_of(study, query);
    measurement.queries = {q};
    measurement.share = query.share;
    add_column(study, query, measurement.aggregate, measurement.form);
    bool merged = false;
    for (OpenMeasurement& earlier : all) merged = merged || merge(earlier, measurement, study);
    if (!merged) all.push_back(std::move(measurement));
  }
  for (OpenMeasurement& measurement : all) {
    if (study.queries[measurement.queries.front()].private_keys) {
      Aggregate search = measurement.aggregate;
      search.gather = search.unit ? Gather::units : Gather::rows;
      search.of.reset();
      search.rows_a_group = 1;
      measurement.search = std::move(search);
    }
    set_sensitivity(measurement, relation);
    set_target(measurement, study);
  }
  return all;
}

}  // namespace study_detail
}  // namespace sotto
