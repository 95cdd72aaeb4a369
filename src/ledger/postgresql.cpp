// A ledger in a PostgreSQL database, in the schema sotto_ledger. Writers take turns by a lock that ends with the transaction; a commit is on
// the server's disk before it is acknowledged, whatever the server's settings.
#include "libpq.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/json.hpp"
#include "store.hpp"

namespace sotto {
namespace {

using ledger_detail::PgConnection;
using ledger_detail::PgResult;

constexpr const char* version = "1";

// COLLATE "C": equal bytes are equal requests, on every system. The one founding row is the key of its table.
constexpr const char* schema = R"(
CREATE SCHEMA sotto_ledger;
CREATE TABLE sotto_ledger.founding (
  version integer PRIMARY KEY CHECK (version = 1), id text NOT NULL, created text NOT NULL, name text NOT NULL, unit text NOT NULL,
  relation text NOT NULL, budget text NOT NULL);
CREATE TABLE sotto_ledger.entry (
  number bigint PRIMARY KEY, time text NOT NULL, request text COLLATE "C" NOT NULL UNIQUE, content text NOT NULL, plan text NOT NULL,
  cost double precision NOT NULL, cost_delta double precision NOT NULL, amount text NOT NULL, delta text NOT NULL, hash text NOT NULL);
CREATE TABLE sotto_ledger.answer (request text COLLATE "C" PRIMARY KEY REFERENCES sotto_ledger.entry(request), answer text NOT NULL);
CREATE FUNCTION sotto_ledger.refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'a ledger is only ever added to'; END $$;
CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON sotto_ledger.founding FOR EACH STATEMENT EXECUTE FUNCTION sotto_ledger.refuse();
CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON sotto_ledger.entry FOR EACH STATEMENT EXECUTE FUNCTION sotto_ledger.refuse();
CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON sotto_ledger.answer FOR EACH STATEMENT EXECUTE FUNCTION sotto_ledger.refuse();
)";

// The statements after the lock see what was committed before it was given. Set for this transaction alone, which also holds behind a
// pool that shares connections.
std::string begin_with(std::chrono::milliseconds patience) {
  return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = " +
         std::to_string(std::max<std::int64_t>(1, std::min<std::int64_t>(patience.count(), 1 << 30))) +
         "; SELECT pg_catalog.pg_advisory_xact_lock(495791141999)";  // "sotto", in bytes
}

class PostgresqlStore final : public Ledger::Store {
 public:
  PostgresqlStore(const std::string& uri, std::chrono::milliseconds patience)
      : name_(without_password(uri)), begin_(begin_with(patience)), connection_(uri) {
    if (one("SELECT pg_catalog.current_setting('fsync')") != "on") {
      throw LedgerError(name_ + " runs with fsync = off: a charge could be lost with its power. Set fsync = on in postgresql.conf");
    }
  }

  void require_ledger() const {
    const PgResult found = ask("SELECT pg_catalog.to_regclass('sotto_ledger.founding') IS NOT NULL");
    if (found.text(0, 0) != "t") throw LedgerError("there is no ledger in " + name_ + ": make one with `sotto ledger create`");
    const PgResult made = ask("SELECT version FROM sotto_ledger.founding");
    if (made.rows() != 1) throw LedgerError(name_ + " has no terms: it is damaged");
    if (made.text(0, 0) != version) throw LedgerError(name_ + " was written by another version of sotto; it was left as it was");
  }

  void found(const Contents& contents, const std::string& writer) {
    const Founding& f = contents.founding;
    transact([&] {
      if (one("SELECT pg_catalog.to_regnamespace('sotto_ledger') IS NOT NULL") == "t") {
        throw LedgerError("there is a ledger in " + name_ + " already; a ledger is never overwritten");
      }
      require(connection_.run(std::string(schema)));
      ask("INSERT INTO sotto_ledger.founding VALUES ($1,$2,$3,$4,$5,$6,$7)", {version, f.id, f.created, f.name, f.unit, f.relation, f.budget});
      append(contents.entries);
      for (const auto& [request, answer] : contents.answers) keep_answer(request, answer);
      if (!writer.empty()) {
        const std::string role = connection_.quoted(writer);
        require(connection_.run("GRANT USAGE ON SCHEMA sotto_ledger TO " + role + "; GRANT SELECT ON ALL TABLES IN SCHEMA sotto_ledger TO " + role +
                                "; GRANT INSERT ON sotto_ledger.entry, sotto_ledger.answer TO " + role));
      }
    });
  }

  Founding founding() const override {
    const PgResult row = ask("SELECT id, created, name, unit, relation, budget FROM sotto_ledger.founding");
    if (row.rows() != 1) throw LedgerError(name_ + " has no terms: it is damaged");
    return {row.text(0, 0), row.text(0, 1), row.text(0, 2), row.text(0, 3), row.text(0, 4), row.text(0, 5)};
  }

  void transact(const std::function<void()>& f) override {
    begin();
    in_transaction_ = true;
    try {
      f();
    } catch (...) {
      in_transaction_ = false;
      (void)connection_.run("ROLLBACK");  // or it is lost, and the server rolls back
      throw;
    }
    in_transaction_ = false;
    const PgResult commit = connection_.run("COMMIT");
    if (commit.good() && commit.tag() == "COMMIT") return;
    if (connection_.lost()) {
      throw OutcomeUnknown(name_ + ": the connection was lost while the charge was being written (" + connection_.error() +
                           "): whether it is there is not known. Send the same request again: it is charged once");
    }
    require(commit);
    throw LedgerError(name_ + ": the server rolled back; nothing was charged");
  }

