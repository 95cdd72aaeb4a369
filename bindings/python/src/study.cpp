// Studies: the curator's catalogue, a study's text, what it will cost, and its run.
#include "study.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/api/file.hpp"
#include "data/api/inspect.hpp"
#include "data/api/spark.hpp"
#include "report/api/inspection.hpp"
#include "report/api/study.hpp"
#include "sotto/ledger/key.hpp"
#include "study/api/model_file.hpp"
#include "study/api/study_text.hpp"

namespace sotto::python {

Limits Reading::limits() const {
  Limits limits;
  limits.spark = spark;
  limits.duckdb = duckdb;
  limits.any_duckdb = any_duckdb;
  limits.threads = threads;
  limits.memory = memory;
  return limits;
}

Opened Opened::of(const std::filesystem::path& folder, const std::string& text,
                  const Designer& design) {
  Catalogue catalogue(folder);
  DataFile data = catalogue.find(data_of(text));
  Study study =
      parse_study(text, data, [&](const std::string& name) { return catalogue.find(name); });
  Ledger ledger = Ledger::open(data.ledger, {.key = data.key.string(), .witness = data.witness});
  require_fit(study, ledger.terms());
  Design the_design = design(study, ledger);
  return {std::move(catalogue), std::move(data), std::move(study), std::move(ledger),
          std::move(the_design)};
}

std::optional<ArrowTable> table_of(const nb::object& rows) {
  if (rows.is_none()) return std::nullopt;
  if (!nb::hasattr(rows, "__arrow_c_stream__")) {
    throw InvalidValue(
        "table= needs a table that Arrow knows, such as one of pyarrow, polars or pandas, or a "
        "relation of DuckDB: it has no __arrow_c_stream__");
  }
  const nb::object capsule = rows.attr("__arrow_c_stream__")();
  void* stream = PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream");
  if (stream == nullptr) throw nb::python_error();
  return ArrowTable(stream);
}

// Statements in a session of Spark's that Python has: `query(sql)` gives a whole Arrow stream as
// bytes. Whoever calls keeps it, since an engine comes and goes without Python's lock.
static SparkQuery asked_of(nb::handle query, Callbacks& callbacks) {
  return [query, &callbacks](const std::string& sql,
                             const std::function<void(std::string_view)>& take, const Progress&) {
    std::string rows;
    std::optional<std::string> failure;
    callbacks.call([&] {
      try {
        const nb::bytes answer = nb::cast<nb::bytes>(query(sql));
        rows.assign(answer.c_str(), answer.size());
      } catch (const nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
        failure = error.what();
      }
    });
    if (failure) throw EngineError("Spark failed on a statement that sotto wrote", *failure);
    take(rows);
  };
}

Ran run_opened(Opened& o, Callbacks& callbacks, const Reading& reading, RunOptions options,
               const ProgressCallback& on_progress, const nb::object& rows, const StudyWork& work) {
  const bool is_spark = !rows.is_none() && nb::hasattr(rows, "__sotto_view__");
  const std::optional<ArrowTable> table = is_spark ? std::nullopt : table_of(rows);
  const nb::object query = is_spark ? nb::object(rows.attr("query")) : nb::object(nb::none());
  const std::string view = is_spark ? nb::cast<std::string>(rows.attr("__sotto_view__")) : "";
  const Limits limits = reading.limits();
  const auto open = [&] {
    if (!view.empty())
      return open_engine(asked_of(query, callbacks), view, stored_columns(o.study),
                         trims(o.data.source));
    return table ? open_engine(*table, stored_columns(o.study), limits, trims(o.data.source))
                 : open_engine(o.study.source, stored_columns(o.study), limits);
  };
  options.threads = limits.threads;
  options.memory = limits.memory;
  options.open_public = [&](const Source& source, const std::vector<Column>& columns) {
    return open_engine(source, columns, limits);
  };
  return callbacks.run([&] {
    const RunResult result = work(o, open, options, watcher(callbacks, on_progress));
    const LedgerState state = state_of(o.ledger);
    const std::string check = "sotto ledger verify " + o.data.name + " --head " +
                              std::to_string(state.head.number) + ":" + state.head.hash;
    const PublicAnswers none;
    Ran ran{result.release,
            result.head,
            result.repeated,
            study_page({o.study, o.design, result.release, none, state, check, SOTTO_VERSION}),
            {}};
    if (!result.release.models.empty()) {
      const SigningKey key =
          SigningKey::read(o.data.key.empty() ? default_key(o.data.ledger) : o.data.key.string());
      for (const TrainedModel& model : result.release.models)
        ran.models.push_back(model_file(result.release, model, key));
    }
    return ran;
  });
}

namespace {

Ran run(Opened& opened, bool again, const std::string& request, const Reading& reading,
        const ProgressCallback& on_progress, const nb::object& rows) {
  Callbacks callbacks;
  if (again || !request.empty()) {
    opened.design = unlocked([&] {
      return design_for(opened.study, opened.ledger, {.again = again, .request = request});
    });
  }
  return run_opened(
      opened, callbacks, reading, {.again = again, .request = request}, on_progress, rows,
      [](Opened& o, const auto& open, const RunOptions& options, const Watcher& watch) {
        return sotto::run(o.study, o.design, o.ledger, open, options, watch);
      });
}

nb::dict described(const StudyColumn& column) {
  nb::dict description;
  description["name"] = column.name;
  description["type"] = name_of(column.type);
  description["bounds"] = column.lower && column.upper
                              ? nb::object(nb::make_tuple(*column.lower, *column.upper))
                              : nb::none();
  nb::list values;
  for (const Value& value : column.values)
    std::visit([&](const auto& v) { values.append(nb::cast(v)); }, value);
  description["values"] = values;
  return description;
}

// --- questions that Python builds, as the text of a study ---

std::string utf8(nb::handle text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    throw InvalidValue(
        "a text of the study has half of a surrogate pair, which UTF-8 cannot hold: replace that "
        "character");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

// A constant keeps its type: a study with 1 is another request than one with 1.0.
Value constant(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return value.ptr() == Py_True;
  if (nb::isinstance<nb::str>(value)) return utf8(value);
  if (nb::isinstance<nb::int_>(value)) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0) throw InvalidValue("a whole number of a study is from -2**63 to 2**63 - 1");
    return static_cast<std::int64_t>(whole);
  }
  if (nb::isinstance<nb::float_>(value)) return PyFloat_AsDouble(value.ptr());
  throw InvalidValue("a study holds numbers, texts and lists of them, and no " +
                     nb::cast<std::string>(value.type().attr("__name__")));
}

TableQuestion::Setting setting(nb::handle value) {
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    std::vector<Value> list;
    for (const nb::handle item : value) list.push_back(constant(item));
    return list;
  }
  return std::visit([](auto&& one) { return TableQuestion::Setting(one); }, constant(value));
}

