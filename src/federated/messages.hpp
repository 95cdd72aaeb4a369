// The messages between members and coordinator, as bytes.
//
// A member signs the very bytes that it sends, which contain the session's hash, the round, the
// kind of message and the sender, so a signature is valid nowhere else. The coordinator has no key.
// Its messages are not authenticated: a member acts on them only if they contain other
// members' signatures.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "federated/api/round.hpp"

namespace sotto::federated_detail {

/// Builds a message from numbers (little-endian) and byte strings with their lengths.
class Writer {
 public:
  Writer& number(std::uint64_t value, int bytes = 8);
  Writer& bytes(std::string_view bytes);
  Writer& numbers(const std::vector<std::int64_t>& values);
  [[nodiscard]] Bytes build() { return std::move(out_); }

 private:
  Bytes out_;
};

/// Reads what a Writer built. Throws ProtocolError if the bytes end early, a length exceeds the
/// rest, or bytes remain at the end(). The bytes come from the network and may be anything.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}
  std::uint64_t number(int bytes = 8);
  Bytes bytes();
  std::string_view view();
  std::vector<std::int64_t> numbers(std::size_t most);
  void end() const;
  [[nodiscard]] bool is_at_end() const { return in_.empty(); }

 private:
  std::string_view in_;
};

enum class Kind : std::uint8_t {
  // from a member
  hello = 1,
  keys,
  shares,
  masked,
  list_signature,
  reveal,
  // from the coordinator
  challenge = 32,
  approvals,
  start,
  key_list,
  share_list,
  list,
  list_signatures,
  opening,
  finish,
};

/// The sender of a message that no member signed.
inline constexpr std::int64_t coordinator = -1;

/// A message with its header.
struct Envelope {
  Kind kind;
  std::int64_t sender;
  Bytes session;  // hash of the session
  std::int64_t round;
  Bytes body;
  Bytes signature = {};
};
/// Returns the bytes that a member signs: everything except the signature.
Bytes signed_part(const Envelope& envelope);
Bytes to_bytes(const Envelope& envelope);
/// Reads a message without verifying its signature.
Envelope read_envelope(std::string_view bytes);

/// Reads a member's message. Throws ProtocolError, which names the member, unless it is of this
/// kind, session and round and signed with the key of its sender.
Envelope read_signed(const SessionContext& context, Primitives& primitives, std::string_view bytes,
                     Kind kind, std::int64_t round);
/// Reads a message of the coordinator, which is not signed. Throws ProtocolError unless it is of
/// this kind, session and round.
Envelope read_unsigned(const SessionContext& context, std::string_view bytes, Kind kind,
                       std::int64_t round);
Bytes signed_message(const SessionContext& context, Primitives& primitives, std::int64_t self,
                     Kind kind, std::int64_t round, Bytes body);
Bytes unsigned_message(const SessionContext& context, Kind kind, std::int64_t round, Bytes body);

/// Returns a member's name, such as "hospital-a", for errors.
const std::string& name_of(const SessionContext& context, std::int64_t member);

// --- Bodies ---

/// One member's public keys and commitments in a round.
struct Keys {
  Bytes channel;                                // public key to which shares are sealed
  Bytes mask;                                   // public key for pairwise masks
  Bytes self_mask;                              // hash that commits to the self-mask secret
  std::vector<Bytes> mask_shares, self_shares;  // hashes that commit to the share for each member
};
Bytes to_bytes(const Keys& keys);
Keys read_keys(std::string_view bytes, std::int64_t members);

/// The two shares that one member deals to another: sealed to the receiver, and signed with its
/// index so that the coordinator cannot pass them to somebody else.
struct SealedShares {
  std::int64_t from, to;
  Bytes sealed;
  Bytes signature;
};
Bytes signed_part(const SessionContext& context, std::int64_t round, const SealedShares& shares);
Bytes to_bytes(const std::vector<SealedShares>& all);
std::vector<SealedShares> read_shares(std::string_view bytes, std::int64_t members);

/// The members that dealt shares (sharers) and those whose vectors are in the sum (survivors).
struct SurvivorList {
  std::vector<std::int64_t> sharers, survivors;
  friend bool operator==(const SurvivorList&, const SurvivorList&) = default;
};
Bytes to_bytes(const SessionContext& context, std::int64_t round, const SurvivorList& list);
/// Reads a list. Throws ProtocolError unless the list is of this session and round, both index
/// lists ascend, every survivor is a sharer, and at least t members survive. A sum of fewer could
/// contain fewer than h honest noise shares.
SurvivorList read_list(const SessionContext& context, std::int64_t round, std::string_view bytes);

/// Bytes of or about one member.
struct NamedBytes {
  std::int64_t member;
  Bytes bytes;
};
Bytes to_bytes(const std::vector<NamedBytes>& all);
/// Throws ProtocolError unless the members ascend, so that no member counts twice.
std::vector<NamedBytes> read_named(std::string_view bytes, std::int64_t members);

/// A member's masked vector, with the sharers for which it is masked. The sharers are signed apart
/// from the vector, so that every member can verify the statement of every survivor before it signs
/// a list. The masks of a survivor that masked for other sharers would not cancel, and the
/// coordinator could use the difference to separate its vector from the sum.
struct Masked {
  Bytes sharers;    // hash of the list of sharers
  Bytes statement;  // signature of sharers_statement()
  Bytes vector;
};
Bytes to_bytes(const Masked& masked);
Masked read_masked(std::string_view bytes);
/// Adds a member's vector to the total. Throws ProtocolError, which names the member, if the vector
/// has another size.
void add_vector(const SessionContext& context, Primitives& primitives, std::int64_t member,
                Bytes& total, const Bytes& vector, std::int64_t elements);

/// Returns the purpose of a derived key: session, round, use and members. Keys for different
/// purposes are independent.
std::string purpose(const SessionContext& context, std::int64_t round, const std::string& use,
                    std::int64_t first = -1, std::int64_t second = -1);
/// Returns the hash by which a dealer commits to a share.
Bytes share_hash(Primitives& primitives, const SessionContext& context, std::int64_t round,
                 std::int64_t dealer, std::int64_t holder, const std::string& what,
                 const Bytes& share);
Bytes sharers_hash(Primitives& primitives, const std::vector<std::int64_t>& sharers);
/// Returns the bytes that a member signs with its vector: the sharers for which the vector is
/// masked.
Bytes sharers_statement(const SessionContext& context, std::int64_t round, std::int64_t member,
                        const Bytes& sharers);

/// The coordinator's list of survivors, with the signed statement of every survivor.
struct ListMessage {
  Bytes list;
  std::vector<NamedBytes> statements;
};
Bytes to_bytes(const ListMessage& message);
ListMessage read_list_message(std::string_view bytes, std::int64_t members);

}  // namespace sotto::federated_detail
