// The real primitives, by libsodium and OpenSSL. docs/theory/aggregation.md lists the assumptions
// on each.
#include "federated/api/primitives.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "sotto/random/random.hpp"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are sent as they are in memory");

constexpr std::size_t key_size = 32;
constexpr std::size_t block_size =
    16384;  // bytes of a mask's stream at a time; a block fits into the L1 cache

unsigned char* data(Bytes& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }
const unsigned char* data(const Bytes& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

void require_size(const Bytes& bytes, std::size_t size, const char* what) {
  if (bytes.size() != size)
    throw ProtocolError(std::string(what) + " has " + std::to_string(bytes.size()) +
                        " bytes, not " + std::to_string(size));
}

Bytes random_bytes(std::size_t size) {
  Bytes bytes(size, 0);
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t word = Random::here().word();
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, size - i));
  }
  return bytes;
}

// Returns a uniform scalar of ristretto255: 64 random bytes modulo the group's order.
Bytes random_scalar() {
  Bytes wide = random_bytes(crypto_core_ristretto255_NONREDUCEDSCALARBYTES);
  Bytes scalar(key_size, 0);
  crypto_core_ristretto255_scalar_reduce(data(scalar), data(wide));
  wipe(wide);
  return scalar;
}

Bytes scalar_of(std::int64_t number) {
  Bytes scalar(key_size, 0);
  const auto value = static_cast<std::uint64_t>(number);
  std::memcpy(scalar.data(), &value, sizeof value);
  return scalar;
}

// Derives a key by HKDF-SHA-256. Keys for different purposes are independent.
Bytes hkdf(const Bytes& secret, const std::string& purpose) {
  struct Free {
    void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
    void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
  };
  static const std::unique_ptr<EVP_KDF, Free> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const std::unique_ptr<EVP_KDF_CTX, Free> context(kdf == nullptr ? nullptr
                                                                  : EVP_KDF_CTX_new(kdf.get()));
  Bytes key(key_size, 0);
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 4> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<char*>(secret.data()),
                                        secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, const_cast<char*>(purpose.data()),
                                        purpose.size()),
      OSSL_PARAM_construct_end()};
  if (context == nullptr ||
      EVP_KDF_derive(context.get(), data(key), key.size(), parameters.data()) != 1) {
    throw std::runtime_error("OpenSSL offers no HKDF with SHA-256 here: check its configuration");
  }
  return key;
}

// The pseudorandom stream of a mask: AES-256 in counter mode from 0, under a key that has no other
// use.
class MaskStream {
 public:
  explicit MaskStream(const Bytes& key) : context_(EVP_CIPHER_CTX_new()) {
    require_size(key, key_size, "a mask's key");
    const std::array<unsigned char, 16> counter{};
    static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
    if (context_ == nullptr ||
        EVP_EncryptInit_ex(context_.get(), cipher, nullptr, data(key), counter.data()) != 1) {
      throw std::runtime_error("OpenSSL offers no AES-256-CTR here: check its configuration");
    }
  }
  void next(unsigned char* out, std::size_t size) {
    alignas(64) static constexpr std::array<unsigned char, block_size> zeros{};
    int done = 0;
    if (EVP_EncryptUpdate(context_.get(), out, &done, zeros.data(), static_cast<int>(size)) != 1)
      throw std::runtime_error("AES-256-CTR of OpenSSL failed");
  }

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const {
      EVP_CIPHER_CTX_free(context);
    }  // wipes the key
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

// Adds or subtracts `from` element by element, modulo 2^(8 sizeof Word).
template <class Word>
void accumulate(char* to, const char* from, std::size_t size, bool negative) {
  for (std::size_t i = 0; i < size; i += sizeof(Word)) {
    Word a = 0;
    Word b = 0;
    std::memcpy(&a, to + i, sizeof a);
    std::memcpy(&b, from + i, sizeof b);
    a = static_cast<Word>(negative ? a - b : a + b);
    std::memcpy(to + i, &a, sizeof a);
  }
}

class SodiumPrimitives final : public Primitives {
 public:
  SodiumPrimitives(int bits, const Bytes& seed) : bytes_(bits / 8) {
    if (bits != 32 && bits != 64)
      throw InvalidValue("an element has 32 or 64 bits, not " + std::to_string(bits));
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be initialised here");
    if (seed.empty()) return;
    require_size(seed, crypto_sign_SEEDBYTES, "a signing key");
    Bytes public_key(crypto_sign_PUBLICKEYBYTES, 0);
    signing_.resize(crypto_sign_SECRETKEYBYTES);
    crypto_sign_seed_keypair(data(public_key), data(signing_), data(seed));
  }
  SodiumPrimitives(const SodiumPrimitives&) = delete;
  SodiumPrimitives& operator=(const SodiumPrimitives&) = delete;
  ~SodiumPrimitives() override { wipe(signing_); }

