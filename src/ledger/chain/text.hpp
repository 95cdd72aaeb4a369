// Text that the ledger keeps.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "sotto/numerics/real.hpp"

namespace sotto::ledger_detail {

std::string hexadecimal(std::span<const unsigned char> bytes);
/// The bytes of digits in lower case; nothing for any other text.
std::optional<std::string> from_hexadecimal(const std::string& digits);
/// A certified sum with every bit of its ball, and read back.
std::string exact(const Real& x);
/// A total as it would be written today: releases before 0.2 wrote "0x1,8p+1" where the locale has a decimal comma.
std::string with_decimal_point(std::string text);
Real read_exact(const std::string& text);
/// Whether it is UTF-8, without the byte 0: what every store and JSON can hold.
bool is_text(const std::string& bytes);
std::string time_now();
/// The digest of the last hash and these fields.
std::string chained(const std::string& before, std::initializer_list<std::string> fields);
/// The name of the user whose process this is.
std::string user_name();

}  // namespace sotto::ledger_detail
