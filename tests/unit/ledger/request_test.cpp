// Requests whose run ends at each possible point: before the charge, before the noise, after it,
// after the answer.
#include "ledger/api/request.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "places.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

class Requests : public AnyLedger {
 protected:
  void SetUp() override {
    AnyLedger::SetUp();
    if (!IsSkipped())
      (void)create_ledger(place(),
                          {"people", "person", Relation::add_remove, ApproximateBudget{10, 0}});
  }
  // Runs the request, and counts the runs and the draws of its work.
  RequestAnswer go(const std::function<std::string(const std::function<void()>& begin)>& run,
                   bool again = false, const std::string& request = "study") {
    Ledger ledger = open_ledger(place());
    return run_request(
        ledger,
        {.request = request, .content = "c", .event = pure(1), .title = "Ages", .again = again},
        {.prepare = [this] { ++prepared; },
         .run = [&](const Entry&, const std::function<void()>& begin) { return run(begin); }});
  }
  std::string good(const std::function<void()>& begin) {
    begin();
    ++drawn;
    return "42";
  }
  std::size_t charges() { return open_ledger(place()).entries().size(); }

  int prepared = 0;
  int drawn = 0;
};
INSTANTIATE_TEST_SUITE_P(In, Requests, ::testing::Values(Kind::file, Kind::database), kind_name);

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}
bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_P(Requests, AStoredAnswerIsReturnedAgain) {
  const auto run = [this](const std::function<void()>& begin) { return good(begin); };
  EXPECT_FALSE(go(run).repeated);
  const RequestAnswer again = go(run);
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.answer, "42");
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(drawn, 1);
  EXPECT_EQ(charges(), 1U);
  const Entry entry = open_ledger(place()).entries().front();
  EXPECT_EQ(entry.title, "Ages");
  EXPECT_FALSE(entry.who.empty());
  EXPECT_TRUE(open_ledger(place()).verify().sound);
}

TEST_P(Requests, AResumedRequestCannotBeginAgain) {
  Ledger ledger = open_ledger(place());
  const Ledger::ChargeRequest order{.request = "study", .content = "c", .event = pure(1)};
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  const auto stopped = [](const Entry&, const std::function<void()>& begin) -> std::string {
    begin();
    begin();  // a second call does nothing
    throw std::runtime_error("stopped");
  };
  EXPECT_THROW(run_request(ledger, order, {.prepare = {}, .run = stopped, .obstacle = none}),
               RequestFailed);
  // The checkpoint was present for obstacle() and is absent for read(): all noise would be drawn
  // again.
  const auto anew = [this](const Entry&, const std::function<void()>& begin) {
    return good(begin);
  };
  EXPECT_THROW(run_request(ledger, order, {.prepare = {}, .run = anew, .obstacle = none}),
               RequestClosed);
  EXPECT_EQ(drawn, 0);
  const auto from_checkpoint = [](const Entry&, const std::function<void()>&) -> std::string {
    return "43";
  };
  EXPECT_EQ(
      run_request(ledger, order, {.prepare = {}, .run = from_checkpoint, .obstacle = none}).answer,
      "43");
  EXPECT_EQ(charges(), 1U);
}

TEST_P(Requests, AFailureBeforeTheChargeCostsNothing) {
  Ledger ledger = open_ledger(place());
  const auto fail = [] { throw std::runtime_error("no such column"); };
  EXPECT_THROW(run_request(ledger, {.request = "study", .content = "c", .event = pure(1)},
                           {.prepare = fail, .run = {}}),
               std::runtime_error);
  EXPECT_EQ(charges(), 0U);
}

TEST_P(Requests, AFailureBeforeNoiseLeavesARequestToRunAgain) {
  for (const bool again : {false, true}) {
    if (again) (void)go([this](const auto& begin) { return good(begin); }, false, "other");
    const std::string name = again ? "other" : "study";
    std::string request;
    try {
      (void)go([](const auto&) -> std::string { throw std::runtime_error("out of memory"); }, again,
               name);
      FAIL();
    } catch (const RequestFailed& failed) {
      request = failed.request();
      EXPECT_EQ(failed.state(), RequestState::charged);
      EXPECT_TRUE(mentions(failed.what(), "out of memory") &&
                  mentions(failed.what(), "request " + request + " can be run again"))
          << failed.what();
      EXPECT_EQ(failed.remedy(), Remedy::repeat_request);
    }
    EXPECT_EQ(request, again ? "other/2" : "study");
    const std::size_t before = charges();
    EXPECT_EQ(go([this](const auto& begin) { return good(begin); }, false, request).answer, "42");
    EXPECT_EQ(charges(), before);
  }
}