  Bytes make_secret() override { return random_scalar(); }

  Bytes public_key(const Bytes& secret) override {
    Bytes key = exchange_key(secret);
    Bytes point(crypto_scalarmult_BYTES, 0);
    crypto_scalarmult_base(data(point), data(key));
    wipe(key);
    return point;
  }
  Bytes agree_key(const Bytes& secret, const Bytes& other, const std::string& purpose) override {
    require_size(other, crypto_scalarmult_BYTES, "a public key");
    Bytes key = exchange_key(secret);
    Bytes shared(crypto_scalarmult_BYTES, 0);
    const bool good = crypto_scalarmult(data(shared), data(key), data(other)) == 0;
    wipe(key);
    // With a point of small order the shared value would be the same for every secret.
    if (!good)
      throw ProtocolError(
          "a public key has small order, so anybody could compute the agreed key: its owner is "
          "faulty or malicious");
    Bytes agreed_key = hkdf(shared, purpose);
    wipe(shared);
    return agreed_key;
  }
  Bytes derive_key(const Bytes& secret, const std::string& purpose) override {
    return hkdf(secret, purpose);
  }
  Bytes hash(const Bytes& bytes) override {
    Bytes out(crypto_hash_sha256_BYTES, 0);
    crypto_hash_sha256(data(out), data(bytes), bytes.size());
    return out;
  }

  // Share i is f(i) for a random polynomial f of degree threshold - 1 with f(0) = secret, over the
  // scalars of ristretto255.
  std::vector<Bytes> split(const Bytes& secret, std::int64_t threshold,
                           std::int64_t count) override {
    require_size(secret, key_size, "a secret");
    std::vector<Bytes> coefficients{secret};
    for (std::int64_t i = 1; i < threshold; ++i) coefficients.push_back(random_scalar());
    std::vector<Bytes> shares;
    for (std::int64_t index = 1; index <= count; ++index) {
      const Bytes x = scalar_of(index);
      Bytes value = coefficients.back();
      for (std::size_t i = coefficients.size() - 1; i-- > 0;) {
        Bytes product(key_size, 0);
        crypto_core_ristretto255_scalar_mul(data(product), data(value), data(x));
        crypto_core_ristretto255_scalar_add(data(value), data(product), data(coefficients[i]));
        wipe(product);
      }
      shares.push_back(value);
      wipe(value);
    }
    for (Bytes& coefficient : coefficients) wipe(coefficient);
    return shares;
  }
  // Lagrange interpolation at 0.
  Bytes combine(std::span<const SecretShare> shares) override {
    Bytes secret(key_size, 0);
    for (const SecretShare& one : shares) {
      require_size(one.bytes, key_size, "a share");
      Bytes above = scalar_of(1);
      Bytes below = scalar_of(1);
      for (const SecretShare& other : shares) {
        if (&other == &one) continue;
        Bytes difference(key_size, 0);
        crypto_core_ristretto255_scalar_sub(data(difference), data(scalar_of(other.index)),
                                            data(scalar_of(one.index)));
        multiply(above, scalar_of(other.index));
        multiply(below, difference);
      }
      Bytes inverse(key_size, 0);
      if (crypto_core_ristretto255_scalar_invert(data(inverse), data(below)) != 0)
        throw ProtocolError("two shares of a secret have the same index");
      multiply(above, inverse);
      multiply(above, one.bytes);
      Bytes sum(key_size, 0);
      crypto_core_ristretto255_scalar_add(data(sum), data(secret), data(above));
      secret = sum;
    }
    return secret;
  }

  // Each key seals one message only, so the nonce may be 0.
  Bytes seal(const Bytes& key, const Bytes& plain, const Bytes& associated_data) override {
    Bytes out(plain.size() + crypto_aead_xchacha20poly1305_ietf_ABYTES, 0);
    const std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> nonce{};
    unsigned long long size = 0;
    crypto_aead_xchacha20poly1305_ietf_encrypt(data(out), &size, data(plain), plain.size(),
                                               data(associated_data), associated_data.size(),
                                               nullptr, nonce.data(), data(key));
    return out;
  }
  std::optional<Bytes> unseal(const Bytes& key, const Bytes& sealed,
                              const Bytes& associated_data) override {
    if (sealed.size() < crypto_aead_xchacha20poly1305_ietf_ABYTES) return std::nullopt;
    Bytes plain(sealed.size() - crypto_aead_xchacha20poly1305_ietf_ABYTES, 0);
    const std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> nonce{};
    unsigned long long size = 0;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(
            data(plain), &size, nullptr, data(sealed), sealed.size(), data(associated_data),
            associated_data.size(), nonce.data(), data(key)) != 0) {
      return std::nullopt;
    }
    return plain;
  }

