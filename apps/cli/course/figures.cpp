// sotto figures: the figures of the course that sotto grew from, as SVG, as CSV and on one page.
#include "course/api/figures.hpp"

#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/command.hpp"
#include "report/api/csv.hpp"
#include "report/api/page.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {

namespace {

struct Arguments : OutputArguments {
  std::string folder = "sotto-figures";
};

void run(const Arguments& arguments) {
  const std::filesystem::path folder(arguments.folder);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw std::runtime_error("cannot create the folder " + folder.string() + ": " +
                             error.message());
  const std::vector<Chart> charts = source_figures();
  for (const Chart& chart : charts) {
    write_file(folder / (chart.id + ".svg"), svg(chart));
    write_file(folder / (chart.id + ".csv"), csv(chart));
  }
  write_file(folder / "index.html",
             page("The figures of the sources, recomputed", figures_introduction(), charts));
  std::cout << std::filesystem::absolute(folder / "index.html").lexically_normal().string() << "\n";
  if (!arguments.quiet)
    std::cerr << charts.size() << " figures, each as SVG and CSV in the folder of the page\n";
}

}  // namespace

void add_figures(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("figures", "Recompute the figures of the course, as SVG, CSV and one page",
                         "Examples:\n"
                         "  sotto figures --out figures\n"
                         "\n"
                         "Recomputes the figures of the notebooks and slides that sotto grew from, "
                         "and five more: each as SVG and CSV,\n"
                         "and one page with all of them, whose path is printed.");
  command->add_option("--out", arguments->folder, "the folder to write to")->capture_default_str();
  add_quiet(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace sotto::cli
