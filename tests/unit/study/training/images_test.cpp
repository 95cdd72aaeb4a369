// Images in a study: read as the curator declares them, learned by linear models and by networks,
// counted by their labels, predicted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "data/api/inspect.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/key.hpp"
#include "study/api/model_file.hpp"
#include "study/api/run.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";
const fs::path mnist = fs::path(SOTTO_SOURCE_DIR) / "../shared/data/mnist";

// The bytes of an IDX file of this kind.
void write_idx(const fs::path& path, unsigned kind, const std::vector<std::uint32_t>& sides,
               const std::vector<unsigned char>& bytes) {
  std::string text{0, 0, 8, static_cast<char>(kind)};
  for (const std::uint32_t side : sides) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) text += static_cast<char>(side >> shift & 255U);
  }
  std::ofstream(path, std::ios::binary) << text << std::string(bytes.begin(), bytes.end());
}

class ImageStudies : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto-images-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "l.sotto").string();
    write_digits("train", 900, 1);
    write_digits("test", 200, 2);
    declare("[0, 1, 2]", 8);
  }
  void TearDown() override { fs::remove_all(folder); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder / file) << text;
  }
  // A bright quarter of 8 x 8 pixels says which of three labels it is; every tenth image is of a
  // fourth.
  void write_digits(const std::string& file, int count, unsigned seed) const {
    std::mt19937_64 words(seed);
    std::vector<unsigned char> pixels;
    std::vector<unsigned char> labels;
    for (int i = 0; i < count; ++i) {
      const auto label = static_cast<unsigned char>(i % 10 == 9 ? 3 : i % 3);
      labels.push_back(label);
      for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 8; ++x) {
          const bool lit = (y < 4) == (label % 2 == 0) && (x < 4) == (label < 2);
          pixels.push_back(static_cast<unsigned char>((lit ? 180 : 20) + words() % 60));
        }
      }
    }
    write_idx(folder / (file + ".images"), 3, {static_cast<std::uint32_t>(count), 8, 8}, pixels);
    write_idx(folder / (file + ".labels"), 1, {static_cast<std::uint32_t>(count)}, labels);
  }
  void declare(const std::string& values, int side) const {
    const std::string size =
        "size = [" + std::to_string(side) + ", " + std::to_string(side) + "]\n";
    const std::string column =
        "[columns.label]\ntype = \"integer\"\nnull = \"drop\"\nvalues = " + values + "\n";
    write("digits.data.toml",
          "name = \"digits\"\nversion = \"1\"\nimages = \"train.images\"\nlabels = "
          "\"train.labels\"\n" +
              size + "unit = \"row\"\npublic_rows = 900\nledger = \"l.sotto\"\n" + column);
    write("more.data.toml",
          "name = \"more\"\nversion = \"1\"\nimages = \"test.images\"\nlabels = \"test.labels\"\n" +
              size + "public = true\n" + column);
    fs::remove(place);
    fs::remove(folder / "l.key");
    (void)Ledger::create(place, {"digits", "row", Relation::add_remove, GdpBudget{5, 1e-6}, "row",
                                 fs::canonical(folder / "train.images").string()});
  }
  [[nodiscard]] Study study_of(const std::string& text) const {
    const Catalogue catalogue(folder);
    return parse_study(text, catalogue.find("digits"),
                       [&](const std::string& name) { return catalogue.find(name); });
  }
  [[nodiscard]] static std::unique_ptr<Engine> opened(const Source& source,
                                                      const std::vector<Column>& stored) {
    Limits limits;
    limits.duckdb = libduckdb;
    return open_engine(source, stored, limits);
  }
  [[nodiscard]] sotto::RunResult go(const std::string& text) const {
    const Study study = study_of(text);
    Ledger ledger = Ledger::open(place);
    return run(study, make_design(study, ledger.terms()), ledger,
               [&] { return opened(study.source, stored_columns(study)); },
               {.checkpoints = folder, .threads = 2, .open_public = opened});
  }
  [[nodiscard]] std::string refusal(const std::string& text) const {
    try {
      (void)make_design(study_of(text), Ledger::open(place).terms());
    } catch (const StudyError& error) {
      return error.what();
    } catch (const OutsideConditions& error) {
      return error.what();
    }
    return "nothing";
  }
  [[nodiscard]] static double share(const PublicEvaluation& evaluation) {
    return static_cast<double>(evaluation.points.back().right) /
           static_cast<double>(evaluation.rows);
  }

  fs::path folder;
  std::string place;
  const std::string head = "data = \"digits\"\n[budget]\nepsilon = 8\ndelta = 1e-5\n";
  const std::string train = "[[train]]\nname = \"m\"\ntarget = \"label\"\nevaluate = \"more\"\n";
};

