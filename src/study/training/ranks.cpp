// The protocol between ranks: rank 0 broadcasts a command word, then for a training the length and
// bytes of a JSON description, then arrays.
#include "study/api/ranks.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "core/api/json.hpp"
#include "learning/api/describe.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

enum class RankCommand : std::uint64_t { dismiss, train, step, finish };

// --- A training as text ---

Json of(const Optimiser& o) {
  Json json{{"kind", name_of(o.kind)},          {"size", o.size},   {"sizes", name_of(o.sizes)},
            {"momentum", o.momentum},           {"beta2", o.beta2}, {"l2", o.l2},
            {"averaging", name_of(o.averaging)}};
  if (o.region) {
    if (const auto* ball = std::get_if<Ball>(&*o.region)) json["ball"] = ball->radius;
    if (const auto* box = std::get_if<Box>(&*o.region))
      json["box"] = std::vector<double>{box->lower, box->upper};
  }
  return json;
}

Optimiser optimiser_in(const Json& json) {
  Optimiser o{.kind = parse_optimiser(json.at("kind").text()),
              .size = json.at("size"),
              .sizes = parse_step_sizes(json.at("sizes").text()),
              .momentum = json.at("momentum"),
              .beta2 = json.at("beta2"),
              .l2 = json.at("l2"),
              .averaging = parse_averaging(json.at("averaging").text())};
  if (json.contains("ball")) o.region = Ball{json.at("ball")};
  if (json.contains("box")) {
    const auto ends = json.at("box").get<std::vector<double>>();
    o.region = Box{ends.at(0), ends.at(1)};
  }
  return o;
}

Json of(const Training& t) {
  Json json{{"steps", t.steps},
            {"clipping", name_of(t.clipping.kind)},
            {"norm", t.clipping.norm},
            {"stability", t.clipping.stability},
            {"noise", t.noise},
            {"batch", t.batch},
            {"optimiser", of(t.optimiser)},
            {"relation", std::string(name(t.relation))},
            {"seed", static_cast<std::int64_t>(t.seed)}};
  if (const auto* poisson = std::get_if<PoissonSampling>(&t.sampling)) json["rate"] = poisson->rate;
  if (const auto* fixed = std::get_if<FixedSizeSampling>(&t.sampling))
    json["fixed"] = std::vector<std::int64_t>{fixed->batch, fixed->population};
  if (const auto& adaptive = t.clipping.adaptive)
    json["adaptive"] = std::vector<double>{adaptive->quantile, adaptive->rate, adaptive->noise};
  return json;
}

Training training_in(const Json& json) {
  Training t{.steps = json.at("steps"),
             .clipping = {.kind = parse_clipping(json.at("clipping").text()),
                          .norm = json.at("norm"),
                          .stability = json.at("stability")},
             .noise = json.at("noise"),
             .batch = json.at("batch"),
             .optimiser = optimiser_in(json.at("optimiser")),
             .relation = relation_named(json.at("relation").text()).value(),
             .seed = static_cast<std::uint64_t>(json.at("seed").get<std::int64_t>())};
  if (json.contains("rate")) t.sampling = PoissonSampling{json.at("rate")};
  if (json.contains("fixed")) {
    const auto numbers = json.at("fixed").get<std::vector<std::int64_t>>();
    t.sampling = FixedSizeSampling{numbers.at(0), numbers.at(1)};
  }
  if (json.contains("adaptive")) {
    const auto numbers = json.at("adaptive").get<std::vector<double>>();
    t.clipping.adaptive =
        AdaptiveClipping{.quantile = numbers.at(0), .rate = numbers.at(1), .noise = numbers.at(2)};
  }
  return t;
}

// --- Broadcasts from rank 0 ---

void share_command(Together& together, RankCommand command) {
  std::array<std::uint64_t, 1> word{static_cast<std::uint64_t>(command)};
  together.share(std::span<std::uint64_t>(word));
}

// Shares the bytes of `items`, padded to whole words.
template <class T>
void share_bytes(Together& together, std::vector<T>& items) {
  std::vector<std::uint64_t> words((items.size() * sizeof(T) + 7) / 8);
  std::memcpy(words.data(), items.data(), items.size() * sizeof(T));
  together.share(std::span<std::uint64_t>(words));
  std::memcpy(items.data(), words.data(), items.size() * sizeof(T));
}

std::string share_text(Together& together, const std::string& text) {
  std::array<std::uint64_t, 1> size{text.size()};
  together.share(std::span<std::uint64_t>(size));
  std::vector<char> bytes(text.begin(), text.end());
  bytes.resize(size[0]);
  share_bytes(together, bytes);
  return {bytes.begin(), bytes.end()};
}

std::array<std::vector<double>*, 4> arrays_of(Iterate& iterate) {
  return {&iterate.parameters, &iterate.mean, &iterate.first, &iterate.second};
}

// The arrays must have their sizes on all ranks.
void share_iterate(Together& together, Iterate& iterate) {
  std::array<double, 1> norm{iterate.norm};
  together.share(std::span<double>(norm));
  iterate.norm = norm[0];
  for (std::vector<double>* array : arrays_of(iterate)) together.share(std::span<double>(*array));
}

// The rows of a training in blocks. A row is sent as its target, 1 if it is the last row of its
// unit else 0, and its codes.
class RowBlocks {
 public:
  RowBlocks(std::size_t rows, std::size_t width)
      : rows_(rows),
        width_(width + 2),
        at_once_(std::max<std::size_t>(1, (std::size_t{1} << 21U) / width_)) {}
  [[nodiscard]] std::size_t size(std::size_t from) const {
    return std::min(at_once_, rows_ - from);
  }
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  std::size_t rows_, width_, at_once_;
};

