// A ledger in an SQLite file.
//
// Every commit is synced to the disk, with the folder (synchronous=EXTRA). The file has a rollback
// journal, which works on network file systems, unlike a write-ahead log.
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/api/file.hpp"
#include "ledger/chain/chain.hpp"
#include "ledger/chain/file.hpp"
#include "ledger/chain/store.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

using ledger_detail::fields_of;
using ledger_detail::Record;
using ledger_detail::record_fields;
using ledger_detail::record_names;

constexpr int application = 0x736f7474;  // "sott", SQLite's application id of a ledger
constexpr int current_version = 2;

// The SQL of the schema, one statement a string. A file must have exactly these statements: a
// further trigger could change or drop records while they are written. Changing a byte here makes
// existing ledgers unreadable.
const std::vector<std::string>& schema() {
  static const std::vector<std::string> statements = [] {
    std::string founding = "CREATE TABLE founding (";
    for (const char* name : Ledger::Store::founding_names)
      founding += (founding.back() == '(' ? "" : ", ") + std::string(name) + " TEXT NOT NULL";
    std::string entry = "CREATE TABLE entry (number INTEGER PRIMARY KEY";
    for (const char* name : record_names) entry += ", " + std::string(name) + " TEXT NOT NULL";
    std::vector<std::string> all{
        founding + ")", entry + ", UNIQUE (request, kind))",
        "CREATE TABLE answer (request TEXT PRIMARY KEY, answer TEXT NOT NULL)"};
    for (const std::string table : {"founding", "entry", "answer"}) {
      for (const std::string verb : {"UPDATE", "DELETE"}) {
        all.push_back("CREATE TRIGGER " + table + "_" + verb + " BEFORE " + verb + " ON " + table +
                      " BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END");
      }
    }
    return all;
  }();
  return statements;
}

// Throws SQLite's error as a LedgerError for the ledger's owner.
[[noreturn]] void fail(sqlite3* database, const std::string& path, int code) {
  const std::string what = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw LedgerError(path +
                        " was locked by another process for the whole waiting time; nothing was "
                        "charged. Try again, or wait longer");
    case SQLITE_NOTADB: throw LedgerError(path + " is not a ledger; it was left as it was");
    case SQLITE_CORRUPT:
      throw LedgerError(path + " is damaged (" + what +
                        "); it was left as it was. Put it back from a backup");
    case SQLITE_FULL:
      throw LedgerError("the disk of " + path + " is full; nothing was charged. Free some space");
    case SQLITE_READONLY:
      if (code == SQLITE_READONLY_ROLLBACK) {
        throw LedgerError(
            path +
                " has an unfinished charge of a process that was stopped, and this user may not "
                "write the file to undo it: let a user who may write it open it once",
            Remedy::show_ledger);
      }
      throw LedgerError(path +
                        " cannot be written; nothing was charged. Check the permissions of the "
                        "file and its folder");
    case SQLITE_CANTOPEN:
      throw LedgerError("cannot open " + path +
                        ": check the permissions of the file and its folder");
    default: throw LedgerError(path + ": " + what + "; nothing was charged");
  }
}

class Statement {
 public:
  Statement(sqlite3* database, const std::string& path, const char* sql)
      : database_(database), path_(path) {
    check(sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr));
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  // The statement refers to the text, which must stay unchanged until step().
  Statement& bind(const std::string& text) {
    check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                            SQLITE_STATIC));
    return *this;
  }
  Statement& bind(double number) {
    check(sqlite3_bind_double(statement_, ++bound_, number));
    return *this;
  }
  Statement& bind(std::int64_t number) {
    check(sqlite3_bind_int64(statement_, ++bound_, number));
    return *this;
  }
  // Makes the statement ready for other values.
  void reset() {
    sqlite3_reset(statement_);
    bound_ = 0;
  }
  // Returns true if there is another row, false after the last one.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail(database_, path_, code);
    return false;
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_, column);
    if (bytes == nullptr) return "";
    return {reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }
  [[nodiscard]] double number(int column) const {
    return sqlite3_column_double(statement_, column);
  }
  [[nodiscard]] std::int64_t integer(int column) const {
    return sqlite3_column_int64(statement_, column);
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) fail(database_, path_, code);
  }
  sqlite3* database_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

