// The cryptography that a round is made of, behind one interface: the real one, and in tests one of formal terms, which shows what a coalition can
// compute from what it saw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "federated/api/session.hpp"

namespace sotto {

/// Bytes: keys, shares, messages, and vectors of elements.
using Bytes = std::string;

/// A secret's share number `index` (from 1).
struct SecretShare {
  std::int64_t index;
  Bytes bytes;
};

/// A mask that is added to a vector or taken from it.
struct SignedMask {
  Bytes key;
  bool negative;
};

class Primitives {
 public:
  virtual ~Primitives() = default;
  /// 252 fresh random bits.
  virtual Bytes secret() = 0;
  /// The public key of the key agreement that a secret stands for.
  virtual Bytes public_key(const Bytes& secret) = 0;
  /// A key that the owners of both key pairs can compute, for one purpose. ProtocolError for a public key of small order.
  virtual Bytes agreed(const Bytes& secret, const Bytes& public_key, const std::string& purpose) = 0;
  /// A key that a secret alone stands for, for one purpose.
  virtual Bytes derived(const Bytes& secret, const std::string& purpose) = 0;
  /// A hash: of a secret it is a commitment that tells nothing of it.
  virtual Bytes hash(const Bytes& bytes) = 0;
  /// Shamir's: any `threshold` of `count` shares give the secret, fewer tell nothing of it.
  virtual std::vector<Bytes> split(const Bytes& secret, std::int64_t threshold, std::int64_t count) = 0;
  virtual Bytes combined(std::span<const SecretShare> shares) = 0;
  /// Authenticated encryption under a key that is used once; nothing if the bytes were not sealed so.
  virtual Bytes sealed(const Bytes& key, const Bytes& plain, const Bytes& context) = 0;
  virtual std::optional<Bytes> opened(const Bytes& key, const Bytes& sealed, const Bytes& context) = 0;
  /// This member's signature, and whether a signature is a member's.
  virtual Bytes signature(const Bytes& message) = 0;
  virtual bool is_signed(const Bytes& message, const Bytes& signature, const std::string& public_key) = 0;

  // Vectors of elements modulo 2^bits.
  /// Adds or subtracts each mask's stream.
  virtual void mask(Bytes& vector, std::span<const SignedMask> masks) = 0;
  /// total += vector; an empty total is zero. ProtocolError unless the vector has so many elements.
  virtual void add(Bytes& total, const Bytes& vector, std::int64_t elements) = 0;
};

/// libsodium's Ed25519, X25519, XChaCha20-Poly1305 and ristretto255 scalars; OpenSSL's SHA-256, HKDF and, for masks, AES-256 in counter mode.
/// `signing_key`: 32 bytes, the seed of an Ed25519 key; empty for a coordinator, which has none.
std::unique_ptr<Primitives> real_primitives(int bits, const Bytes& signing_key = {});

/// The Ed25519 public key of a seed, in hexadecimal.
std::string signing_public_key(const Bytes& seed);
/// A fresh seed.
Bytes signing_seed();

/// Whole numbers as elements, and a sum of elements as whole numbers around 0. InvalidValue for a number that has no room.
Bytes elements(std::span<const std::int64_t> numbers, int bits);
std::vector<std::int64_t> centred(const Bytes& vector, int bits);

/// Overwrites a secret before its memory is given back.
void wipe(Bytes& secret);

}  // namespace sotto
