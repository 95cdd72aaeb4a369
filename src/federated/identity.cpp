#include "federated/api/identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/api/file.hpp"
#include "core/api/json.hpp"
#include "core/api/text.hpp"

namespace sotto {
namespace {

constexpr const char* key_schema = "sotto.member-key/1";
constexpr const char* card_schema = "sotto.member/1";

std::string hexadecimal(const Bytes& bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4U];
    text += digits[static_cast<unsigned char>(c) & 15U];
  }
  return text;
}

Bytes from_hexadecimal(const std::string& text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const std::size_t high = digits.find(text[i]);
    const std::size_t low = digits.find(text[i + 1]);
    if (high > 15 || low > 15) return {};
    bytes += static_cast<char>(high << 4U | low);
  }
  return bytes;
}

[[noreturn]] void fail(const std::filesystem::path& path) { throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(errno)); }

void write_whole(const std::filesystem::path& path, const std::string& text, int flags) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (file < 0) fail(path);
  bool good = true;
  for (std::size_t done = 0; good && done < text.size();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    good = n >= 0 || errno == EINTR;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  good = good && fsync(file) == 0;
  const int why = errno;
  close(file);
  errno = why;
  if (!good) fail(path);
}

void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  const int file = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  (void)fsync(file);
  close(file);
}

}  // namespace

std::string read_text(const std::filesystem::path& path) { return read_text_file(path); }

void write_durably(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path fresh = path.string() + ".new";
  write_whole(fresh, text, O_TRUNC);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) fail(path);
  sync_folder_of(path);
}

MemberKey make_member_key(const std::string& name) {
  require_plain_name(name, "a member's name");
  if (name.empty() || name.size() > 100) throw InvalidValue("a member's name has 1 to 100 characters");
  return {name, signing_seed(), make_tls_identity()};
}

void write_key(const std::filesystem::path& path, const MemberKey& key) {
  if (std::filesystem::exists(path))
    throw std::runtime_error(path.string() + " exists already, and a key is never overwritten: type another name, or use this member's");
  const Json json{
      {"schema", key_schema}, {"name", key.name}, {"seed", hexadecimal(key.seed)}, {"tls_key", key.tls.key}, {"certificate", key.tls.certificate}};
  write_whole(path, json.dump() + "\n", O_EXCL);
  sync_folder_of(path);
}

MemberKey read_key(const std::filesystem::path& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) throw std::runtime_error("there is no key " + path.string());
  if ((about.st_mode & 077U) != 0) throw ProtocolError("others may read the key " + path.string() + ": type chmod 600 " + path.string());
  try {
    const Json json = Json::parse(read_text(path));
    if (json["schema"] == key_schema) {
      MemberKey key{json["name"].text(), from_hexadecimal(json["seed"].text()), {json["tls_key"].text(), json["certificate"].text()}};
      if (key.seed.size() == 32) return key;
    }
  } catch (const JsonError&) {
  }
  throw ProtocolError(path.string() + " is no member's key");
}

Member card_of(const MemberKey& key) { return {key.name, signing_public_key(key.seed), key.tls.certificate}; }

std::string to_text(const Member& member) {
  return Json({{"schema", card_schema}, {"name", member.name}, {"key", member.key}, {"certificate", member.certificate}}).dump() + "\n";
}

Member parse_card(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json["schema"] == card_schema) return {json["name"].text(), json["key"].text(), json["certificate"].text()};
  } catch (const JsonError&) {
  }
  throw ProtocolError("this is no member's card");
}

Enrolled enroll(const std::string& name, const std::filesystem::path& folder) {
  const MemberKey key = make_member_key(name);
  if (name.find_first_of("/\\") != std::string::npos || name.front() == '.')
    throw InvalidValue("a name stands in file names: it has no / and no . in front");
  Enrolled made{folder / (name + ".member.key"), folder / (name + ".member.json"), card_of(key)};
  write_key(made.key_file, key);
  write_durably(made.card_file, to_text(made.card));
  return made;
}

MemberFolder::MemberFolder(const std::filesystem::path& key, const AgreedSession& agreed)
    : folder_(std::filesystem::path(key).replace_extension(".sessions") / hexadecimal(agreed.hash).substr(0, 32)) {}

void MemberFolder::lock(const std::string& ledger) {
  auto lock = LockFile::held(folder_ / "lock");
  if (!lock) throw std::runtime_error("another process takes part in this session with this key already");
  lock_ = std::move(lock);
  const std::filesystem::path payer = folder_ / "ledger";
  if (!std::filesystem::exists(payer)) {
    is_first_ = true;
    write_durably(payer, ledger);
  }
  if (read_text(payer) != ledger) throw std::runtime_error("another ledger pays for this session: this member took part with it before");
}

void MemberFolder::release_ledger() {
  if (is_first_) std::filesystem::remove(folder_ / "ledger");
  is_first_ = false;
}

void MemberFolder::approve() {
  std::filesystem::create_directories(folder_);
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  write_durably(folder_ / "approved", "agreed\n");
}
bool MemberFolder::is_approved() const { return std::filesystem::exists(folder_ / "approved"); }

Participant::Participant(const Session& session, const std::filesystem::path& key_file)
    : agreed(sotto::agreed(session)),
      key(read_key(key_file)),
      self(member_with(session, signing_public_key(key.seed))),
      primitives(real_primitives(session.bits, key.seed)),
      folder_(key_file, agreed) {
  if (!folder_.is_approved()) throw NotApproved(session.members[static_cast<std::size_t>(self)].name + " has not agreed to this session");
}

}  // namespace sotto
