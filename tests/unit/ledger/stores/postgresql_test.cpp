// Ledgers on a server: roles, TLS, lost connections, crashes of the server.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "../../../support/cutting_proxy.hpp"
#include "../places.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Returns the error that f throws, or an empty text.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

const Terms terms{"people", "person", Relation::add_remove, ApproximateBudget{1e6, 0}};

class LedgerDatabase : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::installed())
      GTEST_SKIP() << "no PostgreSQL server is installed (Debian: postgresql)";
  }
};

// --- Roles ---

TEST_F(LedgerDatabase, AWriterMayOnlyReadAndAppend) {
  PostgresServer server;
  const std::string owned = server.database("people");
  server.sql("CREATE ROLE curator LOGIN; CREATE ROLE stranger LOGIN");
  (void)create_ledger(owned, terms, {.writer = "curator"});
  const std::string mine = server.uri("people", "curator");
  Ledger ledger = open_ledger(mine);
  ledger.charge("a", "", pure(1));
  ledger.begin("a");
  ledger.keep_answer("a", "42");
  EXPECT_EQ(ledger.answer("a"), "42");
  EXPECT_TRUE(ledger.verify(ledger.head()).sound);
  EXPECT_EQ(open_ledger(owned).entries().size(), 1U);
  for (const char* change :
       {"UPDATE sotto_ledger.entry SET cost = 0", "DELETE FROM sotto_ledger.entry",
        "TRUNCATE sotto_ledger.answer", "UPDATE sotto_ledger.founding SET budget = ''",
        "INSERT INTO sotto_ledger.founding SELECT * FROM sotto_ledger.founding",
        "DROP TABLE sotto_ledger.answer", "ALTER TABLE sotto_ledger.entry DISABLE TRIGGER ALL",
        "CREATE TABLE sotto_ledger.mine (x integer)", "DROP SCHEMA sotto_ledger CASCADE"}) {
    const std::string words =
        error_of([&] { server.sql(std::string("SET ROLE curator; ") + change, "people"); });
    EXPECT_TRUE(mentions(words, "permission denied") || mentions(words, "must be owner"))
        << change << ": " << words;
  }
  const std::string stranger =
      error_of([&] { (void)open_ledger(server.uri("people", "stranger")); });
  EXPECT_TRUE(mentions(stranger, "permission denied")) << stranger;
  EXPECT_NE(error_of([&] { (void)create_ledger(mine, terms); }), "");
  EXPECT_NE(error_of([&] {
              (void)create_ledger(server.database("other"), terms, {.writer = "nobody knows me"});
            }),
            "");
  EXPECT_TRUE(mentions(error_of([&] { (void)open_ledger(server.uri("other")); }),
                       "there is no ledger"));  // not half of one either
}

TEST_F(LedgerDatabase, OneDatabaseHoldsOneLedger) {
  PostgresServer server;
  const std::string place = server.database("people");
  EXPECT_TRUE(mentions(error_of([&] { (void)open_ledger(place); }), "create it first"));
  create_ledger(place, terms).charge("a", "", pure(1));
  EXPECT_TRUE(mentions(error_of([&] { (void)create_ledger(place, terms); }), "never overwritten"));
  EXPECT_EQ(open_ledger(place).entries().size(), 1U);
  EXPECT_TRUE(mentions(error_of([&] { (void)open_ledger(server.uri("nowhere")); }), "nowhere"));
  server.sql(
      "ALTER TABLE sotto_ledger.founding DISABLE TRIGGER USER, DROP CONSTRAINT "
      "founding_version_check; UPDATE sotto_ledger.founding SET version = 3",
      "people");
  EXPECT_TRUE(mentions(error_of([&] { (void)open_ledger(place); }), "this sotto reads versions"));
}

TEST_F(LedgerDatabase, AServerThatDoesNotSyncIsRefused) {
  PostgresServer server("fsync = off");
  const std::string words = error_of([&] { (void)create_ledger(server.uri(), terms); });
  EXPECT_TRUE(mentions(words, "fsync = on")) << words;
}

TEST_F(LedgerDatabase, AReadOnlyServerIsReadAndNotCharged) {
  PostgresServer server;
  (void)create_ledger(server.uri(), terms);
  server.sql(
      "ALTER DATABASE postgres SET default_transaction_read_only = on");  // which a client may turn
                                                                          // off, and a ledger does
  open_ledger(server.uri()).charge("a", "", pure(1));
  server.crash();
  std::ofstream(server.folder() / "data" / "standby.signal");  // a standby cannot be written
  server.start();
  const std::string words = error_of([&] { open_ledger(server.uri()).charge("b", "", pure(1)); });
  EXPECT_TRUE(mentions(words, "nothing was charged")) << words;
  EXPECT_EQ(open_ledger(server.uri()).entries().size(), 1U);
}

