// A ledger in an SQLite file: a rollback journal (which works on network file systems too, unlike a write-ahead log), every commit
// synced to the disk, the folder included.
#include <sqlite3.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "store.hpp"

namespace sotto {
namespace {

constexpr int application = 0x736f7474;  // "sott": what kind of file this is
constexpr int version = 1;

constexpr const char* schema = R"(
CREATE TABLE founding (id TEXT NOT NULL, created TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, relation TEXT NOT NULL, budget TEXT NOT NULL);
CREATE TABLE entry (
  number INTEGER PRIMARY KEY, time TEXT NOT NULL, request TEXT NOT NULL UNIQUE, content TEXT NOT NULL, plan TEXT NOT NULL,
  cost REAL NOT NULL, cost_delta REAL NOT NULL, amount TEXT NOT NULL, delta TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE answer (request TEXT PRIMARY KEY REFERENCES entry(request), answer TEXT NOT NULL);
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END;
CREATE TRIGGER entry_remains BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END;
CREATE TRIGGER answer_stays BEFORE UPDATE ON answer BEGIN SELECT RAISE(ABORT, 'an answer is kept once'); END;
CREATE TRIGGER answer_remains BEFORE DELETE ON answer BEGIN SELECT RAISE(ABORT, 'an answer is kept once'); END;
CREATE TRIGGER founding_stays BEFORE UPDATE ON founding BEGIN SELECT RAISE(ABORT, 'the terms are fixed'); END;
)";

// What SQLite says, in words for whoever holds the ledger.
[[noreturn]] void fail(sqlite3* database, const std::string& path, int code) {
  const std::string what = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: throw LedgerError(path + " is in use by another process, for longer than was waited; nothing was charged");
    case SQLITE_NOTADB: throw LedgerError(path + " is not a ledger; it was left as it was");
    case SQLITE_CORRUPT: throw LedgerError(path + " is damaged (" + what + "); it was left as it was");
    case SQLITE_FULL: throw LedgerError("the disk is full: nothing was charged to " + path);
    case SQLITE_READONLY: throw LedgerError(path + " cannot be written; nothing was charged");
    case SQLITE_CANTOPEN: throw LedgerError("cannot open " + path);
    default: throw LedgerError(path + ": " + what + "; nothing was charged");
  }
}

class Statement {
 public:
  Statement(sqlite3* database, const std::string& path, const char* sql) : database_(database), path_(path) {
    check(sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr));
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& bind(const std::string& text) {
    check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
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
  // Ready for other values.
  void again() {
    sqlite3_reset(statement_);
    bound_ = 0;
  }
  // True while there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail(database_, path_, code);
    return false;
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_, column);
    if (bytes == nullptr) return "";
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }
  [[nodiscard]] double number(int column) const { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] std::int64_t whole(int column) const { return sqlite3_column_int64(statement_, column); }

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
  SqliteStore(std::string path, bool is_new, std::chrono::milliseconds patience) : path_(std::move(path)) {
    const int flags = SQLITE_OPEN_READWRITE | (is_new ? SQLITE_OPEN_CREATE : 0);
    const int code = sqlite3_open_v2(path_.c_str(), &database_, flags, nullptr);
    try {
      if (code != SQLITE_OK) fail(database_, path_, code);
      sqlite3_extended_result_codes(database_, 1);
      sqlite3_busy_timeout(database_, static_cast<int>(std::min<std::int64_t>(patience.count(), 1 << 30)));
      if (!is_new) require_ledger();
      run("PRAGMA trusted_schema=OFF");
      run("PRAGMA foreign_keys=ON");
      run("PRAGMA synchronous=EXTRA");
      Statement journal = prepare("PRAGMA journal_mode=DELETE");  // also a file that something else gave a write-ahead log
      if (!journal.step() || journal.text(0) != "delete") throw LedgerError(path_ + " has no rollback journal; nothing was charged");
    } catch (...) {
      sqlite3_close(database_);
      throw;
    }
  }
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;
  ~SqliteStore() override { sqlite3_close(database_); }

