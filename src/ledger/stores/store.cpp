// Chooses the store for a place: a PostgreSQL URI or the path of a file.
#include "ledger/chain/store.hpp"

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

// Returns the text without the part from `start` to the next character of `ends`.
std::string erase_part(std::string text, std::size_t start, const char* ends) {
  const std::size_t end = text.find_first_of(ends, start);
  return text.erase(start, end == std::string::npos ? end : end - start);
}

}  // namespace

bool ledger_detail::is_database(const std::string& place) {
  if (starts_with(place, "postgresql://") || starts_with(place, "postgres://")) return true;
  if (starts_with(place, "postgresql:") || starts_with(place, "postgres:")) {
    throw InvalidValue("'" + without_password(place) +
                       "' is not a place for a ledger: write a database as "
                       "postgresql://HOST/DATABASE, or the path of a file");
  }
  return false;
}

std::string without_password(const std::string& place) {
  if (!starts_with(place, "postgres")) return place;
  const std::size_t scheme = place.find(':');
  if (scheme == std::string::npos) return place;
  std::string text = place;
  // USER:PASSWORD@ ends at the last '@' before the parameters: a password may contain an unescaped
  // '@' or '/', although it should not.
  const std::size_t at = text.rfind('@', text.find('?'));
  const std::size_t user = text.find_first_not_of('/', scheme + 1);
  if (at != std::string::npos && user != std::string::npos && user < at) {
    const std::size_t colon = text.find(':', user);
    if (colon < at) text.erase(colon, at - colon);
  }
  for (const char* secret : {"password=", "sslpassword="}) {
    for (std::size_t position = text.find(secret); position != std::string::npos;
         position = text.find(secret, position + 1)) {
      text = erase_part(text, position + std::string(secret).size(), "&");
    }
  }
  return text;
}

std::unique_ptr<Ledger::Store> ledger_detail::open_store(const std::string& place,
                                                         std::chrono::milliseconds patience,
                                                         bool read_only) {
  // A database needs no read-only mode: reads are single SELECTs or transactions that are READ
  // ONLY.
  return ledger_detail::is_database(place) ? ledger_detail::open_postgresql(place, patience)
                                           : ledger_detail::open_sqlite(place, patience, read_only);
}

std::unique_ptr<Ledger::Store> ledger_detail::create_store(const std::string& place,
                                                           const Ledger::Store::Contents& contents,
                                                           const std::string& writer) {
  if (ledger_detail::is_database(place))
    return ledger_detail::create_postgresql(place, contents, writer);
  if (!writer.empty())
    throw InvalidValue(
        "`writer` is for ledgers in PostgreSQL, and a file has no roles: leave it empty, and set "
        "the permissions of the file");
  return ledger_detail::create_sqlite(place, contents);
}

}  // namespace sotto
