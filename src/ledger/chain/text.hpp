// Text in a ledger's records: digests, exact sums, times, user names.
#pragma once

#include <initializer_list>
#include <string>

#include "sotto/numerics/real.hpp"

namespace sotto::ledger_detail {

/// Returns every bit of a certified sum: high part, low part and radius as hexadecimal
/// floating-point numbers. Throws LedgerError if a part is not finite.
std::string exact(const Real& x);
/// Replaces decimal commas by points. Releases before 0.2 wrote "0x1,8p+1" in locales with a comma.
std::string with_decimal_point(std::string text);
/// Reads the text that exact() writes. `where` begins the error, such as "entry 3". Throws
/// LedgerError.
Real read_exact(const std::string& text, const std::string& where = "the ledger");
/// Returns whether the bytes are UTF-8 without the byte 0, which every store and JSON can hold.
bool is_text(const std::string& bytes);
/// Returns the digest of the previous hash and these fields.
std::string chained(const std::string& before, std::initializer_list<std::string> fields);
/// Returns the name of the user who runs this process.
std::string user_name();

}  // namespace sotto::ledger_detail