TEST_F(LedgerDatabase, WritersWaitForEachOtherAndNotForever) {
  PostgresServer server;
  Ledger ledger = create_ledger(server.uri(), terms);
  // This session holds the lock until its connection ends.
  std::thread other([&] {
    EXPECT_THROW(
        server.sql("BEGIN; SELECT pg_advisory_xact_lock(495791141999); SELECT pg_sleep(3600)"),
        std::runtime_error);
  });
  const auto wait_for = [&](const std::string& granted) {
    while (server.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND " +
                      granted)[0] == '0') {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  wait_for("granted");
  Ledger hasty = open_ledger(server.uri(), {.patience = std::chrono::milliseconds(100)});
  const std::string words = error_of([&] { hasty.charge("a", "", pure(1)); });
  EXPECT_TRUE(mentions(words, "locked by another process") &&
              mentions(words, "nothing was charged"))
      << words;
  std::thread end([&] {
    wait_for("NOT granted");
    server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted");
  });
  EXPECT_FALSE(ledger.charge("a", "", pure(1)).repeated);  // waits
  end.join();
  other.join();
  EXPECT_TRUE(hasty.charge("a", "", pure(1)).repeated);  // and is of use again
}

// --- Accepted servers ---

// A certificate authority, a certificate that it signed for the server db.sotto.test, and another
// authority.
void make_certificates(const std::filesystem::path& folder) {
  const std::string in = "cd " + folder.string() + " && ";
  const std::string key = " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  for (const std::string& command :
       {"openssl req -x509 -days 2 -subj /CN=authority -keyout authority.key -out authority.crt" +
            key,
        "openssl req -x509 -days 2 -subj /CN=authority -keyout other.key -out other.crt" + key,
        "openssl req -subj /CN=db.sotto.test -addext subjectAltName=DNS:db.sotto.test -keyout "
        "server.key -out server.csr" +
            key,
        std::string("openssl x509 -req -days 2 -in server.csr -copy_extensions copy -CA "
                    "authority.crt -CAkey authority.key -CAcreateserial -out server.crt"),
        std::string("chmod 600 server.key")}) {
    if (std::system((in + command + " 2>openssl.log").c_str()) != 0)
      throw std::runtime_error("openssl failed: " + command);
  }
}

TEST_F(LedgerDatabase, ARemoteServerMustProveItsIdentity) {
  PostgresServer server("ssl = on\nssl_cert_file = '../server.crt'\nssl_key_file = '../server.key'",
                        make_certificates);
  const std::string port = std::to_string(server.port());
  const auto uri = [&](const std::string& host, const std::string& more) {
    return "postgresql://postgres:secret@" + host + ":" + port +
           "/postgres?hostaddr=127.0.0.1&connect_timeout=5" + more;
  };
  const std::string right = "&sslrootcert=" + (server.folder() / "authority.crt").string();
  const std::string wrong = "&sslrootcert=" + (server.folder() / "other.crt").string();
  const auto creating = [&](const std::string& place) {
    const std::string words = error_of([&] { (void)create_ledger(place, terms); });
    EXPECT_FALSE(mentions(words, "secret")) << words;
    return words;
  };
  for (const char* mode :
       {"", "&sslmode=prefer", "&sslmode=require", "&sslmode=verify-ca", "&sslmode=disable"}) {
    EXPECT_TRUE(mentions(creating(uri("db.sotto.test", mode + right)), "Add &sslmode=verify-full"))
        << mode;
  }
  EXPECT_TRUE(mentions(creating(uri("db.sotto.test", "&sslmode=verify-full" + wrong)),
                       "certificate verify failed"));
  EXPECT_TRUE(mentions(creating(uri("localhost", "&sslmode=verify-full" + right)),
                       "does not match host name"));
  EXPECT_EQ(creating(uri("db.sotto.test", "&sslmode=verify-full" + right)), "");
  const Ledger open = open_ledger(uri("db.sotto.test", "&sslmode=verify-full" + right));
  EXPECT_EQ(server.sql("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE "
                       "application_name = 'sotto'"),
            "t\n");
}

