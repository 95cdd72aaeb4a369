// sotto party: takes part in a session, with the study that the session names or with a file of
// numbers. The member's ledger is charged before anything leaves the process.
#include <cmath>
#include <iostream>
#include <memory>
#include <sstream>

#include "cli/commands/run.hpp"
#include "commands.hpp"
#include "federated/api/frames.hpp"
#include "report/api/sums.hpp"
#include "sotto/core/decimal.hpp"
#include "study/api/federated.hpp"
#include "transport.hpp"

namespace sotto::cli {
namespace {

struct Arguments {
  std::string key, values, ledger, address, patience = "600";
  TlsFiles tls;
  RunArguments run;
};

// Reads one number per line. An error names the line and never its content, which is private.
std::vector<double> read_values(const std::string& file) {
  std::istringstream in(read_text(file));
  std::vector<double> values;
  for (std::string line; std::getline(in, line);) {
    try {
      values.push_back(read_number(line));
    } catch (const InvalidValue&) {
      throw InvalidValue(file + ", line " + std::to_string(values.size() + 1) +
                         ", is not a number");
    }
  }
  return values;
}

// A member of a session, with its keys and its connection to the coordinator.
class Member {
 public:
  explicit Member(const Arguments& arguments)
      : session(parse_session(session_text_in(arguments.run.file))),
        participant_(make_participant(session, arguments)),
        connect_(grpc_connect(arguments.address.empty() ? session.coordinator : arguments.address,
                              tls_of(arguments.tls, participant_.key.tls, session.certificate),
                              largest_message(session))),
        patience_(static_cast<std::int64_t>(number_of(arguments.patience, "--patience"))) {
    (void)stop_requested();
  }

  Participant& participant() { return participant_; }

  [[nodiscard]] PartySide side(std::function<std::unique_ptr<Engine>()> open, RunOptions options,
                               Watcher watcher) {
    return {participant_.context,     participant_.self,
            *participant_.primitives, connect_,
            std::move(open),          std::move(options),
            std::move(watcher),       std::chrono::seconds(patience_)};
  }

  const Session session;

 private:
  static Participant make_participant(const Session& session, const Arguments& arguments) {
    try {
      return {session, arguments.key};
    } catch (const NotApproved& error) {
      throw ProtocolError(std::string(error.what()) + ": type sotto federate approve " +
                          arguments.run.file + " --key " + arguments.key);
    }
  }

  Participant participant_;
  Connector connect_;
  std::int64_t patience_;
};

// Says on stderr when a new step begins.
class StepReports {
 public:
  explicit StepReports(bool quiet) : quiet_(quiet) {}
  void update(const std::string& step) {
    if (!quiet_ && step != last_) say(step);
    last_ = step;
  }

 private:
  bool quiet_;
  std::string last_;
};

std::filesystem::path folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

void run_values(const Arguments& arguments, Member& member) {
  if (arguments.values.empty() || arguments.ledger.empty()) {
    throw InvalidValue(
        "this session sums numbers from a file: type --values FILE, and --ledger FILE for the "
        "ledger that pays for them");
  }
  const Format format = format_of(arguments.run);
  Ledger ledger = Ledger::open(arguments.ledger, {.witness = arguments.run.witness});
  StepReports reports(arguments.run.quiet);
  const Watcher watcher = [&](const std::string& step, double) {
    reports.update(step);
    return !stop_requested();
  };
  const SumsRun result = paid_by(member.participant(), ledger, [&] {
    return run_sums(read_values(arguments.values), ledger,
                    member.side({}, {.checkpoints = folder_of(arguments.ledger)}, watcher));
  });
  if (result.repeated && !arguments.run.quiet)
    say("this session was summed before: here are the same sums, free of charge");
  std::cout << sums_text(member.session, result.sums, format);
}

void run_study_of(const Arguments& arguments, Member& member) {
  if (!arguments.values.empty() || !arguments.ledger.empty()) {
    throw InvalidValue(
        "this session runs a study, whose data and ledger are in the catalogue: leave out --values "
        "and --ledger");
  }
  RunTask task;
  task.text = [&] { return member.session.study; };
  task.design = [&](const Study& study, const Terms& terms) {
    return design_in(member.session, study, terms).design;
  };
  task.run = [&](const Study& study, Ledger& ledger,
                 const std::function<std::unique_ptr<Engine>()>& open, const RunOptions& options,
                 const Watcher& watcher) {
    StepReports reports(arguments.run.quiet);
    const Watcher reporting = [&](const std::string& step, double share) {
      reports.update(step);
      return watcher(step, share);
    };
    return paid_by(member.participant(), ledger, [&] {
      return run_federated(study, ledger, member.side(open, options, reporting));
    });
  };
  task.should_continue = [] { return !stop_requested(); };
  run_study(arguments.run, task);
}

}  // namespace

void add_party(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command = app.add_subcommand(
      "party", "Take part in a session, and print the sums",
      "Examples:\n"
      "  sotto party session.json --key a.member.key\n"
      "  sotto party session.json --key a.member.key --report report.html --models models\n"
      "  sotto party session.json --key a.member.key --values a.txt --ledger a.sotto\n"
      "\n"
      "Takes part in a session: charges this member's ledger, adds its noise, and prints what all "
      "members have\n"
      "together. May be stopped and started again at any time, and continues under its one "
      "charge.");
  command
      ->add_option("SESSION", arguments->run.file,
                   "the session's file, which this member has approved")
      ->required();
  command->add_option("--key", arguments->key, "this member's key")->required();
  command->add_option("--values", arguments->values,
                      "for a session without a study: a file of numbers, one per line; for a mean, "
                      "the value of each unit");
  command->add_option("--ledger", arguments->ledger,
                      "with --values: the ledger that pays for the numbers");
  command->add_option("--address", arguments->address,
                      "where the coordinator is, HOST:PORT (default: the session's address)");
  command
      ->add_option("--patience", arguments->patience,
                   "how many seconds to wait without a message from the coordinator")
      ->capture_default_str();
  add_run_options(*command, arguments->run);
  add_tls(*command, arguments->tls);
  command->callback([arguments] {
    Member member(*arguments);
    member.session.study.empty() ? run_values(*arguments, member)
                                 : run_study_of(*arguments, member);
  });
}

}  // namespace sotto::cli
