// First drafts of files for people to edit: a data file from a table's header, and a study with one
// query of each kind that its data allow.
#pragma once

#include <string>

#include "sotto/accounting/filter.hpp"
#include "study/api/data_file.hpp"
#include "study/api/limit.hpp"

namespace sotto {

/// Returns a data file as text. Missing bounds and values become commented hints: they must come
/// from public knowledge, so they are never read from the data.
std::string draft_data_file(const DataFile& data);

/// Returns a study of these data that spends a tenth of the budget. Queries that need bounds or
/// values that are not declared are commented out. So is each limit on rows or groups that `chosen`
/// leaves open: the study is refused until a person chooses it. If each row is a unit, no limits
/// are written.
std::string draft_study(const DataFile& data, const Budget& budget, const UnitLimit& chosen = {});

}  // namespace sotto
