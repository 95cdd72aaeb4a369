// Which gradient steps are contractions, and are admitted to a walk.
#include "course/api/walk.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(Walk, ClippingEachRecordOfALinearModelIsAContraction) {
  for (const LossKind kind :
       {LossKind::logistic, LossKind::squared, LossKind::huber, LossKind::squared_hinge}) {
    for (const double clip : {0.01, 0.1, 0.4, 1.0, 10.0}) {
      const LossFunction loss{.kind = kind};
      for (const double part : {0.01, 0.5, 1.0}) {
        const WalkAdmission admission =
            admit_to_walk({.loss = loss, .clip = clip, .step = part * 2 / loss.smoothness()});
        EXPECT_TRUE(admission.admitted)
            << name_of(kind) << " " << clip << " " << part << " " << admission.reason;
        EXPECT_LE(admission.expansion, 1 + 1e-9);
      }
    }
  }
}

TEST(Walk, ClippingTheAverageOfLogisticGradientsExpands) {
  double largest = 0;
  for (const double clip : {0.1, 0.2, 0.3, 0.4}) {
    const WalkStep step{
        .clipping = WalkStep::Clipping::average, .clip = clip, .step = 8};  // 2/β, β = 1/4
    largest = std::max(largest, largest_expansion(step));
    EXPECT_FALSE(is_contraction_admitted(step));
  }
  EXPECT_GT(largest, 1.2);
  EXPECT_LT(largest, 1.4);
}

TEST(Walk, AStepThatIsTooLongExpandsAndIsRefused) {
  const WalkStep step{.clip = 10, .step = 9};
  EXPECT_GT(largest_expansion(step), 1.01);
  EXPECT_FALSE(is_contraction_admitted(step));
}

TEST(Walk, SeveralOutputsAreNotAdmitted) {
  EXPECT_FALSE(is_contraction_admitted({.loss = {.kind = LossKind::softmax}, .step = 0.1}));
}

}  // namespace
}  // namespace sotto
