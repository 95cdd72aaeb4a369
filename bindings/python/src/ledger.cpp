// Binds ledgers, the durable record of a privacy budget.
#include "sotto/ledger/ledger.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "accounting/api/currencies.hpp"
#include "bindings.hpp"
#include "report/api/ledger.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::python {
namespace {

using Argument = std::optional<double>;

// Returns a ledger's budget as text, from keyword arguments of which exactly one group must be set.
std::string budget_text(Argument epsilon, Argument delta, Argument rho, Argument mu, Argument order,
                        Argument slack, bool sum, const std::optional<Plan>& plan) {
  if ((epsilon ? 1 : 0) + (rho ? 1 : 0) + (mu ? 1 : 0) + (plan ? 1 : 0) != 1) {
    throw InvalidValue(
        "a ledger has one budget: epsilon= and delta=, rho=, order= and epsilon=, mu=, or plan=");
  }
  if (order && !epsilon) throw InvalidValue("order= goes with epsilon=");
  if (sum && !epsilon) throw InvalidValue("sum=True goes with epsilon=");
  if (delta && plan) throw InvalidValue("delta= goes with rho=, epsilon= or mu=");
  if (slack && (!epsilon || order || sum || delta.value_or(0) == 0))
    throw InvalidValue("slack= goes with epsilon= and delta=");
  const double d = Delta(delta.value_or(0)).value();
  const Budget budget = plan    ? Budget(CommittedBudget{*plan})
                        : rho   ? Budget(ZcdpBudget{*rho, d})
                        : mu    ? Budget(GdpBudget{*mu, d})
                        : order ? Budget(RenyiBudget{*order, *epsilon, d})
                        : sum || d == 0 || *epsilon == 0
                            ? Budget(ApproximateBudget{*epsilon, d})
                            : Budget(gaussian_budget(*epsilon, d, slack));
  (void)Filter(budget);  // throws unless its numbers are in range
  return print(budget);
}

Relation relation_argument(const std::string& name) {
  const auto relation = relation_of(name);
  if (*relation == Relation::as_stated)
    throw InvalidValue("relation= must be \"add-remove\", \"replace-one\" or \"zero-out\"");
  return *relation;
}

std::string text_of(const Head& head) { return std::to_string(head.number) + ":" + head.hash; }

Head head_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || text.size() != colon + 65 ||
      text.find_first_not_of("0123456789") != colon) {
    throw InvalidValue(
        "head= must be a number, a colon and 64 hexadecimal digits, as Ledger.head returns it");
  }
  return {std::stoll(text.substr(0, colon)), text.substr(colon + 1)};
}

nb::tuple pair_of(const Charge& charge) { return nb::make_tuple(charge.amount, charge.delta); }

template <class Work>
auto without_gil(Work&& work) {  // waits for a disk or other writers
  const nb::gil_scoped_release free;
  return work();
}

}  // namespace

