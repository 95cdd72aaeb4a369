// PostgreSQL as an engine: one read-only transaction, so that all statements see the same rows.
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <exception>

#include "core/api/join.hpp"
#include "data/engines/engines.hpp"
#include "data/engines/postgresql/copy_reader.hpp"
#include "data/engines/postgresql/libpq.hpp"
#include "data/engines/postgresql/stored_types.hpp"
#include "data/engines/stored_column.hpp"
#include "data/expressions/quoting.hpp"
#include "data/sql/dialect.hpp"
#include "data/text/suggestion.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

constexpr const char* unreachable =
    "PostgreSQL cannot be reached: check that its server runs, and the host, port, user and "
    "database of the connection, for example with psql";

constexpr const char* failure = "PostgreSQL failed on a statement that sotto wrote";
constexpr const char* canceled = "stopped";
constexpr Oid bigint = 20;
constexpr Oid text = 25;

using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;

class PostgresEngine final : public Engine {
 public:
  PostgresEngine(const PostgresSource& source, const std::vector<Column>& columns,
                 const Limits& limits, const std::vector<std::string>& unreadable_flags)
      : library_(data_detail::libpq()), connection_(nullptr, library_.finish) {
    connect(source.connection);
    if (std::string(parameter("server_encoding")) != "UTF8")
      throw EngineError(
          std::string("the encoding of the PostgreSQL database is ") +
              parameter("server_encoding") +
              " and must be UTF8: move the table to a database that was created with -E UTF8",
          parameter("server_encoding"));
    settings_ = settings_for(limits);
    command("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    select(source, columns, unreadable_flags);
    command("SAVEPOINT sotto");
  }

  [[nodiscard]] Dialect dialect() const override { return Dialect::postgresql; }
  [[nodiscard]] std::string table() const override { return table_; }
  RowsRead rows_read() override { return data_detail::any_row(*this); }

  [[nodiscard]] const std::vector<data_detail::StoredColumn>& stored() const { return stored_; }

  Rows query(const std::string& sql, const Progress& progress) override {
    if (!sql.starts_with("SELECT ") && !sql.starts_with("WITH "))
      throw std::logic_error("an engine runs SELECT statements only");
    if (progress && !progress(0)) throw EngineError(canceled, "");
    Rows rows;
    try {
      rows = rows_of(*run(sql, {}, progress));
    } catch (...) {
      roll_back();
      throw;
    }
    if (progress) progress(1);
    return rows;
  }

  void stream(const std::string& sql, const std::vector<Batch::Kind>& kinds,
              const BatchCallback& take, const Progress& progress) override {
    if (!sql.starts_with("SELECT "))
      throw std::logic_error("an engine runs SELECT statements only");
    if (progress && !progress(0)) throw EngineError(canceled, "");
    try {
      copy_out("COPY (" + sql + ") TO STDOUT (FORMAT binary)", kinds, take, progress);
    } catch (...) {
      roll_back();
      throw;
    }
    if (progress) progress(1);
  }

 private:
  void connect(const std::string& connection) {
    const char* const names[] = {"dbname", "client_encoding", "gssencmode",
                                 "fallback_application_name", nullptr};
    const char* const values[] = {connection.c_str(), "UTF8", "disable", "sotto", nullptr};
    connection_.reset(library_.connectStartParams(names, values, 1));
    if (!connection_) throw std::bad_alloc();
    require_private();
    for (auto state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;
         state = library_.connectPoll(connection_.get())) {
      if (state == PGRES_POLLING_FAILED || library_.status(connection_.get()) == CONNECTION_BAD) {
        throw EngineError(unreachable, library_.errorMessage(connection_.get()));
      }
      if (!wait(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, 60'000))
        throw EngineError(unreachable, "no answer in a minute");
    }
    library_.setnonblocking(connection_.get(), 1);
  }

  /// Throws InvalidValue unless the server is on this machine or TLS verifies its name. At this
  /// point libpq has read all settings, from the connection, the environment and files, and sent
  /// nothing: only a verified server sees a password or rows.
  void require_private() {
    std::string host;
    std::string address;
    std::string mode;
    const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
        library_.conninfo(connection_.get()), library_.conninfoFree);
    for (const auto* option = options.get(); option != nullptr && option->keyword != nullptr;
         ++option) {
      const std::string value = option->val == nullptr ? "" : option->val;
      if (option->keyword == std::string("host")) host = value;
      if (option->keyword == std::string("hostaddr")) address = value;
      if (option->keyword == std::string("sslmode")) mode = value;
    }
    if (mode == "verify-full" || postgresql::all_on_this_machine(address.empty() ? host : address))
      return;
    throw InvalidValue(
        "PostgreSQL on another machine needs TLS with a verified name: add sslmode=verify-full and "
        "sslrootcert=FILE, the certificate of its "
        "authority, to the connection");
  }

  /// Returns commands that set the session's settings. SET and RESET are commands, not functions,
  /// so that no search_path changes their meaning.
  static std::string settings_for(const Limits& limits) {
    std::string commands = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL";
    for (const char* setting :
         {"search_path = pg_catalog, pg_temp", "client_encoding = 'UTF8'",
          "standard_conforming_strings = on", "TimeZone = 'UTC'", "DateStyle = 'ISO, YMD'",
          "IntervalStyle = 'postgres'", "extra_float_digits = 3", "bytea_output = 'hex'",
          "transform_null_equals = off", "statement_timeout = 0", "lock_timeout = 0",
          "idle_in_transaction_session_timeout = 0",
          "row_security = off"}) {  // off: an error instead of fewer rows
      commands += std::string("; SET ") + setting;
    }
    if (limits.memory > 0)
      commands += "; SET work_mem = " +
                  std::to_string(std::clamp<std::int64_t>(limits.memory / 1024, 64, 2'147'483'647));
    if (limits.threads > 0)
      commands += "; SET max_parallel_workers_per_gather = " +
                  std::to_string(std::min(limits.threads, 1024) - 1);
    return commands;
  }

  /// Restores the settings before each statement: a function in a view can change them by
  /// set_config().
  void restore_settings() {
    if (library_.sendQuery(connection_.get(), settings_.c_str()) == 0)
      throw EngineError(failure, library_.errorMessage(connection_.get()));
    await({});
    std::string problem;
    for (;;) {
      const Result one(library_.getResult(connection_.get()), library_.clear);
      if (!one) break;
      if (library_.resultStatus(one.get()) != PGRES_COMMAND_OK)
        problem = library_.resultErrorMessage(one.get());
    }
    if (!problem.empty() || library_.status(connection_.get()) != CONNECTION_OK)
      throw EngineError(failure, problem);
  }

  /// Texts arrive in the encoding that the server announced last. A function may change it while
  /// rows are being sent.
  void require_encoding() const {
    if (std::string(parameter("client_encoding")) != "UTF8")
      throw EngineError(
          "a function in the PostgreSQL table or view changed client_encoding: remove this from "
          "the function",
          "");
  }

  /// Finds the stored columns of the table. Throws InvalidValue if there is no such table.
  void find_stored_columns(const std::string& schema, const std::string& name) {
    const auto described = rows_of(*run(
        "SELECT a.attname::text, CASE t.typtype WHEN 'e' THEN 'enum' ELSE format_type(a.atttypid, "
        "NULL) END FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid "
        "JOIN pg_type t ON t.oid = a.atttypid WHERE n.nspname = $1::text AND c.relname = $2::text "
        "AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped ORDER "
        "BY a.attnum",
        {schema, name}));
    if (described.size() == 0)
      throw InvalidValue("the database has no table \"" + name + "\" in the schema \"" + schema +
                         "\"");
    for (std::size_t i = 0; i < described.size(); ++i) {
      stored_.push_back(
          {std::get<std::string>(described.at(i, 0)), std::get<std::string>(described.at(i, 1))});
    }
  }

  /// Returns the stored type of a declared column. Throws InvalidValue if the column is absent or
  /// its type does not fit.
  [[nodiscard]] const std::string& stored_type(const Column& column) const {
    const auto it = std::find_if(stored_.begin(), stored_.end(),
                                 [&](const auto& one) { return one.name == column.name; });
    if (it == stored_.end()) {
      std::vector<std::string> names;
      for (const auto& one : stored_) names.push_back(one.name);
      throw InvalidValue("the table has no column \"" + column.name + "\"" +
                         data_detail::suggestion(column.name, names));
    }
    if (data_detail::fits_in_postgresql(it->type, column.type)) return it->type;
    throw InvalidValue("the column \"" + column.name + "\" is declared " + name_of(column.type) +
                       " and stored as " + it->type +
                       ", which does not fit: declare another type, or store it as one of " +
                       join(data_detail::postgresql_types(column.type)));
  }

  /// Writes the table as a subquery with the declared columns, and checks that it can be read.
  void select(const PostgresSource& source, const std::vector<Column>& columns,
              const std::vector<std::string>& unreadable_flags) {
    const std::string& table = source.table;
    const auto dot = table.find('.');
    const auto schema = dot == std::string::npos ? "public" : table.substr(0, dot);
    const auto name = dot == std::string::npos ? table : table.substr(dot + 1);
    find_stored_columns(schema, name);
    if (columns.empty()) return;

    std::string selected;
    std::string flags;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Column& column = columns[i];
      const auto value = data_detail::postgresql_value(column, stored_type(column));
      const bool trims = source.trim && column.type == Type::text;
      selected += (selected.empty() ? "" : ", ") +
                  (trims ? data_detail::sql_dialect(Dialect::postgresql).trimmed(value) : value) +
                  " AS " + data_detail::sql_name(column.name);
      if (unreadable_flags.empty()) continue;
      flags += ", (" + data_detail::sql_name(column.name) + " IS NOT NULL AND " + value +
               " IS NULL) AS " + data_detail::sql_name(unreadable_flags[i]);
    }
    table_ = "(SELECT " + selected + flags + " FROM " + data_detail::sql_name(schema) + "." +
             data_detail::sql_name(name) + ") AS sotto_table";
    try {
      run("SELECT * FROM " + table_ + " LIMIT 0", {});
    } catch (const EngineError& error) {
      throw EngineError("PostgreSQL refuses to read the table \"" + schema + "." + name +
                            "\": may this user read it?",
                        error.detail());
    }
  }

  /// Returns a setting as the server reported it.
  [[nodiscard]] const char* parameter(const char* name) const {
    const char* value = library_.parameterStatus(connection_.get(), name);
    return value == nullptr ? "" : value;
  }

  void command(const std::string& sql) { run(sql, {}); }

  /// Undoes a statement that failed, and keeps the snapshot. Until then the transaction refuses all
  /// statements, also SET.
  void roll_back() {
    if (library_.status(connection_.get()) == CONNECTION_OK)
      execute("ROLLBACK TO SAVEPOINT sotto", {});
  }

  /// Waits for the socket. Returns false if it is not ready in time.
  bool wait(short events, int milliseconds) {
    pollfd socket{library_.socket(connection_.get()), events, 0};
    return poll(&socket, 1, milliseconds) > 0;
  }

  Result run(const std::string& sql, const std::vector<std::string>& parameters,
             const Progress& progress = {}) {
    restore_settings();
    return execute(sql, parameters, progress);
  }

  Result execute(const std::string& sql, const std::vector<std::string>& parameters,
                 const Progress& progress = {}) {
    std::vector<const char*> values;
    for (const auto& parameter : parameters) values.push_back(parameter.c_str());
    // With parameters, the server accepts one statement only.
    if (library_.sendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()),
                                 nullptr, values.data(), nullptr, nullptr, 0) == 0) {
      throw EngineError(failure, library_.errorMessage(connection_.get()));
    }
    bool go_on = true;
    std::exception_ptr thrown;
    try {
      go_on = await(progress);
    } catch (...) {
      thrown = std::current_exception();
    }
    if (!go_on || thrown) cancel();
    Result last = last_result();
    if (thrown) std::rethrow_exception(thrown);
    if (!go_on) throw EngineError(canceled, "");
    const auto status = library_.resultStatus(last.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      throw EngineError(failure, last ? library_.resultErrorMessage(last.get())
                                      : library_.errorMessage(connection_.get()));
    }
    require_encoding();
    return last;
  }

  /// Reads the remaining results of a statement and returns the last one.
  Result last_result() {
    Result last(nullptr, library_.clear);
    for (;;) {
      Result next(library_.getResult(connection_.get()), library_.clear);
      if (!next) return last;
      last = std::move(next);
    }
  }

  void copy_out(const std::string& sql, const std::vector<Batch::Kind>& kinds,
                const BatchCallback& take, const Progress& progress) {
    restore_settings();
    if (library_.sendQueryParams(connection_.get(), sql.c_str(), 0, nullptr, nullptr, nullptr,
                                 nullptr, 0) == 0) {
      throw EngineError(failure, library_.errorMessage(connection_.get()));
    }
    std::exception_ptr thrown;
    try {
      if (!await(progress)) throw EngineError(canceled, "");
      const Result first(library_.getResult(connection_.get()), library_.clear);
      if (library_.resultStatus(first.get()) != PGRES_COPY_OUT)
        throw EngineError(failure, library_.resultErrorMessage(first.get()));
      data_detail::CopyReader rows(kinds, take);
      while (const auto message = next_message(progress))
        rows.add({message.get(), message.get_deleter().size});
      rows.finish();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (thrown) cancel();
    while (char* rest = next_raw()) library_.freemem(rest);
    Result last = last_result();
    if (thrown) std::rethrow_exception(thrown);
    if (last && library_.resultStatus(last.get()) != PGRES_COMMAND_OK)
      throw EngineError(failure, library_.resultErrorMessage(last.get()));
    require_encoding();
  }

  struct Freed {
    void (*free)(void*) = nullptr;
    std::size_t size = 0;
    void operator()(char* message) const { free(message); }
  };
  using Message = std::unique_ptr<char, Freed>;

  /// Returns the next message of a COPY; null at its end, whether it succeeded or not.
  Message next_message(const Progress& progress) {
    for (;;) {
      char* bytes = nullptr;
      const int size = library_.getCopyData(connection_.get(), &bytes, 1);
      if (size > 0) return {bytes, {library_.freemem, static_cast<std::size_t>(size)}};
      if (size < 0) return {nullptr, {library_.freemem, 0}};
      wait(POLLIN, 50);
      if (library_.consumeInput(connection_.get()) == 0)
        throw EngineError(failure, library_.errorMessage(connection_.get()));
      if (progress && !progress(0)) throw EngineError(canceled, "");
    }
  }

  /// Returns the next message of a COPY that was canceled, to be discarded; null at its end.
  char* next_raw() {
    char* bytes = nullptr;
    return library_.getCopyData(connection_.get(), &bytes, 0) > 0 ? bytes : nullptr;
  }

  /// Waits for an answer. Returns false if `progress` asked to stop.
  bool await(const Progress& progress) {
    bool sending = true;
    for (;;) {
      if (sending) sending = library_.flush(connection_.get()) == 1;
      wait(static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 50);
      if (library_.consumeInput(connection_.get()) == 0 || library_.isBusy(connection_.get()) == 0)
        return true;
      if (progress && !progress(0)) return false;
    }
  }

  void cancel() {
    const std::unique_ptr<PGcancel, void (*)(PGcancel*)> handle(
        library_.getCancel(connection_.get()), library_.freeCancel);
    char why[256];
    if (handle) library_.cancel(handle.get(), why, sizeof why);
  }

  [[nodiscard]] Rows rows_of(const PGresult& result) const {
    Rows rows;
    const auto* const handle = &result;
    rows.width = static_cast<std::size_t>(library_.nfields(handle));
    const int width = library_.nfields(handle);
    for (int i = 0; i < width; ++i) {
      const auto type = library_.ftype(handle, i);
      if (type != bigint && type != text)
        throw std::logic_error("a column of an answer is neither bigint nor text");
    }
    const int count = library_.ntuples(handle);
    rows.cells.reserve(static_cast<std::size_t>(count) * rows.width);
    for (int row = 0; row < count; ++row) {
      for (int i = 0; i < width; ++i) {
        auto& cell = rows.cells.emplace_back();
        if (library_.getisnull(handle, row, i) != 0) continue;
        const std::string value(library_.getvalue(handle, row, i),
                                static_cast<std::size_t>(library_.getlength(handle, row, i)));
        if (library_.ftype(handle, i) == text) {
          cell = value;
        } else {
          cell.emplace<std::int64_t>();
          std::from_chars(value.data(), value.data() + value.size(), std::get<std::int64_t>(cell));
        }
      }
    }
    return rows;
  }

  const postgresql::Libpq& library_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
  std::string settings_;
  std::string table_;
  std::vector<data_detail::StoredColumn> stored_;
};

}  // namespace

const postgresql::Libpq& data_detail::libpq() {
  try {
    return postgresql::libpq();
  } catch (const postgresql::ClientUnavailable& error) {
    throw EngineError(error.what(), error.detail());
  }
}

std::unique_ptr<Engine> data_detail::open_postgresql(
    const PostgresSource& source, const std::vector<Column>& columns, const Limits& limits,
    const std::vector<std::string>& unreadable_flags) {
  return std::make_unique<PostgresEngine>(source, columns, limits, unreadable_flags);
}

std::vector<Column> data_detail::columns_of_table(const PostgresSource& source,
                                                  const Limits& limits,
                                                  std::vector<std::string>& left_out) {
  std::vector<Column> columns;
  const PostgresEngine engine(source, {}, limits, {});
  for (const auto& [name, stored] : engine.stored()) {
    const std::size_t before = columns.size();
    for (const auto type :
         {Type::boolean, Type::integer, Type::real, Type::text, Type::date, Type::timestamp}) {
      const bool whole = stored == "smallint" || stored == "integer" || stored == "bigint";
      if (!data_detail::fits_in_postgresql(stored, type) || (type == Type::integer && !whole))
        continue;
      columns.push_back({name, type});
      break;
    }
    if (columns.size() == before) left_out.push_back(name);
  }
  return columns;
}

}  // namespace sotto
