// Binds a party of a federated session: the library runs the protocol, and Python transports its
// frames.
#include "study/api/federated.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "federated/api/frames.hpp"
#include "federated/api/identity.hpp"
#include "federated/api/proposal.hpp"
#include "report/api/study.hpp"
#include "report/api/sums.hpp"
#include "sotto/plan/text.hpp"
#include "study.hpp"

namespace sotto::python {
namespace {

using Clock = std::chrono::steady_clock;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr auto patience_to_connect = std::chrono::seconds(25);

// A Carrier owns a Python connection object. It is used, closed and released by code that does not
// hold the interpreter's lock.
class Carrier {
 public:
  Carrier(Callbacks& callbacks, nb::object object)
      : callbacks_(callbacks), object_(std::move(object)) {}
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  ~Carrier() {
    callbacks_.call_at_end([&] {
      const nb::object last = std::move(object_);
      last.attr("close")();
    });
  }
  [[nodiscard]] nb::handle get() const { return object_; }

 private:
  Callbacks& callbacks_;
  nb::object object_;
};

LinkEnd end_of(const nb::object& status) {
  const auto end = nb::cast<std::pair<int, std::string>>(status);
  return {end.first, end.second};
}

// A link over a Python object with write(frame), read(seconds) and close(). Once the connection has
// ended, write and read return (status, words).
class CarriedLink final : public Link {
 public:
  CarriedLink(Callbacks& callbacks, const nb::object& connect, std::string target,
              std::uint64_t limit)
      : callbacks_(callbacks),
        target_(std::move(target)),
        assembly_(limit),
        carrier_(callbacks, callbacks.call([&] { return connect(); })) {
    inbox_ = message(patience_to_connect);  // the coordinator speaks first
    if (!inbox_) throw LinkLost("the coordinator at " + target_ + " does not answer");
  }

  void send(const Bytes& message) override {
    std::optional<LinkEnd> end;
    (void)for_each_frame(message, [&](std::uint64_t offset, std::string_view part) {
      const Bytes frame = to_bytes(message.size(), offset, part);
      end = callbacks_.call([&]() -> std::optional<LinkEnd> {
        const nb::object status =
            carrier_.get().attr("write")(nb::bytes(frame.data(), frame.size()));
        return status.is_none() ? std::nullopt : std::optional(end_of(status));
      });
      return !end;
    });
    if (end) throw_link_error(target_, *end);
  }

  std::optional<Bytes> receive(std::chrono::milliseconds patience) override {
    if (inbox_) return std::exchange(inbox_, std::nullopt);
    return message(patience);
  }

 private:
  std::optional<Bytes> message(std::chrono::milliseconds patience) {
    const auto until = Clock::now() + patience;
    while (true) {
      const double left =
          std::max(0.0, std::chrono::duration<double>(until - Clock::now()).count());
      std::optional<LinkEnd> end;
      const auto frame = callbacks_.call([&]() -> std::optional<Bytes> {
        const nb::object reply = carrier_.get().attr("read")(left);
        if (reply.is_none()) return std::nullopt;
        if (nb::isinstance<nb::bytes>(reply)) {
          const auto bytes = nb::borrow<nb::bytes>(reply);
          return Bytes(bytes.c_str(), bytes.size());
        }
        end = end_of(reply);
        return std::nullopt;
      });
      if (end) throw_link_error(target_, *end);
      if (!frame) return std::nullopt;
      if (auto whole = append_frame(*frame)) return whole;
    }
  }

  std::optional<Bytes> append_frame(const Bytes& bytes) {
    try {
      const Frame frame = parse_frame(bytes);
      return assembly_.take(frame.total, frame.offset, frame.bytes);
    } catch (const ProtocolError& error) {
      throw ProtocolError(std::string("the coordinator breaks the protocol: ") + error.what());
    }
  }

