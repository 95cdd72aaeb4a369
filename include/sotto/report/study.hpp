// A study's answers as text, and as a page that a manager can read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/report/answers.hpp"
#include "sotto/report/ledger.hpp"
#include "sotto/study/design.hpp"
#include "sotto/study/release.hpp"
#include "sotto/study/study.hpp"

namespace sotto {

/// What a study will cost and how far its answers will be from the truth, before it is run. sotto.design/1.
std::string design_text(const Study& study, const Design& design, const Terms& terms, Format format);

/// The answers. As JSON sotto.release/1 with the ledger's head. With `exact`, for public data, the exact ones beside them and the error in percent.
std::string release_text(const Release& release, const Head& head, const std::vector<QueryAnswer>& exact, Format format);

}  // namespace sotto
