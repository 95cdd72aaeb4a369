// A member's identity and files: the secret key file, the public card, and a folder with the
// member's state in each session.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/api/lock_file.hpp"
#include "federated/api/member.hpp"
#include "federated/api/tls.hpp"

namespace sotto {

/// The contents of a member's key file, which only its owner may read (mode 0600).
struct MemberKey {
  std::string name;
  Bytes seed;  ///< seed of the Ed25519 key
  TlsIdentity tls;
};
/// Makes a key from the system's randomness. Throws InvalidValue for a name that cannot be used.
MemberKey make_member_key(const std::string& name);
/// Writes a new key file. Throws std::runtime_error if the file exists: a key is never overwritten.
void write_key(const std::filesystem::path& path, const MemberKey& key);
/// Reads a key file. Throws ProtocolError if it is not a key file, or if other users may read it
/// and could therefore sign in the member's name.
MemberKey read_key(const std::filesystem::path& path);

/// Returns a member's card, the public part of its key. A coordinator has a card, too.
Member card_of(const MemberKey& key);
std::string to_text(const Member& member);
/// Reads a card. Throws ProtocolError for another text.
Member parse_card(const std::string& text);

/// The files of a new member: FOLDER/NAME.member.key, which is secret and stays there, and
/// FOLDER/NAME.member.json, the card.
struct Enrollment {
  std::filesystem::path key_file, card_file;
  Member card;
};
/// Makes a member's key and card. Throws InvalidValue for a name that cannot be a file name, and
/// std::runtime_error if the key file exists.
Enrollment enroll(const std::string& name, const std::filesystem::path& folder);

/// Returns the text of a file. Throws std::runtime_error, which names the file.
std::string read_text(const std::filesystem::path& path);
/// Replaces a file atomically. When this returns, the new text is on disk; after a crash the file
/// has the old text or the new one. Only its owner may read it.
void write_durably(const std::filesystem::path& path, const std::string& text);

/// The folder with a member's state in one session, next to its key file: the approval, and the
/// ledger that pays. The progress of the session is in that ledger's checkpoints.
class MemberFolder {
 public:
  MemberFolder(const std::filesystem::path& key, const SessionContext& context);

  /// Stores that the member approves of the session.
  void approve();
  [[nodiscard]] bool is_approved() const;
  /// Locks the session for this process, and binds it to one ledger for ever. Two processes, or two
  /// ledgers with their own checkpoints, would send two vectors in one round, whose difference
  /// shows the noise. Throws std::runtime_error if another process or another ledger takes part.
  void lock(const std::string& ledger);
  /// Undoes the binding to the ledger after it refused the charge, so that another ledger may pay.
  /// Does nothing if an earlier process had bound it.
  void release_ledger();

 private:
  std::filesystem::path folder_;
  std::optional<LockFile> lock_;
  bool has_bound_ledger_ = false;  // this object bound the session to the ledger
};

/// This member has not approved of the session.
class NotApproved : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// A member that has approved of a session, with everything that take_part() needs.
class Participant {
 public:
  /// Throws ProtocolError if the key is of no member of the session, and NotApproved if the member
  /// has not approved of it.
  Participant(const Session& session, const std::filesystem::path& key);
  /// MemberFolder::lock(). Called before anything is charged or sent; the lock lasts as long as
  /// this object.
  void lock(const std::string& ledger) { folder_.lock(ledger); }
  void release_ledger() { folder_.release_ledger(); }

  const SessionContext context;
  const MemberKey key;
  const std::int64_t self;
  const std::unique_ptr<Primitives> primitives;

 private:
  MemberFolder folder_;
};

}  // namespace sotto
