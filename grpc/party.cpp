// party --values: a member whose vector is a file of numbers. Nothing is charged to a ledger: the file's owner answers for that.
#include <cmath>
#include <cstring>
#include <iostream>
#include <sstream>

#include "commands.hpp"
#include "frames.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/text.hpp"
#include "sotto/random/noise.hpp"
#include "sotto/report/csv.hpp"
#include "transport.hpp"

namespace sotto::cli {
namespace {

// One number a line, all items one after the other. An error names the line, never what is on it.
std::vector<double> read_values(const std::string& file, const Session& session) {
  std::istringstream in(read_text(file));
  std::vector<double> values;
  for (const SumItem& item : session.items) {
    for (std::int64_t i = 0; i < item.size; ++i) {
      std::string line;
      const std::string where = file + ", line " + std::to_string(values.size() + 1);
      if (!std::getline(in, line)) throw InvalidValue(where + ": a number is missing; \"" + item.name + "\" has " + std::to_string(item.size));
      double value = NAN;
      try {
        value = read_number(line);
      } catch (const InvalidValue&) {
      }
      if (!(std::fabs(value) <= item.most))
        throw InvalidValue(where + " is no number between " + shortest(-item.most) + " and " + shortest(item.most) + ", as the session says");
      values.push_back(value);
    }
  }
  if (std::string line; std::getline(in, line)) throw InvalidValue(file + " has more numbers than the session sums");
  return values;
}

void put(Bytes& out, std::uint64_t number) { out.append(reinterpret_cast<const char*>(&number), sizeof number); }
std::uint64_t got(std::string_view& in) {
  std::uint64_t number = 0;
  if (in.size() < sizeof number) throw ProtocolError("the state of this member was cut off");
  std::memcpy(&number, in.data(), sizeof number);
  in.remove_prefix(sizeof number);
  return number;
}

class ValuesWork final : public MemberWork {
 public:
  ValuesWork(const Session& session, std::vector<double> values) : session_(session), values_(std::move(values)) {}

  Bytes contribution(std::int64_t step) override {
    const SumItem& item = session_.item_of(step);
    std::size_t from = 0;
    for (const SumItem* one = session_.items.data(); one != &item; ++one) from += static_cast<std::size_t>(one->size);
    const double per_step = std::ldexp(1.0, -item.grid);
    const RoundedNoise noise(NoiseKind::gaussian, own_sigma(item, session_.honest), item.grid);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(item.size));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double toward_zero = std::ldexp(std::trunc(values_[from + i] * per_step), item.grid);
      numbers[i] = static_cast<std::int64_t>(noise.add(toward_zero) * per_step);
    }
    return elements(numbers, session_.bits);
  }
  void take(std::int64_t, const RoundResult& result) override { results_.push_back(result); }

  [[nodiscard]] Bytes progress() const override {
    Bytes out;
    put(out, results_.size());
    for (const RoundResult& result : results_) {
      for (const auto* list : {&result.survivors, &result.dropped}) {
        put(out, list->size());
        for (const std::int64_t member : *list) put(out, static_cast<std::uint64_t>(member));
      }
      put(out, result.total.size());
      out += result.total;
    }
    return out;
  }
  void resume(const Bytes& progress) override {
    std::string_view in = progress;
    results_.assign(got(in), {});
    for (RoundResult& result : results_) {
      for (auto* list : {&result.survivors, &result.dropped}) {
        list->resize(got(in));
        for (std::int64_t& member : *list) member = static_cast<std::int64_t>(got(in));
      }
      const std::uint64_t size = got(in);
      result.total = in.substr(0, size);
      in.remove_prefix(size);
    }
  }

  [[nodiscard]] const std::vector<RoundResult>& results() const { return results_; }

 private:
  const Session& session_;
  std::vector<double> values_;
  std::vector<RoundResult> results_;
};

struct Options {
  std::string session, key, values, address, patience = "600";
  TlsFiles tls;
  bool quiet = false;
};

