#include "libpq.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger_detail {
namespace {

void* opened() {
  void* library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw LedgerError(std::string("a ledger in PostgreSQL needs its client library (Debian: apt-get install libpq5): ") + dlerror());
  }
  return library;
}

template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (function == nullptr) throw LedgerError(std::string("PostgreSQL's client library has no ") + name + ": install libpq5 of version 12 or later");
}

Libpq loaded() {
  void* library = opened();  // and never closed
  Libpq pq{};
  find(library, "PQconnectdb", pq.connectdb);
  find(library, "PQreset", pq.reset);
  find(library, "PQfinish", pq.finish);
  find(library, "PQstatus", pq.status);
  find(library, "PQerrorMessage", pq.error_message);
  find(library, "PQsetNoticeProcessor", pq.set_notice_processor);
  find(library, "PQexec", pq.exec);
  find(library, "PQexecParams", pq.exec_params);
  find(library, "PQresultStatus", pq.result_status);
  find(library, "PQresultErrorField", pq.result_error_field);
  find(library, "PQcmdStatus", pq.cmd_status);
  find(library, "PQntuples", pq.ntuples);
  find(library, "PQgetvalue", pq.getvalue);
  find(library, "PQgetlength", pq.getlength);
  find(library, "PQclear", pq.clear);
  find(library, "PQescapeIdentifier", pq.escape_identifier);
  find(library, "PQfreemem", pq.freemem);
  find(library, "PQconninfoParse", pq.conninfo_parse);
  find(library, "PQconninfoFree", pq.conninfo_free);
  return pq;
}

void say_nothing(void* /*argument*/, const char* /*message*/) {}

// --- Which servers may be called how ---

struct Setting {
  std::string name, value;
};

std::vector<Setting> settings_of(const std::string& uri) {
  const auto free_options = [](PQconninfoOption* options) { libpq().conninfo_free(options); };
  char* error = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(free_options)> options(libpq().conninfo_parse(uri.c_str(), &error), free_options);
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

// A socket's folder (or none: the default one), or a name or address of this machine.
bool is_here(const std::string& host) {
  if (host.empty() || host[0] == '/' || host[0] == '@') return true;
  if (host == "localhost" || host == "::1") return true;
  return host.rfind("127.", 0) == 0 && host.find_first_not_of("0123456789.") == std::string::npos;
}

// The hosts are a list; all must be.
bool all_here(const std::string& hosts) {
  for (std::size_t start = 0; start <= hosts.size();) {
    const std::size_t comma = std::min(hosts.find(',', start), hosts.size());
    if (!is_here(hosts.substr(start, comma - start))) return false;
    start = comma + 1;
  }
  return true;
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

const Libpq& libpq() {
  static const Libpq functions = loaded();
  return functions;
}

std::string connection_string(const std::string& uri) {
  const std::vector<Setting> given = settings_of(uri);
  if (!value_of(given, "service").empty()) throw LedgerError("a ledger's URI names its host itself: leave out service=");
  const std::string host = value_of(given, "host");
  const std::string address = value_of(given, "hostaddr");
  const bool verified = value_of(given, "sslmode") == "verify-full";
  if (!verified && !(all_here(host) && all_here(address))) {
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
  const ExecStatusType status = libpq().result_status(result_.get());  // of none: a fatal error
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

std::string PgResult::state() const {
  const char* state = result_ == nullptr ? nullptr : libpq().result_error_field(result_.get(), PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

std::string PgResult::tag() const { return result_ == nullptr ? "" : libpq().cmd_status(result_.get()); }

int PgResult::rows() const { return libpq().ntuples(result_.get()); }

std::string PgResult::text(int row, int column) const {
  return {libpq().getvalue(result_.get(), row, column), static_cast<std::size_t>(libpq().getlength(result_.get(), row, column))};
}

// --- Connections ---

PgConnection::PgConnection(const std::string& uri) : connection_(libpq().connectdb(connection_string(uri).c_str())) {
  if (lost()) throw LedgerError("cannot reach " + without_password(uri) + ": " + error());
  libpq().set_notice_processor(connection_.get(), say_nothing, nullptr);
}

PgResult PgConnection::run(const char* sql, const std::vector<std::string>& parameters) const {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) {
    if (parameter.find('\0') != std::string::npos) throw LedgerError("a database holds no text with the byte 0");
    values.push_back(parameter.c_str());
  }
  return PgResult(libpq().exec_params(connection_.get(), sql, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0));
}

PgResult PgConnection::run(const std::string& sql) const { return PgResult(libpq().exec(connection_.get(), sql.c_str())); }

bool PgConnection::lost() const { return libpq().status(connection_.get()) != CONNECTION_OK; }

bool PgConnection::regain() const {
  libpq().reset(connection_.get());
  return !lost();
}

std::string PgConnection::error() const {
  std::string text = libpq().error_message(connection_.get());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string PgConnection::quoted(const std::string& name) const {
  char* text = libpq().escape_identifier(connection_.get(), name.c_str(), name.size());
  if (text == nullptr) throw LedgerError("'" + name + "' is not a name: " + error());
  std::string result = text;
  libpq().freemem(text);
  return result;
}

}  // namespace sotto::ledger_detail
