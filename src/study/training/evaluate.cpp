// Measures models on public rows with several threads.
#include "study/training/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "sotto/core/errors.hpp"
#include "study/design/train_model.hpp"

namespace sotto::study_detail {
namespace {

constexpr std::size_t rows_per_block = 256;

// The sums of one thread.
struct Part {
  double loss = 0;
  double square = 0;
  std::int64_t right = 0;
  std::exception_ptr failure;
};

// RowScorer sums losses and errors over ranges of rows. Threads share it.
class RowScorer {
 public:
  RowScorer(const Model& model, const Examples& examples, const std::optional<Feature>& target,
            std::span<const double> parameters)
      : model_(model),
        examples_(examples),
        scale_(target ? std::get_if<Scaled>(&target->encoding) : nullptr),
        of_classes_(model.loss().is_of_classes()),
        prepared_(model.prepare(parameters)) {}

  void rows(std::size_t first, std::size_t end, Part& part) const try {
    const std::size_t width = model_.outputs();
    std::vector<double> all(rows_per_block * width);
    for (std::size_t start = first; start < end; start += rows_per_block) {
      const std::size_t count = std::min(rows_per_block, end - start);
      const std::span<double> outputs(all.data(), count * width);
      prepared_->outputs(examples_, start, outputs);
      for (std::size_t i = 0; i < count; ++i)
        add(outputs.subspan(i * width, width), examples_.target(start + i), part);
    }
  } catch (...) {
    part.failure = std::current_exception();
  }

 private:
  void add(std::span<const double> z, std::int16_t target, Part& part) const {
    part.loss += model_.loss().value(z, target);
    if (of_classes_) {
      const auto best = z.size() == 1 ? std::ptrdiff_t{z[0] > 0 ? 1 : 0}
                                      : std::max_element(z.begin(), z.end()) - z.begin();
      part.right += best == target ? 1 : 0;
    } else if (scale_ != nullptr) {
      const double share = scale_->from_zero ? z[0] : (z[0] + 1) / 2;
      const double number = std::clamp(scale_->lower + share * (scale_->upper - scale_->lower),
                                       scale_->lower, scale_->upper);
      part.square += std::pow(number - value_of(target, *scale_), 2);
    }
  }

  const Model& model_;
  const Examples& examples_;
  const Scaled* scale_;
  bool of_classes_;
  std::unique_ptr<Model::Prepared> prepared_;
};

}  // namespace

std::optional<Examples> public_examples(const Study& study, const TrainDesign& design,
                                        const PublicOpener& open, std::int64_t memory) {
  const DataFile* data = public_data_of(study, study.trainings[design.ask], design.query);
  if (data == nullptr) return std::nullopt;
  std::vector<Column> columns;
  for (const StudyColumn& column : data->columns) columns.push_back({column.name, column.type});
  const auto engine = open ? open(data->source, columns) : open_engine(data->source, columns);
  ExampleQuery query = design.query;
  query.unit.reset();
  query.rows_a_unit = 1;
  Limits limits;
  limits.memory = memory;
  Examples examples = read_examples(*engine, columns, query, BoundingKey{}, limits);
  if (examples.rows() == 0)
    throw InvalidValue("the public data \"" + data->name +
                       "\" have no row without missing values in the columns that the model reads: "
                       "check them, or name other data");
  return examples;
}

PublicPoint measured_on(const Model& model, const Examples& examples,
                        const std::optional<Feature>& target, std::span<const double> parameters,
                        std::int64_t step, int threads) {
  const RowScorer scorer(model, examples, target, parameters);
  const auto wanted = static_cast<std::size_t>(
      threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  const std::size_t count = std::clamp<std::size_t>(examples.rows() / rows_per_block, 1, wanted);
  std::vector<Part> parts(count);
  std::vector<std::thread> workers;
  const auto start = [&](std::size_t w) { return w * examples.rows() / count; };
  for (std::size_t w = 1; w < count; ++w)
    workers.emplace_back([&, w] { scorer.rows(start(w), start(w + 1), parts[w]); });
  scorer.rows(0, start(1), parts[0]);
  for (std::thread& thread : workers) thread.join();
  PublicPoint point{.step = step, .loss = 0};
  for (const Part& part : parts) {
    if (part.failure) std::rethrow_exception(part.failure);
    point.loss += part.loss;
    point.right += part.right;
    point.squared_error += part.square;
  }
  constexpr double most = 1e300;  // keeps the loss of a diverged model finite
  point.loss = point.loss < most ? point.loss / static_cast<double>(examples.rows()) : most;
  point.squared_error /= static_cast<double>(examples.rows());
  return point;
}

}  // namespace sotto::study_detail
