// Budgets, digests and certified sums as text.
#include "text.hpp"

#include <openssl/evp.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {

std::string print(const Budget& budget) {
  const auto text = [](const char* name, std::initializer_list<double> numbers) {
    std::string result = name;
    for (const double number : numbers) result += (result.back() == '(' ? "" : ", ") + shortest(number);
    return result + ")";
  };
  if (const auto* b = std::get_if<ApproximateBudget>(&budget)) return text("approx(", {b->epsilon, b->delta});
  if (const auto* b = std::get_if<ZcdpBudget>(&budget)) return text("zcdp(", {b->rho, b->delta});
  if (const auto* b = std::get_if<RenyiBudget>(&budget)) return text("rdp(", {b->order, b->epsilon, b->delta});
  if (const auto* b = std::get_if<GdpBudget>(&budget)) return b->delta == 0 ? text("gdp(", {b->mu}) : text("gdp(", {b->mu, b->delta});
  return "plan(" + print(std::get<CommittedBudget>(budget).plan) + ")";
}

Budget parse_budget(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') throw InvalidValue("'" + text + "' is not a budget");
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
  throw InvalidValue("'" + text + "' is not a budget");
}

std::string digest(const std::string& bytes) {
  static EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);  // fetched once: EVP_sha256() would be looked up each time
  std::array<unsigned char, EVP_MAX_MD_SIZE> value{};
  unsigned size = 0;
  if (sha256 == nullptr || EVP_Digest(bytes.data(), bytes.size(), value.data(), &size, sha256, nullptr) != 1) {
    throw LedgerError("SHA-256 is not available");
  }
  return ledger_detail::hexadecimal({value.data(), size});
}

namespace ledger_detail {

std::string hexadecimal(std::span<const unsigned char> bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

std::optional<std::string> from_hexadecimal(const std::string& digits) {
  if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdef") != std::string::npos) return std::nullopt;
  const auto value = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) bytes += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  return bytes;
}

std::string exact(const Real& x) {
  std::array<char, 96> text{};
  const int size = std::snprintf(text.data(), text.size(), "%a %a %a", x.high(), x.low(), x.radius());
  return {text.data(), static_cast<std::size_t>(size)};
}

Real read_exact(const std::string& text) {
  double high = NAN;
  double low = NAN;
  double radius = NAN;
  int used = 0;
  if (std::sscanf(text.c_str(), "%la %la %la%n", &high, &low, &radius, &used) != 3 || used != static_cast<int>(text.size()) || !std::isfinite(high) ||
      !std::isfinite(low) || !(radius >= 0)) {
    throw LedgerError("a total in the ledger cannot be read");
  }
  return Real::ball(high, low, radius);
}

// Neither the byte 0, nor too long or broken sequences, nor surrogates.
bool is_text(const std::string& bytes) {
  const auto at = [&bytes](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
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
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second >= 0x90))
      return false;
    i += more + 1;
  }
  return true;
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string chained(const std::string& before, std::initializer_list<std::string> fields) {
  // each with its length, so that no two lists of fields read alike
  std::string all = before;
  for (const std::string& field : fields) all += "\n" + std::to_string(field.size()) + ":" + field;
  return digest(all);
}

std::string user_name() {
  const uid_t id = getuid();
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> room{};
  if (getpwuid_r(id, &entry, room.data(), room.size(), &found) == 0 && found != nullptr && is_text(found->pw_name)) return found->pw_name;
  return "user " + std::to_string(id);
}

}  // namespace ledger_detail
}  // namespace sotto