  void found(const Contents& contents) {
    const Founding& founding = contents.founding;
    transact([&] {
      run(("PRAGMA application_id=" + std::to_string(application)).c_str());
      run(("PRAGMA user_version=" + std::to_string(version)).c_str());
      run(schema);
      prepare("INSERT INTO founding VALUES (?,?,?,?,?,?)")
          .bind(founding.id)
          .bind(founding.created)
          .bind(founding.name)
          .bind(founding.unit)
          .bind(founding.relation)
          .bind(founding.budget)
          .step();
      append(contents.entries);
      for (const auto& [request, answer] : contents.answers) keep_answer(request, answer);
    });
  }
  Founding founding() const override {
    Statement row = prepare("SELECT id, created, name, unit, relation, budget FROM founding");
    if (!row.step()) throw LedgerError(path_ + " has no terms: it is damaged");
    return {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5)};
  }

  void transact(const std::function<void()>& f) override {
    run("BEGIN IMMEDIATE");
    try {
      f();
      run("COMMIT");
    } catch (...) {
      sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

  std::optional<StoredEntry> last() const override {
    Statement row = prepare("SELECT * FROM entry ORDER BY number DESC LIMIT 1");
    return row.step() ? std::optional(read(row)) : std::nullopt;
  }
  std::map<std::string, StoredEntry> of_requests(const std::vector<std::string>& requests) const override {
    std::map<std::string, StoredEntry> found;
    Statement row = prepare("SELECT * FROM entry WHERE request=?");
    for (const std::string& request : requests) {
      row.again();
      row.bind(request);
      if (row.step()) found.emplace(request, read(row));
    }
    return found;
  }
  std::vector<StoredEntry> all() const override {
    std::vector<StoredEntry> entries;
    for (Statement row = prepare("SELECT * FROM entry ORDER BY number"); row.step();) entries.push_back(read(row));
    return entries;
  }
  void append(const std::vector<StoredEntry>& entries) override {
    Statement row = prepare("INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?)");
    for (const StoredEntry& stored : entries) {
      const Entry& entry = stored.entry;
      row.again();
      row.bind(entry.number).bind(entry.time).bind(entry.request).bind(entry.content).bind(entry.plan);
      row.bind(entry.cost.amount).bind(entry.cost.delta).bind(stored.amount).bind(stored.delta).bind(entry.hash);
      row.step();
    }
  }

  std::optional<std::string> answer(const std::string& request) const override {
    Statement row = prepare("SELECT answer FROM answer WHERE request=?");
    row.bind(request);
    return row.step() ? std::optional(row.text(0)) : std::nullopt;
  }
  std::map<std::string, std::string> answers() const override {
    std::map<std::string, std::string> all;
    for (Statement row = prepare("SELECT request, answer FROM answer"); row.step();) all.emplace(row.text(0), row.text(1));
    return all;
  }
  void keep_answer(const std::string& request, const std::string& answer) override {
    prepare("INSERT INTO answer VALUES (?,?)").bind(request).bind(answer).step();
  }

 private:
  void run(const char* sql) const {
    const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(database_, path_, code);
  }
  Statement prepare(const char* sql) const { return {database_, path_, sql}; }
  static StoredEntry read(const Statement& row) {
    return {
        {row.whole(0), row.text(1), row.text(2), row.text(3), row.text(4), {row.number(5), row.number(6)}, row.text(9)}, row.text(7), row.text(8)};
  }
  // Looks before anything is written.
  void require_ledger() const {
    Statement kind = prepare("PRAGMA application_id");
    if (!kind.step() || kind.whole(0) != application) throw LedgerError(path_ + " is not a ledger; it was left as it was");
    Statement made = prepare("PRAGMA user_version");
    if (!made.step() || made.whole(0) != version) throw LedgerError(path_ + " was written by another version of sotto; it was left as it was");
  }

  std::string path_;
  sqlite3* database_ = nullptr;
};

}  // namespace

std::unique_ptr<Ledger::Store> open_sqlite(const std::string& path, std::chrono::milliseconds patience) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw LedgerError("there is no ledger " + path + ": make one with `sotto ledger create`");
  return std::make_unique<SqliteStore>(path, false, patience);
}

std::unique_ptr<Ledger::Store> create_sqlite(const std::string& path, const Ledger::Store::Contents& contents) {
  // made by this call and no other, so that it may be removed again
  std::FILE* file = std::fopen(path.c_str(), "wx");
  if (file == nullptr && errno == EEXIST) throw LedgerError(path + " exists already; a ledger is never overwritten");
  if (file == nullptr) throw LedgerError("cannot open " + path);
  (void)std::fclose(file);
  std::error_code ignored;
  std::unique_ptr<SqliteStore> store;
  try {
    store = std::make_unique<SqliteStore>(path, true, std::chrono::seconds(30));
    store->found(contents);
  } catch (...) {
    store.reset();
    std::filesystem::remove(path, ignored);  // half a ledger is none
    throw;
  }
  return store;
}

}  // namespace sotto
