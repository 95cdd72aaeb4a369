// Budgets, digests and certified sums as text. Ledgers hash these texts, so each is written in one
// way only, in every locale.
#include "ledger/chain/text.hpp"

#include <openssl/evp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/api/hexadecimal.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {

std::string print(const Budget& budget) {
  const auto text = [](const char* name, std::initializer_list<double> numbers) {
    std::string result = name;
    for (const double number : numbers)
      result += (result.back() == '(' ? "" : ", ") + shortest(number);
    return result + ")";
  };
  if (const auto* b = std::get_if<ApproximateBudget>(&budget))
    return text("approx(", {b->epsilon, b->delta});
  if (const auto* b = std::get_if<ZcdpBudget>(&budget)) return text("zcdp(", {b->rho, b->delta});
  if (const auto* b = std::get_if<RenyiBudget>(&budget))
    return text("rdp(", {b->order, b->epsilon, b->delta});
  if (const auto* b = std::get_if<GdpBudget>(&budget))
    return b->delta == 0 ? text("gdp(", {b->mu}) : text("gdp(", {b->mu, b->delta});
  return "plan(" + print(std::get<CommittedBudget>(budget).plan) + ")";
}

Budget parse_budget(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')')
    throw InvalidValue("'" + text + "' is not a budget: it has no (…) such as approx(1, 1e-06)");
  const std::string name = text.substr(0, open);
  if (name == "plan") return CommittedBudget{parse(text.substr(open + 1, text.size() - open - 2))};
  std::vector<double> numbers;
  std::string rest = text.substr(open + 1, text.size() - open - 2);
  for (;;) {
    const std::size_t comma = rest.find(", ");
    numbers.push_back(read_number(rest.substr(0, comma)));
    if (comma == std::string::npos) break;
    rest = rest.substr(comma + 2);
  }
  if (name == "approx" && numbers.size() == 2) return ApproximateBudget{numbers[0], numbers[1]};
  if (name == "zcdp" && numbers.size() == 2) return ZcdpBudget{numbers[0], numbers[1]};
  if (name == "rdp" && numbers.size() == 3) return RenyiBudget{numbers[0], numbers[1], numbers[2]};
  if (name == "gdp" && numbers.size() == 1) return GdpBudget{numbers[0]};
  if (name == "gdp" && numbers.size() == 2) return GdpBudget{numbers[0], numbers[1]};
  throw InvalidValue("'" + text +
                     "' is not a budget: a budget is approx(epsilon, delta), zcdp(rho, delta), "
                     "rdp(order, epsilon, delta), gdp(mu), "
                     "gdp(mu, delta) or plan(PLAN)");
}

std::string digest(const std::string& bytes) {
  static EVP_MD* const sha256 =
      EVP_MD_fetch(nullptr, "SHA256", nullptr);  // EVP_sha256() would be searched for in each call
  std::array<unsigned char, EVP_MAX_MD_SIZE> value{};
  unsigned size = 0;
  if (sha256 == nullptr ||
      EVP_Digest(bytes.data(), bytes.size(), value.data(), &size, sha256, nullptr) != 1) {
    throw LedgerError(
        "OpenSSL offers no SHA-256 here, so no ledger can be read or written: check its "
        "configuration");
  }
  return hexadecimal({value.data(), size});
}

namespace ledger_detail {

namespace {

// Writes the bits of a finite double as printf's "%a" does in the C locale, in every locale.
std::string hexadecimal_float(double x) {
  constexpr int fraction_bits = 52;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto biased = static_cast<int>((bits >> fraction_bits) & 0x7FFU);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const int exponent = biased != 0 ? biased - 1023 : fraction != 0 ? -1022 : 0;

  std::string text = std::string(std::signbit(x) ? "-" : "") + (biased != 0 ? "0x1" : "0x0");
  if (fraction != 0) {
    text += '.';
    for (int shift = fraction_bits - 4; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[(fraction >> static_cast<unsigned>(shift)) & 15U];
    while (text.back() == '0') text.pop_back();
  }
  return text + (exponent < 0 ? "p-" : "p+") + std::to_string(std::abs(exponent));
}

// Reads the text that hexadecimal_float() writes. Returns NaN for any other text.
double read_hexadecimal_float(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (!text.starts_with("0x")) return NAN;
  text.remove_prefix(2);
  double value = NAN;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::hex);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) return NAN;
  return is_negative ? -value : value;
}

}  // namespace

std::string exact(const Real& x) {
  if (!std::isfinite(x.high()) || !std::isfinite(x.low()) || !std::isfinite(x.radius()))
    throw LedgerError("a total is not finite, so it cannot be written; nothing was charged");
  return hexadecimal_float(x.high()) + " " + hexadecimal_float(x.low()) + " " +
         hexadecimal_float(x.radius());
}

Real read_exact(const std::string& text, const std::string& where) {
  const auto fail = [&where, &text] {
    throw LedgerError(where + ": the total '" + text.substr(0, 100) +
                      "' cannot be read: the ledger is damaged");
  };
  const std::string in_c_locale = with_decimal_point(text);
  const std::size_t first = in_c_locale.find(' ');
  const std::size_t second = first == std::string::npos ? first : in_c_locale.find(' ', first + 1);
  if (second == std::string::npos) fail();
  const std::string_view all = in_c_locale;
  const double high = read_hexadecimal_float(all.substr(0, first));
  const double low = read_hexadecimal_float(all.substr(first + 1, second - first - 1));
  const double radius = read_hexadecimal_float(all.substr(second + 1));
  if (!std::isfinite(high) || !std::isfinite(low) || !(radius >= 0)) fail();
  return Real::ball(high, low, radius);
}

std::string with_decimal_point(std::string text) {
  std::replace(text.begin(), text.end(), ',', '.');
  return text;
}

// Refuses the byte 0, broken and overlong sequences, and surrogates.
bool is_text(const std::string& bytes) {
  const auto at = [&bytes](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size();) {
    const unsigned first = at(i);
    const std::size_t more = first < 0x80                    ? 0
                             : first >= 0xC2 && first < 0xE0 ? 1
                             : first >= 0xE0 && first < 0xF0 ? 2
                             : first >= 0xF0 && first < 0xF5 ? 3
                                                             : 9;
    if (first == 0 || more == 9) return false;
    for (std::size_t j = 1; j <= more; ++j) {
      if ((at(i + j) & 0xC0U) != 0x80U) return false;
    }
    const unsigned second = at(i + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90))
      return false;
    i += more + 1;
  }
  return true;
}

std::string chained(const std::string& before, std::initializer_list<std::string> fields) {
  // Each field is preceded by its length, so that no two lists of fields give equal bytes.
  std::string all = before;
  for (const std::string& field : fields) all += "\n" + std::to_string(field.size()) + ":" + field;
  return digest(all);
}

std::string user_name() {
  const uid_t id = getuid();
  passwd entry{};
  passwd* user = nullptr;
  std::array<char, 4096> buffer{};
  if (getpwuid_r(id, &entry, buffer.data(), buffer.size(), &user) == 0 && user != nullptr &&
      is_text(user->pw_name))
    return user->pw_name;
  return "user " + std::to_string(id);
}

}  // namespace ledger_detail
}  // namespace sotto