class SqliteStore final : public Ledger::Store {
 public:
  enum class Access { create, write, read };
  SqliteStore(std::string path, Access access, std::chrono::milliseconds patience)
      : path_(std::move(path)) {
    const bool is_new = access == Access::create;
    const int flags = access == Access::read
                          ? SQLITE_OPEN_READONLY
                          : SQLITE_OPEN_READWRITE | (is_new ? SQLITE_OPEN_CREATE : 0);
    require_files();
    const int code = sqlite3_open_v2(path_.c_str(), &database_, flags, nullptr);
    try {
      if (code != SQLITE_OK) fail(database_, path_, code);
      sqlite3_extended_result_codes(database_, 1);
      sqlite3_busy_timeout(database_,
                           static_cast<int>(std::min<std::int64_t>(patience.count(), 1 << 30)));
      if (!is_new) require_ledger();
      run("PRAGMA trusted_schema=OFF");
      if (access == Access::read) return;
      run("PRAGMA foreign_keys=ON");
      run("PRAGMA synchronous=EXTRA");
      Statement journal = prepare("PRAGMA journal_mode=DELETE");  // another program may have given
                                                                  // the file a write-ahead log
      if (!journal.step() || journal.text(0) != "delete")
        throw LedgerError(path_ +
                          " cannot use a rollback journal; nothing was charged. Close other "
                          "programs that have the file open");
    } catch (...) {
      sqlite3_close(database_);
      throw;
    }
  }
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;
  ~SqliteStore() override { sqlite3_close(database_); }

  // Writes the schema and all rows in one transaction.
  void write_contents(const Contents& contents) {
    transact([&] {
      run(("PRAGMA application_id=" + std::to_string(application)).c_str());
      run(("PRAGMA user_version=" + std::to_string(current_version)).c_str());
      for (const std::string& statement : schema()) run(statement.c_str());
      Statement row =
          prepare(("INSERT INTO founding VALUES (" + placeholders(founding_fields) + ")").c_str());
      for (const std::string* field : fields_of_founding(contents.founding)) row.bind(*field);
      row.step();
      append("", contents.records);
      for (const auto& [request, answer] : contents.answers) insert_answer(request, answer);
    });
    version_ = current_version;
    schema_version_ = schema_version();
  }

  int version() const override { return version_; }
  std::string role() const override { return ""; }

  Founding founding() const override {
    Founding founding;
    Statement row = prepare(
        version_ == 1
            ? "SELECT id, created, name, unit, '', relation, budget, '', '', '', '' FROM founding"
            : ("SELECT " + names(founding_names) + " FROM founding").c_str());
    if (!row.step())
      throw LedgerError(path_ + " has no founding entry: it is damaged. Put it back from a backup");
    int column = 0;
    for (std::string* field : fields_of_founding(founding)) *field = row.text(column++);
    if (row.step())
      throw LedgerError(path_ +
                        " has two founding entries: it was changed. Put it back from a backup");
    if (version_ == 1) founding.hash = ledger_detail::first_hash_of_version_1(founding);
    return founding;
  }