  Bytes sign(const Bytes& message) override {
    if (signing_.empty()) throw ProtocolError("the coordinator has no key to sign with");
    Bytes out(crypto_sign_BYTES, 0);
    crypto_sign_detached(data(out), nullptr, data(message), message.size(), data(signing_));
    return out;
  }
  bool is_signed(const Bytes& message, const Bytes& signature,
                 const std::string& public_key) override {
    std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> key{};
    std::size_t size = 0;
    if (sodium_hex2bin(key.data(), key.size(), public_key.data(), public_key.size(), nullptr, &size,
                       nullptr) != 0 ||
        size != key.size())
      return false;
    return signature.size() == crypto_sign_BYTES &&
           crypto_sign_verify_detached(data(signature), data(message), message.size(),
                                       key.data()) == 0;
  }

  // Works block by block, so that each block of the vector is read from memory once for all masks.
  void mask(Bytes& vector, std::span<const SignedMask> masks) override {
    std::vector<MaskStream> streams;
    streams.reserve(masks.size());
    for (const SignedMask& mask : masks) streams.emplace_back(mask.key);
    alignas(64) std::array<char, block_size> block;
    for (std::size_t from = 0; from < vector.size(); from += block_size) {
      const std::size_t size = std::min(block_size, vector.size() - from);
      for (std::size_t i = 0; i < masks.size(); ++i) {
        streams[i].next(reinterpret_cast<unsigned char*>(block.data()), size);
        accumulate(vector.data() + from, block.data(), size, masks[i].negative);
      }
    }
    sodium_memzero(block.data(), block.size());
  }
  void add(Bytes& total, const Bytes& vector, std::int64_t elements) override {
    require_size(vector, static_cast<std::size_t>(elements) * static_cast<std::size_t>(bytes_),
                 "a member's vector");
    if (total.empty()) total.assign(vector.size(), 0);
    accumulate(total.data(), vector.data(), vector.size(), false);
  }

 private:
  static Bytes exchange_key(const Bytes& secret) {
    require_size(secret, key_size, "a secret");
    return hkdf(secret, "sotto federated 1 key exchange");
  }
  static void multiply(Bytes& value, const Bytes& factor) {
    Bytes product(key_size, 0);
    crypto_core_ristretto255_scalar_mul(data(product), data(value), data(factor));
    value = product;
  }
  void accumulate(char* to, const char* from, std::size_t size, bool negative) const {
    if (bytes_ == 4)
      sotto::accumulate<std::uint32_t>(to, from, size, negative);
    else
      sotto::accumulate<std::uint64_t>(to, from, size, negative);
  }

  int bytes_;
  Bytes signing_;
};

}  // namespace

std::unique_ptr<Primitives> real_primitives(int bits, const Bytes& signing_key) {
  return std::make_unique<SodiumPrimitives>(bits, signing_key);
}

Bytes signing_seed() { return random_bytes(crypto_sign_SEEDBYTES); }

std::string signing_public_key(const Bytes& seed) {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be initialised here");
  require_size(seed, crypto_sign_SEEDBYTES, "a signing key");
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> public_key{};
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> secret{};
  crypto_sign_seed_keypair(public_key.data(), secret.data(), data(seed));
  sodium_memzero(secret.data(), secret.size());
  std::string text(2 * public_key.size() + 1, 0);
  sodium_bin2hex(text.data(), text.size(), public_key.data(), public_key.size());
  text.pop_back();
  return text;
}

Bytes elements(std::span<const std::int64_t> numbers, int bits) {
  const auto bytes = static_cast<std::size_t>(bits / 8);
  Bytes out(numbers.size() * bytes, 0);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(out.data() + i * bytes, &numbers[i], bytes);  // the low bytes: modulo 2^bits
  return out;
}

std::vector<std::int64_t> centred(const Bytes& vector, int bits) {
  const auto bytes = static_cast<std::size_t>(bits / 8);
  std::vector<std::int64_t> numbers(vector.size() / bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (bits == 32) {
      std::int32_t narrow = 0;
      std::memcpy(&narrow, vector.data() + i * bytes, bytes);
      numbers[i] = narrow;
    } else {
      std::memcpy(&numbers[i], vector.data() + i * bytes, bytes);
    }
  }
  return numbers;
}

void wipe(Bytes& secret) {
  if (!secret.empty()) sodium_memzero(secret.data(), secret.size());
  secret.clear();
}

}  // namespace sotto
