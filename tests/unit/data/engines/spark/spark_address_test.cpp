// Addresses and tables of Spark: no token in an address, TLS to other machines, no SQL in a name.
#include <gtest/gtest.h>

#include "data/api/inspect.hpp"
#include "data/engines/spark/engine.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using data_detail::spark_address;
using data_detail::spark_relation;

SparkSource table(const std::string& name, const std::string& connection = "sc://localhost") {
  return {.connection = connection, .table = name, .path = ""};
}
SparkSource path(const std::string& name, const std::string& format = "") {
  return {.connection = "sc://localhost", .table = "", .path = name, .format = format};
}

std::string refusal(const std::string& connection) {
  try {
    (void)spark_address(connection);
    return "";
  } catch (const InvalidValue& error) {
    return error.what();
  }
}

TEST(SparkAddress, ParsesTheFormOfSparksClients) {
  const auto plain = spark_address("sc://localhost");
  EXPECT_EQ(plain.host, "localhost");
  EXPECT_EQ(plain.port, 15002);
  EXPECT_FALSE(plain.tls);
  const auto far = spark_address(
      "sc://spark.example.org:443/;use_ssl=true;user_id=ada;x-databricks-cluster-id=0123-abc");
  EXPECT_EQ(far.host, "spark.example.org");
  EXPECT_EQ(far.port, 443);
  EXPECT_TRUE(far.tls);
  EXPECT_TRUE(spark_address("sc://spark.example.org/;USE_SSL=true").tls);
  EXPECT_EQ(far.user, "ada");
  ASSERT_EQ(far.headers.size(), 1U);
  EXPECT_EQ(far.headers[0].first, "x-databricks-cluster-id");
  EXPECT_EQ(spark_address("sc://[::1]:15003").host, "[::1]");
  EXPECT_EQ(spark_address("sc://127.0.0.1:15003/").port, 15003);
}

TEST(SparkAddress, RefusesTokensAndUnencryptedConnections) {
  EXPECT_NE(refusal("sc://spark.example.org/;use_ssl=true;token=secret").find("put it into a file"),
            std::string::npos);
  EXPECT_EQ(refusal("sc://spark.example.org/;use_ssl=true;token=secret").find("secret"),
            std::string::npos);
  EXPECT_NE(refusal("sc://spark.example.org:15002").find("use_ssl=true"), std::string::npos);
  EXPECT_NE(refusal("sc://10.0.0.1/;use_ssl=false"), "");
  for (const char* bad :
       {"", "localhost:15002", "http://localhost", "sc://", "sc://local host", "sc://localhost:0",
        "sc://localhost:99999", "sc://localhost:1x", "sc://localhost/people",
        "sc://localhost/;use_ssl", "sc://localhost/;use_ssl=yes", "sc://localhost/;session_id=1",
        "sc://localhost/;grpc-timeout=1", "sc://localhost/;Token=abc",
        "sc://localhost/;Authorization=Bearer-x", "sc://localhost/;x-password=a",
        "sc://localhost/;x-\xc3\xa9=1", "sc://user@localhost"}) {
    EXPECT_NE(refusal(bad), "") << bad;
  }
}

TEST(SparkAddress, NamesATableOrAPath) {
  EXPECT_EQ(spark_relation(table("people")), "`people`");
  EXPECT_EQ(spark_relation(table("main.survey.people")), "`main`.`survey`.`people`");
  EXPECT_EQ(spark_relation(table("a`b; DROP TABLE c")), "`a``b; DROP TABLE c`");
  EXPECT_EQ(spark_relation(path("s3a://bucket/people")), "parquet.`s3a://bucket/people`");
  EXPECT_EQ(spark_relation(path("/data/p", "delta")), "delta.`/data/p`");
  for (const auto& bad :
       {table(""), table("a..b"), table(".a"), path("/p", "csv"), path("/p", "json"),
        path("people"), path("/data/peopl*"), path("people", "sales"),
        table("parquet./data/people"), table("csv./x"), path("/p", "parquet.`x`, b")}) {
    EXPECT_THROW((void)spark_relation(bad), InvalidValue);
  }
  EXPECT_THROW((void)spark_relation({.connection = "sc://localhost", .table = "a", .path = "/b"}),
               InvalidValue);
}

TEST(SparkAddress, SpellingsOfASourceHaveOneIdentity) {
  EXPECT_EQ(identity(table("People")), "spark:localhost:15002/default.people");
  EXPECT_EQ(identity(table("spark_catalog.default.people", "sc://127.0.0.1:15002/")),
            "spark:localhost:15002/default.people");
  EXPECT_EQ(identity(path("/data//people/")), "spark:localhost:15002/path:/data/people");
  EXPECT_EQ(identity(path("file:///data/people")), "spark:localhost:15002/path:/data/people");
  EXPECT_EQ(identity(path("/data/x/../people")), "spark:localhost:15002/path:/data/people");
  EXPECT_EQ(identity(path("s3a://bucket//people")),
            "spark:localhost:15002/path:s3a://bucket/people");
  EXPECT_EQ(identity(table("a.b", "sc://Spark.Example.org/;use_ssl=true")),
            "spark:spark.example.org:15002/a.b");
}

}  // namespace
}  // namespace sotto
