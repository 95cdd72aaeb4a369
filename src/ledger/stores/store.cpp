// Which store a place names.
#include "ledger/chain/store.hpp"

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

// Everything from `start` to the next of `ends` is left out.
std::string without(std::string text, std::size_t start, const char* ends) {
  const std::size_t end = text.find_first_of(ends, start);
  return text.erase(start, end == std::string::npos ? end : end - start);
}

}  // namespace

bool ledger_detail::is_database(const std::string& place) {
  if (starts_with(place, "postgresql://") || starts_with(place, "postgres://")) return true;
  if (starts_with(place, "postgresql:") || starts_with(place, "postgres:")) {
    throw InvalidValue("'" + without_password(place) + "' is not a place for a ledger: a database is postgresql://HOST/DATABASE");
  }
  return false;
}

std::string without_password(const std::string& place) {
  if (!starts_with(place, "postgres")) return place;
  const std::size_t scheme = place.find(':');
  if (scheme == std::string::npos) return place;
  std::string text = place;
  // a password may hold an unescaped '@' or '/', though it should not: the last '@' before the parameters ends it
  const std::size_t at = text.rfind('@', text.find('?'));
  const std::size_t user = text.find_first_not_of('/', scheme + 1);
  if (at != std::string::npos && user != std::string::npos && user < at) {
    const std::size_t colon = text.find(':', user);
    if (colon < at) text.erase(colon, at - colon);
  }
  for (const char* secret : {"password=", "sslpassword="}) {
    for (std::size_t found = text.find(secret); found != std::string::npos; found = text.find(secret, found + 1)) {
      text = without(text, found + std::string(secret).size(), "&");
    }
  }
  return text;
}

std::unique_ptr<Ledger::Store> ledger_detail::open_store(const std::string& place, std::chrono::milliseconds patience, bool read_only) {
  // what reads a database are single SELECTs, and transactions that say READ ONLY
  return ledger_detail::is_database(place) ? ledger_detail::open_postgresql(place, patience) : ledger_detail::open_sqlite(place, patience, read_only);
}

std::unique_ptr<Ledger::Store> ledger_detail::create_store(const std::string& place, const Ledger::Store::Contents& contents,
                                                           const std::string& writer) {
  if (ledger_detail::is_database(place)) return ledger_detail::create_postgresql(place, contents, writer);
  if (!writer.empty()) throw InvalidValue("a file has no roles, so no writer: who may write it is said by its permissions");
  return ledger_detail::create_sqlite(place, contents);
}

}  // namespace sotto