TEST(LedgerUri, ARemoteServerWithoutVerifyFullIsNotContacted) {
  const auto opening = [](const std::string& place) {
    return error_of([&] { (void)open_ledger(place); });
  };
  for (const char* host :
       {"db.example.org", "192.0.2.1", "127.0.0.1.example.org", "localhost,192.0.2.1", "127.0.0.1,",
        "[2001:db8::1]", "localhost.example.org"}) {
    const std::string words = opening(std::string("postgresql://u:hidden@") + host + "/people");
    const bool here = std::string(host) == "127.0.0.1,";  // the second is the socket
    EXPECT_EQ(mentions(words, "Add ?sslmode=verify-full"), !here) << host << ": " << words;
    EXPECT_FALSE(mentions(words, "hidden")) << words;
  }
  EXPECT_TRUE(
      mentions(opening("postgresql://localhost/people?hostaddr=192.0.2.1"), "sslmode=verify-full"));
  EXPECT_TRUE(mentions(opening("postgresql:///people?host=db.example.org"), "sslmode=verify-full"));
  EXPECT_TRUE(mentions(opening("postgresql:///people?service=somewhere"), "service="));
  EXPECT_TRUE(
      mentions(opening("postgresql://u:hidden@localhost:1/people?nonsense=1"), "cannot be read"));
  EXPECT_FALSE(mentions(opening("postgresql://u:hidden@localhost:1/people?nonsense=1"), "hidden"));
  EXPECT_THROW((void)open_ledger("postgresql:people"), InvalidValue);
}

TEST(LedgerUri, IsShownWithoutItsPassword) {
  EXPECT_EQ(without_password("postgresql://u:pw@h:5/d?sslmode=x"),
            "postgresql://u@h:5/d?sslmode=x");
  EXPECT_EQ(without_password("postgresql://u:p@w:/x@h/d"), "postgresql://u@h/d");
  EXPECT_EQ(without_password("postgres://h:5/d?user=u&password=pw&sslmode=x"),
            "postgres://h:5/d?user=u&password=&sslmode=x");
  EXPECT_EQ(without_password("postgresql:///d?sslpassword=pw"), "postgresql:///d?sslpassword=");
  EXPECT_EQ(without_password("postgresql://u@h/d"), "postgresql://u@h/d");
  EXPECT_EQ(without_password("/home/u:pw@h/people.sotto"), "/home/u:pw@h/people.sotto");
}

// libpq would read the host from this variable.
TEST_F(LedgerDatabase, TheEnvironmentCannotRedirectTheConnection) {
  PostgresServer server;
  setenv("PGHOSTADDR", "192.0.2.1", 1);
  setenv("PGSSLMODE", "verify-full", 1);
  EXPECT_EQ(error_of([&] { (void)create_ledger(server.uri(), terms); }), "");
  setenv("PGHOST", "db.example.org", 1);
  EXPECT_FALSE(mentions(error_of([&] { (void)open_ledger("postgresql:///people?port=1"); }),
                        "db.example.org"));
  for (const char* name : {"PGHOSTADDR", "PGSSLMODE", "PGHOST"}) unsetenv(name);
}

// --- The command ---

TEST_F(LedgerDatabase, TheCommandTakesAUriWhereverItTakesAFile) {
  PostgresServer server;
  server.sql("CREATE ROLE curator LOGIN");
  const std::string owned = server.database("people");
  const std::string copy = server.database("copy");
  const std::string mine =
      "postgresql://curator:secret@127.0.0.1:" + std::to_string(server.port()) + "/people";
  const auto run = [&](const std::string& words) {
    const std::string log = (server.folder() / "command.log").string();
    const int status = std::system(
        (std::string(SOTTO_COMMAND_PATH) + " ledger " + words + " >" + log + " 2>&1").c_str());
    std::ifstream in(log);
    std::string said{std::istreambuf_iterator<char>(in), {}};
    EXPECT_FALSE(mentions(said, "secret")) << said;
    return std::to_string(WEXITSTATUS(status)) + " " + said;
  };
  const std::string key = " --key " + (server.folder() / "people.key").string();
  EXPECT_EQ(run("create " + owned + " --writer curator" + key + " --relation add-remove --rho 0.5")
                .substr(0, 2),
            "0 ");
  EXPECT_EQ(run("charge " + mine + " 'gaussian(2)' --request a" + key).substr(0, 2), "0 ");
  EXPECT_EQ(run("charge " + mine + " 'gaussian(1)' --request b" + key).substr(0, 2), "3 ");
  const std::string output = run("show " + mine);
  EXPECT_TRUE(mentions(output, "gaussian(2)  (a)") && mentions(output, "data        " + owned))
      << output;
  EXPECT_TRUE(mentions(run("verify " + mine), "sound       1 entry"));
  const std::string lines = (server.folder() / "lines.json").string();
  std::ofstream(lines) << run("export " + mine).substr(2);
  EXPECT_EQ(run("import " + copy + " " + lines + " --writer curator").substr(0, 2), "0 ");
  EXPECT_EQ(run("import " + copy + " " + lines).substr(0, 2), "1 ");
  EXPECT_EQ(Ledger::open(server.uri("copy", "curator")).export_text(),
            Ledger::open(owned).export_text());
}