TEST_F(ImageStudies, LinearModelsAndNetworksLearnThem) {
  const sotto::RunResult linear = go(head + train + "model = \"softmax\"\n");
  const TrainedModel& model = linear.release.models[0];
  EXPECT_EQ(model.image, (ImageSize{8, 8}));
  EXPECT_TRUE(model.features.empty());
  EXPECT_EQ(model.parameters.size(), 3U * 64 + 3);
  EXPECT_EQ(model.evaluation->rows, 180);  // the twenty of the fourth label are left out
  EXPECT_GT(share(*model.evaluation), 0.95);
  EXPECT_EQ(to_json(read_release(to_json(linear.release))), to_json(linear.release));
  const sotto::RunResult network =
      go(head + train + "model = \"network\"\nhidden = [8]\nsteps = 60\n");
  EXPECT_GT(share(*network.release.models[0].evaluation), 0.9);
  const sotto::RunResult net = go(head + train +
                                  "model = \"convolutional\"\nchannels = [4]\nkernel = [3]\nhidden "
                                  "= [8]\nsteps = 60\ngroup_norm = 2\n");
  EXPECT_NE(net.release.models[0].description.find("conv 4 size 3"), std::string::npos)
      << net.release.models[0].description;
  EXPECT_NE(net.release.models[0].description.find("group-norm 2"), std::string::npos)
      << net.release.models[0].description;
  EXPECT_GT(share(*net.release.models[0].evaluation), 0.9);
}

TEST_F(ImageStudies, TheDefaultNetIsTheLibrarysAndLayersCanBeSaidOneByOne) {
  declare("[0, 1, 2]", 28);
  const auto described = [&](const std::string& more) {
    return make_design(
               study_of(head +
                        "[[train]]\nname = \"m\"\ntarget = \"label\"\nmodel = \"convolutional\"\n" +
                        more),
               Ledger::open(place).terms())
        .trainings[0]
        .model;
  };
  EXPECT_NE(
      described("").find(
          "conv 16 size 8 stride 2 padding 3, tanh, max-pool 2 stride 1, conv 32 size 4 stride 2"),
      std::string::npos)
      << described("");
  EXPECT_NE(described("activation = \"relu\"\n").find("relu"), std::string::npos);
  const std::string own = described(
      "layers = [\"conv 4 size 5\", \"relu\", \"average-pool 4\", \"dense 10\", \"tanh\"]\n");
  EXPECT_NE(own.find("average-pool 4"), std::string::npos) << own;
  EXPECT_NE(own.find("dense 3"), std::string::npos) << own;  // the outputs come by themselves
}

TEST_F(ImageStudies, LabelsAreCountedAndPixelsAreNot) {
  if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  const sotto::RunResult found =
      go(head + "[[query]]\nname = \"labels\"\nask = \"count\"\nby = [\"label\"]\n");
  ASSERT_EQ(found.release.answers[0].estimates.size(), 3U);
  for (const Estimate& estimate : found.release.answers[0].estimates)
    EXPECT_NEAR(estimate.value, 270, 20);
  EXPECT_NE(refusal(head + "[[query]]\nname = \"p\"\nask = \"sum\"\nof = \"pixel\"\n")
                .find("there is no column \"pixel\""),
            std::string::npos);
}

TEST_F(ImageStudies, ALabelThatIsNotDeclaredIsLeftOutWithoutAWord) {
  const Study study = study_of(head + train + "model = \"softmax\"\n");
  const Design found = make_design(study, Ledger::open(place).terms());
  const auto engine = opened(study.source, stored_columns(study));
  const Examples examples =
      read_examples(*engine, stored_columns(study), found.trainings[0].query, BoundingKey{});
  EXPECT_EQ(examples.rows(), 810U);
  EXPECT_EQ(examples.width(), 64U);
  const Inspection seen =
      inspect(study.source, {{{"label", Type::integer}, {}, {}, study.columns[0].values}}, "");
  EXPECT_EQ(seen.records, 900);
  EXPECT_EQ(seen.columns[0].unlisted, 90);
}

