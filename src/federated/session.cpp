#include "federated/api/session.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "sotto/core/decimal.hpp"
#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "federated/api/primitives.hpp"
#include "federated/api/round.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "privacy/api/federated.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {
namespace {

constexpr const char* schema = "sotto.session/1";

bool is_hexadecimal(const std::string& text, std::size_t size) {
  return text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void require_members(const Session& session) {
  if (session.size() < 3 || session.size() > 200) {
    throw InvalidValue("a session has 3 to 200 members, not " + std::to_string(session.size()) +
                       (session.size() < 3 ? ": of two, each would know the other's vector from the sum" : ""));
  }
  std::set<std::string> names;
  std::set<std::string> keys;
  for (const Member& member : session.members) {
    require_plain_name(member.name, "a member's name");
    if (member.name.empty() || member.name.size() > 100) throw InvalidValue("a member's name has 1 to 100 characters");
    if (!is_hexadecimal(member.key, 64)) throw InvalidValue("the public key of " + member.name + " is not one of 64 hexadecimal digits");
    if (!names.insert(member.name).second) throw InvalidValue("two members are called " + member.name);
    if (!keys.insert(member.key).second) throw InvalidValue(member.name + " has the public key of another member");
  }
}

void require_threshold(const Session& session) {
  const std::string n = std::to_string(session.size());
  const std::string c = std::to_string(session.colluding);
  if (session.colluding < 1 || session.colluding >= session.size()) {
    throw InvalidValue("from 1 to n - 1 members may collude: every reader of a sum knows its own noise, so one at least");
  }
  const std::int64_t least = least_threshold(session.size(), session.colluding);
  if (session.threshold < least || session.threshold > session.size()) {
    throw InvalidValue("the threshold must be above (n + c)/2 = (" + n + " + " + c + ")/2 and at most " + n + ", here " +
                       std::to_string(session.threshold) +
                       ": with fewer, two lists of survivors could both be opened, and their difference is one member's vector");
  }
  if (session.honest != session.threshold - session.colluding) {
    throw InvalidValue("honest must be threshold - colluding = " + std::to_string(session.threshold - session.colluding) +
                       ": a coordinator that lies drops honest members only");
  }
}

// No coordinate of a sum is 2^(bits-1) grid steps or more but with probability 2^-60, in all rounds together.
void require_room(const Session& session, const SumItem& item) {
  const double n = static_cast<double>(session.size());
  const double grid = std::ldexp(1.0, item.grid);
  const double rounds = static_cast<double>(session.rounds() + session.spare);
  const double tail = std::sqrt(2 * std::log(2 * static_cast<double>(item.size) * rounds * 0x1p60));
  const double noise = item.sigma * std::sqrt(n / static_cast<double>(session.honest));
  const double reach = (n * item.most + tail * noise) / grid + n;
  if (!(reach < std::ldexp(1.0, session.bits - 1) * (1 - 1e-9))) {
    throw InvalidValue("\"" + item.name + "\" has no room in elements of " + std::to_string(session.bits) + " bits: a sum may reach " +
                       readable(reach) + " grid steps; use 64 bits, or a coarser grid");
  }
}

void require_mean(const Session& session, const SumItem& item) {
  if (!item.bounds) return;
  const auto [lower, upper] = *item.bounds;
  if (!(lower < upper && std::isfinite(upper - lower))) throw InvalidValue("the bounds of a mean are two numbers, the lower one first");
  if (session.items.size() != 1 || !session.study.empty() || item.size != 2)
    throw InvalidValue("a session of a mean sums two numbers and nothing else");
  if (item.sensitivity < mean_sensitivity(session.relation)) {
    throw InvalidValue("one unit moves the halves of a mean by " + shortest(mean_sensitivity(session.relation)) + " under " + session.relation +
                       ", and the session says " + shortest(item.sensitivity));
  }
  if (item.most > 0x1p32) throw InvalidValue("a member of a session of a mean has at most 2^32 units");
}

void require_item(const Session& session, const SumItem& item) {
  require_plain_name(item.name, "an item's name");
  if (item.size < 1 || item.size > (std::int64_t{1} << 28)) throw InvalidValue("\"" + item.name + "\" has 1 to 2^28 coordinates");
  if (item.rounds < 1) throw InvalidValue("\"" + item.name + "\" is summed in at least one round");
  if (!(item.sigma > 0 && std::isfinite(item.sigma))) throw InvalidValue("\"" + item.name + "\" needs noise: sigma must be above 0");
  if (!(item.sensitivity > 0 && std::isfinite(item.sensitivity))) throw InvalidValue("\"" + item.name + "\": the sensitivity must be above 0");
  if (!(item.most > 0 && std::isfinite(item.most))) throw InvalidValue("\"" + item.name + "\": the largest coordinate of a member must be above 0");
  if (item.grid < -1000 || item.grid > 900) throw InvalidValue("\"" + item.name + "\": the grid is between 2^-1000 and 2^900");
  const double steps = item.sigma / std::sqrt(static_cast<double>(session.honest)) / std::ldexp(1.0, item.grid);
  if (!(steps >= 4)) {
    throw InvalidValue("\"" + item.name + "\": a member's noise must be at least 4 grid steps wide, and is " + readable(steps) +
                       ": use a finer grid");
  }
  require_mean(session, item);
  require_room(session, item);
}

std::optional<ValueBounds> bounds_in(const Json& item) {
  if (!item.contains("bounds")) return std::nullopt;
  const auto bounds = item["bounds"].get<std::vector<double>>();
  if (bounds.size() != 2) throw JsonError("a mean has two bounds");
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
  throw InvalidValue("the session has no such round");
}

std::int64_t least_threshold(std::int64_t members, std::int64_t colluding) { return (members + colluding) / 2 + 1; }

double own_sigma(const SumItem& item, std::int64_t honest) { return (Real(item.sigma) / sqrt(Real(static_cast<double>(honest)))).upper(); }

double slack_of_sums(const std::vector<SumItem>& items, std::int64_t honest, std::int64_t spare) {
  Real slack = 0;
  for (const SumItem& item : items) {
    const double steps = own_sigma(item, honest) / std::ldexp(1.0, item.grid);
    slack = slack + rounded_sum_slack(steps, honest, static_cast<double>(item.size), static_cast<double>(item.rounds + spare));
  }
  return std::min(1.0, slack.upper());
}

// With t and t' in [0, 1]: a unit that is added, removed or made null moves the halves by (t, 1 - t), whose squares sum to 1 - 2t(1 - t) <= 1. A unit
// that is changed moves them by (t - t')(1, -1), whose length is at most the square root of 2. Members round t to a grid that holds 0 and 1, and
// take 1 - t exactly, so that both hold for what they add up, too.
double mean_sensitivity(const std::string& relation) {
  const auto found = relation_named(relation);
  if (found == Relation::replace_one) return sqrt(Real(2)).upper();
  if (found == Relation::add_remove || found == Relation::zero_out) return 1;
  throw InvalidValue("the relation must be add-remove, replace-one or zero-out");
}

Plan plan_of_sums(const Session& session) {
  std::optional<Plan> all;
  for (const SumItem& item : session.items) {
    const double times = static_cast<double>(item.rounds + session.spare);
    const Plan once = gaussian(item.sigma, item.sensitivity);
    const Plan part = times == 1 ? once : times * once;
    all = all ? *all + part : part;
  }
  const double slack = slack_of_sums(session.items, session.honest, session.spare);
  return slack > 0 ? *all + approx(0, slack) : *all;
}

void require_sound(const Session& session) {
  require_plain_name(session.title, "the title");
  if (!is_hexadecimal(session.nonce, 32)) throw InvalidValue("a session's nonce has 32 hexadecimal digits");
  require_members(session);
  require_threshold(session);
  if (session.bits != 32 && session.bits != 64) throw InvalidValue("an element has 32 or 64 bits");
  if (session.spare < 0 || session.spare > 1000000) throw InvalidValue("spare rounds are from 0 to a million");
  if (session.deadline < 1 || session.deadline > 86400) throw InvalidValue("the deadline of a phase is from 1 to 86400 seconds");
  if (session.items.empty()) throw InvalidValue("a session sums at least one vector");
  if (!relation_named(session.relation)) throw InvalidValue("the relation must be add-remove, replace-one or zero-out");
  (void)parse(session.plan);
  for (const SumItem& item : session.items) require_item(session, item);
  if (session.study.empty() && !(parse(session.plan) == plan_of_sums(session))) {
    throw InvalidValue("the plan of a session without a study must be what its sums cost, " + print(plan_of_sums(session)) + ", and is " +
                       session.plan);
  }
}

std::string to_text(const Session& session) {
  Json members = Json::array();
  for (const Member& member : session.members) members.push_back({{"name", member.name}, {"key", member.key}, {"certificate", member.certificate}});
  Json items = Json::array();
  for (const SumItem& item : session.items) {
    Json one{{"name", item.name}, {"size", item.size}, {"sigma", item.sigma},  {"sensitivity", item.sensitivity},
             {"grid", item.grid}, {"most", item.most}, {"rounds", item.rounds}};
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
    if (json["schema"].text() != schema) throw ProtocolError("the session is of another version: " + escaped_for_terminal(json["schema"].text()));
    session.title = json["title"].text();
    session.nonce = json["nonce"].text();
    for (const Json& member : json["members"]) session.members.push_back({member["name"].text(), member["key"].text(), member["certificate"].text()});
    session.colluding = json["colluding"].get<std::int64_t>();
    session.threshold = json["threshold"].get<std::int64_t>();
    session.honest = json["honest"].get<std::int64_t>();
    session.bits = json["bits"].get<int>();
    session.spare = json["spare"].get<std::int64_t>();
    session.deadline = json["deadline"].get<std::int64_t>();
    session.plan = json["plan"].text();
    session.relation = json["relation"].text();
    for (const Json& item : json["items"]) {
      session.items.push_back({item["name"].text(), item["size"].get<std::int64_t>(), item["sigma"].get<double>(), item["sensitivity"].get<double>(),
                               item["grid"].get<int>(), item["most"].get<double>(), item["rounds"].get<std::int64_t>(), bounds_in(item)});
    }
    session.study = json["study"].text();
    session.coordinator = json["coordinator"].text();
    session.certificate = json["certificate"].text();
    require_sound(session);
  } catch (const JsonError& error) {
    throw ProtocolError(std::string("this is no session: ") + error.what());
  } catch (const ParseError& error) {
    throw ProtocolError(std::string("the session's plan cannot be read: ") + error.what());
  } catch (const InvalidValue& error) {
    throw ProtocolError(std::string("the session is refused: ") + error.what());
  }
  // one text a session, so that what is signed is what is run
  if (to_text(session) != text) throw ProtocolError("the session's text was changed: it is not as it is written");
  return session;
}

std::string approval_text(const std::string& session_text) { return "I take part in this session of sotto.\n" + session_text; }

AgreedSession agreed(const Session& session) { return {session, real_primitives(session.bits)->hash(to_text(session))}; }

// Sixteen bits a word, consonants and vowels in turn: proquints.
std::string spoken(const std::string& public_key) {
  static constexpr std::string_view consonants = "bdfghjklmnprstvz";
  static constexpr std::string_view vowels = "aiou";
  const Bytes hash = real_primitives(64)->hash("sotto member " + public_key);
  std::string words;
  for (std::size_t i = 0; i < 10; i += 2) {
    const unsigned bits = static_cast<unsigned>(static_cast<unsigned char>(hash[i])) << 8U | static_cast<unsigned char>(hash[i + 1]);
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
