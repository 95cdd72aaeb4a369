// All spellings of a source have one identity.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "data/api/inspect.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

TEST(Identity, OfAFileIsItsCanonicalPath) {
  char name[] = "/tmp/sotto-identity-XXXXXX";
  const fs::path folder = fs::canonical(mkdtemp(name));
  std::ofstream(folder / "visits.csv") << "a\n";
  fs::create_directory(folder / "sub");
  fs::create_symlink(folder / "visits.csv", folder / "sub" / "other.csv");
  const auto plain = (folder / "visits.csv").string();
  EXPECT_EQ(identity(FileSource{folder / "visits.csv"}), plain);
  EXPECT_EQ(identity(FileSource{folder / "sub" / ".." / "visits.csv"}), plain);
  EXPECT_EQ(identity(FileSource{folder / "sub" / "other.csv"}), plain);
  EXPECT_EQ(identity(FileSource{folder / "sub" / ".." / "none.csv"}),
            (folder / "none.csv").string())
      << "it may come later";
  fs::remove_all(folder);
}

TEST(Identity, OfATableIsHostPortDatabaseSchemaAndTable) {
  for (const char* connection :
       {"host=127.0.0.1 port=5999 dbname=hr user=a",
        "host=localhost port=5999 dbname=hr user=b password=secret",
        "postgresql://LOCALHOST:5999/hr", "host=/var/run/postgresql port=5999 dbname=hr"}) {
    EXPECT_EQ(identity(PostgresSource{connection, "people"}),
              "postgresql:localhost:5999/hr/public.people")
        << connection;
  }
  EXPECT_EQ(identity(PostgresSource{"host=/srv/sockets dbname=hr", "pay.people"}),
            "postgresql:/srv/sockets:5432/hr/pay.people");
  EXPECT_EQ(identity(PostgresSource{"host=127.0.0.1 user=clerk", "t"}),
            "postgresql:localhost:5432/clerk/public.t");
  EXPECT_THROW(identity(PostgresSource{"nonsense=b", "t"}), InvalidValue);
}

}  // namespace
}  // namespace sotto
