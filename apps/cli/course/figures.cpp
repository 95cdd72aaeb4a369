// sotto figures: the figures of the sources as SVG, CSV and on one page.
#include "course/api/figures.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "cli/command.hpp"
#include "report/api/csv.hpp"
#include "report/api/page.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

namespace {

void run(const Typed& typed) {
  const std::filesystem::path folder(typed.out);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw std::runtime_error("cannot make the folder " + folder.string() + ": " + error.message());
  const std::vector<Chart> charts = source_figures();
  for (const Chart& chart : charts) {
    write_file(folder / (chart.id + ".svg"), svg(chart));
    write_file(folder / (chart.id + ".csv"), csv(chart));
  }
  write_file(folder / "index.html", page("The figures of the sources, recomputed", figures_introduction(), charts));
  std::cout << std::filesystem::absolute(folder / "index.html").lexically_normal().string() << "\n";
  if (!typed.quiet) std::cerr << charts.size() << " figures, each as SVG and CSV beside the page\n";
}

}  // namespace

void add_figures(Command& app, Typed& typed) {
  Command* command = app.add_subcommand("figures",
                                        "Examples:\n"
                                        "  sotto figures --out figures\n"
                                        "\n"
                                        "The figures of the notebooks and slides that sotto grew from, recomputed, and five that go with them:\n"
                                        "SVG and CSV each, and one page, whose path is printed.");
  command->add_option("--out", typed.out, "the folder to write to")->capture_default_str();
  command->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
  command->callback([&typed] { run(typed); });
}

}  // namespace sotto::cli
