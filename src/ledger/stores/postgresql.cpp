// A ledger in a PostgreSQL database, in the schema sotto_ledger.
//
// An advisory lock that ends with the transaction excludes other writers. A commit is on the
// server's disk before it is acknowledged, whatever the server's defaults are.
#include <algorithm>
#include <limits>

#include "core/api/json.hpp"
#include "ledger/chain/chain.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/stores/connection.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

using ledger_detail::fields_of;
using ledger_detail::Record;
using ledger_detail::record_fields;
using ledger_detail::record_names;

using ledger_detail::PgConnection;
using ledger_detail::PgResult;

// The tables, and the function add(), through which a writer appends to them and which a role
// without other rights may call. It verifies what a database can verify: the new records follow the
// last one, each hash is the hash of its record, `who` is the role that is logged in, and the marks
// of a request come in order. It cannot verify signatures and totals; the next process that reads
// the ledger does. COLLATE "C" makes requests equal only if their bytes are.
constexpr const char* schema = R"(
CREATE SCHEMA sotto_ledger;
CREATE TABLE sotto_ledger.founding (
  version integer PRIMARY KEY CHECK (version = 2), id text NOT NULL, created text NOT NULL, name text NOT NULL, unit text NOT NULL,
  unit_type text NOT NULL, relation text NOT NULL, budget text NOT NULL, source text NOT NULL, keys text NOT NULL, hash text NOT NULL,
  signature text NOT NULL);
CREATE TABLE sotto_ledger.entry (
  number bigint PRIMARY KEY, kind text COLLATE "C" NOT NULL, time text NOT NULL, who text NOT NULL, request text COLLATE "C" NOT NULL,
  content text NOT NULL, title text NOT NULL, plan text NOT NULL, cost text NOT NULL, cost_delta text NOT NULL, cost_slack text NOT NULL,
  measurements text NOT NULL, amount text NOT NULL, delta text NOT NULL, slack text NOT NULL, signer text NOT NULL, hash text NOT NULL,
  signature text NOT NULL, UNIQUE (request, kind));
CREATE TABLE sotto_ledger.answer (request text COLLATE "C" PRIMARY KEY, answer text NOT NULL);
CREATE FUNCTION sotto_ledger.refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
  $$ BEGIN RAISE EXCEPTION 'a ledger is only ever added to'; END $$;
CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON sotto_ledger.founding FOR EACH STATEMENT EXECUTE FUNCTION sotto_ledger.refuse();
CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON sotto_ledger.entry FOR EACH STATEMENT EXECUTE FUNCTION sotto_ledger.refuse();
CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON sotto_ledger.answer FOR EACH STATEMENT EXECUTE FUNCTION sotto_ledger.refuse();
CREATE FUNCTION sotto_ledger.add(before text, rows json, answer text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  end_number bigint;
  end_hash text;
  added bigint;
  right_ones bigint;
  last sotto_ledger.entry;
BEGIN
  PERFORM pg_advisory_xact_lock(495791141999);
  SELECT e.number, e.hash INTO end_number, end_hash FROM sotto_ledger.entry e ORDER BY e.number DESC LIMIT 1;
  IF NOT FOUND THEN
    SELECT 0, f.hash INTO end_number, end_hash FROM sotto_ledger.founding f;
  END IF;
  IF add.before IS DISTINCT FROM end_hash THEN
    RAISE EXCEPTION 'the ledger goes on from its last record';
  END IF;
  INSERT INTO sotto_ledger.entry SELECT * FROM json_populate_recordset(ROW(0,'','','','','','','','','','','','','','','','','')::sotto_ledger.entry, add.rows);
  GET DIAGNOSTICS added = ROW_COUNT;
  SELECT count(*) INTO right_ones FROM (
    SELECT e.*, row_number() OVER (ORDER BY e.number) AS place, lag(e.hash, 1, end_hash) OVER (ORDER BY e.number) AS previous
    FROM sotto_ledger.entry e WHERE e.number > end_number) r
  WHERE r.number = end_number + r.place AND r.who = session_user::text AND (r.kind IN ('charge', 'begun', 'answer') OR r.kind ~ '^checkpoint/[1-9][0-9]{0,14}$')
    AND r.hash = encode(sha256(convert_to(concat(r.previous,
      E'\n', octet_length(r.number::text), ':', r.number,
      E'\n', octet_length(r.kind), ':', r.kind,
      E'\n', octet_length(r.time), ':', r.time,
      E'\n', octet_length(r.who), ':', r.who,
      E'\n', octet_length(r.request), ':', r.request,
      E'\n', octet_length(r.content), ':', r.content,
      E'\n', octet_length(r.title), ':', r.title,
      E'\n', octet_length(r.plan), ':', r.plan,
      E'\n', octet_length(r.cost), ':', r.cost,
      E'\n', octet_length(r.cost_delta), ':', r.cost_delta,
      E'\n', octet_length(r.cost_slack), ':', r.cost_slack,
      E'\n', octet_length(r.measurements), ':', r.measurements,
      E'\n', octet_length(r.amount), ':', r.amount,
      E'\n', octet_length(r.delta), ':', r.delta,
      E'\n', octet_length(r.slack), ':', r.slack,
      E'\n', octet_length(r.signer), ':', r.signer), 'UTF8')), 'hex');
  IF right_ones <> added THEN
    RAISE EXCEPTION 'these are not records that may follow';
  END IF;
  IF EXISTS (SELECT FROM sotto_ledger.entry e WHERE e.number > end_number AND e.kind <> 'charge' AND NOT EXISTS (
      SELECT FROM sotto_ledger.entry p WHERE p.request = e.request AND p.number < e.number
        AND p.kind = CASE WHEN e.kind = 'begun' THEN 'charge' WHEN e.kind !~ '^checkpoint/' OR e.kind = 'checkpoint/1' THEN 'begun'
          ELSE concat('checkpoint/', substr(e.kind, 12)::bigint - 1) END)) THEN
    RAISE EXCEPTION 'a mark follows what its request has come to';
  END IF;
  IF EXISTS (SELECT FROM sotto_ledger.entry e, sotto_ledger.entry p WHERE e.number > end_number AND e.kind ~ '^checkpoint/'
      AND p.request = e.request AND p.kind = 'answer' AND p.number < e.number) THEN
    RAISE EXCEPTION 'an answered request has no more checkpoints';
  END IF;
  SELECT * INTO last FROM sotto_ledger.entry e ORDER BY e.number DESC LIMIT 1;
  IF last.signature !~ '^[0-9a-f]{128}$' OR NOT EXISTS (SELECT FROM sotto_ledger.founding f
      WHERE last.signer = ANY (string_to_array(f.keys, ' '))) THEN
    RAISE EXCEPTION 'the last record is signed by a key of the founding entry';
  END IF;
  IF (last.kind = 'answer') IS DISTINCT FROM (add.answer IS NOT NULL) OR (SELECT count(*) FROM sotto_ledger.entry e
      WHERE e.number > end_number AND e.kind = 'answer') <> (add.answer IS NOT NULL)::int THEN
    RAISE EXCEPTION 'an answer comes with its mark';
  END IF;
  IF add.answer IS NOT NULL THEN
    IF last.content <> encode(sha256(convert_to(add.answer, 'UTF8')), 'hex') THEN
      RAISE EXCEPTION 'the answer is not the one that is marked';
    END IF;
    INSERT INTO sotto_ledger.answer VALUES (last.request, add.answer);
  END IF;
END $$;
REVOKE ALL ON FUNCTION sotto_ledger.add(text, json, text) FROM PUBLIC;
)";

// Returns the statements that begin a transaction and take the lock. READ COMMITTED makes the
// statements after the lock see all commits before it. SET LOCAL is for this transaction only, so
// it also works behind a pool that shares connections.
std::string begin_with(std::chrono::milliseconds patience) {
  return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = on; SET "
         "LOCAL lock_timeout = " +
         std::to_string(
             std::max<std::int64_t>(1, std::min<std::int64_t>(patience.count(), 1 << 30))) +
         "; SELECT pg_catalog.pg_advisory_xact_lock(495791141999)";  // "sotto", in bytes
}

