// A checkpoint's file is the line "sotto checkpoint 1", the AES-256-GCM ciphertext of the text, and
// the tag. Every file has another key, so the nonce is 0.
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

#include "core/api/file.hpp"
#include "core/api/hexadecimal.hpp"
#include "ledger/chain/chain.hpp"
#include "ledger/chain/file.hpp"
#include "ledger/chain/text.hpp"
#include "sotto/random/random.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr const char* title = "sotto checkpoint 1\n";
constexpr std::size_t tag_size = 16;

// A digest, since a request id may have any characters.
std::string name_of(const std::string& request) { return digest(request).substr(0, 32); }
fs::path path_of(const fs::path& folder, const std::string& request, std::int64_t number) {
  return folder / (name_of(request) + "." + std::to_string(number) + ".checkpoint");
}

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  throw LedgerError(what + " " + path.string() + ": " + std::strerror(errno));
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// Derives a file's key from the ledger's private key and the salt. The salt is stored only in the
// checkpoint's mark, so a file without a mark cannot be decrypted, not even by the key's owner.
std::string key_of(const Ledger& ledger, const std::string& request, std::int64_t number,
                   const std::string& salt) {
  return ledger.secret_for("checkpoint\n" + ledger.id() + "\n" + request + "\n" +
                           std::to_string(number) + "\n" + salt);
}

struct Free {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }  // wipes the key
};

// AES-256-GCM in one direction. After a step fails all later ones do nothing, and good() is false.
class Cipher {
 public:
  explicit Cipher(const std::string& key, bool encrypts) : context_(EVP_CIPHER_CTX_new()) {
    const std::array<unsigned char, 12> nonce{};
    good_ = context_ != nullptr &&
            EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key),
                              nonce.data(), encrypts ? 1 : 0) == 1;
  }
  // Encrypts or decrypts the text.
  std::string run(const std::string& text) {
    std::string result(text.size(), 0);
    constexpr std::size_t at_once = std::size_t{1} << 30U;
    for (std::size_t from = 0; good_ && from < text.size(); from += at_once) {
      const int size = static_cast<int>(std::min(at_once, text.size() - from));
      int done = 0;
      good_ = EVP_CipherUpdate(context_.get(), bytes_of(result) + from, &done,
                               bytes_of(text) + from, size) == 1 &&
              done == size;
    }
    return result;
  }
  // Returns, when decrypting, whether the text has the expected tag.
  bool finish() {
    int done = 0;
    std::array<unsigned char, tag_size> unused{};
    return good_ = good_ && EVP_CipherFinal_ex(context_.get(), unused.data(), &done) == 1;
  }
  std::string tag() {
    std::string tag(tag_size, 0);
    good_ = good_ &&
            EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, tag_size, tag.data()) == 1;
    return tag;
  }
  void expect(std::string tag) {
    good_ = good_ &&
            EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, tag_size, tag.data()) == 1;
  }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
  bool good_;
};

// The seal in a mark: the digest of the file, and the salt of its key.
struct Seal {
  std::string digest, salt;
};
Seal parse_seal(const std::string& seal) {
  const auto words = ledger_detail::words_of(seal);
  if (words.size() != 2)
    throw LedgerError(
        "the ledger's mark of a checkpoint has " + std::to_string(words.size()) +
        " words instead of 2: another version of sotto wrote it. Resume with that version");
  return {words[0], words[1]};
}

std::optional<std::string> contents_of(const fs::path& path) {
  try {
    return read_text_file(path,
                          std::numeric_limits<std::int64_t>::max());  // no limit: a checkpoint is
                                                                      // as large as the model
  } catch (const FileError& error) {
    if (error.is_absent()) return std::nullopt;
    throw LedgerError(error.what());
  }
}

// Returns the bytes of the marked file. Throws LedgerError if the file is absent, or if somebody
// put an older or another file in its place: resuming from it would draw noise a second time.
std::string marked_bytes(const fs::path& folder, const std::string& request,
                         const CheckpointMark& mark) {
  const fs::path path = path_of(folder, request, mark.number);
  auto bytes = contents_of(path);
  if (!bytes)
    throw LedgerError(
        "the last checkpoint that the ledger marks, number " + std::to_string(mark.number) +
        " in " + path.string() +
        ", is absent: put the file back, or give the folder that the run started with");
  if (digest(*bytes) != parse_seal(mark.seal).digest) {
    throw LedgerError(
        "the checkpoint " + path.string() + " is not the one that the ledger marks as number " +
        std::to_string(mark.number) + ": it was changed or replaced. Put the marked file back");
  }
  return std::move(*bytes);
}

