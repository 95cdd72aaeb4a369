// The Ed25519 key that signs a ledger's heads, in a separate file.
//
// The key separates a writer, who may charge, from somebody who can only change the ledger's bytes.
// It therefore lies outside of the ledger, in a file that its owner alone may read.
#pragma once

#include <memory>
#include <string>

namespace sotto {

/// A signing key of one ledger. Public keys and signatures are hexadecimal text. Each function
/// throws LedgerError if the key cannot be made, read, written or used.
class SigningKey {
 public:
  /// Makes a new key from the operating system's randomness.
  static SigningKey generate();
  /// Reads a key file. Refuses a file that other users may read: they could have copied the key.
  static SigningKey read(const std::string& path);
  /// Writes the key to a new file that only its owner may read. Never overwrites a file, since a
  /// ledger whose key is lost can never be charged again.
  void write(const std::string& path) const;

  [[nodiscard]] std::string public_key() const;
  [[nodiscard]] std::string sign(const std::string& bytes) const;
  /// Returns the HMAC-SHA-256 of the purpose under the key: 32 bytes that cannot be computed
  /// without it.
  [[nodiscard]] std::string secret_for(const std::string& purpose) const;
  /// The founding hash of the one ledger that this key signs; empty before bind().
  [[nodiscard]] const std::string& ledger() const { return ledger_; }
  /// Binds the key to a ledger and writes that ledger's founding hash to the key file. Throws
  /// LedgerError if the key is bound to another ledger: this detects a founding entry that was
  /// swapped for one with a larger budget.
  void bind(const std::string& path, const std::string& founding_hash);

 private:
  struct Pair;
  explicit SigningKey(std::shared_ptr<const Pair> pair) : pair_(std::move(pair)) {}

  std::shared_ptr<const Pair> pair_;
  std::string ledger_;
};

/// Returns whether `signature` is a signature of the bytes by the owner of the public key. Returns
/// false, and does not throw, for text that is not a signature or not a key.
bool is_signed(const std::string& bytes, const std::string& signature,
               const std::string& public_key);

}  // namespace sotto
