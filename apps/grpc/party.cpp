// party: a member of a session, with the study that the session names or with numbers of its own. Its ledger is charged before anything leaves it.
#include <cmath>
#include <iostream>
#include <sstream>

#include "cli/commands/run.hpp"
#include "commands.hpp"
#include "sotto/core/decimal.hpp"
#include "federated/api/frames.hpp"
#include "report/api/sums.hpp"
#include "study/api/federated.hpp"
#include "transport.hpp"

namespace sotto::cli {
namespace {

struct Options {
  std::string key, values, ledger, address, patience = "600";
  TlsFiles tls;
  RunOptions run;
};

// One number a line. An error names the line, never what is on it.
std::vector<double> read_values(const std::string& file) {
  std::istringstream in(read_text(file));
  std::vector<double> values;
  for (std::string line; std::getline(in, line);) {
    try {
      values.push_back(read_number(line));
    } catch (const InvalidValue&) {
      throw InvalidValue(file + ", line " + std::to_string(values.size() + 1) + ", is no number");
    }
  }
  return values;
}

// Who this is in the session, with all that it needs to take part.
class Member {
 public:
  explicit Member(const Options& options)
      : session(parse_session(session_text_in(options.run.file))),
        who_(participant(session, options)),
        connect_(grpc_connect(options.address.empty() ? session.coordinator : options.address, tls_of(options.tls, who_.key.tls, session.certificate),
                              largest_message(session))),
        patience_(static_cast<std::int64_t>(number_of(options.patience, "--patience"))) {
    (void)stop_asked();
  }

  Participant& who() { return who_; }

  [[nodiscard]] PartySide side(std::function<std::unique_ptr<Engine>()> open, Asking asking, Watcher told) {
    return {who_.agreed, who_.self, *who_.primitives, connect_, std::move(open), std::move(asking), std::move(told), std::chrono::seconds(patience_)};
  }

  const Session session;

 private:
  static Participant participant(const Session& session, const Options& options) {
    try {
      return {session, options.key};
    } catch (const NotApproved& error) {
      throw ProtocolError(std::string(error.what()) + ": type sotto federate approve " + options.run.file + " --key " + options.key);
    }
  }

  Participant who_;
  Connect connect_;
  std::int64_t patience_;
};

std::filesystem::path folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

void run_values(const Options& options, const Typed& typed, Member& member) {
  if (options.values.empty() || options.ledger.empty()) {
    throw InvalidValue("this session sums numbers at hand: name them with --values FILE, and with --ledger FILE the ledger that pays for them");
  }
  const Format format = format_of(typed);
  Ledger ledger = Ledger::open(options.ledger, {.witness = options.run.witness});
  std::string last;
  const Watcher told = [&](const std::string& what, double) {
    if (!typed.quiet && what != last) say(what);
    last = what;
    return !stop_asked();
  };
  const SumsRun found = paid_by(member.who(), ledger, [&] {
    return run_sums(read_values(options.values), ledger, member.side({}, {.checkpoints = folder_of(options.ledger)}, told));
  });
  if (found.repeated && !typed.quiet) say("this session was summed before: the same sums, and no charge");
  std::cout << sums_text(member.session, found.sums, format);
}

void run_study_of(const Options& options, const Typed& typed, Member& member) {
  if (!options.values.empty() || !options.ledger.empty()) {
    throw InvalidValue("this session runs a study: its data and ledger are in the catalogue; leave out --values and --ledger");
  }
  RunTask task;
  task.text = [&] { return member.session.study; };
  task.design = [&](const Study& study, const Terms& terms) { return design_in(member.session, study, terms).design; };
  task.run = [&](const Study& study, Ledger& ledger, const std::function<std::unique_ptr<Engine>()>& open, const Asking& asking,
                 const Watcher& told) {
    std::string last;
    const Watcher words = [&](const std::string& what, double share) {
      if (!typed.quiet && what != last) say(what);
      last = what;
      return told(what, share);
    };
    return paid_by(member.who(), ledger, [&] { return run_federated(study, ledger, member.side(open, asking, words)); });
  };
  task.go_on = [] { return !stop_asked(); };
  run_telling_detail(typed, options.run, task);
}

}  // namespace

void add_party(Command& app, Typed& typed) {
  const auto options = std::make_shared<Options>();
  Command* command = app.add_subcommand("party",
                                        "Examples:\n"
                                        "  sotto party session.json --key a.member.key\n"
                                        "  sotto party session.json --key a.member.key --report report.html --models models\n"
                                        "  sotto party session.json --key a.member.key --values a.txt --ledger a.sotto\n"
                                        "\n"
                                        "Takes part in a session: charges this member's ledger, adds its noise, and shows what all members have "
                                        "together. It may be stopped and started\n"
                                        "again at any time, and goes on under its one charge.");
  command->add_option("SESSION", options->run.file, "the session's file, approved before")->required();
  command->add_option("--key", options->key, "this member's key")->required();
  command->add_option("--values", options->values, "for a session without a study: a file of numbers, one a line; for a mean the value of each unit");
  command->add_option("--ledger", options->ledger, "which pays for the numbers");
  command->add_option("--address", options->address, "where the coordinator is, if not where the session says");
  command->add_option("--patience", options->patience, "seconds without a word from the coordinator before this gives up")->capture_default_str();
  add_run_options(*command, typed, options->run);
  add_tls(*command, options->tls);
  command->callback([options, &typed] {
    Member member(*options);
    member.session.study.empty() ? run_values(*options, typed, member) : run_study_of(*options, typed, member);
  });
}

}  // namespace sotto::cli
