#include "ledger/api/request.hpp"

#include <exception>

namespace sotto {
namespace {

std::string closed(const std::string& request, const std::string& why) {
  return "request " + request + " was begun and has no answer: its run ended after noise may have been drawn, or is still at it" +
         (why.empty() ? "" : " (" + why + ")") + ". It is charged, and is not run again; it can be asked anew, under a charge of its own";
}

std::string failed(const std::string& why, const std::string& request, RequestState state, bool resumes) {
  if (state == RequestState::begun && resumes) return why + "; the same request goes on from the last checkpoint, under the same charge";
  if (state == RequestState::charged) {
    return why + "; no noise was drawn, so the request " + request + " can be run again under its charge";
  }
  if (state == RequestState::answered) return why + "; the answer of the request " + request + " is kept";
  return why + "; noise may have been drawn, so the request " + request +
         " is closed and stays charged; it can be asked anew, under a charge of its own";
}

Remedy after_failure(RequestState state, bool resumes) {
  if (state == RequestState::begun && resumes) return Remedy::none;
  return state == RequestState::charged || state == RequestState::answered ? Remedy::repeat_request : Remedy::new_request;
}

Remedy remedy_of(const std::exception& error) {
  const auto* known = dynamic_cast<const Remediable*>(&error);
  return known == nullptr ? Remedy::none : known->remedy();
}

// The state behind a failure; begun where the ledger cannot say.
RequestState state_after(const Ledger& ledger, const std::string& request) {
  try {
    return ledger.state(request);
  } catch (const std::exception&) {
    return RequestState::begun;
  }
}

std::optional<RequestAnswer> kept(const Ledger& ledger, const std::string& request) {
  if (auto answer = ledger.answer(request)) return RequestAnswer{request, std::move(*answer), true, ledger.head()};
  return std::nullopt;
}

}  // namespace

RequestAnswer run_request(Ledger& ledger, const Ledger::Order& order, const RequestWork& work) {
  const auto obstacle = [&work](const std::string& request) { return work.obstacle ? work.obstacle(request) : std::optional<std::string>(""); };
  if (!order.again) {
    const auto charge = ledger.charge_of(order.request);
    if (charge && charge->content != order.content) throw LedgerError("the request " + order.request + " was something else: it has another content");
    if (auto answer = kept(ledger, order.request)) return *answer;
    if (ledger.state(order.request) == RequestState::begun) {
      if (const auto why = obstacle(order.request)) throw RequestClosed(closed(order.request, *why), Remedy::new_request);
    }
  }
  if (work.prepare) work.prepare();
  const Entry charge = ledger.charge(std::vector<Ledger::Order>{order}).front().entry;
  const std::string& request = charge.request;
  std::string answer;
  try {
    bool has_begun = ledger.state(request) == RequestState::begun && !obstacle(request);
    bool begins = false;
    // a request that goes on does not begin: if it does, its checkpoint is gone, and noise would be drawn a second time
    answer = work.run(charge, Begin([&](const std::string& seal) {
                        if (!begins) ledger.begin(request, seal);
                        begins = has_begun = true;
                      }));
    if (!has_begun) ledger.begin(request);
    ledger.keep_answer(request, answer);
  } catch (const RequestClosed&) {
    // two runs of one request under its one charge: the first to begin it answers it
    if (auto other = kept(ledger, request)) return *other;
    throw RequestClosed(closed(request, ""), Remedy::new_request);
  } catch (const std::exception& e) {
    const RequestState state = state_after(ledger, request);
    const bool goes_on = !obstacle(request);
    std::throw_with_nested(RequestFailed(failed(e.what(), request, state, goes_on), request, state, remedy_of(e) | after_failure(state, goes_on)));
  }
  return {request, std::move(answer), false, ledger.head()};
}

}  // namespace sotto
