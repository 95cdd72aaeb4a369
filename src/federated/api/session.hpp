// A session: who sums what together, and what all of them sign before anything is computed.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sotto/core/errors.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// A message, a certificate or a session that is not what it should be, or not from whom it should be. what() says whose it is; nothing was revealed.
class ProtocolError : public std::runtime_error, public Remediable {
 public:
  explicit ProtocolError(const std::string& what, Remedy remedy = Remedy::none) : std::runtime_error(what), Remediable(remedy) {}
};

/// One of those who take part, as everybody knows it.
struct Member {
  std::string name;
  std::string key;               ///< its Ed25519 public key, in hexadecimal: what security rests on
  std::string certificate = {};  ///< of its TLS connection (PEM), on which nothing rests; empty: whoever a certificate authority names
  friend bool operator==(const Member&, const Member&) = default;
};

/// Public bounds of the values whose mean is asked for.
struct ValueBounds {
  double lower, upper;
  friend bool operator==(const ValueBounds&, const ValueBounds&) = default;
};

/// A vector that is summed in one round: each member adds its own, with noise of its own.
struct SumItem {
  std::string name = {};    ///< what it is in words
  std::int64_t size = 1;    ///< how many coordinates
  double sigma = 1;         ///< the standard deviation of the noise of `honest` members together: what the plan states
  double sensitivity = 1;   ///< how much one unit moves a member's vector at most, in L2
  int grid = 0;             ///< numbers are whole multiples of 2^grid
  double most = 0;          ///< no member's coordinate is larger, or it wraps around
  std::int64_t rounds = 1;  ///< so many rounds of this kind, one after the other
  /// Of a mean: a member has one value of each of its units, at most `most` of them, and its vector is the two halves of mean_sensitivity.
  std::optional<ValueBounds> bounds = {};
  friend bool operator==(const SumItem&, const SumItem&) = default;
};

/// What every member signs. docs/theory/aggregation.md says what holds for whoever does.
struct Session {
  std::string title;
  std::string nonce;  ///< random, in hexadecimal: no two sessions have the same bytes
  std::vector<Member> members;
  std::int64_t colluding =
      1;  ///< c: so many members may pool what they see, with the coordinator; at least 1, since every reader knows its own noise
  std::int64_t threshold = 0;  ///< t: a sum is opened by so many members or more
  std::int64_t honest = 0;     ///< h = t - c: so many noises are sure to be in a sum that is opened and unknown to those who collude
  int bits = 64;               ///< of an element: 32 or 64
  std::int64_t spare = 0;      ///< so many rounds more than planned may be run, for those that failed; the plan charges them
  std::int64_t deadline = 60;  ///< seconds that the coordinator waits in each phase
  std::string plan;            ///< what the session costs each member's units, spare rounds included
  std::string relation;        ///< under which the sensitivities are stated
  std::vector<SumItem> items;
  std::string study = {};        ///< the text of the study that is run, or empty
  std::string coordinator = {};  ///< HOST:PORT
  std::string certificate = {};  ///< the coordinator's, as the members' (PEM)

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(members.size()); }
  /// The rounds that are planned, spare ones excluded, and which item round `step` of them sums.
  [[nodiscard]] std::int64_t rounds() const;
  [[nodiscard]] const SumItem& item_of(std::int64_t step) const;
  friend bool operator==(const Session&, const Session&) = default;
};

/// The least threshold for so many members of whom c collude: above (n + c)/2. Two lists of survivors cannot both be signed by so many, since an
/// honest member signs one.
std::int64_t least_threshold(std::int64_t members, std::int64_t colluding);

/// What summing costs each member's units at most, whatever is summed: each item's Gaussian noise as often as it is summed, once more for every spare
/// round, and the slack of noise that every member rounds by itself (rounded_sum_slack). A session without a study has this plan.
Plan plan_of_sums(const Session& session);
/// How much one unit moves the two halves of a mean at most, in L2. A value that lies the share t of the way from the lower to the upper bound adds t
/// to the first half and 1 - t to the second: their sum is the count, and the first divided by it is where the mean lies. InvalidValue for a relation
/// that does not say what is changed.
double mean_sensitivity(const std::string& relation);
/// That slack alone: it is a part of δ for every ε <= 64.
double slack_of_sums(const std::vector<SumItem>& items, std::int64_t honest, std::int64_t spare);
/// The noise that a member adds, at least sigma/sqrt(honest).
double own_sigma(const SumItem& item, std::int64_t honest);

/// InvalidValue, naming what is wrong, unless 3 to 200 members with different names and keys, c >= 1, t > (n + c)/2, h = t - c >= 1, the noise of a
/// member is at least four grid steps wide, no sum wraps around but with probability 2^-60, and, without a study, the plan is plan_of_sums.
void require_sound(const Session& session);

/// The document that is signed, byte by byte, and read back; ProtocolError for a text that is none. Reading checks require_sound.
std::string to_text(const Session& session);
Session parse_session(const std::string& text);

/// What a member signs, to take part.
std::string approval_text(const std::string& session_text);

/// A public key as five words to read aloud, "lusab-babad-…": 80 bits of its SHA-256.
std::string spoken(const std::string& public_key);

}  // namespace sotto