  Callbacks& callbacks_;
  const std::string target_;
  Assembly assembly_;
  Carrier carrier_;
  std::optional<Bytes> inbox_;
};

// Returns the TLS settings for Python's connection. The library decides which certificates are
// trusted.
nb::dict to_dict(const std::string& target, const Tls& tls) {
  nb::dict result;
  const auto bytes = [](const std::string& text) { return nb::bytes(text.data(), text.size()); };
  result["target"] = target;
  result["trusted"] = bytes(tls.trusted);
  result["key"] = bytes(tls.own.key);
  result["certificate"] = bytes(tls.own.certificate);
  result["by_authority"] = tls.by_authority;
  result["largest_frame"] = largest_frame;
  return result;
}

struct TlsFiles {
  std::filesystem::path authority, certificate, key;
};

Tls tls_of(const TlsFiles& files, const TlsIdentity& own, const std::string& listed) {
  const bool has_files =
      !files.authority.empty() || !files.certificate.empty() || !files.key.empty();
  if (!listed.empty()) {
    if (has_files)
      throw InvalidValue(
          "the session lists the certificates of its members: leave out authority=, certificate= "
          "and private_key=");
    return {own, listed, false};
  }
  if (files.authority.empty() || files.certificate.empty() || files.key.empty()) {
    throw InvalidValue(
        "the session lists no certificates: name the files of your authority with authority=, "
        "certificate= and private_key=");
  }
  Tls tls{{read_text(files.key), read_text(files.certificate)}, read_text(files.authority), true};
  if (tls.trusted.empty())
    throw InvalidValue("authority= is an empty file: it must have certificates in PEM");
  return tls;
}

// A member of a session. Its key is read only while it takes part.
class Party {
 public:
  Party(const Session& session, std::filesystem::path key, std::string address, double patience,
        TlsFiles files)
      : session_(session),
        key_(std::move(key)),
        target_(address.empty() ? session.coordinator : std::move(address)),
        patience_(std::chrono::seconds(static_cast<std::int64_t>(patience))),
        files_(std::move(files)) {
    if (!(patience >= 0 && patience <= 1e9))
      throw InvalidValue("patience= must be a number of seconds from 0 to 1e9");
    const auto who = participant();
    (void)tls(*who);
    name_ = session.members[static_cast<std::size_t>(who->self)].name;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Session& session() const { return session_; }

  SumsRun sum(const Values& values, Ledger& ledger, const std::filesystem::path& checkpoints,
              const ProgressCallback& on_progress, const nb::object& connect) const {
    const std::vector<double> numbers(values.data(), values.data() + values.size());
    const auto who = participant();
    Callbacks callbacks;
    const Connector link = connector(*who, callbacks, connect);
    return callbacks.run([&] {
      return paid_by(*who, ledger, [&] {
        return run_sums(
            numbers, ledger,
            side(*who, link, {}, {.checkpoints = checkpoints}, watcher(callbacks, on_progress)));
      });
    });
  }

  Ran run(Opened& opened, const Reading& reading, const std::filesystem::path& checkpoints,
          const ProgressCallback& on_progress, const nb::object& rows,
          const nb::object& connect) const {
    const auto who = participant();
    Callbacks callbacks;
    const Connector link = connector(*who, callbacks, connect);
    return run_opened(
        opened, callbacks, reading, {.checkpoints = checkpoints}, on_progress, rows,
        [&](Opened& o, const auto& open, const RunOptions& options, const Watcher& watch) {
          return paid_by(*who, o.ledger, [&] {
            return run_federated(o.study, o.ledger, side(*who, link, open, options, watch));
          });
        });
  }

 private:
  [[nodiscard]] std::unique_ptr<Participant> participant() const {
    try {
      return std::make_unique<Participant>(session_, key_);
    } catch (const NotApproved& error) {
      throw NotApproved(std::string(error.what()) +
                        ": call sotto.federated.approve(session, key) first");
    }
  }

  [[nodiscard]] Tls tls(const Participant& who) const {
    Tls result = tls_of(files_, who.key.tls, session_.certificate);
    require_valid_certificate(result.own.certificate, "this member's own");
    if (!result.by_authority) require_valid_certificate(result.trusted, "the coordinator's");
    return result;
  }

  // Returns a connector that calls `connect(target=…, trusted=…, …)` for the object that carries a
  // connection.
  [[nodiscard]] Connector connector(const Participant& who, Callbacks& callbacks,
                                    const nb::object& connect) const {
    const nb::dict words = to_dict(target_, tls(who));
    const auto factory = std::make_shared<nb::object>(
        nb::module_::import_("functools").attr("partial")(connect, **words));
    return [&callbacks, target = target_, limit = largest_message(session_),
            factory]() -> std::unique_ptr<Link> {
      return std::make_unique<CarriedLink>(callbacks, *factory, target, limit);
    };
  }

  [[nodiscard]] PartySide side(const Participant& who, const Connector& link,
                               std::function<std::unique_ptr<Engine>()> open, RunOptions options,
                               Watcher on_progress) const {
    return {who.context,     who.self,           *who.primitives,        link,
            std::move(open), std::move(options), std::move(on_progress), patience_};
  }

  Session session_;
  std::filesystem::path key_;
  std::string target_;
  std::chrono::seconds patience_;
  TlsFiles files_;
  std::string name_;
};

Opened open_study(const Session& session, const std::filesystem::path& catalogue) {
  if (session.study.empty())
    throw ProtocolError(
        "the session sums numbers at hand, and runs no study: call sum(values, ledger)");
  return Opened::of(catalogue, session.study, [&](const Study& study, const Ledger& ledger) {
    return design_in(session, study, ledger.terms()).design;
  });
}

nb::dict to_dict(const SumItem& item) {
  nb::dict result;
  result["name"] = item.name;
  result["size"] = item.size;
  result["most"] = item.most;
  result["sensitivity"] = item.sensitivity;
  result["noise"] = item.sigma;
  result["rounds"] = item.rounds;
  if (item.bounds) result["bounds"] = nb::make_tuple(item.bounds->lower, item.bounds->upper);
  return result;
}

Session agreed_terms(const std::vector<std::string>& members, const std::string& coordinator,
                     const std::string& address, const std::string& title, std::int64_t colluding,
                     std::optional<std::int64_t> threshold, int bits, std::int64_t spare,
                     std::int64_t deadline, bool by_authority) {
  Session session;
  session.title = title;
  for (const std::string& card : members) session.members.push_back(parse_card(card));
  session.certificate = parse_card(coordinator).certificate;
  session.coordinator = address;
  session.colluding = colluding;
  if (threshold && *threshold < 1)
    throw InvalidValue("threshold= must be at least 1, a number of members");
  session.threshold = threshold.value_or(0);
  session.bits = bits;
  session.spare = spare;
  session.deadline = deadline;
  if (by_authority) {
    session.certificate.clear();
    for (Member& member : session.members) member.certificate.clear();
  }
  return begin_session(std::move(session));
}

Session with_noise(const Session& base, const SumItem& item, std::optional<double> sigma,
                   std::optional<double> epsilon, std::optional<double> delta) {
  if (sigma.has_value() == epsilon.has_value())
    throw InvalidValue("pass either sigma=, or epsilon= and delta=");
  if (sigma) return session_of_sums(base, item, *sigma);
  if (!delta) throw InvalidValue("epsilon= needs delta=");
  return unlocked([&] { return session_of_sums(base, item, Epsilon(*epsilon), Delta(*delta)); });
}

void def_factories(nb::class_<Session>& session) {
  session.def_static("parse", parse_session, nb::arg("text"))
      .def_static("begin", agreed_terms, nb::arg("members"), nb::arg("coordinator"),
                  nb::arg("address"), nb::arg("title"), nb::arg("colluding"),
                  nb::arg("threshold").none(), nb::arg("bits"), nb::arg("spare"),
                  nb::arg("deadline"), nb::arg("by_authority"))
      .def(
          "of_sums",
          [](Session base, std::int64_t size, double most, double sensitivity, std::int64_t rounds,
             const std::string& relation, std::optional<double> sigma,
             std::optional<double> epsilon, std::optional<double> delta) {
            base.relation = relation;
            return with_noise(base,
                              {.name = "values",
                               .size = size,
                               .sensitivity = sensitivity,
                               .most = most,
                               .rounds = rounds},
                              sigma, epsilon, delta);
          },
          nb::arg("size"), nb::arg("most"), nb::arg("sensitivity"), nb::arg("rounds"),
          nb::arg("relation"), nb::arg("sigma").none(), nb::arg("epsilon").none(),
          nb::arg("delta").none())
      .def(
          "of_mean",
          [](Session base, std::pair<double, double> bounds, double most, std::int64_t rounds,
             const std::string& relation, std::optional<double> sigma,
             std::optional<double> epsilon, std::optional<double> delta) {
            base.relation = relation;
            SumItem item = item_of_mean(base, {bounds.first, bounds.second}, most);
            item.rounds = rounds;
            return with_noise(base, item, sigma, epsilon, delta);
          },
          nb::arg("bounds"), nb::arg("most"), nb::arg("rounds"), nb::arg("relation"),
          nb::arg("sigma").none(), nb::arg("epsilon").none(), nb::arg("delta").none())
      .def(
          "of_study",
          [](const Session& base, const std::string& text, const std::filesystem::path& folder) {
            return unlocked([&] {
              const Catalogue catalogue(folder);
              const DataFile data = catalogue.find(data_of(text));
              const Study study = parse_study(
                  text, data, [&](const std::string& name) { return catalogue.find(name); });
              return session_for(
                  study,
                  Ledger::open(data.ledger, {.key = data.key.string(), .witness = data.witness})
                      .terms()
                      .relation,
                  base);
            });
          },
          nb::arg("text"), nb::arg("catalogue"));
}

void def_content(nb::class_<Session>& session) {
  session.def_ro("title", &Session::title)
      .def_prop_ro("members",
                   [](const Session& s) {
                     std::vector<std::pair<std::string, std::string>> result;
                     for (const Member& member : s.members)
                       result.emplace_back(member.name, fingerprint_words(member.key));
                     return result;
                   })
      .def_ro("colluding", &Session::colluding)
      .def_ro("threshold", &Session::threshold)
      .def_ro("honest", &Session::honest)
      .def_ro("spare", &Session::spare)
      .def_prop_ro("rounds", &Session::rounds)
      .def_prop_ro("plan", [](const Session& s) { return parse(s.plan); })
      .def_ro("relation", &Session::relation)
      .def_ro("study", &Session::study)
      .def_ro("coordinator", &Session::coordinator)
      .def_prop_ro("sums",
                   [](const Session& s) {
                     nb::list result;
                     for (const SumItem& item : s.items) result.append(to_dict(item));
                     return result;
                   })
      .def("text", [](const Session& s) { return to_text(s); })
      .def(
          "describe",
          [](const Session& s, const std::optional<std::filesystem::path>& key, double delta) {
            const auto self =
                key ? std::optional(member_with(s, signing_public_key(read_key(*key).seed)))
                    : std::nullopt;
            return unlocked([&] { return session_text(s, self, Delta(delta)); });
          },
          nb::arg("key").none(), nb::arg("delta"))
      .def(
          "approve",
          [](const Session& s, const std::filesystem::path& key) {
            (void)member_with(s, signing_public_key(read_key(key).seed));
            MemberFolder(key, context_of(s)).approve();
          },
          nb::arg("key"));
}

void bind_session(nb::module_& m) {
  nb::class_<Session> session(
      m, "FederatedSession",
      "The members and sums of a federated session, which all members sign.");
  def_factories(session);
  def_content(session);
}

void bind_enrolment(nb::module_& m) {
  m.def(
      "enroll",
      [](const std::string& name, const std::filesystem::path& folder) {
        const Enrollment enrolled = enroll(name, folder);
        return nb::make_tuple(enrolled.key_file, enrolled.card_file,
                              fingerprint_words(enrolled.card.key));
      },
      nb::arg("name"), nb::arg("folder"),
      nb::sig("def enroll(name: str, folder: str | os.PathLike) -> tuple[pathlib.Path, "
              "pathlib.Path, str]"));
}

void bind_sessions(nb::module_& m) {
  bind_session(m);
  bind_enrolment(m);
}

}  // namespace

void bind_federated(nb::module_& m) {
  bind_sessions(m);
  nb::class_<PartySum>(m, "Sum", "One revealed sum of a session.")
      .def_ro("name", &PartySum::name)
      .def_ro("members", &PartySum::members)
      .def_ro("missing", &PartySum::missing)
      .def_ro("numbers", &PartySum::numbers)
      .def_ro("noise", &PartySum::noise);
  nb::class_<SumsRun>(m, "SumsRun")
      .def_ro("sums", &SumsRun::sums)
      .def_ro("repeated", &SumsRun::repeated)
      .def(
          "text",
          [](const SumsRun& r, const Session& session, const std::string& format) {
            return sums_text(session, r.sums, format_of(format));
          },
          nb::arg("session"), nb::arg("format"))
      .def(
          "mean",
          [](const SumsRun& r, const Session& session, std::size_t round) {
            const auto result = mean_of(session, r.sums.at(round));
            if (!result) throw InvalidValue("the session sums numbers, and has no mean");
            return nb::make_tuple(result->mean, result->low, result->high, result->count,
                                  result->count_low, result->count_high);
          },
          nb::arg("session"), nb::arg("round"),
          nb::sig("def mean(self, session: FederatedSession, round: int) -> tuple[float, float, "
                  "float, float, float, float]"));
  nb::class_<Party>(m, "FederatedParty")
      .def(
          "__init__",
          [](Party* self, const Session& session, const std::filesystem::path& key,
             const std::string& address, double patience, const std::filesystem::path& authority,
             const std::filesystem::path& certificate, const std::filesystem::path& private_key) {
            new (self)
                Party(session, key, address, patience, {authority, certificate, private_key});
          },
          nb::arg("session"), nb::arg("key"), nb::arg("address"), nb::arg("patience"),
          nb::arg("authority"), nb::arg("certificate"), nb::arg("private_key"))
      .def_prop_ro("name", &Party::name)
      .def("sum", &Party::sum, nb::arg("values"), nb::arg("ledger"), nb::arg("checkpoints"),
           nb::arg("progress").none(), nb::arg("connect"))
      .def(
          "cost",
          [](const Party& p, const std::filesystem::path& catalogue, const std::string& format) {
            const Format as = format_of(format);
            return unlocked([&] {
              const Opened o = open_study(p.session(), catalogue);
              return design_text(o.study, o.design, o.ledger.terms(),
                                 preview_charge(o.study, o.design, o.ledger, false), as);
            });
          },
          nb::arg("catalogue"), nb::arg("format"))
      .def(
          "run",
          [](const Party& p, const std::filesystem::path& catalogue,
             const std::function<std::filesystem::path(const std::string&)>& checkpoints,
             int threads, std::int64_t memory, const std::filesystem::path& duckdb, bool any_duckdb,
             const std::filesystem::path& spark, const ProgressCallback& progress,
             const nb::object& table, const nb::object& connect) {
            Opened opened = unlocked([&] { return open_study(p.session(), catalogue); });
            const std::filesystem::path folder = checkpoints(opened.data.ledger);
            return p.run(opened, {threads, memory, duckdb, any_duckdb, spark}, folder, progress,
                         table, connect);
          },
          nb::arg("catalogue"), nb::arg("checkpoints"), nb::arg("threads"), nb::arg("memory"),
          nb::arg("duckdb"), nb::arg("any_duckdb"), nb::arg("spark"), nb::arg("progress").none(),
          nb::arg("table").none(), nb::arg("connect"));
}

}  // namespace sotto::python