std::string decrypt(const Ledger& ledger, const std::string& request, const CheckpointMark& mark,
                    const std::string& bytes) {
  const std::size_t start = std::strlen(title);
  if (bytes.rfind(title, 0) != 0 || bytes.size() < start + tag_size) {
    throw LedgerError("checkpoint " + std::to_string(mark.number) + " of request " + request +
                      " was written by another version of sotto: resume with that version");
  }
  Cipher cipher(key_of(ledger, request, mark.number, parse_seal(mark.seal).salt), false);
  std::string text = cipher.run(bytes.substr(start, bytes.size() - start - tag_size));
  cipher.expect(bytes.substr(bytes.size() - tag_size));
  if (!cipher.finish())
    throw LedgerError("checkpoint " + std::to_string(mark.number) + " of request " + request +
                      " cannot be decrypted with this signing key: resume with the key of the user "
                      "who started the run");
  return text;
}

void write_durably(const fs::path& path, const std::string& bytes) {
  unlink(path.c_str());  // left by a run that was stopped before it marked the file
  if (!ledger_detail::write_new_file(path.string(), bytes))
    throw LedgerError("another program created " + path.string() +
                      " at this moment: give a folder that no other program uses");
}

// Deletes the request's checkpoints with another number.
void remove_all_but(const fs::path& folder, const std::string& request, std::int64_t number) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_own =
        name.rfind(name_of(request) + ".", 0) == 0 && entry.path().extension() == ".checkpoint";
    if (is_own && entry.path() != path_of(folder, request, number)) unlink(entry.path().c_str());
  }
}

}  // namespace

CheckpointFile::CheckpointFile(Ledger& ledger, const fs::path& folder, std::string request)
    : ledger_(ledger), folder_(folder), request_(std::move(request)) {
  if (folder_.empty()) return;
  try {
    lock_ = LockFile::try_lock(folder_ / (name_of(request_) + ".lock"));
  } catch (const std::runtime_error& error) {
    throw LedgerError(error.what());
  }
  if (!lock_)
    throw LedgerError("another process runs request " + request_ + " (it holds " +
                      (folder_ / (name_of(request_) + ".lock")).string() +
                      "): wait for it, or stop it");
}

CheckpointFile::~CheckpointFile() = default;

void CheckpointFile::require_folder(const Ledger& ledger, const fs::path& folder) {
  if (folder.empty()) return;
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    fail("cannot write checkpoints into the folder", folder);
  ledger.require_checkpoints();
}

std::optional<std::string> CheckpointFile::obstacle(const Ledger& ledger, const fs::path& folder,
                                                    const std::string& request) {
  try {
    if (folder.empty()) return "no folder for checkpoints was given";
    const auto mark = ledger.checkpoint(request);
    if (!mark) return "it was stopped before its first checkpoint";
    (void)decrypt(ledger, request, *mark, marked_bytes(folder, request, *mark));
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::optional<std::string> CheckpointFile::read() {
  if (folder_.empty()) return std::nullopt;
  const auto mark = ledger_.checkpoint(request_);
  if (!mark) return std::nullopt;
  std::string text = decrypt(ledger_, request_, *mark, marked_bytes(folder_, request_, *mark));
  number_ = mark->number;
  return text;
}

std::string CheckpointFile::write_sealed(std::int64_t number, const std::string& text) const {
  // The salt is in memory only until the mark is in the ledger. A crash before that makes the file
  // undecryptable, and the run continues from the checkpoint before it.
  std::array<std::uint64_t, 4> words{};
  for (std::uint64_t& word : words) word = Random::here().word();
  const std::string salt =
      hexadecimal({reinterpret_cast<const unsigned char*>(words.data()), sizeof words});
  Cipher cipher(key_of(ledger_, request_, number, salt), true);
  std::string bytes = title + cipher.run(text);
  cipher.finish();
  bytes += cipher.tag();
  if (!cipher.good())
    throw LedgerError(
        "OpenSSL offers no AES-256-GCM here, so no checkpoint can be written: check its "
        "configuration");
  write_durably(path_of(folder_, request_, number), bytes);
  return digest(bytes) + " " + salt;
}

std::string CheckpointFile::prepare(const std::string& text) {
  if (folder_.empty()) return "";
  return write_sealed(number_ = 0, text);
}

void CheckpointFile::write(const std::string& text) {
  if (folder_.empty()) return;
  // File first: a crash here leaves a file that nobody can decrypt, and the mark of the one before
  // it.
  const std::string seal = write_sealed(number_ + 1, text);
  // Then the mark: a crash after it leaves two files, of which the run resumes from the marked one.
  ledger_.mark_checkpoint(request_, {number_ + 1, seal});
  remove_all_but(folder_, request_, ++number_);
}

void CheckpointFile::remove(const fs::path& folder, const std::string& request) {
  if (folder.empty()) return;
  remove_all_but(folder, request, -1);
}

}  // namespace sotto
