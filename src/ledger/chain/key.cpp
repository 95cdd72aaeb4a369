// Ed25519 keys in text files:
//
//   sotto ledger key
//   private 9d61…    (32 bytes)
//   ledger 5a3f…     (the founding hash of the ledger that the key signs; absent before bind())
#include "sotto/ledger/key.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <vector>

#include "core/api/hexadecimal.hpp"
#include "ledger/chain/file.hpp"
#include "ledger/chain/text.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {
namespace {

constexpr std::size_t key_size = 32;
constexpr std::size_t signature_size = 64;
constexpr const char* title = "sotto ledger key";

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using ContextPtr = std::unique_ptr<EVP_MD_CTX, Free>;

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

struct SigningKey::Pair {
  KeyPtr key;
  std::array<unsigned char, key_size> secret{};
  std::string public_key;  // in hexadecimal

  explicit Pair(KeyPtr a_key) : key(std::move(a_key)) {
    std::size_t size = key_size;
    std::array<unsigned char, key_size> public_bytes{};
    if (key == nullptr || EVP_PKEY_get_raw_private_key(key.get(), secret.data(), &size) != 1 ||
        size != key_size ||
        EVP_PKEY_get_raw_public_key(key.get(), public_bytes.data(), &size) != 1 ||
        size != key_size) {
      throw LedgerError(
          "OpenSSL offers no Ed25519 here (is a FIPS provider configured?), so no ledger can be "
          "signed");
    }
    public_key = hexadecimal(public_bytes);
  }
  ~Pair() { OPENSSL_cleanse(secret.data(), secret.size()); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
};

SigningKey SigningKey::generate() {
  return SigningKey(
      std::make_shared<const Pair>(KeyPtr(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))));
}

SigningKey SigningKey::read(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) {
    throw LedgerError("there is no key file " + path +
                      ": charging needs the key that was created with the ledger, or one that its "
                      "founding entry lists. "
                      "Put a copy of the key there, or give its path (`key` in a data file)");
  }
  // A key that other users may read protects nothing: they could sign charges and answers.
  if ((about.st_mode & 077U) != 0)
    throw LedgerError("other users may read the key file " + path + ": type chmod 600 " + path);
  std::istringstream in(ledger_detail::read_key_file(path));
  std::string line;
  std::string secret;
  std::string ledger;
  bool is_key = static_cast<bool>(std::getline(in, line)) && line == title;
  while (std::getline(in, line)) {
    if (line.rfind("private ", 0) == 0)
      secret = line.substr(8);
    else if (line.rfind("ledger ", 0) == 0)
      ledger = line.substr(7);
    else
      is_key = false;
  }
  const auto bytes = from_hexadecimal(secret);
  if (!is_key || !bytes || bytes->size() != key_size) {
    throw LedgerError(path + " is not a ledger's key: a key file has the lines \"" + title +
                      "\" and \"private\" with 64 hexadecimal digits");
  }
  SigningKey key(std::make_shared<const Pair>(
      KeyPtr(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(*bytes), key_size))));
  key.ledger_ = ledger;
  return key;
}

void SigningKey::write(const std::string& path) const {
  std::string text = std::string(title) + "\nprivate " + hexadecimal(pair_->secret) + "\n";
  if (!ledger_.empty()) text += "ledger " + ledger_ + "\n";
  if (!ledger_detail::write_new_file(path, text))
    throw LedgerError(path + " exists already, and a key is never overwritten: give another path");
}

void SigningKey::bind(const std::string& path, const std::string& founding_hash) {
  if (ledger_ == founding_hash) return;
  if (!ledger_.empty()) {
    throw LedgerError("the key " + path +
                      " belongs to another ledger: the founding entry of this ledger was replaced, "
                      "or this is the wrong key. Give the path of the "
                      "key that was created with this ledger");
  }
  ledger_ = founding_hash;
  if (access(path.c_str(), F_OK) != 0) return write(path);

  // Write a new file and rename it: a crash leaves the old key file or the new one, never half a
  // key.
  const std::string fresh = path + ".new";
  (void)unlink(fresh.c_str());  // left by a process that was stopped
  if (access(path.c_str(), W_OK) != 0)
    return;  // the owner keeps the file read-only: bound in this process only
  write(fresh);
  if (std::rename(fresh.c_str(), path.c_str()) != 0)
    throw LedgerError("cannot replace the key file " + path + " by " + fresh +
                      ": check the permissions of the folder");
}

std::string SigningKey::public_key() const { return pair_->public_key; }

std::string SigningKey::sign(const std::string& bytes) const {
  const ContextPtr context(EVP_MD_CTX_new());
  std::array<unsigned char, signature_size> signature{};
  std::size_t size = signature.size();
  if (context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pair_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, bytes_of(bytes), bytes.size()) != 1 ||
      size != signature_size) {
    throw LedgerError(
        "OpenSSL cannot sign with Ed25519 here (is a FIPS provider configured?); nothing was "
        "charged");
  }
  return hexadecimal(signature);
}

// Ed25519 uses its seed only through SHA-512, so an HMAC with SHA-256 under this seed reveals
// nothing about signatures.
std::string SigningKey::secret_for(const std::string& purpose) const {
  const std::string named = "sotto ledger secret\n" + purpose;
  std::array<unsigned char, key_size> code{};
  std::size_t size = 0;
  if (EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, pair_->secret.data(), key_size,
                bytes_of(named), named.size(), code.data(), code.size(), &size) == nullptr ||
      size != code.size()) {
    throw LedgerError(
        "OpenSSL offers no HMAC-SHA-256 here, so no secret can be derived from the key: check its "
        "configuration");
  }
  return {reinterpret_cast<const char*>(code.data()), code.size()};
}

bool is_signed(const std::string& bytes, const std::string& signature,
               const std::string& public_key) {
  const auto public_bytes = from_hexadecimal(public_key);
  const auto raw = from_hexadecimal(signature);
  if (!public_bytes || !raw || public_bytes->size() != key_size || raw->size() != signature_size)
    return false;
  const KeyPtr key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(*public_bytes), key_size));
  const ContextPtr context(EVP_MD_CTX_new());
  return key != nullptr && context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(*raw), signature_size, bytes_of(bytes),
                          bytes.size()) == 1;
}

}  // namespace sotto
