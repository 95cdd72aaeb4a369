// First drafts to edit: a data file from what a table's header says, and a study with a query of each kind that its data allow.
#pragma once

#include <string>

#include "sotto/accounting/filter.hpp"
#include "study/api/data_file.hpp"
#include "study/api/limit.hpp"

namespace sotto {

/// A data file as text, with hints where bounds and values are missing: what is publicly known is not looked up in the data.
std::string draft_data_file(const DataFile& data);

/// A study of these data at a tenth of the budget. What cannot be asked until bounds or values are declared stands there as a comment, and so
/// does a limit on rows or groups that nobody chose: until then the study is refused. Where each row is a unit it needs none.
std::string draft_study(const DataFile& data, const Budget& budget, const UnitLimit& chosen = {});

}  // namespace sotto
