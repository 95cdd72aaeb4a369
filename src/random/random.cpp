// The generator: its state in separate pages of memory, its cipher from OpenSSL.
#include "sotto/random/random.hpp"

#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace sotto {
namespace {

constexpr std::size_t page = 4096;

constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

// Fills memory with random bytes of the operating system. Throws NoEntropy if it has none.
void fill_from_system(void* to, std::size_t bytes) {
  auto* place = static_cast<unsigned char*>(to);
  while (bytes > 0) {
    const ssize_t got = getrandom(place, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw NoEntropy(std::string("the operating system gave no random bytes: ") +
                      std::strerror(errno));
    place += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

}  // namespace

struct Random::Cipher {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  const EVP_CIPHER* kind = EVP_aes_256_ctr();  // passed once: its lookup takes longer than a block

  Cipher() = default;
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() { EVP_CIPHER_CTX_free(context); }  // wipes the key

  // `key` is 32 bytes of key, then 16 of counter.
  void set_key(const std::uint64_t* key) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(key);
    if (context == nullptr || EVP_EncryptInit_ex(context, kind, nullptr, bytes, bytes + 32) != 1) {
      throw NoEntropy(
          "OpenSSL cannot set up AES-256-CTR, so there are no random bits: check that its default "
          "provider is loaded");
    }
    kind = nullptr;  // the context keeps it
  }
  // Encrypts zeros in place, which leaves the cipher's stream.
  void fill(void* place, std::size_t size) const {
    auto* bytes = static_cast<unsigned char*>(place);
    int done = 0;
    if (EVP_EncryptUpdate(context, bytes, &done, bytes, static_cast<int>(size)) != 1 ||
        done != static_cast<int>(size)) {
      throw NoEntropy("AES-256-CTR of OpenSSL failed, so there are no random bits");
    }
  }
};

Random& Random::here() {
  thread_local Random random;
  return random;
}

Random::Random() {
  void* place = mmap(nullptr, whole_pages(sizeof(State)), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw NoEntropy("the random generator could not allocate its memory");
  if (madvise(place, whole_pages(sizeof(State)), MADV_WIPEONFORK) != 0) {
    munmap(place, whole_pages(sizeof(State)));
    throw NoEntropy(
        "the kernel cannot empty the random generator's memory on fork (Linux 4.14 or newer is "
        "needed)");
  }
  (void)madvise(place, whole_pages(sizeof(State)), MADV_DONTDUMP);
  // keep it out of the swap, if the system allows that
  (void)mlock(place, whole_pages(sizeof(State)));
  state_ = static_cast<State*>(place);
  cipher_ = new Cipher;
}

Random::~Random() {
  delete cipher_;
  explicit_bzero(state_, sizeof(State));
  munmap(state_, whole_pages(sizeof(State)));
}

void Random::consume(std::size_t n) {
  explicit_bzero(state_->words + state_->front, n * sizeof(std::uint64_t));
  state_->front += n;
}

void Random::refill() {
  if (state_->keyed == 0) {
    fill_from_system(state_->key, sizeof state_->key);
    cipher_->set_key(state_->key);
    explicit_bzero(state_->key, sizeof state_->key);
    explicit_bzero(state_->words, sizeof state_->words);
    state_->keyed = 1;
  }
  // key and words are adjacent and all zero, since each was wiped as it was used: one call fills
  // both
  static_assert(offsetof(State, words) == offsetof(State, key) + sizeof(State::key));
  state_->keyed = 0;  // if a step below fails, the next call asks the system for a key
  cipher_->fill(reinterpret_cast<unsigned char*>(state_) + offsetof(State, key),
                sizeof state_->key + sizeof state_->words);
  cipher_->set_key(state_->key);
  explicit_bzero(state_->key, sizeof state_->key);
  state_->keyed = 1;
  state_->front = 0;
  state_->back = words_a_block;
}

}  // namespace sotto