TEST_F(ImageStudies, WhatDoesNotFitIsRefusedBeforeTheCharge) {
  EXPECT_NE(refusal(head + train + "model = \"softmax\"\nwhere = \"label > 0\"\n")
                .find("fewer labels are named by values"),
            std::string::npos);
  EXPECT_NE(refusal(head + train + "model = \"softmax\"\nfeatures = [\"label\"]\n")
                .find("leave out `features`"),
            std::string::npos);
  EXPECT_NE(refusal(head + train + "model = \"linear\"\n").find("write model = \"softmax\""),
            std::string::npos);
  EXPECT_NE(refusal(head + train + "model = \"softmax\"\nchannels = [4]\n")
                .find("belong to model = \"convolutional\""),
            std::string::npos);
  EXPECT_NE(refusal(head + train + "model = \"convolutional\"\nchannels = [4]\n")
                .find("each convolution has"),
            std::string::npos);
  EXPECT_NE(
      refusal(head + train + "model = \"convolutional\"\nlayers = [\"dense 4\"]\nhidden = [3]\n")
          .find("`layers` replaces"),
      std::string::npos);
  write("test.labels", "nothing");
  EXPECT_THROW((void)go(head + train + "model = \"softmax\"\n"), InvalidValue);  // the public ones
  write_digits("test", 200, 2);
  write_idx(folder / "train.labels", 1, {899}, std::vector<unsigned char>(899));
  try {
    (void)go(head + train + "model = \"softmax\"\n");
    ADD_FAILURE() << "899 labels for 900 images";
  } catch (const EngineError& error) {
    EXPECT_EQ(std::string(error.what()).find("899"), std::string::npos)
        << "how many there are is secret: " << error.what();
  }
  declare("[0, 1, 2]", 9);
  EXPECT_THROW((void)go(head + train + "model = \"softmax\"\n"), InvalidValue);
  EXPECT_TRUE(Ledger::open(place).entries().empty());
}

TEST_F(ImageStudies, AModelOfImagesPredictsImages) {
  const sotto::RunResult found = go(head + train + "model = \"softmax\"\n");
  const ModelFile file = read_model_file(
      model_file(found.release, found.release.models[0], SigningKey::read(default_key(place))));
  const IdxSource source{
      .images = folder / "test.images", .labels = folder / "test.labels", .height = 8, .width = 8};
  const ToPredict with_labels{.target = true, .display = {}};
  const auto engine = opened(source, columns_to_predict(file, with_labels));
  const auto predictions = predict(file, *engine, with_labels);
  ASSERT_EQ(predictions.size(),
            200U);  // a label that the model does not know is one that it gets wrong
  int right = 0;
  for (const Prediction& prediction : predictions) right += *prediction.right ? 1 : 0;
  EXPECT_EQ(right, found.release.models[0].evaluation->points.back().right);
  IdxSource unlabelled = source;
  unlabelled.labels.clear();
  const auto without = opened(unlabelled, columns_to_predict(file, {}));
  EXPECT_EQ(predict(file, *without, {}).at(1).value, predictions.at(1).value);
}

TEST_F(ImageStudies, DigitsOfMnistAreLearnedByAConvolutionalNet) {
  if (!fs::exists(mnist / "t10k-images-idx3-ubyte.gz")) GTEST_SKIP() << "no MNIST in " << mnist;
  const sotto::Images all =
      read_idx(mnist / "t10k-images-idx3-ubyte.gz", mnist / "t10k-labels-idx1-ubyte.gz");
  const auto cut = [&](const std::string& name, std::size_t first, std::size_t end) {
    std::vector<unsigned char> pixels;
    std::vector<unsigned char> labels;
    for (std::size_t i = first; i < end; ++i) {
      labels.push_back(static_cast<unsigned char>(all.examples.target(i)));
      for (std::size_t j = 0; j < 784; ++j) {
        pixels.push_back(static_cast<unsigned char>(
            std::lround(255 * value_of(all.examples.row(i)[j], {0, 1, true}))));
      }
    }
    const auto count = static_cast<std::uint32_t>(end - first);
    write_idx(folder / (name + ".images"), 3, {count, 28, 28}, pixels);
    write_idx(folder / (name + ".labels"), 1, {count}, labels);
  };
  cut("train", 0, 600);
  cut("test", 600, 900);
  declare("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", 28);
  const sotto::RunResult found = go("data = \"digits\"\n[budget]\nepsilon = 20\ndelta = 1e-5\n" +
                                    train + "model = \"convolutional\"\nunits = 600\nsteps = 60\n");
  EXPECT_EQ(found.release.models[0].parameters.size(), 26010U);
  EXPECT_GT(share(*found.release.models[0].evaluation), 0.4);
}

}  // namespace
}  // namespace sotto
