// Connections to PostgreSQL: which servers are accepted, and how.
//
// The attacker sits between this process and the server. The connection is therefore TLS with a
// verified host name, or stays on this machine.
#include "ledger/stores/connection.hpp"

#include <algorithm>

#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger_detail {
namespace {

// Notices of the server are not printed: the library never writes to the terminal.
void ignore_notice(void* /*argument*/, const char* /*message*/) {}

// --- Accepted servers ---

struct Setting {
  std::string name, value;
};

std::vector<Setting> settings_of(const std::string& uri) {
  const auto free_options = [](PQconninfoOption* options) { libpq().conninfoFree(options); };
  char* error = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(free_options)> options(
      libpq().conninfoParse(uri.c_str(), &error), free_options);
  if (options == nullptr) {
    libpq().freemem(error);  // not shown: it may quote the URI with its password
    throw LedgerError(
        "'" + without_password(uri) +
        "' cannot be read: write a ledger in a database as postgresql://USER@HOST:PORT/DATABASE");
  }
  std::vector<Setting> settings;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) settings.push_back({option->keyword, option->val});
  }
  return settings;
}

std::string value_of(const std::vector<Setting>& settings, std::string_view name) {
  const auto setting = std::find_if(settings.begin(), settings.end(),
                                    [name](const Setting& s) { return s.name == name; });
  return setting == settings.end() ? "" : setting->value;
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
  } catch (const postgresql::ClientUnavailable& e) {
    throw LedgerError(std::string(e.what()) + " (" + e.detail() + ")");
  }
}

std::string connection_string(const std::string& uri) {
  const std::vector<Setting> stated = settings_of(uri);
  // A service file could name another host than the one that was checked.
  if (!value_of(stated, "service").empty())
    throw LedgerError(
        "the URI of a ledger has service=, which names a host elsewhere: leave it out and give "
        "HOST");
  const std::string host = value_of(stated, "host");
  const std::string address = value_of(stated, "hostaddr");
  const bool verified = value_of(stated, "sslmode") == "verify-full";
  if (!verified &&
      !(postgresql::all_on_this_machine(host) && postgresql::all_on_this_machine(address))) {
    const bool has_parameters = uri.find('?') != std::string::npos;
    throw LedgerError("the server " + (host.empty() ? address : host) +
                      " is on another machine, so somebody on the network could read and change "
                      "the ledger. Add " +
                      (has_parameters ? "&" : "?") +
                      "sslmode=verify-full&sslrootcert=FILE to the URI, where FILE is the "
                      "certificate of the authority that signed the server's certificate");
  }
  std::vector<Setting> all{
      {"connect_timeout", "10"}, {"application_name", "sotto"}, {"sslmode", "prefer"}};
  for (const Setting& setting : stated) {
    std::erase_if(all, [&setting](const Setting& s) { return s.name == setting.name; });
    all.push_back(setting);
  }
  // libpq takes an absent setting from the environment or a service file, so both are set
  // explicitly.
  for (const char* name : {"host", "hostaddr"}) {
    if (value_of(stated, name).empty()) {
      std::erase_if(all, [name](const Setting& s) { return s.name == name; });
      all.push_back({name, ""});
    }
  }
  std::erase_if(
      all, [](const Setting& s) { return s.name == "gssencmode" || s.name == "client_encoding"; });
  all.push_back(
      {"gssencmode",
       "disable"});  // GSSAPI encryption would replace TLS and skip its verification of the host
  all.push_back({"client_encoding", "UTF8"});
  std::string text;
  for (const Setting& setting : all) text += setting.name + "=" + quoted_value(setting.value) + " ";
  return text;
}

// --- Results ---

bool PgResult::good() const {
  const ExecStatusType status =
      libpq().resultStatus(result_.get());  // of a null result: PGRES_FATAL_ERROR
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

std::string PgResult::state() const {
  const char* state =
      result_ == nullptr ? nullptr : libpq().resultErrorField(result_.get(), PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

std::string PgResult::tag() const {
  return result_ == nullptr ? "" : libpq().cmdStatus(result_.get());
}

int PgResult::rows() const { return libpq().ntuples(result_.get()); }

std::string PgResult::text(int row, int column) const {
  return {libpq().getvalue(result_.get(), row, column),
          static_cast<std::size_t>(libpq().getlength(result_.get(), row, column))};
}

// --- Connections ---

PgConnection::PgConnection(const std::string& uri)
    : connection_(libpq().connectdb(connection_string(uri).c_str())) {
  if (lost())
    throw LedgerError("cannot connect to the ledger " + without_password(uri) + ": " + error());
  libpq().setNoticeProcessor(connection_.get(), ignore_notice, nullptr);
}

PgResult PgConnection::run(const char* sql, const std::vector<std::string>& parameters) const {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) {
    if (parameter.find('\0') != std::string::npos)
      throw LedgerError("a text has the byte 0, which PostgreSQL cannot store: remove it");
    values.push_back(parameter.c_str());
  }
  return PgResult(libpq().execParams(connection_.get(), sql, static_cast<int>(values.size()),
                                     nullptr, values.data(), nullptr, nullptr, 0));
}

PgResult PgConnection::run(const std::string& sql) const {
  return PgResult(libpq().exec(connection_.get(), sql.c_str()));
}

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
  if (text == nullptr)
    throw LedgerError("'" + name + "' cannot be the name of a database role: " + error());
  std::string result = text;
  libpq().freemem(text);
  return result;
}

}  // namespace sotto::ledger_detail
