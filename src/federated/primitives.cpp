// The real cryptography: libsodium and OpenSSL.
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

static_assert(std::endian::native == std::endian::little, "elements travel as they lie in memory");

constexpr std::size_t key_size = 32;
constexpr std::size_t block_size = 16384;  // of a mask's stream: it stays in the nearest cache

unsigned char* data(Bytes& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }
const unsigned char* data(const Bytes& bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

void require_size(const Bytes& bytes, std::size_t size, const char* what) {
  if (bytes.size() != size) throw ProtocolError(std::string(what) + " has " + std::to_string(bytes.size()) + " bytes, not " + std::to_string(size));
}

Bytes random_bytes(std::size_t size) {
  Bytes bytes(size, 0);
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t word = Random::here().word();
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, size - i));
  }
  return bytes;
}

// A scalar of ristretto255: 64 random bytes modulo the group's order.
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

Bytes hkdf(const Bytes& secret, const std::string& purpose) {
  struct Free {
    void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
    void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
  };
  static const std::unique_ptr<EVP_KDF, Free> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const std::unique_ptr<EVP_KDF_CTX, Free> context(kdf == nullptr ? nullptr : EVP_KDF_CTX_new(kdf.get()));
  Bytes key(key_size, 0);
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 4> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<char*>(secret.data()), secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, const_cast<char*>(purpose.data()), purpose.size()), OSSL_PARAM_construct_end()};
  if (context == nullptr || EVP_KDF_derive(context.get(), data(key), key.size(), parameters.data()) != 1) {
    throw std::runtime_error("HKDF with SHA-256 is not available");
  }
  return key;
}

// A mask's stream: AES-256 in counter mode from 0, under a key that has no other use.
class MaskStream {
 public:
  explicit MaskStream(const Bytes& key) : context_(EVP_CIPHER_CTX_new()) {
    require_size(key, key_size, "a mask's key");
    const std::array<unsigned char, 16> counter{};
    static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
    if (context_ == nullptr || EVP_EncryptInit_ex(context_.get(), cipher, nullptr, data(key), counter.data()) != 1) {
      throw std::runtime_error("AES-256-CTR is not available");
    }
  }
  void next(unsigned char* out, std::size_t size) {
    alignas(64) static constexpr std::array<unsigned char, block_size> zeros{};
    int done = 0;
    if (EVP_EncryptUpdate(context_.get(), out, &done, zeros.data(), static_cast<int>(size)) != 1) throw std::runtime_error("AES-256-CTR failed");
  }

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }  // wipes the key
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

