// libpq, PostgreSQL's client library, with the errors of an engine.
#pragma once

#include "postgresql/api/libpq.hpp"

namespace sotto::data_detail {

/// Returns the library. Throws EngineError if it is not installed.
const postgresql::Libpq& libpq();

}  // namespace sotto::data_detail