namespace {

void bind_budget(nb::module_& m) {
  m.def("budget", budget_text, nb::arg("epsilon").none() = nb::none(),
        nb::arg("delta").none() = nb::none(), nb::arg("rho").none() = nb::none(),
        nb::arg("mu").none() = nb::none(), nb::arg("order").none() = nb::none(),
        nb::arg("slack").none() = nb::none(), nb::arg("sum") = false,
        nb::arg("plan").none() = nb::none());
}

void bind_entry(nb::module_& m) {
  nb::class_<Entry>(m, "Entry", "One charge, as it was written.")
      .def_ro("number", &Entry::number)
      .def_ro("time", &Entry::time)
      .def_ro("request", &Entry::request)
      .def_ro("plan", &Entry::plan)
      .def_prop_ro("amount", [](const Entry& e) { return e.cost.amount; })
      .def_prop_ro("delta", [](const Entry& e) { return e.cost.delta; })
      .def_ro("who", &Entry::who)
      .def_ro("title", &Entry::title)
      .def_ro("hash", &Entry::hash)
      .def("__repr__", [](const Entry& e) {
        return "<charge " + std::to_string(e.number) + ": " + e.plan + ", request " + e.request +
               ">";
      });
}

void def_open(nb::class_<Ledger>& ledger) {
  ledger
      .def_static(
          "create",
          [](const std::string& place, const std::string& name, const std::string& unit,
             const std::string& relation, const std::string& text, const std::string& unit_type,
             const std::string& source, const std::string& key, const std::string& witness) {
            const Terms terms{.name = name,
                              .unit = unit,
                              .relation = relation_argument(relation),
                              .budget = parse_budget(text),
                              .unit_type = unit_type,
                              .source = source};
            return without_gil(
                [&] { return Ledger::create(place, terms, {.key = key, .witness = witness}); });
          },
          nb::arg("place"), nb::arg("name"), nb::arg("unit"), nb::arg("relation"),
          nb::arg("budget"), nb::arg("unit_type"), nb::arg("source"), nb::arg("key"),
          nb::arg("witness"))
      .def_static(
          "open",
          [](const std::string& place, const std::string& key, const std::string& witness) {
            return without_gil(
                [&] { return Ledger::open(place, {.key = key, .witness = witness}); });
          },
          nb::arg("place"), nb::arg("key"), nb::arg("witness"))
      .def_static(
          "imported",
          [](const std::string& place, const std::string& exported, const std::string& key,
             const std::string& unit_type, const std::string& source) {
            return without_gil([&] {
              return Ledger::import(place, exported,
                                    {.key = key, .unit_type = unit_type, .source = source});
            });
          },
          nb::arg("place"), nb::arg("exported"), nb::arg("key"), nb::arg("unit_type"),
          nb::arg("source"));
}

void def_terms_and_charge(nb::class_<Ledger>& ledger) {
  ledger.def_prop_ro("id", &Ledger::id)
      .def_prop_ro("created", &Ledger::created)
      .def_prop_ro("name", [](const Ledger& l) { return l.terms().name; })
      .def_prop_ro("unit", [](const Ledger& l) { return l.terms().unit; })
      .def_prop_ro("relation",
                   [](const Ledger& l) { return std::string(name(l.terms().relation)); })
      .def_prop_ro("budget", [](const Ledger& l) { return print(l.terms().budget); })
      .def_prop_ro("adds_up_epsilon",
                   [](const Ledger& l) {
                     return std::holds_alternative<ApproximateBudget>(l.terms().budget);
                   })
      .def(
          "charge",
          [](Ledger& l, const std::string& request, const Plan& event, std::optional<double> at,
             const std::string& title) {
            const auto delta = at ? std::optional(Delta(*at)) : std::nullopt;
            const Ledger::ChargeRequest order{.request = request,
                                              .content = digest(print(event)),
                                              .event = event,
                                              .at = delta,
                                              .title = title};
            const Receipt receipt =
                without_gil([&] { return l.charge(std::vector{order}).front(); });
            return nb::make_tuple(receipt.entry, receipt.repeated);
          },
          nb::arg("request"), nb::arg("event"), nb::arg("at").none(), nb::arg("title"),
          nb::sig("def charge(self, request: str, event: Plan, at: float | None, title: str) -> "
                  "tuple[Entry, bool]"));
}

void def_budget(nb::class_<Ledger>& ledger) {
  ledger.def("entries", [](const Ledger& l) { return without_gil([&] { return l.entries(); }); })
      .def(
          "spent",
          [](const Ledger& l) { return pair_of(without_gil([&] { return l.filter().spent(); })); },
          nb::sig("def spent(self) -> tuple[float, float]"))
      .def(
          "left",
          [](const Ledger& l) { return pair_of(without_gil([&] { return l.filter().left(); })); },
          nb::sig("def left(self) -> tuple[float, float]"))
      .def(
          "what_is_left",
          [](const Ledger& l) {
            const Filter filter = without_gil([&] { return l.filter(); });
            return unlocked([&] {
              return std::tuple(filter.left().amount, percent_left(filter),
                                remaining_budget_line(filter));
            });
          },
          nb::sig("def what_is_left(self) -> tuple[float, float, str]"))
      .def("rest", [](const Ledger& l) { return l.filter().rest(); })
      .def(
          "claim",
          [](const Ledger& l, std::optional<double> delta) {
            const Delta at = delta ? Delta(*delta) : promised_delta(l.terms().budget);
            const Claim claim = unlocked([&] { return l.filter().claim(at); });
            return nb::make_tuple(claim.epsilon, claim.delta);
          },
          nb::arg("delta").none() = nb::none(),
          nb::sig("def claim(self, delta: float | None = None) -> tuple[float, float]"));
}

void def_previews(nb::class_<Ledger>& ledger) {
  ledger
      .def(
          "would_admit",
          [](const Ledger& l, const Plan& event, std::optional<double> at) {
            const Filter filter = l.filter();
            Filter copy = filter;
            const Decision decision =
                copy.admit(event, at ? std::optional(Delta(*at)) : std::nullopt);
            return decision ? "" : refusal_text(filter, decision);
          },
          nb::arg("event"), nb::arg("at").none(), "Why it would be refused; empty if it would not.")
      .def(
          "would_admit_of",
          [](const Ledger& l, const std::vector<std::pair<Plan, std::optional<double>>>& events) {
            return unlocked([&] {
              Filter copy = l.filter();
              std::size_t admitted = 0;
              std::string reason;
              for (const auto& [event, at] : events) {
                const Filter before = copy;
                const Decision decision =
                    copy.admit(event, at ? std::optional(Delta(*at)) : std::nullopt);
                if (!decision) {
                  reason = refusal_text(before, decision);
                  break;
                }
                ++admitted;
              }
              return std::pair(admitted, reason);
            });
          },
          nb::arg("events"),
          "How many of these it would admit, one after the other, and why not the next.");
}

void def_checks_and_text(nb::class_<Ledger>& ledger) {
  ledger
      .def(
          "verify",
          [](const Ledger& l, const std::optional<std::string>& head) {
            const auto expected = head ? std::optional(head_of(*head)) : std::nullopt;
            const Finding finding = without_gil([&] { return l.verify(expected); });
            if (!finding.sound) throw LedgerError("the ledger is not sound: " + finding.words);
            return finding.words;
          },
          nb::arg("head").none())
      .def("head", [](const Ledger& l) { return text_of(l.head()); })
      .def(
          "start_witness",
          [](Ledger& l) {
            without_gil([&] {
              l.start_witness();
              return 0;
            });
          },
          "Gives the ledger's head to a witness that is new: without it, a witness that keeps "
          "nothing of a ledger with entries is refused.")
      .def("exported", [](const Ledger& l) { return without_gil([&] { return l.export_text(); }); })
      .def(
          "text",
          [](const Ledger& l, const std::string& format) {
            const Format as = format_of(format);
            return unlocked([&] { return ledger_text(state_of(l), as); });
          },
          nb::arg("format") = "table")
      .def("chart",
           [](const Ledger& l) { return unlocked([&] { return ledger_chart(state_of(l)); }); });
}

void bind_ledger_file(nb::module_& m) {
  nb::class_<Ledger> ledger(m, "LedgerFile");
  def_open(ledger);
  def_terms_and_charge(ledger);
  def_budget(ledger);
  def_previews(ledger);
  def_checks_and_text(ledger);
}

void bind_public_key(nb::module_& m) {
  m.def(
      "public_key", [](const std::string& path) { return SigningKey::read(path).public_key(); },
      nb::arg("key"));
}

}  // namespace

void bind_ledger(nb::module_& m) {
  bind_budget(m);
  bind_entry(m);
  bind_ledger_file(m);
  bind_public_key(m);
}

}  // namespace sotto::python
