// A session: the document that says which vectors are summed, by whom and with how much noise. All
// members sign it before anything is computed.
//
// A party is an organisation that holds data under its own ledger. A member is a party's seat in
// one session: its name and public key, identified in messages by its index in the list of members.
// The coordinator relays messages and adds up. It is not a member, holds no key and is not trusted.
//
// The adversary runs the coordinator and up to c members, sees and forges all traffic, and kills
// and restarts honest members. It learns, per round, at most one sum over at least h = t - c honest
// members, with the noise of each (docs/theory/aggregation.md).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mechanisms/api/gaussian.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// A message, a certificate or a session is invalid, or is not from its claimed sender. what()
/// names the sender. The error is thrown before this process reveals anything in reply.
class ProtocolError : public std::runtime_error, public Remediable {
 public:
  explicit ProtocolError(const std::string& what, Remedy remedy = Remedy::none)
      : std::runtime_error(what), Remediable(remedy) {}
};

/// A member of a session: the public part of a party's identity.
struct Member {
  std::string name;
  std::string key;               ///< Ed25519 public key, in hexadecimal. All security rests on it
  std::string certificate = {};  ///< TLS certificate (PEM). No security rests on it. Empty: a
                                 ///< certificate authority vouches for the name
  friend bool operator==(const Member&, const Member&) = default;
};

/// The public bounds of the values whose mean is computed.
struct ValueBounds {
  double lower, upper;
  friend bool operator==(const ValueBounds&, const ValueBounds&) = default;
};

/// A vector sum. In each of its rounds every member contributes a vector with independent noise.
struct SumItem {
  std::string name = {};  ///< description for people
  std::int64_t size = 1;  ///< number of coordinates
  double sigma =
      1;  ///< standard deviation of the noise of `honest` members together, as the plan states it
  double sensitivity = 1;  ///< largest L2 distance by which one unit moves a member's vector
  int grid = 0;            ///< coordinates are whole multiples of 2^grid
  double most =
      0;  ///< largest absolute coordinate of one member; a larger one could wrap around in the sum
  std::int64_t rounds = 1;  ///< number of rounds of this sum, in sequence
  /// For a mean, the bounds of the values. A member then has one value per unit, at most `most`
  /// units, and contributes the two halves that mean_sensitivity() describes.
  std::optional<ValueBounds> bounds = {};
  friend bool operator==(const SumItem&, const SumItem&) = default;
};

/// The document that every member signs. docs/theory/aggregation.md proves what it guarantees.
struct Session {
  std::string title;
  std::string nonce;  ///< random, in hexadecimal, so that no two sessions have equal bytes
  std::vector<Member> members;
  /// c: the number of members that may collude with each other and the coordinator. At least 1,
  /// since every reader of a sum knows its own noise.
  std::int64_t colluding = 1;
  std::int64_t threshold = 0;  ///< t: least number of members that can open a sum
  std::int64_t honest = 0;  ///< h = t - c: minimum number of honest noise shares in an opened sum
  int bits = 64;            ///< bits of an element: 32 or 64
  std::int64_t spare =
      0;  ///< number of additional rounds, to replace failed ones; the plan charges them
  std::int64_t deadline = 60;  ///< seconds that the coordinator waits in each phase
  std::string plan;      ///< cost of the session for each member's units, spare rounds included
  std::string relation;  ///< relation under which the sensitivities hold
  std::vector<SumItem> items;
  std::string study = {};        ///< text of the study that is run, or empty
  std::string coordinator = {};  ///< HOST:PORT
  std::string certificate = {};  ///< the coordinator's TLS certificate (PEM)

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(members.size()); }
  /// Return the number of planned rounds, without spare ones, and the item that round `step` of
  /// them sums.
  [[nodiscard]] std::int64_t rounds() const;
  [[nodiscard]] const SumItem& item_of(std::int64_t step) const;
  friend bool operator==(const Session&, const Session&) = default;
};

/// Returns the least threshold, the smallest whole number above (n + c)/2. Two lists of survivors
/// cannot both have t signatures then, since every honest member signs one list only. Two opened
/// lists would reveal the difference of two sums: one member's vector.
std::int64_t least_threshold(std::int64_t members, std::int64_t colluding);

/// Returns the cost of all sums for each member's units: each item's Gaussian mechanism, once for
/// each of its rounds and each spare round, and the slack in δ because every member rounds its
/// noise itself (rounded_sum_slack). A session without a study has this plan.
Plan plan_of_sums(const Session& session);
/// Returns the largest L2 distance by which one unit moves the two halves of a mean. A value at
/// lower + t (upper - lower) adds t to the first half and 1 - t to the second. The sum of the
/// halves is the count, and the first half divided by the count is the position of the mean between
/// the bounds. Throws InvalidValue for a relation other than add-remove, replace-one and zero-out.
double mean_sensitivity(const std::string& relation);
/// Returns that slack, which adds to δ for every ε <= 64.
double slack_of_sums(const std::vector<SumItem>& items, std::int64_t honest, std::int64_t spare);
/// Returns one member's share of an item's noise, whose standard deviation is sigma/sqrt(honest),
/// rounded up. Its event is the cost of one sum of the item.
PartyNoise share_of(const SumItem& item, std::int64_t honest);

/// Throws InvalidValue, which names the problem, unless all of these hold: there are 3 to 200
/// members with different names and keys; c >= 1, t > (n + c)/2 and h = t - c >= 1; a member's
/// noise is at least four grid steps wide; a sum wraps around with probability at most 2^-60; and,
/// without a study, the plan is plan_of_sums().
void require_sound(const Session& session);

/// Returns the text that members sign. Equal sessions have equal bytes.
std::string to_text(const Session& session);
/// Reads a session. Throws ProtocolError unless the text is, byte for byte, what to_text() writes
/// for a session that require_sound() accepts.
Session parse_session(const std::string& text);

/// Returns the text that a member signs to take part.
std::string approval_text(const std::string& session_text);

/// Returns the fingerprint of a public key as five words to read aloud, "lusab-babad-…": 80 bits of
/// its SHA-256. Comparing them over the telephone detects a card that was exchanged on its way.
std::string fingerprint_words(const std::string& public_key);

}  // namespace sotto