class PostgresqlStore final : public Ledger::Store {
 public:
  PostgresqlStore(const std::string& uri, std::chrono::milliseconds patience)
      : name_(without_password(uri)), begin_(begin_with(patience)), connection_(uri) {
    if (one("SELECT pg_catalog.current_setting('fsync')") != "on") {
      throw LedgerError(name_ +
                        " runs with fsync = off: a power failure could lose a charge whose answer "
                        "is known. Set fsync = on in postgresql.conf");
    }
  }

  void require_ledger() {
    const PgResult table =
        ask("SELECT pg_catalog.to_regclass('sotto_ledger.founding') IS NOT NULL");
    if (table.text(0, 0) != "t")
      throw LedgerError("there is no ledger in " + name_ + ": create it first",
                        Remedy::create_ledger);
    const PgResult founding = ask("SELECT version FROM sotto_ledger.founding");
    if (founding.rows() != 1)
      throw LedgerError(name_ + " has no founding entry: it is damaged. Put it back from a backup");
    const std::string version = founding.text(0, 0);
    if (version != "1" && version != "2") {
      throw LedgerError(name_ + " is a ledger of version " + version +
                        ", and this sotto reads versions 1 and 2; it was left as it was. Use the "
                        "sotto that wrote it");
    }
    version_ = version == "1" ? 1 : 2;
  }

  // Creates the schema and writes all rows in one transaction.
  void write_contents(const Contents& contents, const std::string& writer) {
    transact([&] {
      if (one("SELECT pg_catalog.to_regnamespace('sotto_ledger') IS NOT NULL") == "t") {
        throw LedgerError("there is a ledger in " + name_ +
                          " already, and a ledger is never overwritten: give another database");
      }
      if (const std::string encoding = one("SELECT pg_catalog.current_setting('server_encoding')");
          encoding != "UTF8") {
        throw LedgerError("the encoding of " + name_ + " is " + encoding +
                          ": a ledger needs a database in UTF8; create one with createdb -E UTF8");
      }
      require(connection_.run(std::string(schema)));
      std::vector<std::string> fields{"2"};
      for (const std::string* field : fields_of_founding(contents.founding))
        fields.push_back(*field);
      ask("INSERT INTO sotto_ledger.founding VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)",
          fields);
      if (!contents.records.empty()) insert(contents.records);
      for (const auto& [request, answer] : contents.answers)
        ask("INSERT INTO sotto_ledger.answer VALUES ($1,$2)", {request, answer});
      if (!writer.empty()) {
        const std::string role = connection_.quoted(writer);
        require(connection_.run(
            "GRANT USAGE ON SCHEMA sotto_ledger TO " + role +
            "; GRANT SELECT ON ALL TABLES IN SCHEMA sotto_ledger TO " + role +
            "; GRANT EXECUTE ON FUNCTION sotto_ledger.add(text, json, text) TO " + role));
      }
    });
  }

  int version() const override { return version_; }
  bool takes_checkpoints() const override {
    return one("SELECT pg_catalog.strpos(prosrc, 'checkpoint/') > 0 FROM pg_catalog.pg_proc "
               "WHERE oid = 'sotto_ledger.add(text, json, text)'::pg_catalog.regprocedure") == "t";
  }
  std::string role() const override {
    if (role_.empty()) role_ = one("SELECT session_user");
    return role_;
  }

  Founding founding() const override {
    const PgResult row = ask(version_ == 1 ? "SELECT id, created, name, unit, '', relation, "
                                             "budget, '', '', '', '' FROM sotto_ledger.founding"
                                           : "SELECT id, created, name, unit, unit_type, relation, "
                                             "budget, source, keys, hash, signature "
                                             "FROM sotto_ledger.founding");
    if (row.rows() != 1)
      throw LedgerError(name_ + " has no founding entry: it is damaged. Put it back from a backup");
    Founding founding;
    int column = 0;
    for (std::string* field : fields_of_founding(founding)) *field = row.text(0, column++);
    if (version_ == 1) founding.hash = ledger_detail::first_hash_of_version_1(founding);
    return founding;
  }

