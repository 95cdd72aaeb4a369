// A checkpoint's file is "sotto checkpoint 1", AES-256-GCM of the text, and its tag. Each has a key of its own, so the nonce is 0.
#include "ledger/api/checkpoint.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include "ledger/chain/chain.hpp"
#include "ledger/chain/file.hpp"
#include "core/api/file.hpp"
#include "sotto/random/random.hpp"
#include "ledger/chain/text.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr const char* title = "sotto checkpoint 1\n";
constexpr std::size_t tag_size = 16;

std::string name_of(const std::string& request) { return digest(request).substr(0, 32); }
fs::path place_of(const fs::path& folder, const std::string& request, std::int64_t number) {
  return folder / (name_of(request) + "." + std::to_string(number) + ".checkpoint");
}

[[noreturn]] void fail(const std::string& what, const fs::path& place) {
  throw LedgerError(what + " " + place.string() + ": " + std::strerror(errno));
}

const unsigned char* bytes_of(const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// The key of a file: of the salt, which is in its mark alone, and of the ledger's private key.
std::string key_of(const Ledger& ledger, const std::string& request, std::int64_t number, const std::string& salt) {
  return ledger.secret_for("checkpoint\n" + ledger.id() + "\n" + request + "\n" + std::to_string(number) + "\n" + salt);
}

struct Free {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }  // wipes the key
};

// One call after the other while all of them work.
class Cipher {
 public:
  explicit Cipher(const std::string& key, bool encrypts) : context_(EVP_CIPHER_CTX_new()) {
    const std::array<unsigned char, 12> nonce{};
    good_ = context_ != nullptr && EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key), nonce.data(), encrypts ? 1 : 0) == 1;
  }
  std::string of(const std::string& text) {
    std::string made(text.size(), 0);
    constexpr std::size_t at_once = std::size_t{1} << 30U;
    for (std::size_t from = 0; good_ && from < text.size(); from += at_once) {
      const int size = static_cast<int>(std::min(at_once, text.size() - from));
      int done = 0;
      good_ = EVP_CipherUpdate(context_.get(), bytes_of(made) + from, &done, bytes_of(text) + from, size) == 1 && done == size;
    }
    return made;
  }
  bool ends() {
    int done = 0;
    std::array<unsigned char, tag_size> none{};
    return good_ = good_ && EVP_CipherFinal_ex(context_.get(), none.data(), &done) == 1;
  }
  std::string tag() {
    std::string tag(tag_size, 0);
    good_ = good_ && EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, tag_size, tag.data()) == 1;
    return tag;
  }
  void expect(std::string tag) { good_ = good_ && EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, tag_size, tag.data()) == 1; }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
  bool good_;
};

// A mark's seal is the digest of the file and the salt.
struct Seal {
  std::string digest, salt;
};
Seal parts_of(const std::string& seal) {
  const auto words = ledger_detail::words_of(seal);
  if (words.size() != 2) throw LedgerError("the mark of a checkpoint cannot be read: another version of sotto wrote it");
  return {words[0], words[1]};
}

std::optional<std::string> contents_of(const fs::path& place) {
  try {
    return read_text_file(place, std::numeric_limits<std::int64_t>::max());  // as large as the parameters that a run keeps
  } catch (const FileError& error) {
    if (error.is_absent()) return std::nullopt;
    throw LedgerError(error.what());
  }
}

// The bytes of the file that is marked. LedgerError.
std::string marked_bytes(const fs::path& folder, const std::string& request, const CheckpointMark& mark) {
  const fs::path place = place_of(folder, request, mark.number);
  auto bytes = contents_of(place);
  if (!bytes) throw LedgerError("the last checkpoint that the ledger marks, " + place.string() + ", is not there");
  if (digest(*bytes) != parts_of(mark.seal).digest) {
    throw LedgerError("the checkpoint " + place.string() + " is not the one that the ledger marks: it was changed, or another was put in its place");
  }
  return std::move(*bytes);
}

