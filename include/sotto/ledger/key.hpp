// The key that signs a ledger's heads: Ed25519, in a file of its own.
#pragma once

#include <memory>
#include <string>

namespace sotto {

/// Public keys and signatures are hexadecimal text. LedgerError where a key cannot be made, read or written.
class SigningKey {
 public:
  /// A new key, from the operating system's randomness.
  static SigningKey generate();
  /// From its file, which nobody but its owner may read.
  static SigningKey read(const std::string& path);
  /// To a new file, readable by its owner alone; a file that is there is never overwritten.
  void write(const std::string& path) const;

  [[nodiscard]] std::string public_key() const;
  [[nodiscard]] std::string sign(const std::string& bytes) const;
  /// 32 bytes that only who has the key can compute: HMAC-SHA-256 of the purpose.
  [[nodiscard]] std::string secret_for(const std::string& purpose) const;
  /// The founding hash of the one ledger that it signs; empty until it is known.
  [[nodiscard]] const std::string& ledger() const { return ledger_; }
  /// Writes the founding hash to its file. A key that was made for another ledger is refused.
  void bind(const std::string& path, const std::string& founding_hash);

 private:
  struct Pair;
  explicit SigningKey(std::shared_ptr<const Pair> pair) : pair_(std::move(pair)) {}

  std::shared_ptr<const Pair> pair_;
  std::string ledger_;
};

/// Whether the signature of these bytes is the key's.
bool is_signed(const std::string& bytes, const std::string& signature, const std::string& public_key);

}  // namespace sotto
