// libpq, for the engine that reads PostgreSQL.
#pragma once

#include "postgresql/api/libpq.hpp"

namespace sotto::data_detail {

/// EngineError if it is not installed.
const postgresql::Libpq& libpq();

}  // namespace sotto::data_detail