  void transact(const std::function<void()>& f) override {
    run("BEGIN IMMEDIATE");  // excludes other writers until COMMIT or ROLLBACK
    try {
      if (schema_version_ >= 0 && schema_version() != schema_version_)
        require_schema();  // another program changed it since the file was opened
      f();
      run("COMMIT");  // synced to the disk when it returns; a crash before leaves a journal, and
                      // the next reader rolls back
    } catch (...) {
      (void)sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

  std::vector<Record> records_from(std::int64_t number, std::int64_t limit) const override {
    return read(("WHERE number >= " + std::to_string(number) + " ORDER BY number LIMIT " +
                 std::to_string(limit))
                    .c_str());
  }
  void append(const std::string& /*before*/, const std::vector<Record>& records,
              const std::optional<std::string>& answer = std::nullopt) override {
    Statement row =
        prepare(("INSERT INTO entry VALUES (" + placeholders(record_fields + 1) + ")").c_str());
    for (const Record& record : records) {
      row.reset();
      row.bind(record.number);
      for (const std::string* field : fields_of(record)) row.bind(*field);
      row.step();
    }
    if (answer) insert_answer(records.back().request, *answer);
  }

  std::optional<std::string> answer(const std::string& request) const override {
    Statement row = prepare("SELECT answer FROM answer WHERE request=?");
    row.bind(request);
    return row.step() ? std::optional(row.text(0)) : std::nullopt;
  }
  std::map<std::string, std::string> answers() const override {
    std::map<std::string, std::string> all;
    for (Statement row = prepare("SELECT request, answer FROM answer"); row.step();)
      all.emplace(row.text(0), row.text(1));
    return all;
  }
  void repair(std::int64_t last, const std::vector<std::string>& answers,
              const Record& note) override {
    // The triggers refuse every deletion, so they are dropped and created again in the same
    // transaction.
    for (const std::string table : {"founding", "entry", "answer"}) {
      for (const std::string verb : {"UPDATE", "DELETE"})
        run(("DROP TRIGGER " + table + "_" + verb).c_str());
    }
    prepare("DELETE FROM entry WHERE number < 1 OR number > ?").bind(last).step();
    for (const std::string& request : answers)
      prepare("DELETE FROM answer WHERE request=?").bind(request).step();
    for (const std::string& statement : schema()) {
      if (statement.rfind("CREATE TRIGGER", 0) == 0) run(statement.c_str());
    }
    append("", {note});
    schema_version_ = schema_version();
  }
  Contents contents() const override {
    const Snapshot snapshot(*this);
    Statement integrity =
        prepare("PRAGMA integrity_check(1)");  // also compares the index with the rows
    if (!integrity.step() || integrity.text(0) != "ok") {
      throw LedgerError(path_ + " is damaged (" + integrity.text(0) +
                        "); it was left as it was. Put it back from a backup");
    }
    return {.version = version_,
            .founding = founding(),
            .records = records_from(std::numeric_limits<std::int64_t>::min(), -1),
            .answers = answers()};
  }

 private:
  void run(const char* sql) const {
    const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(database_, path_, code);
  }
  Statement prepare(const char* sql) const { return {database_, path_, sql}; }
  void insert_answer(const std::string& request, const std::string& answer) const {
    prepare("INSERT INTO answer VALUES (?,?)").bind(request).bind(answer).step();
  }

  // A read transaction: all statements during its lifetime see the same state of the file.
  class Snapshot {
   public:
    explicit Snapshot(const SqliteStore& store) : store_(store) { store_.run("BEGIN"); }
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;
    ~Snapshot() { (void)sqlite3_exec(store_.database_, "ROLLBACK", nullptr, nullptr, nullptr); }

   private:
    const SqliteStore& store_;
  };

  static std::string placeholders(std::size_t count) {
    std::string text = "?";
    for (std::size_t i = 1; i < count; ++i) text += ",?";
    return text;
  }
  template <std::size_t n>
  static std::string names(const std::array<const char*, n>& all) {
    std::string text;
    for (const char* name : all) text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
  }
  Statement select(const std::string& which) const {
    const std::string columns =
        version_ == 1 ? "time, request, content, plan, cost, cost_delta, amount, delta, hash"
                      : names(record_names);
    return prepare(("SELECT number, " + columns + " FROM entry " + which).c_str());
  }
  std::vector<Record> read(const char* which) const {
    std::vector<Record> records;
    for (Statement row = select(which); row.step();) records.push_back(record(row));
    return records;
  }
  Record record(const Statement& row) const {
    Record r{.number = row.integer(0)};
    if (version_ == 1) {
      r.kind = "charge";
      r.time = row.text(1);
      r.request = row.text(2);
      r.content = row.text(3);
      r.plan = row.text(4);
      r.cost = shortest(row.number(5));
      r.cost_delta = shortest(row.number(6));
      r.cost_slack = "0";
      r.amount = row.text(7);
      r.delta = row.text(8);
      r.hash = row.text(9);
      return r;
    }
    int column = 1;
    for (std::string* field : fields_of(r)) *field = row.text(column++);
    return r;
  }
  // SQLite opens these files by their paths. A named pipe in place of one would block it for ever.
  void require_files() const {
    std::error_code ignored;
    const std::filesystem::path real = std::filesystem::canonical(path_, ignored);
    try {
      require_regular_or_absent(path_);
      for (const char* ending : {"-journal", "-wal", "-shm"})
        require_regular_or_absent(real.string() + ending);
    } catch (const FileError& error) {
      throw LedgerError(error.what());
    }
  }
  // Verifies that the file is a ledger, before anything is written to it.
  void require_ledger() {
    Statement kind = prepare("PRAGMA application_id");
    if (!kind.step() || kind.integer(0) != application)
      throw LedgerError(path_ + " is not a ledger; it was left as it was");
    Statement version = prepare("PRAGMA user_version");
    version_ = version.step() ? static_cast<int>(version.integer(0)) : 0;
    if (version_ != 1 && version_ != current_version) {
      throw LedgerError(path_ + " is a ledger of version " + std::to_string(version_) +
                        ", and this sotto reads versions 1 and 2; it was left as it was. Use the "
                        "sotto that wrote it");
    }
    if (version_ == current_version) require_schema();
    schema_version_ = version_ == current_version ? schema_version() : -1;
  }
  std::int64_t schema_version() const {
    Statement row = prepare("PRAGMA schema_version");
    return row.step() ? row.integer(0) : -1;
  }
  // Throws LedgerError if the file has a table, view, trigger or index that is not in schema().
  void require_schema() const {
    std::vector<std::string> statements;
    for (Statement row =
             prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid");
         row.step();)
      statements.push_back(row.text(0));
    const std::string problem = path_ +
                                " does not have the schema of a ledger: another program changed "
                                "it. Put it back from a backup";
    if (statements != schema()) throw LedgerError(problem);
    Statement other = prepare(
        "SELECT count(*) FROM sqlite_schema WHERE sql IS NULL AND name NOT LIKE "
        "'sqlite_autoindex_%'");
    if (!other.step() || other.integer(0) != 0) throw LedgerError(problem);
  }

  std::string path_;
  sqlite3* database_ = nullptr;
  int version_ = current_version;
  std::int64_t schema_version_ = -1;
};

}  // namespace

std::unique_ptr<Ledger::Store> ledger_detail::open_sqlite(const std::string& path,
                                                          std::chrono::milliseconds patience,
                                                          bool read_only) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw LedgerError("there is no ledger " + path + ": create it first", Remedy::create_ledger);
  return std::make_unique<SqliteStore>(
      path, read_only ? SqliteStore::Access::read : SqliteStore::Access::write, patience);
}

std::unique_ptr<Ledger::Store> ledger_detail::create_sqlite(
    const std::string& path, const Ledger::Store::Contents& contents) {
  // This call must create the file itself: it removes the file again if the creation fails.
  if (!ledger_detail::write_new_file(path, ""))
    throw LedgerError(path +
                      " exists already, and a ledger is never overwritten: give another path");
  std::error_code ignored;
  std::unique_ptr<SqliteStore> store;
  try {
    store =
        std::make_unique<SqliteStore>(path, SqliteStore::Access::create, std::chrono::seconds(30));
    store->write_contents(contents);
  } catch (...) {
    store.reset();
    std::filesystem::remove(path, ignored);  // an incomplete ledger is of no use
    throw;
  }
  return store;
}

}  // namespace sotto
