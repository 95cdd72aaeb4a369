// Any text, cut into a data file and a study, as these and as a study alone: a StudyError whose
// line lies in the text, or a study. If it can be designed for a ledger, its noise is its plan's,
// within the study's budget, and its statements can be written.
#include "study/api/study.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "numbers.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "study/api/design.hpp"

namespace {

using namespace sotto;

void check(const Study& study, const Terms& terms) {
  const Design found = make_design(study, terms);
  require_that(std::isfinite(found.cost.amount) && found.cost.amount > 0);
  if (study.rho) require_that(found.cost.amount <= *study.rho * (1 + 1e-12));
  if (study.epsilon && study.delta)
    require_that(found.total->value.upper <= *study.epsilon * (1 + 1e-12) || *study.delta == 0);
  for (const Measurement& m : found.measurements) {
    require_that(m.l1 > 0 && m.l2 > 0 && m.l2 <= m.l1 * (1 + 1e-9) && std::isfinite(m.l1));
    require_that(Additive(m.event).scale() == m.scale);
    if (m.search)
      require_that(m.search->selection.threshold() > 1 &&
                   std::isfinite(m.search->selection.threshold()));
    if (m.search || m.aggregate.groups.size() > 1000) continue;
    for (const Dialect dialect : {Dialect::duckdb, Dialect::postgresql, Dialect::spark}) {
      require_that(!statement(dialect, "people", stored_columns(study), m.aggregate, {{1, 2, 3, 4}})
                        .empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    (void)data_of(text);
  } catch (const StudyError& error) {
    require_that(error.what()[0] != '\0');
  }
  try {
    const TwoFiles files = split_study(text);
    const Study study = parse_study(files.study, parse_data_file(files.data, "/"));
    if (study.queries.size() > 6) return 0;  // each costs a search for its noise
    check(study, {study.data_name, study.unit, Relation::replace_one, ZcdpBudget{1e6, 0.5}});
  } catch (const StudyError& error) {
    require_that(error.line() >= 0 &&
                 error.line() <= 5 + std::count(text.begin(), text.end(), '\n'));
    require_that(error.what()[0] != '\0');
  } catch (const OutsideConditions&) {  // a budget that cannot be met
  }
  return 0;
}