// to += from, or to -= from, modulo 2^(8 sizeof Word); both little-endian, as the machine is.
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
    if (bits != 32 && bits != 64) throw InvalidValue("an element has 32 or 64 bits");
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be used here");
    if (seed.empty()) return;
    require_size(seed, crypto_sign_SEEDBYTES, "a signing key");
    Bytes open(crypto_sign_PUBLICKEYBYTES, 0);
    signing_.resize(crypto_sign_SECRETKEYBYTES);
    crypto_sign_seed_keypair(data(open), data(signing_), data(seed));
  }
  SodiumPrimitives(const SodiumPrimitives&) = delete;
  SodiumPrimitives& operator=(const SodiumPrimitives&) = delete;
  ~SodiumPrimitives() override { wipe(signing_); }

  Bytes secret() override { return random_scalar(); }

  Bytes public_key(const Bytes& secret) override {
    Bytes key = exchange_key(secret);
    Bytes open(crypto_scalarmult_BYTES, 0);
    crypto_scalarmult_base(data(open), data(key));
    wipe(key);
    return open;
  }
  Bytes agreed(const Bytes& secret, const Bytes& other, const std::string& purpose) override {
    require_size(other, crypto_scalarmult_BYTES, "a public key");
    Bytes key = exchange_key(secret);
    Bytes shared(crypto_scalarmult_BYTES, 0);
    const bool good = crypto_scalarmult(data(shared), data(key), data(other)) == 0;
    wipe(key);
    if (!good) throw ProtocolError("a public key is one of small order, with which no key is agreed");
    Bytes made = hkdf(shared, purpose);
    wipe(shared);
    return made;
  }
  Bytes derived(const Bytes& secret, const std::string& purpose) override { return hkdf(secret, purpose); }
  Bytes hash(const Bytes& bytes) override {
    Bytes out(crypto_hash_sha256_BYTES, 0);
    crypto_hash_sha256(data(out), data(bytes), bytes.size());
    return out;
  }

  // f(index) for a random polynomial f of degree threshold - 1 with f(0) the secret, over the scalars of ristretto255.
  std::vector<Bytes> split(const Bytes& secret, std::int64_t threshold, std::int64_t count) override {
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
  // Lagrange's interpolation at 0.
  Bytes combined(std::span<const SecretShare> shares) override {
    Bytes secret(key_size, 0);
    for (const SecretShare& one : shares) {
      require_size(one.bytes, key_size, "a share");
      Bytes above = scalar_of(1);
      Bytes below = scalar_of(1);
      for (const SecretShare& other : shares) {
        if (other.index == one.index) continue;
        Bytes difference(key_size, 0);
        crypto_core_ristretto255_scalar_sub(data(difference), data(scalar_of(other.index)), data(scalar_of(one.index)));
        multiply(above, scalar_of(other.index));
        multiply(below, difference);
      }
      Bytes inverse(key_size, 0);
      if (crypto_core_ristretto255_scalar_invert(data(inverse), data(below)) != 0) throw ProtocolError("two shares have one index");
      multiply(above, inverse);
      multiply(above, one.bytes);
      Bytes sum(key_size, 0);
      crypto_core_ristretto255_scalar_add(data(sum), data(secret), data(above));
      secret = sum;
    }
    return secret;
  }

  // Each key seals one message, so the nonce is 0.
  Bytes sealed(const Bytes& key, const Bytes& plain, const Bytes& context) override {
    Bytes out(plain.size() + crypto_aead_xchacha20poly1305_ietf_ABYTES, 0);
    const std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> nonce{};
    unsigned long long size = 0;
    crypto_aead_xchacha20poly1305_ietf_encrypt(data(out), &size, data(plain), plain.size(), data(context), context.size(), nullptr, nonce.data(),
                                               data(key));
    return out;
  }
  std::optional<Bytes> opened(const Bytes& key, const Bytes& sealed, const Bytes& context) override {
    if (sealed.size() < crypto_aead_xchacha20poly1305_ietf_ABYTES) return std::nullopt;
    Bytes plain(sealed.size() - crypto_aead_xchacha20poly1305_ietf_ABYTES, 0);
    const std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> nonce{};
    unsigned long long size = 0;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(data(plain), &size, nullptr, data(sealed), sealed.size(), data(context), context.size(),
                                                   nonce.data(), data(key)) != 0) {
      return std::nullopt;
    }
    return plain;
  }

  Bytes signature(const Bytes& message) override {
    if (signing_.empty()) throw ProtocolError("the coordinator has no key to sign with");
    Bytes out(crypto_sign_BYTES, 0);
    crypto_sign_detached(data(out), nullptr, data(message), message.size(), data(signing_));
    return out;
  }
  bool is_signed(const Bytes& message, const Bytes& signature, const std::string& public_key) override {
    std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> open{};
    std::size_t size = 0;
    if (sodium_hex2bin(open.data(), open.size(), public_key.data(), public_key.size(), nullptr, &size, nullptr) != 0 || size != open.size())
      return false;
    return signature.size() == crypto_sign_BYTES && crypto_sign_verify_detached(data(signature), data(message), message.size(), open.data()) == 0;
  }

  // Block by block, so that a block of the vector is read from memory once for all masks.
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
    require_size(vector, static_cast<std::size_t>(elements) * static_cast<std::size_t>(bytes_), "a member's vector");
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

std::unique_ptr<Primitives> real_primitives(int bits, const Bytes& signing_key) { return std::make_unique<SodiumPrimitives>(bits, signing_key); }

Bytes signing_seed() { return random_bytes(crypto_sign_SEEDBYTES); }

std::string signing_public_key(const Bytes& seed) {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be used here");
  require_size(seed, crypto_sign_SEEDBYTES, "a signing key");
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> open{};
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> secret{};
  crypto_sign_seed_keypair(open.data(), secret.data(), data(seed));
  sodium_memzero(secret.data(), secret.size());
  std::string text(2 * open.size() + 1, 0);
  sodium_bin2hex(text.data(), text.size(), open.data(), open.size());
  text.pop_back();
  return text;
}

Bytes elements(std::span<const std::int64_t> numbers, int bits) {
  const auto bytes = static_cast<std::size_t>(bits / 8);
  Bytes out(numbers.size() * bytes, 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) std::memcpy(out.data() + i * bytes, &numbers[i], bytes);  // modulo 2^bits, little-endian
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
