// Who a member is: a key file for itself alone, a card for all others, and a folder for what it must remember of a session.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/api/lock_file.hpp"
#include "federated/api/member.hpp"
#include "federated/api/tls.hpp"

namespace sotto {

/// What a member's key file holds. The file is its owner's alone (0600).
struct MemberKey {
  std::string name;
  Bytes seed;  ///< of its Ed25519 key
  TlsIdentity tls;
};
MemberKey make_member_key(const std::string& name);
/// std::runtime_error where the file is there already.
void write_key(const std::filesystem::path& path, const MemberKey& key);
/// ProtocolError for a file that is no key, or that others may read.
MemberKey read_key(const std::filesystem::path& path);

/// What the others are told of a member; a coordinator has a card, too.
Member card_of(const MemberKey& key);
std::string to_text(const Member& member);
Member parse_card(const std::string& text);

/// A member's files, made where they will be used: FOLDER/NAME.member.key, which stays there, and FOLDER/NAME.member.json, its card. InvalidValue for
/// a name that does not stand in file names; std::runtime_error where there is a key already.
struct Enrolled {
  std::filesystem::path key_file, card_file;
  Member card;
};
Enrolled enroll(const std::string& name, const std::filesystem::path& folder);

/// A whole file; std::runtime_error names it.
std::string read_text(const std::filesystem::path& path);
/// There whole and durable when this returns, or as before; readable by its owner alone.
void write_durably(const std::filesystem::path& path, const std::string& text);

/// What a member remembers of a session, in a folder beside its key: that it was agreed to, and which ledger pays. How far it came is in that
/// ledger's checkpoints.
class MemberFolder {
 public:
  MemberFolder(const std::filesystem::path& key, const AgreedSession& agreed);

  void approve();
  [[nodiscard]] bool is_approved() const;
  /// One process at a time, while this object lives, and one ledger for ever: two would send two vectors. std::runtime_error if there is another.
  void lock(const std::string& ledger);
  /// After a charge that was refused: another ledger may pay, if the first lock() of all was this object's.
  void release_ledger();

 private:
  std::filesystem::path folder_;
  std::optional<LockFile> lock_;
  bool is_first_ = false;
};

/// This member has not agreed to the session.
class NotApproved : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// A member of a session that has agreed to it, with what it needs to take part.
class Participant {
 public:
  /// ProtocolError for a key of nobody in the session, NotApproved.
  Participant(const Session& session, const std::filesystem::path& key);
  /// As MemberFolder::lock, before anything is charged or sent; the lock lasts as long as this object.
  void lock(const std::string& ledger) { folder_.lock(ledger); }
  void release_ledger() { folder_.release_ledger(); }

  const AgreedSession agreed;
  const MemberKey key;
  const std::int64_t self;
  const std::unique_ptr<Primitives> primitives;

 private:
  MemberFolder folder_;
};

}  // namespace sotto
