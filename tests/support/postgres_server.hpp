// A private PostgreSQL server for a test, on loopback and in a temporary folder. The destructor
// stops it and removes the folder.
//
//   if (!PostgresServer::installed()) GTEST_SKIP() << "no PostgreSQL server is installed (Debian:
//   postgresql)"; PostgresServer server; Ledger::create(server.database("people"), …);
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "free_port.hpp"

namespace sotto {

class PostgresServer {
 public:
  static bool installed() { return !programs().empty(); }

  /// Creates and starts a server. `settings` is added to postgresql.conf; `prepare` may write files
  /// into the new folder first, which is created in `where`.
  explicit PostgresServer(const std::string& settings = "",
                          void (*prepare)(const std::filesystem::path& folder) = nullptr,
                          const std::filesystem::path& where = default_place()) {
    std::string name = (where / "sotto-postgres-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a server");
    folder_ = name;
    if (prepare != nullptr) prepare(folder_);
    change_owner();
    make_cluster();
    port_ = free_port();
    std::ofstream(data() + "/postgresql.conf", std::ios::app)
        << "listen_addresses='127.0.0.1'\nport=" << port_ << "\nunix_socket_directories='"
        << folder_.string() << "'\nmax_connections=40\nshared_buffers='4MB'\nmax_wal_size='256MB'\n"
        << settings << "\n";
    start();
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer() {
    crash();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// The address of the server as a connection string of libpq.
  [[nodiscard]] std::string connection() const {
    return "host=127.0.0.1 port=" + std::to_string(port_) + " user=postgres dbname=postgres";
  }
  [[nodiscard]] std::string uri(const std::string& database = "postgres",
                                const std::string& role = "postgres") const {
    return "postgresql://" + role + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
  }

  /// Creates a database and returns its URI.
  std::string database(const std::string& name) {
    sql("CREATE DATABASE " + name);
    return uri(name);
  }
  /// Runs SQL as the superuser and returns its output. Throws std::runtime_error if it fails.
  std::string sql(const std::string& text, const std::string& database = "postgres") const {
    return finish(
        run({"psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text, uri(database)}),
        "psql");
  }

  void start() {
    server_ = run({(programs() / "postgres").string(), "-D", data()}).first;
    for (int i = 0; i < 600; ++i) {
      const auto [child, log] = run({(programs() / "pg_isready").string(), "-q", "-h", "127.0.0.1",
                                     "-p", std::to_string(port_)});
      int status = 0;
      waitpid(child, &status, 0);
      if (status == 0) return;
      if (waitpid(server_, &status, WNOHANG) == server_) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    throw std::runtime_error("the server did not start: " + output_of(folder_ / "postgres.log"));
  }
  /// Stops the server at once, without writing anything, like a crash.
  void crash() {
    if (server_ <= 0) return;
    kill(server_, SIGQUIT);
    waitpid(server_, nullptr, 0);
    server_ = 0;
  }

 private:
  [[nodiscard]] std::string data() const { return (folder_ / "data").string(); }

  // Returns a folder in memory if there is enough, since a new server syncs a thousand files; a
  // crash of the server has the same effect there.
  static std::filesystem::path default_place() {
    std::error_code none;
    const auto space = std::filesystem::space("/dev/shm", none);
    const bool enough =
        !none && space.available >= (std::uintmax_t{1} << 29) && access("/dev/shm", W_OK) == 0;
    return enough ? "/dev/shm" : std::filesystem::temp_directory_path();
  }

  // Returns the programs of the newest installed version.
  static std::filesystem::path programs() {
    std::filesystem::path newest;
    std::error_code none;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
      if (std::filesystem::exists(version.path() / "bin/initdb") && version.path() / "bin" > newest)
        newest = version.path() / "bin";
    }
    return newest;
  }

  // Makes the data folder. initdb takes seconds of processor time, so the first server of a build
  // tree leaves a copy of its new cluster there, and later servers start from that copy.
  void make_cluster() const {
    namespace fs = std::filesystem;
    const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
    const std::string version = programs().parent_path().filename().string();
    const fs::path template_folder = build / ("postgres-template-" + version);
    std::error_code failed;
    if (fs::exists(template_folder / "PG_VERSION", failed)) {
      fs::copy(template_folder, data(), fs::copy_options::recursive);
      change_owner();
      return;
    }

    finish(run({(programs() / "initdb").string(), "-D", data(), "-U", "postgres", "-A", "trust",
                "-E", "UTF8", "--no-locale", "--no-sync", "--wal-segsize=1"}),
           "initdb");
    // Another test may do this at the same moment: the first to rename leaves the copy.
    const fs::path unfinished = template_folder.string() + "." + std::to_string(getpid());
    fs::copy(data(), unfinished, fs::copy_options::recursive, failed);
    if (!failed) fs::rename(unfinished, template_folder, failed);
    if (failed) fs::remove_all(unfinished, failed);
  }

  // Returns the user to run as, since PostgreSQL refuses to run as root; nullptr if this process is
  // not root's.
  static const passwd* other_user() {
    if (geteuid() != 0) return nullptr;
    const passwd* user = getpwnam("postgres");
    return user != nullptr ? user : getpwnam("nobody");
  }
  void change_owner() const {
    namespace fs = std::filesystem;
    const passwd* user = other_user();
    if (user == nullptr) return;
    const auto change = [user](const fs::path& path) {
      if (chown(path.c_str(), user->pw_uid, user->pw_gid) != 0)
        throw std::runtime_error("cannot change the owner of " + path.string());
    };
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) change(entry.path());
    change(folder_);
  }

  // Starts a program. Returns its process, which ends with this one, and the file with its output.
  [[nodiscard]] std::pair<pid_t, std::filesystem::path> run(
      const std::vector<std::string>& command) const {
    const std::string name = std::filesystem::path(command.front()).filename();
    const std::filesystem::path log = folder_ / (name + ".log");
    const passwd* user = other_user();
    const pid_t child = fork();
    if (child != 0) return {child, log};
    if (user != nullptr &&
        (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
      _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    if (chdir("/") != 0) _exit(126);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words.front(), words.data());
    _exit(127);
  }
  static std::string output_of(const std::filesystem::path& log) {
    std::ifstream in(log);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string finish(const std::pair<pid_t, std::filesystem::path>& process,
                            const char* what) {
    int status = 0;
    waitpid(process.first, &status, 0);
    std::string text = output_of(process.second);
    if (status != 0) throw std::runtime_error(std::string(what) + ": " + text);
    return text;
  }

  std::filesystem::path folder_;
  pid_t server_ = 0;
  int port_ = 0;
};

}  // namespace sotto
