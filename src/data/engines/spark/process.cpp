// A session of Spark Connect, by the program sotto-spark: gRPC and its libraries stay out of the process that has the data's secrets.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <exception>
#include <thread>

#include "sotto/core/errors.hpp"
#include "core/api/file.hpp"
#include "core/api/json.hpp"
#include "data/api/spark.hpp"
#include "data/api/spark_frames.hpp"
#include "data/engines/spark/engine.hpp"

extern char** environ;

namespace sotto {
namespace {

using data_detail::SparkRunner;

constexpr const char* name_of_program = "sotto-spark";

std::string program_at(const std::filesystem::path& given) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::vector<std::filesystem::path> places =
      given.empty() ? std::vector<std::filesystem::path>{here / name_of_program, "/usr/local/bin/sotto-spark", "/usr/bin/sotto-spark"}
                    : std::vector<std::filesystem::path>{given};
  for (const auto& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place.string();
  }
  throw EngineError(
      "there is no sotto-spark, which speaks to Spark: it is built where gRPC is found (on Debian: libgrpc++-dev, libprotobuf-dev, "
      "protobuf-compiler-grpc), by ./dev spark",
      given.string());
}

std::string text_of(const std::filesystem::path& file, const char* what) {
  std::string text;
  try {
    text = read_text_file(file, max_key_file_size);
  } catch (const FileError& error) {
    throw EngineError(std::string(what) + " cannot be read, or is empty: " + file.string(), error.what());
  }
  if (text.empty()) throw EngineError(std::string(what) + " cannot be read, or is empty: " + file.string(), "");
  return text;
}

std::string token_in(const std::filesystem::path& file) {
  struct stat about {};
  if (stat(file.c_str(), &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw InvalidValue("the token's file can be read by others: chmod 600 " + file.string());
  }
  std::string token = text_of(file, "the token's file");
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' ')) token.pop_back();
  const auto is_good = [](char c) { return c > ' ' && c <= '~'; };
  if (token.empty() || token.size() > 65536 || !std::all_of(token.begin(), token.end(), is_good)) {
    throw InvalidValue("the token's file must hold one token and nothing else: " + file.string());
  }
  return token;
}

std::string opening(const SparkSource& source, const std::string& view) {
  const auto address = data_detail::spark_address(source.connection);
  if (!source.token.empty() && !address.tls) throw InvalidValue("a token is sent by TLS alone: add ;use_ssl=true to the connection");
  Json headers = Json::array();
  for (const auto& [name, value] : address.headers) headers.push_back(Json{{"name", name}, {"value", value}});
  Json settings = Json::array();
  for (const auto& [name, value] : spark_settings()) settings.push_back(Json{{"name", name}, {"value", value}});
  return Json{{"target", "dns:///" + address.host + ":" + std::to_string(address.port)},
              {"tls", address.tls},
              {"authority", source.authority.empty() ? std::string() : text_of(source.authority, "the file of certificates")},
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

/// The program, ended with this object.
class Child {
 public:
  explicit Child(const std::string& program) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      throw EngineError("the program that speaks to Spark cannot be started", "socketpair");
    socket_ = std::make_unique<Descriptor>(pair[0]);
    const Descriptor other(pair[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, other.number(), STDIN_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    std::string path = program;
    std::vector<char*> words{path.data(), nullptr};
    std::vector<char*> environment;  // without what would change whom gRPC trusts
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (!std::string_view(*variable).starts_with("GRPC_")) environment.push_back(*variable);
    }
    environment.push_back(nullptr);
    const int error = posix_spawn(&process_, path.c_str(), &actions, nullptr, words.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw EngineError("the program that speaks to Spark cannot be started: " + program, std::to_string(error));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    socket_.reset();  // it ends by itself when nobody is there
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
  SparkProcess(const std::string& program, const std::string& opening) : child_(program) { ask(SparkFrame::open, opening, {}, {}); }

  void run(const std::string& sql, const std::function<void(std::string_view)>& take, const Progress& progress) override {
    ask(SparkFrame::query, sql, take, progress);
  }

 private:
  [[noreturn]] static void lost() { throw EngineError("the program that speaks to Spark has ended", ""); }

  /// Until it is answered; what the caller throws, or that it asks to stop, ends the query first.
  void ask(SparkFrame kind, const std::string& bytes, const std::function<void(std::string_view)>& take, const Progress& progress) {
    if (!write_frame(child_.socket(), kind, bytes)) lost();
    std::exception_ptr thrown;
    bool is_stopped = false;
    double share = 0;
    auto told = std::chrono::steady_clock::now();
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
      if (progress && now - told >= std::chrono::milliseconds(50)) {
        told = now;
        guarded([&] { return progress(share); });
      }
      pollfd socket{child_.socket(), POLLIN, 0};
      if (poll(&socket, 1, 50) <= 0) continue;
      const auto message = read_frame(child_.socket());
      if (!message) lost();
      if (message->kind == SparkFrame::progress) {
        std::from_chars(message->bytes.data(), message->bytes.data() + message->bytes.size(), share);
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

std::unique_ptr<SparkRunner> data_detail::connect_to_spark(const SparkSource& source, const std::string& view, const std::filesystem::path& program) {
  const std::string first = opening(source, view);
  return std::make_unique<SparkProcess>(program_at(program), first);
}

}  // namespace sotto