  void transact(const std::function<void()>& f) override {
    begin();
    in_transaction_ = true;
    try {
      f();
    } catch (...) {
      in_transaction_ = false;
      (void)connection_.run("ROLLBACK");  // without a connection the server rolls back itself
      throw;
    }
    in_transaction_ = false;
    // If this process or the connection dies during the COMMIT, the charge may be on the server's
    // disk or not. A repeated request finds it or writes it.
    const PgResult commit = connection_.run("COMMIT");
    if (commit.good() && commit.tag() == "COMMIT") return;
    if (connection_.lost()) {
      throw OutcomeUnknown(name_ +
                           ": the connection was lost while the charge was being written (" +
                           connection_.error() +
                           "), so it is unknown whether the ledger has the charge. Send the same "
                           "request again: it is charged only once");
    }
    require(commit);
    throw LedgerError(name_ + ": the server rolled back; nothing was charged");
  }

  std::vector<Record> records_from(std::int64_t number, std::int64_t limit) const override {
    return records_of(
        ask("SELECT * FROM sotto_ledger.entry WHERE number >= $1 ORDER BY number LIMIT $2",
            {std::to_string(number), std::to_string(limit)}));
  }
  void append(const std::string& before, const std::vector<Record>& records,
              const std::optional<std::string>& answer) override {
    std::vector<std::string> parameters{before, json_of(records)};
    if (answer) parameters.push_back(*answer);
    ask(answer ? "SELECT sotto_ledger.add($1, $2::json, $3)"
               : "SELECT sotto_ledger.add($1, $2::json, NULL)",
        parameters);
  }