std::string opened(const Ledger& ledger, const std::string& request, const CheckpointMark& mark, const std::string& bytes) {
  const std::size_t start = std::strlen(title);
  if (bytes.rfind(title, 0) != 0 || bytes.size() < start + tag_size) throw LedgerError("the checkpoint was written by another version of sotto");
  Cipher cipher(key_of(ledger, request, mark.number, parts_of(mark.seal).salt), false);
  std::string text = cipher.of(bytes.substr(start, bytes.size() - start - tag_size));
  cipher.expect(bytes.substr(bytes.size() - tag_size));
  if (!cipher.ends()) throw LedgerError("the checkpoint opens with another key to the ledger: go on as whoever started the run");
  return text;
}

void write_durably(const fs::path& place, const std::string& bytes) {
  unlink(place.c_str());  // of a run that was stopped before it was marked
  if (!ledger_detail::write_new_file(place.string(), bytes)) throw LedgerError("somebody else writes " + place.string());
}

void remove_all_but(const fs::path& folder, const std::string& request, std::int64_t number) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_own = name.rfind(name_of(request) + ".", 0) == 0 && entry.path().extension() == ".checkpoint";
    if (is_own && entry.path() != place_of(folder, request, number)) unlink(entry.path().c_str());
  }
}

}  // namespace

CheckpointFile::CheckpointFile(Ledger& ledger, const fs::path& folder, std::string request)
    : ledger_(ledger), folder_(folder), request_(std::move(request)) {
  if (folder_.empty()) return;
  try {
    lock_ = LockFile::held(folder_ / (name_of(request_) + ".lock"));
  } catch (const std::runtime_error& error) {
    throw LedgerError(error.what());
  }
  if (!lock_) throw LedgerError("another process is at this request: wait for it, or stop it");
}

CheckpointFile::~CheckpointFile() = default;

void CheckpointFile::require_place(const Ledger& ledger, const fs::path& folder) {
  if (folder.empty()) return;
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail("a training keeps how far it came in", folder);
  ledger.require_checkpoints();
}

std::optional<std::string> CheckpointFile::obstacle(const Ledger& ledger, const fs::path& folder, const std::string& request) {
  try {
    if (folder.empty()) return "no checkpoints are kept";
    const auto mark = ledger.checkpoint(request);
    if (!mark) return "it had come to no checkpoint";
    (void)opened(ledger, request, *mark, marked_bytes(folder, request, *mark));
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::optional<std::string> CheckpointFile::read() {
  if (folder_.empty()) return std::nullopt;
  const auto mark = ledger_.checkpoint(request_);
  if (!mark) return std::nullopt;
  std::string text = opened(ledger_, request_, *mark, marked_bytes(folder_, request_, *mark));
  number_ = mark->number;
  return text;
}

std::string CheckpointFile::sealed(std::int64_t number, const std::string& text) const {
  std::array<std::uint64_t, 4> words{};
  for (std::uint64_t& word : words) word = Random::here().word();
  const std::string salt = ledger_detail::hexadecimal({reinterpret_cast<const unsigned char*>(words.data()), sizeof words});
  Cipher cipher(key_of(ledger_, request_, number, salt), true);
  std::string bytes = title + cipher.of(text);
  cipher.ends();
  bytes += cipher.tag();
  if (!cipher.good()) throw LedgerError("AES-256-GCM is not available");
  write_durably(place_of(folder_, request_, number), bytes);
  return digest(bytes) + " " + salt;
}

std::string CheckpointFile::prepare(const std::string& text) {
  if (folder_.empty()) return "";
  return sealed(number_ = 0, text);
}

void CheckpointFile::write(const std::string& text) {
  if (folder_.empty()) return;
  const std::string seal = sealed(number_ + 1, text);
  ledger_.mark_checkpoint(request_, {number_ + 1, seal});
  remove_all_but(folder_, request_, ++number_);
}

void CheckpointFile::remove(const fs::path& folder, const std::string& request) {
  if (folder.empty()) return;
  remove_all_but(folder, request, -1);
}

}  // namespace sotto
