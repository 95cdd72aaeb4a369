// Witnesses: a file to which heads are appended, and a command of the user's.
#include "ledger/chain/witness.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/api/file.hpp"
#include "ledger/chain/file.hpp"

namespace sotto::ledger_detail {
namespace {

std::string line_of(const std::string& id, const Head& head) {
  return id + " " + std::to_string(head.number) + ":" + head.hash + "\n";
}

constexpr std::string_view digits = "0123456789";
constexpr std::string_view hexadecimal_digits = "0123456789abcdef";
constexpr std::size_t hash_size = 64;

bool consists_of(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

// Returns whether a writer that was killed while it wrote a head can have left this line. Such a
// line is ignored.
bool is_start_of_line(std::string_view line) {
  const std::string_view id = line.substr(0, line.find(' '));
  const std::string_view head = line.substr(std::min(line.size(), id.size() + 1));
  const std::string_view number = head.substr(0, head.find(':'));
  const std::string_view hash = head.substr(std::min(head.size(), number.size() + 1));
  return consists_of(id, hexadecimal_digits) && consists_of(number, digits) &&
         consists_of(hash, hexadecimal_digits) && hash.size() < hash_size;
}

// Returns the head in a line, or nothing if the line is of another ledger. Throws LedgerError if
// the line is not a head: a witness that was tampered with must not count as one that is empty.
std::optional<Head> head_in(const std::string& line, const std::string& id) {
  if (is_start_of_line(line)) return std::nullopt;
  const auto require = [&line](bool condition) {
    if (!condition)
      throw LedgerError(
          "the witness has a line that is not the head of a ledger, ID NUMBER:HASH: '" +
          line.substr(0, 200) + "'. Remove or restore the line");
  };
  const std::size_t space = line.find(' ');
  const std::size_t colon = line.rfind(':');
  require(space != std::string::npos && space > 0 && colon != std::string::npos &&
          colon > space + 1);
  const std::string number = line.substr(space + 1, colon - space - 1);
  const std::string hash = line.substr(colon + 1);
  require(hash.size() == hash_size && consists_of(hash, hexadecimal_digits));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  require(error == std::errc() && end == number.data() + number.size() && value >= 0);
  return line.substr(0, space) == id ? std::optional(Head{value, hash}) : std::nullopt;
}

class Descriptor {
 public:
  explicit Descriptor(int file = -1) : file_(file) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  [[nodiscard]] int get() const { return file_; }
  void reset() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

 private:
  int file_;
};

class WitnessFile final : public Witness {
 public:
  explicit WitnessFile(std::string path) : path_(std::move(path)) {}

  std::optional<Head> last(const std::string& id) override {
    try {
      const RegularFile file(path_);
      return last_in(file.descriptor(), id);
    } catch (const FileError& error) {
      if (error.is_absent()) return std::nullopt;
      throw LedgerError("the witness " + path_ +
                        " cannot be read; nothing was charged: " + error.what());
    }
  }
  void give(const std::string& id, const Head& head) override {
    const Descriptor file(
        open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
    const auto fail = [this] {
      throw LedgerError("the witness " + path_ +
                            " cannot be written. The records that were written to the ledger stay "
                            "there. Make the witness writable, and send the request again",
                        Remedy::show_ledger);
    };
    struct stat about {};
    if (file.get() < 0 || fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) ||
        flock(file.get(), LOCK_EX) != 0)
      fail();
    // Under the lock: if two processes write at the same time, the one with the later head may come
    // first.
    if (const auto before = last_in(file.get(), id); before && before->number >= head.number)
      return;
    // If a crash cut off the last line, start a new line after it.
    const off_t size = lseek(file.get(), 0, SEEK_END);
    char end = '\n';
    if (size > 0 && pread(file.get(), &end, 1, size - 1) != 1) fail();
    const std::string line = (end == '\n' ? "" : "\n") + line_of(id, head);
    if (write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
        fsync(file.get()) != 0)
      fail();
    if (size == 0) sync_folder(path_);
  }

 private:
  // Searches backwards, block by block, so that a long file costs no more than a short one.
  std::optional<Head> last_in(int file, const std::string& id) const {
    constexpr off_t block = 1 << 16;
    constexpr std::size_t most_line = (std::size_t{1} << 20U) + block;
    std::string tail;  // may start in the middle of a line
    for (off_t start = lseek(file, 0, SEEK_END); start > 0;) {
      const off_t size = std::min(start, block);
      std::string bytes(static_cast<std::size_t>(size), '\0');
      if (pread(file, bytes.data(), bytes.size(), start - size) != size)
        throw LedgerError("the witness " + path_ + " cannot be read at byte " +
                          std::to_string(start - size));
      start -= size;
      tail = bytes + tail;
      if (tail.size() > most_line)
        throw LedgerError(
            "the witness " + path_ +
            " has a line of more than 1 MiB, which is not the head of a ledger: remove the line");
      std::size_t end = tail.rfind('\n');  // the bytes after it are a line that was cut off
      while (end != std::string::npos) {
        const std::size_t before = end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
        if (before == std::string::npos && start > 0) break;  // the line starts in an earlier block
        const std::size_t first = before == std::string::npos ? 0 : before + 1;
        if (auto head = head_in(tail.substr(first, end - first), id)) return head;
        tail.resize(first);
        end = before;
      }
    }
    return std::nullopt;
  }

  std::string path_;
};

class WitnessCommand final : public Witness {
 public:
  WitnessCommand(std::string command, std::chrono::milliseconds patience)
      : command_(std::move(command)), patience_(patience) {}

  std::optional<Head> last(const std::string& id) override {
    std::istringstream lines(run("last", id, ""));
    std::optional<Head> head;
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      head = head_in(line, id);
      if (!head)
        throw LedgerError("the witness " + command_ +
                          " printed a line that is not a head of this ledger: '" +
                          line.substr(0, 200) + "'");
    }
    return head;
  }
  void give(const std::string& id, const Head& head) override {
    (void)run("give", id, line_of(id, head));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw LedgerError("the witness command '" + command_ + "' " + what +
                          ". The records that were written to the ledger stay there",
                      Remedy::show_ledger);
  }

  // Runs the command with a verb, the ledger's id and one line of input. Returns its output. Throws
  // LedgerError if it fails or does not end in time.
  std::string run(const char* verb, const std::string& id, const std::string& input) const {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0) fail("cannot be run");
    Descriptor ours(in[0]);
    Descriptor theirs(in[1]);
    if (pipe2(out.data(), O_CLOEXEC) != 0) fail("cannot be run");
    Descriptor reader(out[0]);
    Descriptor writer(out[1]);

    // The verb and the id are arguments, not part of the shell's text.
    std::vector<std::string> words{"sh", "-c", command_ + " \"$@\"", "sh", verb, id};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      if (dup2(theirs.get(), STDIN_FILENO) >= 0 && dup2(writer.get(), STDOUT_FILENO) >= 0)
        execv("/bin/sh", arguments.data());
      for (;;)
        (void)raise(SIGKILL);  // without a shell the child must end at once: no code of this
                               // process may run twice
    }
    if (child < 0) fail("cannot be run");
    theirs.reset();
    writer.reset();
    if (!input.empty())
      (void)send(ours.get(), input.data(), input.size(),
                 MSG_NOSIGNAL);  // one line fits into the buffer; a command that does not read it
                                 // fails by its exit status
    ours.reset();

