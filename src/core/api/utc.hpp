// Times as text, in Coordinated Universal Time (ISO 8601).
#pragma once

#include <ctime>
#include <string>

namespace sotto {

/// Returns a time to the second: "2024-05-01T12:00:00Z".
std::string utc_text(std::time_t time);
/// Returns the present time, as utc_text() writes it.
std::string utc_now();
/// Returns the present day: "2024-05-01".
std::string utc_today();

}  // namespace sotto
