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

void from_system(void* to, std::size_t bytes) {
  auto* place = static_cast<unsigned char*>(to);
  while (bytes > 0) {
    const ssize_t got = getrandom(place, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw NoEntropy(std::string("the operating system gave no random bytes: ") + std::strerror(errno));
    place += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

}  // namespace

struct Random::Cipher {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  const EVP_CIPHER* kind = EVP_aes_256_ctr();  // named once: looking it up takes longer than a block

  Cipher() = default;
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() { EVP_CIPHER_CTX_free(context); }  // wipes the key

  // The key's 32 bytes, then the counter's 16.
  void set_key(const std::uint64_t* key) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(key);
    if (context == nullptr || EVP_EncryptInit_ex(context, kind, nullptr, bytes, bytes + 32) != 1) {
      throw NoEntropy("AES-256-CTR cannot be set up");
    }
    kind = nullptr;  // the context knows it from now on
  }
  // Replaces zeros by the cipher's stream.
  void fill(void* place, std::size_t size) const {
    auto* bytes = static_cast<unsigned char*>(place);
    int done = 0;
    if (EVP_EncryptUpdate(context, bytes, &done, bytes, static_cast<int>(size)) != 1 || done != static_cast<int>(size)) {
      throw NoEntropy("AES-256-CTR gave no output");
    }
  }
};

Random& Random::here() {
  thread_local Random random;
  return random;
}

Random::Random() {
  void* place = mmap(nullptr, whole_pages(sizeof(State)), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw NoEntropy("no memory for the random generator");
  if (madvise(place, whole_pages(sizeof(State)), MADV_WIPEONFORK) != 0) {
    munmap(place, whole_pages(sizeof(State)));
    throw NoEntropy("the kernel cannot empty the random generator's memory on fork (Linux 4.14 or newer is needed)");
  }
  (void)madvise(place, whole_pages(sizeof(State)), MADV_DONTDUMP);
  (void)mlock(place, whole_pages(sizeof(State)));  // out of the swap, where the system lets us
  state_ = static_cast<State*>(place);
  cipher_ = new Cipher;
}

Random::~Random() {
  delete cipher_;
  explicit_bzero(state_, sizeof(State));
  munmap(state_, whole_pages(sizeof(State)));
}

void Random::take(std::size_t n) {
  explicit_bzero(state_->words + state_->front, n * sizeof(std::uint64_t));
  state_->front += n;
}

void Random::refill() {
  if (state_->keyed == 0) {
    from_system(state_->key, sizeof state_->key);
    cipher_->set_key(state_->key);
    explicit_bzero(state_->key, sizeof state_->key);
    explicit_bzero(state_->words, sizeof state_->words);
    state_->keyed = 1;
  }
  // key and words lie side by side and are zero: all were wiped as they were taken
  static_assert(offsetof(State, words) == offsetof(State, key) + sizeof(State::key));
  state_->keyed = 0;  // if anything fails from here on, it starts from the system's bytes again
  cipher_->fill(reinterpret_cast<unsigned char*>(state_) + offsetof(State, key), sizeof state_->key + sizeof state_->words);
  cipher_->set_key(state_->key);
  explicit_bzero(state_->key, sizeof state_->key);
  state_->keyed = 1;
  state_->front = 0;
  state_->back = words_a_block;
}

}  // namespace sotto