TableQuestion question(const nb::dict& keys, const nb::dict& columns) {
  TableQuestion question;
  for (const auto& [key, value] : keys)
    question.settings.emplace_back(nb::cast<std::string>(key), setting(value));
  for (const auto& [name, values] : columns) {
    std::vector<Value> listed;
    for (const nb::handle value : values) listed.push_back(constant(value));
    question.listed.emplace_back(utf8(name), std::move(listed));
  }
  return question;
}

std::string text_of_study(const std::string& data,
                          const std::vector<std::pair<nb::dict, nb::dict>>& questions,
                          const nb::dict& settings) {
  std::vector<TableQuestion> all;
  for (const auto& [keys, columns] : questions) all.push_back(question(keys, columns));
  StudySettings top;
  for (const auto& [key, value] : settings) {
    const std::string name = nb::cast<std::string>(key);
    if (name == "title") top.title = setting(value);
    if (name == "confidence") top.confidence = setting(value);
    if (name == "epsilon") top.epsilon = setting(value);
    if (name == "delta") top.delta = setting(value);
    if (name == "rho") top.rho = setting(value);
  }
  return study_text(data, all, top);
}

}  // namespace

void bind_study(nb::module_& m) {
  m.def(
      "data_names", [](const std::filesystem::path& folder) { return Catalogue(folder).names(); },
      nb::arg("folder"));
  m.def(
      "read_text_file", [](const std::filesystem::path& path) { return read_text_file(path); },
      nb::arg("path"),
      "A regular file of at most 32 MiB. FileNotFoundError; InvalidValue for a pipe, a device or a "
      "larger file.");
  m.def(
      "catalogue_in",
      [](const std::string& text, const std::filesystem::path& folder) {
        return catalogue_in(text, folder);
      },
      nb::arg("configuration"), nb::arg("folder"),
      "The folder that a user's config.toml names; empty if it names none.");
  m.def("study_text", text_of_study, nb::arg("data"), nb::arg("questions"), nb::arg("settings"),
        "The study of these questions, each as its settings and the values listed for its columns. "
        "Equal questions have equal bytes in C++.");
  m.attr("SPARK_SETTINGS") = [] {
    nb::dict settings;
    for (const auto& [name, value] : spark_settings()) settings[name.c_str()] = value;
    return settings;
  }();
  nb::class_<DataFile>(m, "DataFile", "The curator's description of a table: NAME.data.toml.")
      .def_static(
          "find",
          [](const std::filesystem::path& folder, const std::string& name) {
            return Catalogue(folder).find(name);
          },
          nb::arg("folder"), nb::arg("name"))
      .def_ro("name", &DataFile::name)
      .def_ro("version", &DataFile::version)
      .def_ro("unit", &DataFile::unit)
      .def_ro("unit_label", &DataFile::unit_label)
      .def_prop_ro("unit_type", [](const DataFile& d) { return unit_type(d); })
      .def_prop_ro("source", [](const DataFile& d) { return identity(d.source); })
      .def_ro("ledger", &DataFile::ledger)
      .def_prop_ro("key", [](const DataFile& d) { return d.key.string(); })
      .def_ro("witness", &DataFile::witness)
      .def_prop_ro("columns",
                   [](const DataFile& d) {
                     nb::list columns;
                     for (const StudyColumn& column : d.columns) columns.append(described(column));
                     return columns;
                   })
      .def(
          "check",
          [](const DataFile& d, const std::string& format, const std::filesystem::path& duckdb,
             bool any_duckdb, const std::filesystem::path& spark) {
            std::vector<ExpectedColumn> columns;
            for (const StudyColumn& c : d.columns)
              columns.push_back({{c.name, c.type},
                                 c.lower,
                                 c.upper,
                                 c.type == Type::boolean ? std::vector<Value>{} : c.values});
            const Format as = format_of(format);
            const nb::gil_scoped_release free;
            return inspection_text(d,
                                   inspect(d.source, columns, d.unit == "row" ? "" : d.unit,
                                           Reading{0, 0, duckdb, any_duckdb, spark}.limits()),
                                   as);
          },
          nb::arg("format") = "table", nb::arg("duckdb") = std::filesystem::path(),
          nb::arg("any_duckdb") = false, nb::arg("spark") = std::filesystem::path());

  nb::class_<Opened>(
      m, "Study",
      "A study with the data and the ledger that it names. Nothing is touched until it is run.")
      .def(
          "__init__",
          [](Opened* self, const std::filesystem::path& folder, const std::string& text) {
            const auto design = [](const Study& study, const Ledger& ledger) {
              return design_for(study, ledger);
            };
            new (self) Opened(unlocked([&] { return Opened::of(folder, text, design); }));
          },
          nb::arg("catalogue"), nb::arg("text"))
      .def_prop_ro("text", [](const Opened& o) { return o.study.text; })
      .def_prop_ro("delta", [](const Opened& o) { return o.design.total_delta->value(); })
      .def_prop_ro("public_rows", [](const Opened& o) { return o.study.public_rows; })
      .def_prop_ro("plan", [](const Opened& o) { return o.design.plan; })
      .def_prop_ro("warnings", [](const Opened& o) { return o.design.warnings; })
      .def(
          "cost",
          [](const Opened& o, const std::string& format, bool again) {
            const Format as = format_of(format);
            return unlocked([&] {
              const Design design =
                  again ? design_for(o.study, o.ledger, {.again = true}) : o.design;
              return design_text(o.study, design, o.ledger.terms(),
                                 preview_charge(o.study, design, o.ledger, again), as);
            });
          },
          nb::arg("format") = "table", nb::arg("again") = false)
      .def(
          "run",
          [](Opened& o, bool again, const std::string& request, int threads, std::int64_t memory,
             const std::filesystem::path& duckdb, bool any_duckdb,
             const std::filesystem::path& spark, const ProgressCallback& progress,
             const nb::object& table) {
            return run(o, again, request, {threads, memory, duckdb, any_duckdb, spark}, progress,
                       table);
          },
          nb::arg("again"), nb::arg("request"), nb::arg("threads"), nb::arg("memory"),
          nb::arg("duckdb"), nb::arg("any_duckdb"), nb::arg("spark"), nb::arg("progress").none(),
          nb::arg("table").none());
  nb::class_<Ran>(m, "Run")
      .def_ro("repeated", &Ran::repeated)
      .def_ro("page", &Ran::page)
      .def_ro("models", &Ran::models)
      .def(
          "text",
          [](const Ran& r, const std::string& format) {
            return release_text(r.release, r.head, {}, format_of(format));
          },
          nb::arg("format") = "table");
}

}  // namespace sotto::python