// --- Connections that break ---

TEST_F(LedgerDatabase, AConnectionLostDuringACommitIsReportedAndChargesOnce) {
  PostgresServer server;
  CuttingProxy proxy(server.port());
  (void)create_ledger(server.uri(), terms);
  Ledger ledger =
      open_ledger("postgresql://postgres@127.0.0.1:" + std::to_string(proxy.port()) + "/postgres");
  std::size_t entries = 0;
  for (const auto when : {CuttingProxy::Cut::before, CuttingProxy::Cut::after}) {
    const std::string request = when == CuttingProxy::Cut::before ? "before" : "after";
    proxy.cut(when, std::string("COMMIT\0", 7));  // not that of READ COMMITTED
    EXPECT_THROW(ledger.charge(request, "", pure(1)), OutcomeUnknown);
    ASSERT_TRUE(proxy.has_cut());
    const bool there = when == CuttingProxy::Cut::after;
    EXPECT_EQ(open_ledger(server.uri()).entries().size(), entries + (there ? 1 : 0));
    EXPECT_EQ(ledger.charge(request, "", pure(1)).repeated, there);  // on a new connection
    EXPECT_EQ(ledger.entries().size(), ++entries);
    EXPECT_TRUE(ledger.verify().sound);
  }
  proxy.cut(CuttingProxy::Cut::after, "sotto_ledger.add");
  const std::string words = error_of([&] { ledger.charge("during", "", pure(1)); });
  EXPECT_TRUE(mentions(words, "nothing was charged")) << words;
  EXPECT_FALSE(ledger.charge("during", "", pure(1)).repeated);
}

TEST_F(LedgerDatabase, AnOpenLedgerOutlivesItsServersRestart) {
  PostgresServer server;
  Ledger ledger = create_ledger(server.uri(), terms);
  ledger.charge("a", "", pure(1));
  server.crash();
  EXPECT_TRUE(mentions(error_of([&] { ledger.charge("b", "", pure(1)); }), "nothing was charged"));
  server.start();
  EXPECT_TRUE(ledger.charge("a", "", pure(1)).repeated);
  server.crash();
  server.start();
  EXPECT_EQ(ledger.entries().size(), 1U);
}

// The server's default is not to sync commits. Acknowledged charges are on its disk nevertheless,
// because the ledger sets synchronous_commit in each transaction.
void crash_rounds(int rounds) {
  PostgresServer server("synchronous_commit = off\nwal_writer_delay = '10s'");
  (void)create_ledger(server.uri(), terms);
  std::size_t acknowledged = 0;
  for (int round = 0; round < rounds; ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      try {
        Ledger ledger = open_ledger(server.uri());
        for (int i = 0;; ++i) {
          ledger.charge(std::to_string(round) + "-" + std::to_string(i), "", pure(1));
          if (write(ends[1], "c", 1) != 1) _exit(1);
        }
      } catch (const std::exception&) {
        _exit(0);
      }
    }
    close(ends[1]);
    char letter = 0;
    for (int i = 0; i < 3 && read(ends[0], &letter, 1) == 1; ++i) ++acknowledged;  // it is at work
    std::this_thread::sleep_for(std::chrono::microseconds(uniform_below(100'000)));
    server.crash();
    while (read(ends[0], &letter, 1) == 1) ++acknowledged;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    server.start();
    const Ledger ledger = open_ledger(server.uri());
    const std::size_t there = ledger.entries().size();
    ASSERT_GE(there, acknowledged);
    ASSERT_LE(there, acknowledged + 1);
    acknowledged = there;
    ASSERT_TRUE(ledger.verify().sound);
  }
  EXPECT_GE(acknowledged, static_cast<std::size_t>(3 * rounds));
}

TEST_F(LedgerDatabase, ACrashedServerLosesNothingThatWasAcknowledged) { crash_rounds(4); }

class SlowLedgerDatabase : public LedgerDatabase {};
TEST_F(SlowLedgerDatabase, ACrashedServerLosesNothingThatWasAcknowledgedIn50Rounds) {
  crash_rounds(50);
}

}  // namespace
}  // namespace sotto
