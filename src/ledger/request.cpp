// Runs a request: charge, mark as begun, work, answer. See run_request() for what a crash leaves.
#include "ledger/api/request.hpp"

#include <exception>

namespace sotto {
namespace {

std::string closed_message(const std::string& request, const std::string& why) {
  return "request " + request +
         " was begun and has no answer: its run was stopped after noise may have been drawn, or is "
         "still running" +
         (why.empty() ? "" : " (" + why + ")") +
         ". It stays charged and is not run again; make a new request, which is charged anew";
}

std::string failure_message(const std::string& why, const std::string& request, RequestState state,
                            bool resumes) {
  if (state == RequestState::begun && resumes)
    return why + "; the same request resumes from the last checkpoint under the same charge";
  if (state == RequestState::charged) {
    return why + "; no noise was drawn, so request " + request +
           " can be run again under its charge";
  }
  if (state == RequestState::answered)
    return why + "; the answer of request " + request + " is stored";
  return why + "; noise may have been drawn, so request " + request +
         " is closed and stays charged; make a new request, which is charged anew";
}

Remedy after_failure(RequestState state, bool resumes) {
  if (state == RequestState::begun && resumes) return Remedy::none;
  return state == RequestState::charged || state == RequestState::answered ? Remedy::repeat_request
                                                                           : Remedy::new_request;
}

Remedy remedy_of(const std::exception& error) {
  const auto* remediable = dynamic_cast<const Remediable*>(&error);
  return remediable == nullptr ? Remedy::none : remediable->remedy();
}

// Returns the state after a failure. If the ledger cannot be read, noise may have been drawn, so
// the safe assumption is `begun`.
RequestState state_after(const Ledger& ledger, const std::string& request) {
  try {
    return ledger.state(request);
  } catch (const std::exception&) {
    return RequestState::begun;
  }
}

std::optional<RequestAnswer> stored_answer(const Ledger& ledger, const std::string& request) {
  if (auto answer = ledger.answer(request))
    return RequestAnswer{request, std::move(*answer), true, ledger.head()};
  return std::nullopt;
}

// Returns the answer of an earlier run, or nothing if the request has to run. Throws RequestClosed
// if an earlier run was stopped after it may have drawn noise and cannot be resumed.
std::optional<RequestAnswer> earlier_answer(
    const Ledger& ledger, const Ledger::ChargeRequest& charge_request,
    const std::function<std::optional<std::string>(const std::string&)>& obstacle) {
  const auto charge = ledger.charge_of(charge_request.request);
  if (charge && charge->content != charge_request.content) {
    throw LedgerError("request " + charge_request.request +
                      " already exists with different content: use another request id");
  }
  if (auto answer = stored_answer(ledger, charge_request.request)) return answer;
  if (ledger.state(charge_request.request) == RequestState::begun) {
    if (const auto why = obstacle(charge_request.request)) {
      throw RequestClosed(closed_message(charge_request.request, *why), Remedy::new_request);
    }
  }
  return std::nullopt;
}

}  // namespace

RequestAnswer run_request(Ledger& ledger, const Ledger::ChargeRequest& charge_request,
                          const RequestWork& work) {
  const auto obstacle = [&work](const std::string& request) {
    return work.obstacle ? work.obstacle(request) : std::optional<std::string>("");
  };
  if (!charge_request.again) {
    if (auto answer = earlier_answer(ledger, charge_request, obstacle)) return *answer;
  }

  // Before the charge: a failure here costs nothing.
  if (work.prepare) work.prepare();

  // The charge is on disk when charge() returns. A crash from here to the mark "begun" leaves a
  // charged request, which the next call runs under this charge.
  const Entry charge =
      ledger.charge(std::vector<Ledger::ChargeRequest>{charge_request}).front().entry;
  const std::string& request = charge.request;
  std::string answer;
  try {
    bool has_begun = ledger.state(request) == RequestState::begun && !obstacle(request);
    bool has_marked = false;
    // The work calls this before its first noise. A crash from here to the answer leaves a begun
    // request: it resumes from its last checkpoint or is closed. A work that resumes does not call
    // it. If it does, its checkpoint is gone, and ledger.begin() throws RequestClosed before noise
    // is drawn again.
    answer = work.run(charge, BeginMark([&](const std::string& seal) {
                        if (!has_marked) ledger.begin(request, seal);
                        has_marked = has_begun = true;
                      }));
    if (!has_begun) ledger.begin(request);
    // A crash before this leaves the noisy answer unpublished; a crash after it leaves the stored
    // answer, which the next call returns.
    ledger.keep_answer(request, answer);
  } catch (const RequestClosed&) {
    // Two processes ran one request under its one charge. The first to begin it answers it.
    if (auto other = stored_answer(ledger, request)) return *other;
    throw RequestClosed(closed_message(request, ""), Remedy::new_request);
  } catch (const std::exception& e) {
    const RequestState state = state_after(ledger, request);
    const bool resumes = !obstacle(request);
    std::throw_with_nested(RequestFailed(failure_message(e.what(), request, state, resumes),
                                         request, state,
                                         remedy_of(e) | after_failure(state, resumes)));
  }
  return {request, std::move(answer), false, ledger.head()};
}

}  // namespace sotto