TEST_P(Requests, AFailureAfterTheFirstNoiseClosesTheRequest) {
  const std::string words = error_of([&] {
    (void)go([](const auto& begin) -> std::string {
      begin();
      throw std::runtime_error("the disk is full");
    });
  });
  EXPECT_TRUE(mentions(words, "the disk is full") && mentions(words, "closed") &&
              mentions(words, "charged anew"))
      << words;
  EXPECT_THROW((void)go([this](const auto& begin) { return good(begin); }), RequestClosed);
  EXPECT_EQ(drawn, 0);
  EXPECT_EQ(charges(), 1U);
  EXPECT_EQ(open_ledger(place()).state("study"), RequestState::begun);
  EXPECT_EQ(go([this](const auto& begin) { return good(begin); }, true).request, "study/2");
  EXPECT_EQ(charges(), 2U);
  EXPECT_TRUE(open_ledger(place()).verify().sound);
}

TEST_P(Requests, AnAnswerThatCannotBeStoredIsNotReturned) {
  const std::string words = error_of([&] {
    (void)go([](const auto& begin) {
      begin();
      return std::string("not text: \xff");
    });
  });
  EXPECT_TRUE(mentions(words, "closed")) << words;
  EXPECT_EQ(open_ledger(place()).state("study"), RequestState::begun);
}

// The work did not call `begin`. Its answer is stored, and another run draws nothing.
TEST_P(Requests, WorkThatDrawsNoNoiseIsMarkedAsBegun) {
  EXPECT_EQ(go([](const auto&) { return std::string("7"); }).answer, "7");
  EXPECT_EQ(go([](const auto&) { return std::string("8"); }).answer, "7");
}

TEST_P(Requests, OfTwoRunsOfOneRequestOneDraws) {
  const std::string words = error_of([&] {
    (void)go([&](const auto& begin) {
      EXPECT_EQ(go([this](const auto& other) { return good(other); }).answer,
                "42");  // the other is faster
      begin();
      ++drawn;
      return std::string("43");
    });
  });
  EXPECT_EQ(words, "");
  EXPECT_EQ(drawn, 1);
  EXPECT_EQ(charges(), 1U);
  EXPECT_EQ(open_ledger(place()).answer("study"), "42");
}

TEST_P(Requests, AnotherContentIsRefused) {
  (void)go([this](const auto& begin) { return good(begin); });
  Ledger ledger = open_ledger(place());
  EXPECT_THROW(run_request(ledger, {.request = "study", .content = "other", .event = pure(1)}, {}),
               LedgerError);
}

TEST_P(Requests, BeginNeedsAChargeAndHappensOnce) {
  Ledger ledger = open_ledger(place());
  EXPECT_THROW(ledger.begin("study"), LedgerError);
  ledger.charge("study", "", pure(1));
  EXPECT_THROW(ledger.keep_answer("study", "42"), LedgerError);
  ledger.begin("study");
  EXPECT_THROW(ledger.begin("study"), RequestClosed);
  EXPECT_EQ(ledger.state("study"), RequestState::begun);
  EXPECT_EQ(ledger.state("other"), RequestState::unknown);
}

TEST_P(Requests, ParallelNewRunsAreChargedEach) {
  constexpr int runs = 6;
  std::vector<pid_t> children;
  for (int i = 0; i < runs; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        _exit(go([this](const auto& begin) { return good(begin); }, true).repeated ? 1 : 0);
      } catch (const std::exception&) {
        _exit(2);
      }
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  std::set<std::string> names;
  for (const Entry& entry : open_ledger(place()).entries()) names.insert(entry.request);
  EXPECT_EQ(names.size(), static_cast<std::size_t>(runs));
  EXPECT_TRUE(open_ledger(place()).verify().sound);
}

// A kill between the mark "begun" and the answer closes the request.
TEST_P(Requests, AKilledRunThatHadBegunIsClosed) {
  for (const bool has_begun : {false, true}) {
    const std::string name = has_begun ? "begun" : "charged";
    const pid_t child = fork();
    if (child == 0) {
      (void)go(
          [&](const auto& begin) -> std::string {
            if (has_begun) begin();
            kill(getpid(), SIGKILL);
            return "";
          },
          false, name);
    }
    waitpid(child, nullptr, 0);
    const std::string words =
        error_of([&] { (void)go([this](const auto& begin) { return good(begin); }, false, name); });
    EXPECT_EQ(words.empty(), !has_begun) << words;
    EXPECT_EQ(mentions(words, "charged") && mentions(words, "charged anew"), has_begun) << words;
  }
  EXPECT_EQ(drawn, 1);
}

}  // namespace
}  // namespace sotto
