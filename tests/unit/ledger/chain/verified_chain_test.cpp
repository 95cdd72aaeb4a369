// The walk along a chain, record by record. A writer who has a key can link and sign any record, so
// the hash alone does not protect the numbers.
#include "ledger/chain/verified_chain.hpp"

#include <gtest/gtest.h>

#include "ledger/chain/chain.hpp"

namespace sotto::ledger_detail {
namespace {

Record linked_charge(const std::string& before, std::int64_t number) {
  Record record{.number = number, .kind = "charge", .time = "2026-01-31T12:00:00Z"};
  record.request = "request " + std::to_string(number);
  record.hash = hash_of(before, record);
  return record;
}

TEST(ChainWalk, ALinkedRecordUnderASkippedOrRepeatedNumberIsRefused) {
  Ledger::Store::Founding founding;
  founding.hash = std::string(64, 'a');
  for (const std::int64_t number : {-1, 0, 2, 3, 1'000'000}) {
    ChainWalk walk(founding, ApproximateBudget{1, 1e-6});
    EXPECT_EQ(walk.add(linked_charge(founding.hash, number)), "is missing") << number;
    EXPECT_EQ(walk.end().head.number, 0);
  }
}

}  // namespace
}  // namespace sotto::ledger_detail
