// Runs one request from its charge to its stored answer. Every release computed from the data goes
// through run_request(), so that no noise is drawn before its charge is on disk, and none is drawn
// twice for one charge.
#pragma once

#include <functional>
#include <string>

#include "sotto/ledger/ledger.hpp"

namespace sotto {

/// The work of a request failed after the charge. what() states the cause and what can be done; the
/// original exception is nested (std::rethrow_if_nested).
class RequestFailed : public ChargeStays {
 public:
  RequestFailed(const std::string& what, std::string request, RequestState state, Remedy remedy)
      : ChargeStays(what, remedy), request_(std::move(request)), state_(state) {}
  [[nodiscard]] const std::string& request() const { return request_; }
  [[nodiscard]] RequestState state() const { return state_; }

 private:
  std::string request_;
  RequestState state_;
};

/// A callable that marks a request as begun, durably. The first call marks it; later calls do
/// nothing. A seal marks the checkpoint from which the request can be resumed.
class BeginMark {
 public:
  explicit BeginMark(std::function<void(const std::string& seal)> mark) : mark_(std::move(mark)) {}
  void operator()(const std::string& seal = {}) const { mark_(seal); }

 private:
  std::function<void(const std::string& seal)> mark_;
};

/// The computation of one request.
struct RequestWork {
  /// Runs before the charge, unless the answer is stored already. A failure here costs nothing. May
  /// be empty.
  std::function<void()> prepare;
  /// Computes the answer. It must call `begin` before it draws the first noise.
  std::function<std::string(const Entry& charge, const BeginMark& begin)> run;
  /// Returns why a begun request cannot be resumed, or nothing if it can. May be empty: then no
  /// begun request can be resumed.
  std::function<std::optional<std::string>(const std::string& request)> obstacle = {};
};

struct RequestAnswer {
  std::string request;
  std::string answer;
  bool repeated;  ///< the answer was stored before: nothing was charged and nothing was run
  Head head;      ///< head of the ledger afterwards
};

/// Charges the request, marks it as begun, runs its work, and stores the answer. Each step is on
/// disk before the next one starts.
///
/// The state in which an earlier run was stopped decides what happens: an answered request returns
/// its stored answer; a charged one is run under its charge; a begun one is resumed if there is no
/// obstacle, and otherwise RequestClosed is thrown, because its noise may be known to somebody.
///
/// Throws RequestFailed if the work fails after the charge, and BudgetRefused, OutsideConditions
/// and LedgerError as Ledger::charge does.
RequestAnswer run_request(Ledger& ledger, const Ledger::ChargeRequest& charge_request,
                          const RequestWork& work);

}  // namespace sotto
