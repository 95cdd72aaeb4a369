// What members and coordinator tell each other, as bytes. A member's message is signed over the very bytes that are sent, with the session and the
// round in them; the coordinator has no key, and nothing that it says by itself is believed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "federated/api/round.hpp"

namespace sotto::federated_detail {

/// Appends numbers (little-endian) and lengths with bytes.
class Writer {
 public:
  Writer& number(std::uint64_t value, int bytes = 8);
  Writer& bytes(std::string_view bytes);
  Writer& numbers(const std::vector<std::int64_t>& values);
  [[nodiscard]] Bytes made() { return std::move(out_); }

 private:
  Bytes out_;
};

/// Reads the same; ProtocolError where the bytes end early, a length is beyond them, or some are left.
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
  // a member's
  hello = 1,
  keys,
  shares,
  masked,
  list_signature,
  reveal,
  // the coordinator's
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

/// Whose a message is that no member signed.
inline constexpr std::int64_t coordinator = -1;

struct Envelope {
  Kind kind;
  std::int64_t sender;
  Bytes session;  // its hash
  std::int64_t round;
  Bytes body;
  Bytes signature = {};
};
/// The bytes that a member signs: all but the signature.
Bytes signed_part(const Envelope& envelope);
Bytes to_bytes(const Envelope& envelope);
Envelope read_envelope(std::string_view bytes);

using Agreed = AgreedSession;

/// A member's message of this kind, session and round, signed by it. ProtocolError names the member and what is wrong.
Envelope read_signed(const Agreed& agreed, Primitives& primitives, std::string_view bytes, Kind kind, std::int64_t round);
/// The coordinator's.
Envelope read_unsigned(const Agreed& agreed, std::string_view bytes, Kind kind, std::int64_t round);
Bytes signed_message(const Agreed& agreed, Primitives& primitives, std::int64_t self, Kind kind, std::int64_t round, Bytes body);
Bytes unsigned_message(const Agreed& agreed, Kind kind, std::int64_t round, Bytes body);

/// "hospital-a": how errors name a member.
const std::string& name_of(const Agreed& agreed, std::int64_t member);

// --- Bodies ---

/// A round's public keys and commitments of one member.
struct Keys {
  Bytes channel;                                // public key: shares are sealed to it
  Bytes mask;                                   // public key: pairwise masks
  Bytes self_mask;                              // hash of the self-mask secret
  std::vector<Bytes> mask_shares, self_shares;  // hashes of the shares for each member
};
Bytes to_bytes(const Keys& keys);
Keys read_keys(std::string_view bytes, std::int64_t members);

/// What one member deals to another: sealed, and signed for that member alone.
struct SealedShares {
  std::int64_t from, to;
  Bytes sealed;
  Bytes signature;
};
Bytes signed_part(const Agreed& agreed, std::int64_t round, const SealedShares& shares);
Bytes to_bytes(const std::vector<SealedShares>& all);
std::vector<SealedShares> read_shares(std::string_view bytes, std::int64_t members);

/// Who dealt shares, and whose vector is in the sum.
struct SurvivorList {
  std::vector<std::int64_t> sharers, survivors;
  friend bool operator==(const SurvivorList&, const SurvivorList&) = default;
};
Bytes to_bytes(const Agreed& agreed, std::int64_t round, const SurvivorList& list);
/// ProtocolError unless it is of this session and round, both are ascending, survivors are sharers, and at least t survive.
SurvivorList read_list(const Agreed& agreed, std::int64_t round, std::string_view bytes);

struct NamedBytes {
  std::int64_t member;
  Bytes bytes;
};
Bytes to_bytes(const std::vector<NamedBytes>& all);
std::vector<NamedBytes> read_named(std::string_view bytes, std::int64_t members);

/// A member's masked vector, and for which sharers it is masked: signed apart from the vector, so that every member can check it for every survivor
/// before it signs a list. A survivor that masked for others could be split from the sum.
struct Masked {
  Bytes sharers;    // hash of their list
  Bytes statement;  // the signature of sharers_statement
  Bytes vector;
};
Bytes to_bytes(const Masked& masked);
Masked read_masked(std::string_view bytes);
/// total += vector; ProtocolError names the member whose vector has another size.
void add_vector(const Agreed& agreed, Primitives& primitives, std::int64_t member, Bytes& total, const Bytes& vector, std::int64_t elements);

/// The numbers of a key pair's uses.
std::string purpose(const Agreed& agreed, std::int64_t round, const std::string& use, std::int64_t first = -1, std::int64_t second = -1);
/// The hash of a share as its dealer commits to it.
Bytes share_hash(Primitives& primitives, const Agreed& agreed, std::int64_t round, std::int64_t dealer, std::int64_t holder, const std::string& what,
                 const Bytes& share);
Bytes sharers_hash(Primitives& primitives, const std::vector<std::int64_t>& sharers);
/// What a member signs when it sends its vector: for whom it is masked.
Bytes sharers_statement(const Agreed& agreed, std::int64_t round, std::int64_t member, const Bytes& sharers);

/// The coordinator's list, and the statement of every survivor.
struct ListMessage {
  Bytes list;
  std::vector<NamedBytes> statements;
};
Bytes to_bytes(const ListMessage& message);
ListMessage read_list_message(std::string_view bytes, std::int64_t members);

}  // namespace sotto::federated_detail
