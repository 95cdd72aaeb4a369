// A training that was stopped, and what a thief of its folder, another writer of it, and a crash
// can make of that: nothing but a closed request.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "../../../support/one_text.hpp"
#include "ledger/api/checkpoint.hpp"
#include "study/api/run.hpp"
#include "study/training/checkpoint.hpp"
#include "study/training/train_run.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

// Two studies of the same data, each with one model.
std::string study_called(const std::string& title) {
  return "title = \"" + title +
         "\"\n[data]\nname = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\npublic_rows = 2000\n"
         "[columns.a]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n[columns.c]\ntype = "
         "\"boolean\"\nnull = \"drop\"\n"
         "[budget]\nepsilon = 1\ndelta = 1e-6\n[[train]]\nname = \"m\"\nmodel = "
         "\"logistic\"\ntarget = \"c\"\ntest = 0.25\n";
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Resume : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    std::string name = (fs::temp_directory_path() / "sotto-resume-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "l.sotto").string();
    std::ofstream data(folder / "p.csv");
    std::mt19937_64 words(1);
    data << "a,c\n";
    for (int i = 0; i < 2000; ++i) {
      const double a = static_cast<double>(words() % 1000) / 100;
      data << a << "," << (a > 5 ? "true" : "false") << "\n";
    }
    data.close();
    (void)Ledger::create(place, {"people", "row", Relation::add_remove, ZcdpBudget{3, 1e-5}, "row",
                                 (folder / "p.csv").string()});
  }
  void TearDown() override {
    if (!folder.empty()) fs::remove_all(folder);
  }

  // Runs until a step; -1: to the end. What it said, if it failed.
  std::string go(const std::string& title, int until = -1, const LedgerOptions& options = {}) {
    const Study study = study_in(study_called(title), folder);
    Ledger ledger = Ledger::open(place, options);
    Limits limits;
    limits.duckdb = libduckdb;
    const auto open = [&] { return open_engine(study.source, stored_columns(study), limits); };
    steps.clear();
    const auto told = [&](const std::string& what, double) {
      const auto at = what.find("step ");
      if (at != std::string::npos) steps.push_back(std::stoi(what.substr(at + 5)));
      return steps.empty() || steps.back() != until;
    };
    try {
      found = run(study, make_design(study, ledger.terms()), ledger, open,
                  {.checkpoints = folder, .threads = 1}, told);
      return "";
    } catch (const LedgerError& error) {
      return error.what();
    }
  }
  [[nodiscard]] std::string request(const std::string& title) const {
    return request_id(study_in(study_called(title), folder), Ledger::open(place));
  }
  // The one file of a request that was stopped.
  [[nodiscard]] fs::path checkpoint_of(const std::string& title) const {
    fs::path file;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const bool is_its =
          entry.path().filename().string().rfind(digest(request(title)).substr(0, 32), 0) == 0;
      if (is_its && entry.path().extension() == ".checkpoint") file = entry.path();
    }
    return file;
  }
  static void put(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  fs::path folder;
  std::string place;
  std::vector<int> steps;  // those that the last run took
  std::optional<sotto::RunResult> found;
};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Resume, AnOldCheckpointThatIsPutBackClosesTheRequestAndNoStepIsTaken) {
  EXPECT_NE(go("A", 10), "");
  const fs::path first = checkpoint_of("A");
  const std::string old = bytes_of(first);
  EXPECT_NE(go("A", 30), "");
  EXPECT_EQ(steps.front(), 11);
  const fs::path last = checkpoint_of("A");
  const std::string right = bytes_of(last);
  ASSERT_NE(first, last);
  for (const bool under_its_new_name : {false, true}) {
    fs::remove(last);
    put(under_its_new_name ? last : first, old);
    const std::string words = go("A");
    EXPECT_TRUE(
        mentions(words, under_its_new_name ? "is not the one that the ledger marks" : "is absent"))
        << words;
    EXPECT_TRUE(mentions(words, "It stays charged and is not run again")) << words;
    EXPECT_TRUE(steps.empty());
  }
  put(last, right);
  EXPECT_EQ(go("A"), "");
  EXPECT_EQ(steps.front(), 31);
  EXPECT_EQ(Ledger::open(place).entries().size(), 1U);
  EXPECT_TRUE(Ledger::open(place).verify().sound);
}