    std::string answer;
    const bool is_late = !read_in_time(reader.get(), answer);
    if (is_late) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (is_late)
      fail("did not answer within " + std::to_string(patience_.count()) +
           " ms, or printed too much");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("failed (" + ending_of(status) + ")");
    return answer;
  }

  // Reads the output to its end. Returns false if the command is too slow or prints more than 1 MB.
  bool read_in_time(int file, std::string& answer) const {
    const auto deadline = std::chrono::steady_clock::now() + patience_;
    for (std::array<char, 4096> buffer{};;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                            deadline - std::chrono::steady_clock::now())
                            .count();
      pollfd waiting{file, POLLIN, 0};
      const int ready =
          poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0 || answer.size() > 1'000'000) return false;
      const ssize_t size = read(file, buffer.data(), buffer.size());
      if (size <= 0) return true;
      answer.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }

  static std::string ending_of(int status) {
    return WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                             : "signal " + std::to_string(WTERMSIG(status));
  }

  std::string command_;
  std::chrono::milliseconds patience_;
};

}  // namespace

std::unique_ptr<Witness> witness_named(const std::string& text,
                                       std::chrono::milliseconds patience) {
  if (text.empty()) return nullptr;
  if (text.front() == '|') return std::make_unique<WitnessCommand>(text.substr(1), patience);
  return std::make_unique<WitnessFile>(text);
}

}  // namespace sotto::ledger_detail
