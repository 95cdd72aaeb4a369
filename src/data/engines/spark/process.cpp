// A session of Spark Connect by the program sotto-spark, which keeps gRPC and its libraries out of
// this process, where the secrets are.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <thread>

#include "core/api/file.hpp"
#include "core/api/json.hpp"
#include "data/api/spark.hpp"
#include "data/api/spark_frames.hpp"
#include "data/engines/spark/engine.hpp"
#include "sotto/core/errors.hpp"

extern char** environ;

namespace sotto {
namespace {

using data_detail::SparkRunner;

constexpr const char* name_of_program = "sotto-spark";

// Returns the path of sotto-spark: `path`, or the first of the usual places if it is empty.
std::string find_program(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::vector<std::filesystem::path> places =
      path.empty()
          ? std::vector<std::filesystem::path>{here / name_of_program, "/usr/local/bin/sotto-spark",
                                               "/usr/bin/sotto-spark"}
          : std::vector<std::filesystem::path>{path};
  for (const auto& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place.string();
  }
  throw EngineError(
      "the program sotto-spark, which connects to Spark, is not installed: install gRPC (on "
      "Debian: libgrpc++-dev, libprotobuf-dev, "
      "protobuf-compiler-grpc) and build it by ./dev spark",
      path.string());
}

std::string text_of(const std::filesystem::path& file, const char* what) {
  std::string text;
  try {
    text = read_text_file(file, max_key_file_size);
  } catch (const FileError& error) {
    throw EngineError(std::string(what) + " " + file.string() + " cannot be read", error.what());
  }
  if (text.empty()) throw EngineError(std::string(what) + " " + file.string() + " is empty", "");
  return text;
}

std::string token_in(const std::filesystem::path& file) {
  struct stat about {};
  if (stat(file.c_str(), &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw InvalidValue("other users can read the file of the token: type chmod 600 " +
                       file.string());
  }
  std::string token = text_of(file, "the file of the token");
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' '))
    token.pop_back();
  const auto is_good = [](char c) { return c > ' ' && c <= '~'; };
  if (token.empty() || token.size() > 65536 || !std::all_of(token.begin(), token.end(), is_good)) {
    throw InvalidValue("the file of the token must hold one token and nothing else: " +
                       file.string());
  }
  return token;
}

// Returns the frame that opens a session.
std::string opening_frame(const SparkSource& source, const std::string& view) {
  const auto address = data_detail::spark_address(source.connection);
  if (!source.token.empty() && !address.tls)
    throw InvalidValue("a token is sent by TLS only: add ;use_ssl=true to the connection to Spark");
  Json headers = Json::array();
  for (const auto& [name, value] : address.headers)
    headers.push_back(Json{{"name", name}, {"value", value}});
  Json settings = Json::array();
  for (const auto& [name, value] : spark_settings())
    settings.push_back(Json{{"name", name}, {"value", value}});
  return Json{{"target", "dns:///" + address.host + ":" + std::to_string(address.port)},
              {"tls", address.tls},
              {"authority", source.authority.empty()
                                ? std::string()
                                : text_of(source.authority, "the file of certificates")},
              {"token", source.token.empty() ? std::string() : token_in(source.token)},
              {"user", address.user},
              {"headers", headers},
              {"settings", settings},
              {"view", view},
              {"relation", "SELECT * FROM " + data_detail::spark_relation(source)}}
      .dump();
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(number_); }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// The running program. The destructor ends it.
class Child {
 public:
  explicit Child(const std::string& program) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      throw EngineError("sotto-spark cannot be started: socketpair failed", std::strerror(errno));
    socket_ = std::make_unique<Descriptor>(pair[0]);
    const Descriptor other(pair[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, other.number(), STDIN_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    std::string path = program;
    std::vector<char*> words{path.data(), nullptr};
    std::vector<char*> environment;  // without variables that change whom gRPC trusts
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (!std::string_view(*variable).starts_with("GRPC_")) environment.push_back(*variable);
    }
    environment.push_back(nullptr);
    const int error =
        posix_spawn(&process_, path.c_str(), &actions, nullptr, words.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
      throw EngineError(program + " cannot be started: " + std::strerror(error),
                        std::to_string(error));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    socket_.reset();  // the program ends when its socket is closed
    for (int i = 0; i < 300; ++i) {
      if (waitpid(process_, nullptr, WNOHANG) != 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  [[nodiscard]] int socket() const { return socket_->number(); }

 private:
  std::unique_ptr<Descriptor> socket_;
  pid_t process_ = 0;
};

class SparkProcess final : public SparkRunner {
 public:
  SparkProcess(const std::string& program, const std::string& opening) : child_(program) {
    request(SparkFrame::open, opening, {}, {});
  }

  void run(const std::string& sql, const std::function<void(std::string_view)>& take,
           const Progress& progress) override {
    request(SparkFrame::query, sql, take, progress);
  }

 private:
  [[noreturn]] static void lost() {
    throw EngineError("sotto-spark has ended unexpectedly: run the command again", "");
  }

  /// Sends a request and waits for its answer. If `take` throws or `progress` asks to stop, the
  /// program ends the query first.
  void request(SparkFrame kind, const std::string& bytes,
               const std::function<void(std::string_view)>& take, const Progress& progress) {
    if (!write_frame(child_.socket(), kind, bytes)) lost();
    std::exception_ptr thrown;
    bool is_stopped = false;
    double share = 0;
    auto reported = std::chrono::steady_clock::now();
    // runs a callback of the caller; if it throws or returns false, the query is stopped
    const auto guarded = [&](const auto& act) {
      if (is_stopped) return;
      try {
        if (act()) return;
      } catch (...) {
        thrown = std::current_exception();
      }
      is_stopped = true;
      if (!write_frame(child_.socket(), SparkFrame::stop, "")) lost();
    };
    for (;;) {
      const auto now = std::chrono::steady_clock::now();
      if (progress && now - reported >= std::chrono::milliseconds(50)) {
        reported = now;
        guarded([&] { return progress(share); });
      }
      pollfd socket{child_.socket(), POLLIN, 0};
      if (poll(&socket, 1, 50) <= 0) continue;
      const auto message = read_frame(child_.socket());
      if (!message) lost();
      if (message->kind == SparkFrame::progress) {
        std::from_chars(message->bytes.data(), message->bytes.data() + message->bytes.size(),
                        share);
        share = std::clamp(share, 0.0, 1.0);
      } else if (message->kind == SparkFrame::rows) {
        if (take) {
          guarded([&] {
            take(message->bytes);
            return true;
          });
        }
      } else {
        if (thrown) std::rethrow_exception(thrown);
        if (is_stopped) throw EngineError("stopped", "");
        if (message->kind == SparkFrame::done) return;
        const Json why = Json::parse(message->bytes);
        throw EngineError(why["what"].text(), why["detail"].text());
      }
    }
  }

  Child child_;
};

}  // namespace

std::unique_ptr<SparkRunner> data_detail::connect_to_spark(const SparkSource& source,
                                                           const std::string& view,
                                                           const std::filesystem::path& program) {
  const std::string opening = opening_frame(source, view);
  return std::make_unique<SparkProcess>(find_program(program), opening);
}

}  // namespace sotto