void run_party(const Options& options, const Typed& typed) {
  const Format format = format_of(typed);
  const Session session = parse_session(read_text(options.session));
  const AgreedSession agreed = sotto::agreed(session);
  const MemberKey key = read_key(options.key);
  const std::int64_t self = member_with(session, signing_public_key(key.seed));
  MemberFolder folder(options.key, agreed);
  if (!folder.is_approved()) {
    throw ProtocolError(session.members[static_cast<std::size_t>(self)].name + " has not agreed to this session: type sotto-federate approve " +
                        options.session + " --key " + options.key);
  }
  folder.lock();
  ValuesWork work(session, read_values(options.values, session));
  const auto primitives = real_primitives(session.bits, key.seed);
  std::string last;
  const Membership membership{agreed,
                              self,
                              *primitives,
                              grpc_connect(options.address.empty() ? session.coordinator : options.address,
                                           tls_of(options.tls, key.tls, session.certificate), largest_message(session)),
                              [&](const std::string& what, double) {
                                if (!options.quiet && what != last) say(what);
                                last = what;
                                return !stop_asked();
                              },
                              std::chrono::seconds(static_cast<std::int64_t>(number_of(options.patience, "--patience")))};
  take_part(membership, folder, work);
  std::cout << sums_text(session, work.results(), format);
}

std::string names_of(const Session& session, const std::vector<std::int64_t>& members) {
  std::string names;
  for (const std::int64_t member : members) names += (names.empty() ? "" : ", ") + session.members[static_cast<std::size_t>(member)].name;
  return names;
}

Json names_json(const Session& session, const std::vector<std::int64_t>& members) {
  Json names = Json::array();
  for (const std::int64_t member : members) names.push_back(session.members[static_cast<std::size_t>(member)].name);
  return names;
}

std::vector<double> numbers_of(const Session& session, const SumItem& item, const RoundResult& result) {
  std::vector<double> numbers;
  for (const std::int64_t number : centred(result.total, session.bits)) numbers.push_back(std::ldexp(static_cast<double>(number), item.grid));
  return numbers;
}

}  // namespace

std::string sums_text(const Session& session, const std::vector<RoundResult>& results, Format format) {
  Json rounds = Json::array();
  std::string table;
  std::string csv = "round,item,coordinate,members,sum,mean\n";
  for (std::size_t step = 0; step < results.size(); ++step) {
    const SumItem& item = session.item_of(static_cast<std::int64_t>(step));
    const RoundResult& result = results[step];
    const auto members = static_cast<double>(result.survivors.size());
    const double noise = own_sigma(item, session.honest) * std::sqrt(members);
    Json sums = Json::array();
    table += "members     " + shortest(members) + " of " + std::to_string(session.size()) + ": " + names_of(session, result.survivors) + "\n";
    table += "noise       of standard deviation " + rounded(noise, 4, Side::upper) + " in each sum, " + rounded(noise / members, 4, Side::upper) +
             " in each mean\n";
    const std::vector<double> numbers = numbers_of(session, item, result);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string mean = rounded(numbers[i] / members, 6, Side::lower);
      sums.push_back(numbers[i]);
      table += "sum         " + shortest(numbers[i]) + "   mean " + mean + "\n";
      csv += std::to_string(step + 1) + "," + csv_field(item.name) + "," + std::to_string(i + 1) + "," + shortest(members) + "," +
             shortest(numbers[i]) + "," + mean + "\n";
    }
    rounds.push_back({{"item", item.name},
                      {"members", names_json(session, result.survivors)},
                      {"dropped", names_json(session, result.dropped)},
                      {"noise", noise},
                      {"sums", sums}});
  }
  if (format == Format::json) return Json({{"schema", "sotto.sums/1"}, {"title", session.title}, {"rounds", rounds}}).dump() + "\n";
  return format == Format::csv ? csv : escaped_document(table);
}

void add_party(Command& app, Typed& typed) {
  const auto options = std::make_shared<Options>();
  Command* command = app.add_subcommand(
      "party",
      "Examples:\n"
      "  sotto-federate party session.json --key a.key --values a.txt\n"
      "\n"
      "Takes part in a session with the numbers of a file, one a line, and prints the sums. May be stopped and started again at any time.");
  command->add_option("SESSION", options->session, "the session's file, approved before")->required();
  command->add_option("--key", options->key, "this member's key")->required();
  command->add_option("--values", options->values, "a file of numbers, one a line; no ledger is charged for it")->required();
  command->add_option("--address", options->address, "where the coordinator is, if not where the session says");
  command->add_option("--patience", options->patience, "seconds without a word from the coordinator before this gives up")->capture_default_str();
  command->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  command->add_flag("--quiet", options->quiet, "say nothing of how it goes");
  add_tls(*command, options->tls);
  command->callback([options, &typed] { run_party(*options, typed); });
}

}  // namespace sotto::cli
