// Key files, cards and folders of members.
#include "federated/api/identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/api/file.hpp"
#include "core/api/hexadecimal.hpp"
#include "core/api/json.hpp"
#include "core/api/text.hpp"

namespace sotto {
namespace {

constexpr const char* key_schema = "sotto.member-key/1";
constexpr const char* card_schema = "sotto.member/1";

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(errno));
}

// Writes and syncs a file that only its owner may read. O_NOFOLLOW: a symbolic link must not direct
// a key into another file.
void write_synced(const std::filesystem::path& path, const std::string& text, int flags) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (file < 0) fail(path);
  bool good = true;
  for (std::size_t done = 0; good && done < text.size();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    good = n >= 0 || errno == EINTR;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  good = good && fsync(file) == 0;
  const int error = errno;
  close(file);
  errno = error;
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
  write_synced(fresh, text, O_TRUNC);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) fail(path);
  sync_folder_of(path);
}

MemberKey make_member_key(const std::string& name) {
  require_plain_name(name, "a member's name");
  if (name.empty() || name.size() > 100)
    throw InvalidValue("a member's name has 1 to 100 characters, and this one has " +
                       std::to_string(name.size()));
  return {name, signing_seed(), make_tls_identity()};
}

void write_key(const std::filesystem::path& path, const MemberKey& key) {
  if (std::filesystem::exists(path))
    throw std::runtime_error(
        path.string() +
        " exists already, and a key is never overwritten: type another name, or use this key");
  const Json json{{"schema", key_schema},
                  {"name", key.name},
                  {"seed", hexadecimal(key.seed)},
                  {"tls_key", key.tls.key},
                  {"certificate", key.tls.certificate}};
  write_synced(path, json.dump() + "\n", O_EXCL);
  sync_folder_of(path);
}

MemberKey read_key(const std::filesystem::path& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0)
    throw std::runtime_error("there is no key file " + path.string() +
                             ": give the path of the file that enroll made");
  // Somebody who could read the key could sign in the member's name.
  if ((about.st_mode & 077U) != 0)
    throw ProtocolError("other users may read the key " + path.string() + ": type chmod 600 " +
                        path.string());
  try {
    const Json json = Json::parse(read_text(path));
    if (json["schema"] == key_schema) {
      MemberKey key{json["name"].text(),
                    from_hexadecimal(json["seed"].text()).value_or(""),
                    {json["tls_key"].text(), json["certificate"].text()}};
      if (key.seed.size() == 32) return key;
    }
  } catch (const JsonError&) {
  }
  throw ProtocolError(path.string() +
                      " is not a member's key file: enroll makes one, NAME.member.key");
}

Member card_of(const MemberKey& key) {
  return {key.name, signing_public_key(key.seed), key.tls.certificate};
}

std::string to_text(const Member& member) {
  return Json({{"schema", card_schema},
               {"name", member.name},
               {"key", member.key},
               {"certificate", member.certificate}})
             .dump() +
         "\n";
}

Member parse_card(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json["schema"] == card_schema)
      return {json["name"].text(), json["key"].text(), json["certificate"].text()};
  } catch (const JsonError&) {
  }
  throw ProtocolError("this is not a member's card: enroll makes one, NAME.member.json");
}

Enrollment enroll(const std::string& name, const std::filesystem::path& folder) {
  const MemberKey key = make_member_key(name);
  if (name.find_first_of("/\\") != std::string::npos || name.front() == '.')
    throw InvalidValue("the name '" + name +
                       "' cannot be a file name: leave out /, \\ and a . in front");
  Enrollment enrollment{folder / (name + ".member.key"), folder / (name + ".member.json"),
                        card_of(key)};
  write_key(enrollment.key_file, key);
  write_durably(enrollment.card_file, to_text(enrollment.card));
  return enrollment;
}

MemberFolder::MemberFolder(const std::filesystem::path& key, const SessionContext& context)
    : folder_(std::filesystem::path(key).replace_extension(".sessions") /
              hexadecimal(context.hash).substr(0, 32)) {}

void MemberFolder::lock(const std::string& ledger) {
  auto lock = LockFile::try_lock(folder_ / "lock");
  if (!lock)
    throw std::runtime_error("another process takes part in this session with this key (it holds " +
                             (folder_ / "lock").string() + "): stop one of the two");
  lock_ = std::move(lock);
  const std::filesystem::path payer = folder_ / "ledger";
  if (!std::filesystem::exists(payer)) {
    has_bound_ledger_ = true;
    write_durably(payer, ledger);
  }
  if (read_text(payer) != ledger)
    throw std::runtime_error(
        "another ledger, with the id in " + payer.string() +
        ", pays for this session, since this member took part with it before: use that ledger");
}

void MemberFolder::release_ledger() {
  if (has_bound_ledger_) std::filesystem::remove(folder_ / "ledger");
  has_bound_ledger_ = false;
}

void MemberFolder::approve() {
  std::filesystem::create_directories(folder_);
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  write_durably(folder_ / "approved", "agreed\n");
}
bool MemberFolder::is_approved() const { return std::filesystem::exists(folder_ / "approved"); }

Participant::Participant(const Session& session, const std::filesystem::path& key_file)
    : context(sotto::context_of(session)),
      key(read_key(key_file)),
      self(member_with(session, signing_public_key(key.seed))),
      primitives(real_primitives(session.bits, key.seed)),
      folder_(key_file, context) {
  if (!folder_.is_approved())
    throw NotApproved(session.members[static_cast<std::size_t>(self)].name +
                      " has not agreed to this session");
}

}  // namespace sotto
