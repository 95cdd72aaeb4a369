// The cryptographic primitives of a member, and its key file.
#include "federated/api/primitives.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "federated/api/identity.hpp"
#include "federated/api/session.hpp"

namespace sotto {
namespace {

TEST(RealPrimitives, AThresholdOfSharesGivesTheSecret) {
  const auto primitives = real_primitives(64, Bytes(32, 'k'));
  const Bytes secret = primitives->make_secret();
  const std::vector<Bytes> shares = primitives->split(secret, 2, 3);
  ASSERT_EQ(shares.size(), 3U);
  const std::vector<SecretShare> enough{{1, shares[0]}, {3, shares[2]}};
  EXPECT_EQ(primitives->combine(enough), secret);
}

TEST(RealPrimitives, SharesWithTheSameIndexAreRefused) {
  const auto primitives = real_primitives(64, Bytes(32, 'k'));
  const std::vector<Bytes> shares = primitives->split(primitives->make_secret(), 2, 3);
  const std::vector<SecretShare> twice{{1, shares[0]}, {1, shares[0]}};
  EXPECT_THROW((void)primitives->combine(twice), ProtocolError);
  const std::vector<SecretShare> forged{{1, shares[0]}, {1, shares[1]}};
  EXPECT_THROW((void)primitives->combine(forged), ProtocolError);
}

TEST(KeyFile, ASeedWithAnOddNumberOfDigitsIsRefused) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("sotto_key_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const Enrollment member = enroll("north", folder);
  (void)read_key(member.key_file);

  std::ifstream file(member.key_file);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t seed = text.find('"', text.find(':', text.find("\"seed\"")));
  text.insert(seed + 65, "0");
  std::ofstream(member.key_file) << text;
  EXPECT_THROW((void)read_key(member.key_file), ProtocolError);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sotto
