// One request from its charge to its kept answer: the one way in which anything is computed on the data and released.
#pragma once

#include <functional>
#include <string>

#include "sotto/ledger/ledger.hpp"

namespace sotto {

/// The work of a request failed after it was charged. what() says why and what can be done; the cause is nested in it (std::rethrow_if_nested).
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

/// Marks a request as begun: the first call does, later ones do nothing. With the seal of a checkpoint the request can go on from that.
class Begin {
 public:
  explicit Begin(std::function<void(const std::string& seal)> mark) : mark_(std::move(mark)) {}
  void operator()(const std::string& seal = {}) const { mark_(seal); }

 private:
  std::function<void(const std::string& seal)> mark_;
};

struct RequestWork {
  /// Before the charge, if there will be work: what fails here costs nothing. May be empty.
  std::function<void()> prepare;
  /// Computes the answer. It calls `begin` before it draws the first noise.
  std::function<std::string(const Entry& charge, const Begin& begin)> run;
  /// Why a request that was begun cannot go on from where it was stopped; nothing if it can. May be empty: none can.
  std::function<std::optional<std::string>(const std::string& request)> obstacle = {};
};

struct RequestAnswer {
  std::string request;
  std::string answer;
  bool repeated;  ///< it had been kept: nothing was charged and nothing was run
  Head head;      ///< of the ledger, after it
};

/// Charges the order, runs its work and keeps the answer, in this order and each durably. A request that was answered gets its kept answer. One
/// that was charged and not begun is run under its charge. One that was begun and has no answer goes on if there is no obstacle, and else is
/// closed: RequestClosed. RequestFailed if the work fails after the charge; BudgetRefused, OutsideConditions and LedgerError as for Ledger::charge.
RequestAnswer run_request(Ledger& ledger, const Ledger::Order& order, const RequestWork& work);

}  // namespace sotto
