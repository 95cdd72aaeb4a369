// The cryptographic primitives of a round, behind one interface. Tests replace them by formal
// terms, from which a leak checker computes what a coalition can derive from the messages that it
// saw.
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

/// A string of bytes: a key, a share, a message, or a vector of elements.
using Bytes = std::string;

/// A Shamir share of a secret. `index` counts from 1.
struct SecretShare {
  std::int64_t index;
  Bytes bytes;
};

/// A mask that is added to a vector, or subtracted if it is negative.
struct SignedMask {
  Bytes key;
  bool negative;
};

/// The primitives of one member or of the coordinator.
class Primitives {
 public:
  virtual ~Primitives() = default;
  /// Returns a new secret with 252 random bits.
  virtual Bytes make_secret() = 0;
  /// Returns the public key, for key agreement, of a secret.
  virtual Bytes public_key(const Bytes& secret) = 0;
  /// Returns a key that only the owners of the two key pairs can compute, for one purpose. Throws
  /// ProtocolError for a public key of small order, with which everybody could compute the key.
  virtual Bytes agree_key(const Bytes& secret, const Bytes& public_key,
                          const std::string& purpose) = 0;
  /// Returns a key that only the owner of the secret can compute, for one purpose.
  virtual Bytes derive_key(const Bytes& secret, const std::string& purpose) = 0;
  /// Returns a hash. The hash of a secret commits its owner to it and reveals nothing about it.
  virtual Bytes hash(const Bytes& bytes) = 0;
  /// Splits a secret into Shamir shares [Shamir1979]. Any `threshold` of the `count` shares
  /// determine the secret; fewer reveal nothing about it.
  virtual std::vector<Bytes> split(const Bytes& secret, std::int64_t threshold,
                                   std::int64_t count) = 0;
  /// Returns the secret from at least `threshold` shares, whose indices must differ.
  virtual Bytes combine(std::span<const SecretShare> shares) = 0;
  /// Authenticated encryption under a key that is used for one message only. unseal() returns
  /// nothing if key, bytes or associated data are not those of seal().
  virtual Bytes seal(const Bytes& key, const Bytes& plain, const Bytes& associated_data) = 0;
  virtual std::optional<Bytes> unseal(const Bytes& key, const Bytes& sealed,
                                      const Bytes& associated_data) = 0;
  /// Returns this member's signature of a message.
  virtual Bytes sign(const Bytes& message) = 0;
  /// Returns whether the owner of the public key made the signature.
  virtual bool is_signed(const Bytes& message, const Bytes& signature,
                         const std::string& public_key) = 0;

  // Vectors of elements modulo 2^bits.
  /// Adds or subtracts the pseudorandom stream of each mask.
  virtual void mask(Bytes& vector, std::span<const SignedMask> masks) = 0;
  /// Adds a vector to the total; an empty total is zero. Throws ProtocolError unless the vector has
  /// `elements` elements.
  virtual void add(Bytes& total, const Bytes& vector, std::int64_t elements) = 0;
};

/// Returns the real primitives: libsodium's Ed25519, X25519, XChaCha20-Poly1305, SHA-256 and
/// ristretto255 scalars; OpenSSL's HKDF-SHA-256 and, for masks, AES-256 in counter mode.
/// `signing_key` is the 32-byte seed of an Ed25519 key; it is empty for a coordinator, which cannot
/// sign.
std::unique_ptr<Primitives> real_primitives(int bits, const Bytes& signing_key = {});

/// Returns the Ed25519 public key of a seed, in hexadecimal.
std::string signing_public_key(const Bytes& seed);
/// Returns a new random seed.
Bytes signing_seed();

/// Convert whole numbers to elements modulo 2^bits, and elements to whole numbers in
/// [-2^(bits-1), 2^(bits-1)). A number outside of that range wraps around.
Bytes elements(std::span<const std::int64_t> numbers, int bits);
std::vector<std::int64_t> centred(const Bytes& vector, int bits);

/// Overwrites a secret with zeros and makes it empty.
void wipe(Bytes& secret);

}  // namespace sotto