void send_examples(Together& together, const Examples& examples) {
  const RowBlocks blocks(examples.rows(), examples.width());
  std::vector<std::int16_t> block;
  std::size_t unit = 0;
  for (std::size_t from = 0; from < examples.rows(); from += blocks.size(from)) {
    block.clear();
    for (std::size_t i = from; i < from + blocks.size(from); ++i) {
      while (examples.first(unit + 1) <= i) ++unit;  // a unit may have no rows
      block.push_back(examples.target(i));
      block.push_back(i + 1 == examples.first(unit + 1) ? 1 : 0);
      block.insert(block.end(), examples.row(i), examples.row(i) + examples.width());
    }
    share_bytes(together, block);
  }
}

// Receives all rows from rank 0 and keeps those of this rank's shard.
Examples receive_shard(Together& together, const Json& about) {
  const auto rows = static_cast<std::size_t>(about.at("rows").get<std::int64_t>());
  const auto width = static_cast<std::size_t>(about.at("width").get<std::int64_t>());
  const bool has_units = about.at("units_have_rows");
  const Shard shard = shard_of(static_cast<std::size_t>(about.at("units").get<std::int64_t>()),
                               together.rank(), together.size());
  const RowBlocks blocks(rows, width);
  Examples::Builder builder(width, about.at("memory").get<std::int64_t>());
  if (has_units) builder.keep_units();
  std::size_t unit = 0;
  for (std::size_t from = 0; from < rows; from += blocks.size(from)) {
    std::vector<std::int16_t> block(blocks.size(from) * blocks.width());
    share_bytes(together, block);
    for (const std::int16_t* row = block.data(); row != block.data() + block.size();
         row += blocks.width()) {
      const bool is_own = unit >= shard.first && unit < shard.end;
      if (is_own) std::copy(row + 2, row + blocks.width(), builder.add(row[0]).begin());
      if (row[1] != 0) {
        if (is_own && has_units) builder.next_unit();
        ++unit;
      }
    }
  }
  return std::move(builder).build();
}

// The training in which a worker rank takes part.
struct WorkerTraining {
  WorkerTraining(Together& together, const Json& about)
      : examples(receive_shard(together, about)),
        shard(shard_of(static_cast<std::size_t>(about.at("units").get<std::int64_t>()),
                       together.rank(), together.size())) {
    std::optional<Iterate> from;
    if (about.contains("step")) {
      from.emplace();
      from->step = about.at("step");
      const auto sizes = about.at("sizes").get<std::vector<std::int64_t>>();
      for (std::size_t i = 0; i < sizes.size(); ++i)
        arrays_of(*from)[i]->resize(static_cast<std::size_t>(sizes[i]));
      share_iterate(together, *from);
    }
    trainer.emplace(model_of(about.at("model").text()), examples, training_in(about.at("training")),
                    Resources{.threads = static_cast<int>(about.at("threads").get<std::int64_t>()),
                              .together = &together,
                              .first_block = shard.first_block()});
    if (from) trainer->resume(*from);
  }
  Examples examples;
  Shard shard;
  std::optional<Trainer> trainer;
};

}  // namespace

std::unique_ptr<Trainer> Ranks::start(const std::shared_ptr<const Model>& model,
                                      const Examples& examples, const Training& training,
                                      const Iterate* from, int threads, std::int64_t memory) {
  Json about{{"model", model->description()},
             {"training", of(training)},
             {"rows", static_cast<std::int64_t>(examples.rows())},
             {"units", static_cast<std::int64_t>(examples.units())},
             {"width", static_cast<std::int64_t>(examples.width())},
             {"units_have_rows", !examples.one_row_a_unit()},
             {"memory", memory},
             {"threads", static_cast<std::int64_t>(threads)}};
  std::optional<Iterate> iterate;
  if (from != nullptr) {
    iterate = *from;
    about["step"] = iterate->step;
    std::vector<std::int64_t> sizes;
    for (const std::vector<double>* array : arrays_of(*iterate))
      sizes.push_back(static_cast<std::int64_t>(array->size()));
    about["sizes"] = sizes;
  }
  // Refuse settings that the JSON does not carry: other ranks would train with different ones.
  if (training_in(Json::parse(about.dump()).at("training")) != training)
    throw InvalidValue(
        "this training has settings that cannot be sent to other ranks: train it in one process");
  waiting_ = false;
  share_command(together_, RankCommand::train);
  (void)share_text(together_, about.dump());
  send_examples(together_, examples);
  if (iterate) share_iterate(together_, *iterate);
  const Shard shard = shard_of(examples.units(), 0, together_.size());
  shard_ = examples.part(shard.first, shard.end);
  auto own = std::make_unique<Trainer>(model, *shard_, training,
                                       Resources{.threads = threads, .together = &together_});
  waiting_ = true;
  return own;
}

void Ranks::step(Trainer& own) {
  waiting_ = false;
  share_command(together_, RankCommand::step);
  own.step();
  waiting_ = true;
}

void Ranks::finish() { share_command(together_, RankCommand::finish); }

void Ranks::dismiss() { share_command(together_, RankCommand::dismiss); }

void run_worker_rank(Together& together) {
  std::optional<WorkerTraining> training;
  for (;;) {
    std::array<std::uint64_t, 1> command{};
    together.share(std::span<std::uint64_t>(command));
    switch (static_cast<RankCommand>(command[0])) {
      case RankCommand::dismiss: return;
      case RankCommand::train:
        training.reset();
        training.emplace(together, Json::parse(share_text(together, "")));
        break;
      case RankCommand::step: training.value().trainer->step(); break;
      case RankCommand::finish: training.reset(); break;
      default:
        throw InvalidValue(
            "unknown command from rank 0: all ranks must run the same version of sotto");
    }
  }
}

}  // namespace sotto
