#include "ledger/stores/connection.hpp"

#include <algorithm>

#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger_detail {
namespace {

void say_nothing(void* /*argument*/, const char* /*message*/) {}

// --- Which servers may be called how ---

struct Setting {
  std::string name, value;
};

std::vector<Setting> settings_of(const std::string& uri) {
  const auto free_options = [](PQconninfoOption* options) { libpq().conninfoFree(options); };
  char* error = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(free_options)> options(libpq().conninfoParse(uri.c_str(), &error), free_options);
  if (options == nullptr) {
    libpq().freemem(error);  // it may quote the URI, password and all
    throw LedgerError("'" + without_password(uri) + "' cannot be read: a ledger in a database is postgresql://USER@HOST:PORT/DATABASE");
  }
  std::vector<Setting> settings;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) settings.push_back({option->keyword, option->val});
  }
  return settings;
}

std::string value_of(const std::vector<Setting>& settings, std::string_view name) {
  const auto found = std::find_if(settings.begin(), settings.end(), [name](const Setting& s) { return s.name == name; });
  return found == settings.end() ? "" : found->value;
}

std::string quoted_value(const std::string& value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

}  // namespace

const postgresql::Libpq& libpq() {
  try {
    return postgresql::libpq();
  } catch (const postgresql::NoClient& e) {
    throw LedgerError(std::string(e.what()) + " (" + e.detail() + ")");
  }
}

std::string connection_string(const std::string& uri) {
  const std::vector<Setting> given = settings_of(uri);
  if (!value_of(given, "service").empty()) throw LedgerError("a ledger's URI names its host itself: leave out service=");
  const std::string host = value_of(given, "host");
  const std::string address = value_of(given, "hostaddr");
  const bool verified = value_of(given, "sslmode") == "verify-full";
  if (!verified && !(postgresql::all_here(host) && postgresql::all_here(address))) {
    const bool more = uri.find('?') != std::string::npos;
    throw LedgerError("the server " + (host.empty() ? address : host) +
                      " is on another machine: whoever is on the way could read and change the ledger. Add " + (more ? "&" : "?") +
                      "sslmode=verify-full&sslrootcert=FILE to the URI, where FILE holds the certificate of the authority that signed the server's");
  }
  std::vector<Setting> all{{"connect_timeout", "10"}, {"application_name", "sotto"}, {"sslmode", "prefer"}};
  for (const Setting& setting : given) {
    std::erase_if(all, [&setting](const Setting& s) { return s.name == setting.name; });
    all.push_back(setting);
  }
  // What is not said would be taken from the environment or a service file.
  for (const char* name : {"host", "hostaddr"}) {
    if (value_of(given, name).empty()) {
      std::erase_if(all, [name](const Setting& s) { return s.name == name; });
      all.push_back({name, ""});
    }
  }
  std::erase_if(all, [](const Setting& s) { return s.name == "gssencmode" || s.name == "client_encoding"; });
  all.push_back({"gssencmode", "disable"});  // it would take the place of TLS, and of its checks
  all.push_back({"client_encoding", "UTF8"});
  std::string text;
  for (const Setting& setting : all) text += setting.name + "=" + quoted_value(setting.value) + " ";
  return text;
}

// --- Results ---

bool PgResult::good() const {
  const ExecStatusType status = libpq().resultStatus(result_.get());  // of none: a fatal error
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

std::string PgResult::state() const {
  const char* state = result_ == nullptr ? nullptr : libpq().resultErrorField(result_.get(), PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

std::string PgResult::tag() const { return result_ == nullptr ? "" : libpq().cmdStatus(result_.get()); }

int PgResult::rows() const { return libpq().ntuples(result_.get()); }

std::string PgResult::text(int row, int column) const {
  return {libpq().getvalue(result_.get(), row, column), static_cast<std::size_t>(libpq().getlength(result_.get(), row, column))};
}

// --- Connections ---

PgConnection::PgConnection(const std::string& uri) : connection_(libpq().connectdb(connection_string(uri).c_str())) {
  if (lost()) throw LedgerError("cannot reach " + without_password(uri) + ": " + error());
  libpq().setNoticeProcessor(connection_.get(), say_nothing, nullptr);
}

PgResult PgConnection::run(const char* sql, const std::vector<std::string>& parameters) const {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) {
    if (parameter.find('\0') != std::string::npos) throw LedgerError("a database holds no text with the byte 0");
    values.push_back(parameter.c_str());
  }
  return PgResult(libpq().execParams(connection_.get(), sql, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0));
}

PgResult PgConnection::run(const std::string& sql) const { return PgResult(libpq().exec(connection_.get(), sql.c_str())); }

bool PgConnection::lost() const { return libpq().status(connection_.get()) != CONNECTION_OK; }

bool PgConnection::regain() const {
  libpq().reset(connection_.get());
  return !lost();
}

std::string PgConnection::error() const {
  std::string text = libpq().errorMessage(connection_.get());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string PgConnection::quoted(const std::string& name) const {
  char* text = libpq().escapeIdentifier(connection_.get(), name.c_str(), name.size());
  if (text == nullptr) throw LedgerError("'" + name + "' is not a name: " + error());
  std::string result = text;
  libpq().freemem(text);
  return result;
}

}  // namespace sotto::ledger_detail