  std::optional<std::string> answer(const std::string& request) const override {
    const PgResult row =
        ask("SELECT answer FROM sotto_ledger.answer WHERE request = $1", {request});
    return row.rows() == 1 ? std::optional(row.text(0, 0)) : std::nullopt;
  }
  std::map<std::string, std::string> answers() const override {
    std::map<std::string, std::string> all;
    const PgResult rows = ask("SELECT request, answer FROM sotto_ledger.answer");
    for (int row = 0; row < rows.rows(); ++row) all.emplace(rows.text(row, 0), rows.text(row, 1));
    return all;
  }
  void repair(std::int64_t last, const std::vector<std::string>& answers,
              const Record& note) override {
    // Only the owner of the tables may disable triggers, delete, and insert a note without add().
    require(
        connection_.run("ALTER TABLE sotto_ledger.entry DISABLE TRIGGER USER; ALTER TABLE "
                        "sotto_ledger.answer DISABLE TRIGGER USER"));
    ask("DELETE FROM sotto_ledger.entry WHERE number < 1 OR number > $1", {std::to_string(last)});
    ask("DELETE FROM sotto_ledger.answer WHERE request IN (SELECT "
        "pg_catalog.json_array_elements_text($1::json))",
        {Json(answers).dump()});
    require(
        connection_.run("ALTER TABLE sotto_ledger.entry ENABLE TRIGGER USER; ALTER TABLE "
                        "sotto_ledger.answer ENABLE TRIGGER USER"));
    insert({note});
  }
  Contents contents() const override {
    require(connection_.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    in_transaction_ = true;
    try {
      const std::int64_t all_numbers = std::numeric_limits<std::int64_t>::min();
      Contents all{.version = version_,
                   .founding = founding(),
                   .records = records_from(all_numbers, std::int64_t{1} << 60U),
                   .answers = answers()};
      in_transaction_ = false;
      (void)connection_.run("COMMIT");
      return all;
    } catch (...) {
      in_transaction_ = false;
      (void)connection_.run("ROLLBACK");
      throw;
    }
  }

 private:
  // Throws the server's error as a LedgerError for the ledger's owner.
  void require(const PgResult& result) const {
    if (result.good()) return;
    const std::string state = result.state();
    const std::string error = connection_.error();
    if (connection_.lost())
      throw LedgerError(name_ + ": the connection was lost (" + error + "); nothing was charged");
    if (state == "55P03")
      throw LedgerError(name_ +
                        " was locked by another process for the whole waiting time; nothing was "
                        "charged. Try again, or wait longer");
    if (state == "42501")
      throw LedgerError(name_ + ": this database role lacks the right (" + error +
                        "); nothing was charged. Use a role that may write the ledger");
    if (state == "25006")
      throw LedgerError(name_ +
                        " is read-only; nothing was charged. Connect to the primary server");
    if (state == "53100")
      throw LedgerError("the disk of the server is full; nothing was charged to " + name_);
    throw LedgerError(name_ + ": " + error + "; nothing was charged");
  }

  // Inserts records as the owner of the tables. Other roles can only call add().
  void insert(const std::vector<Record>& records) const {
    ask("INSERT INTO sotto_ledger.entry SELECT * FROM "
        "pg_catalog.json_populate_recordset(ROW(0,'','','','','','','','','','','','','','','','','"
        "')::sotto_ledger.entry, $1::json)",
        {json_of(records)});
  }

  // Runs one statement. Outside of a transaction a broken connection loses nothing, so the
  // statement is repeated over a new one.
  PgResult ask(const char* sql, const std::vector<std::string>& parameters = {}) const {
    PgResult result = connection_.run(sql, parameters);
    if (!result.good() && !in_transaction_ && connection_.lost() && connection_.regain())
      result = connection_.run(sql, parameters);
    require(result);
    return result;
  }
  void begin() const {
    const PgResult result = connection_.run(begin_);
    if (result.good()) return;
    if (connection_.lost() && connection_.regain()) return require(connection_.run(begin_));
    try {
      require(result);
    } catch (...) {
      (void)connection_.run("ROLLBACK");
      throw;
    }
  }
  std::string one(const char* sql) const { return ask(sql).text(0, 0); }
  std::vector<Record> records_of(const PgResult& rows) const {
    std::vector<Record> records;
    for (int row = 0; row < rows.rows(); ++row) records.push_back(record(rows, row));
    return records;
  }
  Record record(const PgResult& rows, int row) const {
    Record r{.number = std::stoll(rows.text(row, 0))};  // the column is a bigint
    if (version_ == 1) {
      r.kind = "charge";
      r.time = rows.text(row, 1);
      r.request = rows.text(row, 2);
      r.content = rows.text(row, 3);
      r.plan = rows.text(row, 4);
      r.cost = number_text(rows.text(row, 5));
      r.cost_delta = number_text(rows.text(row, 6));
      r.cost_slack = "0";
      r.amount = rows.text(row, 7);
      r.delta = rows.text(row, 8);
      r.hash = rows.text(row, 9);
      return r;
    }
    int column = 1;
    for (std::string* field : fields_of(r)) *field = rows.text(row, column++);
    return r;
  }
  // Returns a double of version 1 as records of version 2 have it.
  static std::string number_text(const std::string& text) {
    try {
      return shortest(read_number(text));
    } catch (const std::invalid_argument&) {
      throw LedgerError(
          "the cost '" + text.substr(0, 100) +
          "' in the ledger is not a number: it is damaged. Put it back from a backup");
    }
  }
  static std::string json_of(const std::vector<Record>& records) {
    Json rows = Json::array();
    for (const Record& r : records) {
      Json row{{"number", r.number}};
      const auto fields = fields_of(r);
      for (std::size_t i = 0; i < record_fields; ++i) {
        if (!fields[i]->empty())
          row[record_names[i]] =
              *fields[i];  // a field that is left out is empty: the base row has empty texts
      }
      rows.push_back(std::move(row));
    }
    return rows.dump();
  }

  std::string name_;
  std::string begin_;
  PgConnection connection_;
  mutable bool in_transaction_ = false;
  mutable std::string role_;
  int version_ = 2;
};

}  // namespace

std::unique_ptr<Ledger::Store> ledger_detail::open_postgresql(const std::string& uri,
                                                              std::chrono::milliseconds patience) {
  auto store = std::make_unique<PostgresqlStore>(uri, patience);
  store->require_ledger();
  return store;
}

std::unique_ptr<Ledger::Store> ledger_detail::create_postgresql(
    const std::string& uri, const Ledger::Store::Contents& contents, const std::string& writer) {
  auto store = std::make_unique<PostgresqlStore>(uri, std::chrono::seconds(30));
  store->write_contents(contents, writer);
  return store;
}

}  // namespace sotto