  std::optional<StoredEntry> last() const override { return first_of(ask("SELECT * FROM sotto_ledger.entry ORDER BY number DESC LIMIT 1")); }
  // many in one round trip, as JSON
  std::map<std::string, StoredEntry> of_requests(const std::vector<std::string>& requests) const override {
    const PgResult rows =
        ask("SELECT * FROM sotto_ledger.entry WHERE request IN (SELECT pg_catalog.json_array_elements_text($1::json))", {Json(requests).dump()});
    std::map<std::string, StoredEntry> found;
    for (int row = 0; row < rows.rows(); ++row) found.emplace(rows.text(row, 2), read(rows, row));
    return found;
  }
  std::vector<StoredEntry> all() const override {
    const PgResult rows = ask("SELECT * FROM sotto_ledger.entry ORDER BY number");
    std::vector<StoredEntry> entries;
    for (int row = 0; row < rows.rows(); ++row) entries.push_back(read(rows, row));
    return entries;
  }
  void append(const std::vector<StoredEntry>& entries) override {
    Json rows = Json::array();
    for (const StoredEntry& s : entries) {
      const Entry& e = s.entry;
      rows.push_back({{"number", e.number},
                      {"time", e.time},
                      {"request", e.request},
                      {"content", e.content},
                      {"plan", e.plan},
                      {"cost", e.cost.amount},
                      {"cost_delta", e.cost.delta},
                      {"amount", s.amount},
                      {"delta", s.delta},
                      {"hash", e.hash}});
    }
    if (!entries.empty()) {
      ask("INSERT INTO sotto_ledger.entry SELECT * FROM pg_catalog.json_populate_recordset(NULL::sotto_ledger.entry, $1::json)", {rows.dump()});
    }
  }

  std::optional<std::string> answer(const std::string& request) const override {
    const PgResult row = ask("SELECT answer FROM sotto_ledger.answer WHERE request = $1", {request});
    return row.rows() == 1 ? std::optional(row.text(0, 0)) : std::nullopt;
  }
  std::map<std::string, std::string> answers() const override {
    const PgResult rows = ask("SELECT request, answer FROM sotto_ledger.answer");
    std::map<std::string, std::string> all;
    for (int row = 0; row < rows.rows(); ++row) all.emplace(rows.text(row, 0), rows.text(row, 1));
    return all;
  }
  void keep_answer(const std::string& request, const std::string& answer) override {
    ask("INSERT INTO sotto_ledger.answer VALUES ($1,$2)", {request, answer});
  }

 private:
  // What the server says, in words for whoever holds the ledger.
  void require(const PgResult& result) const {
    if (result.good()) return;
    const std::string state = result.state();
    const std::string said = connection_.error();
    if (connection_.lost()) throw LedgerError(name_ + ": the connection was lost (" + said + "); nothing was charged");
    if (state == "55P03") throw LedgerError(name_ + " is in use by another process, for longer than was waited; nothing was charged");
    if (state == "42501") throw LedgerError(name_ + ": this role may not do that (" + said + "); nothing was charged");
    if (state == "25006") throw LedgerError(name_ + " cannot be written; nothing was charged");
    if (state == "53100") throw LedgerError("the server's disk is full: nothing was charged to " + name_);
    throw LedgerError(name_ + ": " + said + "; nothing was charged");
  }

  // Outside a transaction nothing is lost with a connection, so it is made anew.
  PgResult ask(const char* sql, const std::vector<std::string>& parameters = {}) const {
    PgResult result = connection_.run(sql, parameters);
    if (!result.good() && !in_transaction_ && connection_.lost() && connection_.regain()) result = connection_.run(sql, parameters);
    require(result);
    return result;
  }
  void begin() const {
    const PgResult begun = connection_.run(begin_);
    if (begun.good()) return;
    if (connection_.lost() && connection_.regain()) return require(connection_.run(begin_));
    try {
      require(begun);
    } catch (...) {
      (void)connection_.run("ROLLBACK");
      throw;
    }
  }
  std::string one(const char* sql) const { return ask(sql).text(0, 0); }
  static StoredEntry read(const PgResult& rows, int row) {
    const auto text = [&](int column) { return rows.text(row, column); };
    return {{std::stoll(text(0)), text(1), text(2), text(3), text(4), {read_number(text(5)), read_number(text(6))}, text(9)}, text(7), text(8)};
  }
  static std::optional<StoredEntry> first_of(const PgResult& rows) { return rows.rows() > 0 ? std::optional(read(rows, 0)) : std::nullopt; }

  std::string name_;
  std::string begin_;
  PgConnection connection_;
  bool in_transaction_ = false;
};

}  // namespace

std::unique_ptr<Ledger::Store> open_postgresql(const std::string& uri, std::chrono::milliseconds patience) {
  auto store = std::make_unique<PostgresqlStore>(uri, patience);
  store->require_ledger();
  return store;
}

std::unique_ptr<Ledger::Store> create_postgresql(const std::string& uri, const Ledger::Store::Contents& contents, const std::string& writer) {
  auto store = std::make_unique<PostgresqlStore>(uri, std::chrono::seconds(30));
  store->found(contents, writer);
  return store;
}

}  // namespace sotto
