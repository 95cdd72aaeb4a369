// Streams by the counter of AES-256-CTR: the pair is the counter's upper 12 bytes.
#include "sotto/random/stream.hpp"

#include <openssl/evp.h>
#include <strings.h>

#include <cstring>
#include <string>

#include "sotto/core/errors.hpp"
#include "sotto/random/random.hpp"

namespace sotto {

Secret::Secret() : words_{} {
  Random& random = Random::here();
  for (std::uint64_t& word : words_) word = random.word();
}
Secret::~Secret() { explicit_bzero(words_.data(), sizeof words_); }

struct Stream::Cipher {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  Cipher() = default;
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() { EVP_CIPHER_CTX_free(context); }  // wipes the key
};

Stream::Stream(const Secret& secret) : cipher_(std::make_unique<Cipher>()) {
  const auto* key = reinterpret_cast<const unsigned char*>(secret.words().data());
  if (cipher_->context == nullptr ||
      EVP_EncryptInit_ex(cipher_->context, EVP_aes_256_ctr(), nullptr, key, nullptr) != 1) {
    throw NoEntropy(
        "OpenSSL cannot set up AES-256-CTR, so there are no random bits: check that its default "
        "provider is loaded");
  }
  start(0, 0);
}
Stream::Stream(Stream&&) noexcept = default;
Stream::~Stream() { explicit_bzero(block_.data(), sizeof block_); }

void Stream::start(std::uint64_t first, std::uint64_t second) {
  if (first >> 48U != 0 || second >> 48U != 0)
    throw InvalidValue("the stream (" + std::to_string(first) + ", " + std::to_string(second) +
                       ") is not allowed: both numbers must be below 2^48");
  // the first 12 bytes of the counter are the pair, the last 4 count blocks of 16 bytes
  std::array<unsigned char, 16> counter{};
  for (std::size_t i = 0; i < 6; ++i) {
    counter[i] = static_cast<unsigned char>(first >> (40 - 8 * i));
    counter[6 + i] = static_cast<unsigned char>(second >> (40 - 8 * i));
  }
  if (EVP_EncryptInit_ex(cipher_->context, nullptr, nullptr, nullptr, counter.data()) != 1)
    throw NoEntropy(
        "OpenSSL cannot set up AES-256-CTR, so there are no random bits: check that its default "
        "provider is loaded");
  next_ = words_a_block;
}

void Stream::refill() {
  auto* bytes = reinterpret_cast<unsigned char*>(block_.data());
  std::memset(bytes, 0, sizeof block_);
  int done = 0;
  if (EVP_EncryptUpdate(cipher_->context, bytes, &done, bytes, static_cast<int>(sizeof block_)) !=
          1 ||
      done != static_cast<int>(sizeof block_)) {
    throw NoEntropy("AES-256-CTR of OpenSSL failed, so there are no random bits");
  }
  next_ = 0;
}

}  // namespace sotto