TEST_F(Resume, CheckpointsOfTwoStudiesCannotBeSwapped) {
  EXPECT_NE(go("A", 10), "");
  EXPECT_NE(go("B", 10), "");
  const std::string a = bytes_of(checkpoint_of("A"));
  put(checkpoint_of("A"), bytes_of(checkpoint_of("B")));
  put(checkpoint_of("B"), a);
  for (const char* title : {"A", "B"}) {
    EXPECT_TRUE(mentions(go(title), "is not the one that the ledger marks"));
    EXPECT_TRUE(steps.empty());
  }
  EXPECT_EQ(Ledger::open(place).entries().size(), 2U);
}

// The parameters that a thief would have: an unsealed checkpoint, as an earlier version wrote it,
// or one of the thief's own making.
TEST_F(Resume, AForgedCheckpointClosesTheRequest) {
  EXPECT_NE(go("A", 10), "");
  const std::string sealed = bytes_of(checkpoint_of("A"));
  EXPECT_FALSE(mentions(sealed, "parameters"));
  put(checkpoint_of("A"), "{\"schema\":\"sotto.checkpoint/1\",\"iterate\":{\"step\":0}}");
  EXPECT_TRUE(mentions(go("A"), "is not the one that the ledger marks"));
  put(checkpoint_of("A"), sealed + " ");
  EXPECT_TRUE(mentions(go("A"), "is not the one that the ledger marks"));
  fs::remove(checkpoint_of("A"));
  EXPECT_TRUE(mentions(go("A"), "is absent"));
  EXPECT_TRUE(steps.empty());
}

// Who puts back the whole folder, the ledger too, is found by the witness, as for every other
// record.
TEST_F(Resume, ALedgerThatIsPutBackWithItsCheckpointIsFoundByTheWitness) {
  const LedgerOptions options{.witness = (folder / "witness").string()};
  EXPECT_NE(go("A", 10, options), "");
  const fs::path file = checkpoint_of("A");
  const std::string old = bytes_of(file);
  const std::string ledger = bytes_of(place);
  EXPECT_NE(go("A", 30, options), "");
  fs::remove(checkpoint_of("A"));
  put(file, old);
  put(place, ledger);
  const std::string words = go("A", -1, options);
  EXPECT_TRUE(mentions(words, "the witness")) << words;
  EXPECT_TRUE(steps.empty());
}

TEST_F(Resume, AnotherProcessThatWentOnStopsThisOne) {
  EXPECT_NE(go("A", 10), "");
  const fs::path elsewhere = folder / "elsewhere";
  fs::create_directory(elsewhere);
  fs::copy(checkpoint_of("A"), elsewhere);
  Ledger ledger = Ledger::open(place);
  CheckpointFile other(ledger, elsewhere, request("A"));
  const std::string text = other.read().value();
  EXPECT_NE(go("A", 20), "");
  EXPECT_THROW(
      other.write(text),
      LedgerError);  // with other noise in it, it would be a second answer to the same steps
  EXPECT_EQ(go("A"), "");
  EXPECT_THROW(ledger.keep_answer(request("A"), "another end"), LedgerError);
}

TEST_F(Resume, ThePrivateTestAfterAStopIsOfTheSamePeople) {
  const auto secret = [&] {
    Ledger ledger = Ledger::open(place);
    return study_detail::checkpoint_in(CheckpointFile(ledger, folder, request("A")).read().value())
        .secret.words();
  };
  EXPECT_NE(go("A", 10), "");
  const auto first = secret();
  EXPECT_NE(go("A", 20), "");
  EXPECT_EQ(secret(), first);
  EXPECT_NE(first, Secret::Words{});
  EXPECT_EQ(go("A"), "");
  ASSERT_TRUE(found->release.models.at(0).accuracy.has_value());
  EXPECT_GT(*found->release.models.at(0).accuracy, 0.7);
  EXPECT_NE(go("B", 10), "");
}

TEST(Splits, OneSecretGivesOneSplitWithTheRequestedShare) {
  Examples::Builder builder(1);
  for (int i = 0; i < 10000; ++i) builder.add(0)[0] = static_cast<std::int16_t>(i);
  const Examples all = std::move(builder).build();
  const auto in_test = [&](const Secret& secret) {
    const study_detail::TrainTestSplit split =
        study_detail::train_test_split(0.25, all, Stream(secret), 0);
    EXPECT_EQ(split.train.rows() + split.test.rows(), 10000U);
    std::vector<std::int16_t> codes;
    for (std::size_t i = 0; i < split.test.rows(); ++i) codes.push_back(split.test.row(i)[0]);
    return codes;
  };
  const Secret one;
  EXPECT_EQ(in_test(one), in_test(one));
  EXPECT_NE(in_test(one), in_test(Secret()));
  EXPECT_NEAR(static_cast<double>(in_test(one).size()), 2500, 6 * 43.4);  // six deviations
}

}  // namespace
}  // namespace sotto
