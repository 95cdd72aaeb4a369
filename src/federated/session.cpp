// Validation of sessions, their signed text, and the cost of their sums.
#include "federated/api/session.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "federated/api/primitives.hpp"
#include "federated/api/round.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/federated.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {
namespace {

constexpr const char* schema = "sotto.session/1";

bool is_hexadecimal(const std::string& text, std::size_t size) {
  return text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void require_members(const Session& session) {
  if (session.size() < 3 || session.size() > 200) {
    throw InvalidValue(
        "a session has 3 to 200 members, and this one has " + std::to_string(session.size()) +
        (session.size() < 3 ? ": with two, each could compute the other's vector from the sum"
                            : ""));
  }
  std::set<std::string> names;
  std::set<std::string> keys;
  for (const Member& member : session.members) {
    require_plain_name(member.name, "a member's name");
    if (member.name.empty() || member.name.size() > 100) {
      throw InvalidValue("a member's name has 1 to 100 characters, and one has " +
                         std::to_string(member.name.size()));
    }
    if (!is_hexadecimal(member.key, 64))
      throw InvalidValue("the public key of " + member.name +
                         " is not 64 hexadecimal digits in lower case");
    if (!names.insert(member.name).second)
      throw InvalidValue("two members have the name " + member.name + ": names must differ");
    if (!keys.insert(member.key).second)
      throw InvalidValue(member.name +
                         " has the public key of another member: each member needs its own key");
  }
}

// Throws InvalidValue unless the threshold excludes that two lists of survivors are signed, and
// every opened sum has the noise of h honest members. The proof in docs/theory/aggregation.md needs
// both.
void require_threshold(const Session& session) {
  const std::string n = std::to_string(session.size());
  const std::string c = std::to_string(session.colluding);
  if (session.colluding < 1 || session.colluding >= session.size()) {
    throw InvalidValue("colluding must be from 1 to n - 1 = " + std::to_string(session.size() - 1) +
                       ", here " + c +
                       ": every reader of a sum knows its own noise, so at least one");
  }
  const std::int64_t least = least_threshold(session.size(), session.colluding);
  if (session.threshold < least || session.threshold > session.size()) {
    throw InvalidValue("the threshold must be above (n + c)/2 = (" + n + " + " + c +
                       ")/2 and at most " + n + ", here " + std::to_string(session.threshold) +
                       ": with a smaller one, two lists of survivors could both be opened, and the "
                       "difference of their sums is one member's vector");
  }
  if (session.honest != session.threshold - session.colluding) {
    throw InvalidValue("honest must be threshold - colluding = " +
                       std::to_string(session.threshold - session.colluding) + ", here " +
                       std::to_string(session.honest) +
                       ": a lying coordinator drops honest members and keeps the colluding ones");
  }
}

// Throws InvalidValue unless, except with probability 2^-60 in all rounds together, every
// coordinate of every sum is below 2^(bits-1) grid steps. A larger sum would wrap around and be
// wrong without notice.
void require_room(const Session& session, const SumItem& item) {
  const double n = static_cast<double>(session.size());
  const double grid = std::ldexp(1.0, item.grid);
  const double rounds = static_cast<double>(session.rounds() + session.spare);
  const double tail = std::sqrt(2 * std::log(2 * static_cast<double>(item.size) * rounds * 0x1p60));
  const double noise = item.sigma * std::sqrt(n / static_cast<double>(session.honest));
  const double reach = (n * item.most + tail * noise) / grid + n;
  if (!(reach < std::ldexp(1.0, session.bits - 1) * (1 - 1e-9))) {
    throw InvalidValue("\"" + item.name + "\" does not fit into elements of " +
                       std::to_string(session.bits) + " bits: a sum may reach " + readable(reach) +
                       " grid steps. Use 64 bits, or a coarser grid");
  }
}

void require_mean(const Session& session, const SumItem& item) {
  if (!item.bounds) return;
  const auto [lower, upper] = *item.bounds;
  if (!(lower < upper && std::isfinite(upper - lower)))
    throw InvalidValue(
        "the bounds of a mean are two finite numbers, the lower one first, and here " +
        shortest(lower) + " and " + shortest(upper));
  if (session.items.size() != 1 || !session.study.empty() || item.size != 2)
    throw InvalidValue("a session for a mean has one item of size 2 and no study");
  if (item.sensitivity < mean_sensitivity(session.relation)) {
    throw InvalidValue("the sensitivity of a mean is " +
                       shortest(mean_sensitivity(session.relation)) + " under " + session.relation +
                       ", and the session has only " + shortest(item.sensitivity));
  }
  if (item.most > 0x1p32)
    throw InvalidValue("a member has at most 2^32 units in a session for a mean, here " +
                       shortest(item.most));
}

void require_item(const Session& session, const SumItem& item) {
  require_plain_name(item.name, "an item's name");
  if (item.size < 1 || item.size > (std::int64_t{1} << 28))
    throw InvalidValue("\"" + item.name + "\" has 1 to 2^28 coordinates, here " +
                       std::to_string(item.size));
  if (item.rounds < 1)
    throw InvalidValue("\"" + item.name + "\" needs at least one round, here " +
                       std::to_string(item.rounds));
  if (!(item.sigma > 0 && std::isfinite(item.sigma)))
    throw InvalidValue("\"" + item.name + "\": sigma must be above 0, here " +
                       shortest(item.sigma));
  if (!(item.sensitivity > 0 && std::isfinite(item.sensitivity)))
    throw InvalidValue("\"" + item.name + "\": the sensitivity must be above 0, here " +
                       shortest(item.sensitivity));
  if (!(item.most > 0 && std::isfinite(item.most)))
    throw InvalidValue("\"" + item.name +
                       "\": the largest coordinate of a member must be above 0, here " +
                       shortest(item.most));
  if (item.grid < -1000 || item.grid > 900)
    throw InvalidValue("\"" + item.name +
                       "\": the grid must be between 2^-1000 and 2^900, here 2^" +
                       std::to_string(item.grid));
  const double steps =
      item.sigma / std::sqrt(static_cast<double>(session.honest)) / std::ldexp(1.0, item.grid);
  if (!(steps >= 4)) {
    throw InvalidValue(
        "\"" + item.name +
        "\": the standard deviation of a member's noise must be at least 4 grid steps, and is " +
        readable(steps) + ": use a finer grid");
  }
  require_mean(session, item);
  require_room(session, item);
}

std::optional<ValueBounds> bounds_in(const Json& item) {
  if (!item.contains("bounds")) return std::nullopt;
  const auto bounds = item["bounds"].get<std::vector<double>>();
  if (bounds.size() != 2)
    throw JsonError("the bounds of a mean must be two numbers, here " +
                    std::to_string(bounds.size()));
  return ValueBounds{bounds[0], bounds[1]};
}

}  // namespace

std::int64_t Session::rounds() const {
  std::int64_t sum = 0;
  for (const SumItem& item : items) sum += item.rounds;
  return sum;
}

const SumItem& Session::item_of(std::int64_t step) const {
  for (const SumItem& item : items) {
    if (step < item.rounds) return item;
    step -= item.rounds;
  }
  throw InvalidValue("the session has " + std::to_string(rounds()) +
                     " rounds, and a later one was asked for");
}

std::int64_t least_threshold(std::int64_t members, std::int64_t colluding) {
  return (members + colluding) / 2 + 1;
}

PartyNoise share_of(const SumItem& item, std::int64_t honest) {
  return {GaussianNoise(gaussian(item.sigma, item.sensitivity)), honest};
}

double slack_of_sums(const std::vector<SumItem>& items, std::int64_t honest, std::int64_t spare) {
  Real slack = 0;
  for (const SumItem& item : items) {
    const double steps = share_of(item, honest).scale() / std::ldexp(1.0, item.grid);
    slack = slack + rounded_sum_slack(steps, honest, static_cast<double>(item.size),
                                      static_cast<double>(item.rounds + spare));
  }
  return std::min(1.0, slack.upper());
}

// Let t and t' be in [0, 1]. A unit that is added, removed or made null moves the halves by (t, 1 -
// t), whose squared length is 1 - 2t(1 - t) <= 1. A unit that is changed moves them by (t - t')(1,
// -1), whose length is at most √2. Members round t to a grid that contains 0 and 1, and compute 1 -
// t exactly, so both bounds hold after rounding, too.
double mean_sensitivity(const std::string& relation) {
  const auto known = relation_named(relation);
  if (known == Relation::replace_one) return sqrt(Real(2)).upper();
  if (known == Relation::add_remove || known == Relation::zero_out) return 1;
  throw InvalidValue("the relation must be add-remove, replace-one or zero-out, here '" + relation +
                     "'");
}

Plan plan_of_sums(const Session& session) {
  std::optional<Plan> all;
  for (const SumItem& item : session.items) {
    const double times = static_cast<double>(item.rounds + session.spare);
    const Plan once = share_of(item, session.honest).event();
    const Plan part = times == 1 ? once : times * once;
    all = all ? *all + part : part;
  }
  const double slack = slack_of_sums(session.items, session.honest, session.spare);
  return slack > 0 ? *all + approx(0, slack) : *all;
}

void require_sound(const Session& session) {
  require_plain_name(session.title, "the title");
  if (!is_hexadecimal(session.nonce, 32))
    throw InvalidValue("the nonce of a session has 32 hexadecimal digits in lower case, here '" +
                       session.nonce + "'");
  require_members(session);
  require_threshold(session);
  if (session.bits != 32 && session.bits != 64)
    throw InvalidValue("bits must be 32 or 64, here " + std::to_string(session.bits));
  if (session.spare < 0 || session.spare > 1000000)
    throw InvalidValue("spare must be from 0 to 1000000 rounds, here " +
                       std::to_string(session.spare));
  if (session.deadline < 1 || session.deadline > 86400)
    throw InvalidValue("the deadline of a phase must be from 1 to 86400 seconds, here " +
                       std::to_string(session.deadline));
  if (session.items.empty()) throw InvalidValue("a session needs at least one item to sum");
  if (!relation_named(session.relation)) {
    throw InvalidValue("the relation must be add-remove, replace-one or zero-out, here '" +
                       session.relation + "'");
  }
  (void)parse(session.plan);
  for (const SumItem& item : session.items) require_item(session, item);
  if (session.study.empty() && !(parse(session.plan) == plan_of_sums(session))) {
    throw InvalidValue("the plan of a session without a study must be the cost of its sums, " +
                       print(plan_of_sums(session)) + ", and is " + session.plan);
  }
}

std::string to_text(const Session& session) {
  Json members = Json::array();
  for (const Member& member : session.members)
    members.push_back(
        {{"name", member.name}, {"key", member.key}, {"certificate", member.certificate}});
  Json items = Json::array();
  for (const SumItem& item : session.items) {
    Json one{{"name", item.name},    {"size", item.size},
             {"sigma", item.sigma},  {"sensitivity", item.sensitivity},
             {"grid", item.grid},    {"most", item.most},
             {"rounds", item.rounds}};
    if (item.bounds) one["bounds"] = std::vector<double>{item.bounds->lower, item.bounds->upper};
    items.push_back(one);
  }
  return Json({{"schema", schema},
               {"title", session.title},
               {"nonce", session.nonce},
               {"members", members},
               {"colluding", session.colluding},
               {"threshold", session.threshold},
               {"honest", session.honest},
               {"bits", session.bits},
               {"spare", session.spare},
               {"deadline", session.deadline},
               {"plan", session.plan},
               {"relation", session.relation},
               {"items", items},
               {"study", session.study},
               {"coordinator", session.coordinator},
               {"certificate", session.certificate}})
             .dump() +
         "\n";
}

Session parse_session(const std::string& text) {
  Session session;
  try {
    const Json json = Json::parse(text);
    if (json["schema"].text() != schema)
      throw ProtocolError("the session has the schema " +
                          escaped_for_terminal(json["schema"].text()) + ", and this sotto reads " +
                          schema);
    session.title = json["title"].text();
    session.nonce = json["nonce"].text();
    for (const Json& member : json["members"])
      session.members.push_back(
          {member["name"].text(), member["key"].text(), member["certificate"].text()});
    session.colluding = json["colluding"].get<std::int64_t>();
    session.threshold = json["threshold"].get<std::int64_t>();
    session.honest = json["honest"].get<std::int64_t>();
    session.bits = json["bits"].get<int>();
    session.spare = json["spare"].get<std::int64_t>();
    session.deadline = json["deadline"].get<std::int64_t>();
    session.plan = json["plan"].text();
    session.relation = json["relation"].text();
    for (const Json& item : json["items"]) {
      session.items.push_back({item["name"].text(), item["size"].get<std::int64_t>(),
                               item["sigma"].get<double>(), item["sensitivity"].get<double>(),
                               item["grid"].get<int>(), item["most"].get<double>(),
                               item["rounds"].get<std::int64_t>(), bounds_in(item)});
    }
    session.study = json["study"].text();
    session.coordinator = json["coordinator"].text();
    session.certificate = json["certificate"].text();
    require_sound(session);
  } catch (const JsonError& error) {
    throw ProtocolError(std::string("this is not a session: ") + error.what());
  } catch (const ParseError& error) {
    throw ProtocolError(std::string("the session's plan cannot be read: ") + error.what());
  } catch (const InvalidValue& error) {
    throw ProtocolError(std::string("the session is invalid: ") + error.what());
  }
  // A session has one text only. Members sign bytes, so another spelling of the same values must
  // not pass: it could hide members that this reader ignores.
  if (to_text(session) != text)
    throw ProtocolError(
        "the text of the session was changed: sotto writes this session with other bytes. Use the "
        "file as it was made");
  return session;
}

std::string approval_text(const std::string& session_text) {
  return "I take part in this session of sotto.\n" + session_text;
}

SessionContext context_of(const Session& session) {
  return {session, real_primitives(session.bits)->hash(to_text(session))};
}

// The words are proquints: each has 16 bits, as consonants and vowels in turn.
std::string fingerprint_words(const std::string& public_key) {
  static constexpr std::string_view consonants = "bdfghjklmnprstvz";
  static constexpr std::string_view vowels = "aiou";
  const Bytes hash = real_primitives(64)->hash("sotto member " + public_key);
  std::string words;
  for (std::size_t i = 0; i < 10; i += 2) {
    const unsigned bits = static_cast<unsigned>(static_cast<unsigned char>(hash[i])) << 8U |
                          static_cast<unsigned char>(hash[i + 1]);
    if (!words.empty()) words += '-';
    words += consonants[bits >> 12U];
    words += vowels[bits >> 10U & 3U];
    words += consonants[bits >> 6U & 15U];
    words += vowels[bits >> 4U & 3U];
    words += consonants[bits & 15U];
  }
  return words;
}

}  // namespace sotto
