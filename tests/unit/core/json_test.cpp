// JSON: the spelling of values, strict parsing, limits, and errors.
#include "core/api/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace sotto {
namespace {

TEST(JsonText, MembersKeepTheirOrder) {
  Json json{{"z", 1}, {"a", "text"}};
  json["m"] = {{"inner", true}, {"none", nullptr}};
  json["list"] = Json::array();
  json["list"].push_back(0.5);
  EXPECT_EQ(json.dump(), R"({"z":1,"a":"text","m":{"inner":true,"none":null},"list":[0.5]})");
  EXPECT_EQ(Json::parse(json.dump()), json);
}

TEST(JsonText, RealNumbersAreWrittenUnlikeWholeOnes) {
  const auto text = [](double x) { return Json(x).dump(); };
  EXPECT_EQ(text(5), "5.0");
  EXPECT_EQ(Json(5).dump(), "5");
  EXPECT_EQ(text(0), "0.0");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(-0.0001), "-0.0001");
  EXPECT_EQ(text(0.00001), "1e-05");
  EXPECT_EQ(text(1.5e-7), "1.5e-07");
  EXPECT_EQ(text(123456.75), "123456.75");
  EXPECT_EQ(text(1e14), "100000000000000.0");
  EXPECT_EQ(text(1e15), "1e+15");
  EXPECT_EQ(text(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(text(5e-324), "5e-324");
  EXPECT_EQ(text(INFINITY), "null");
  EXPECT_EQ(text(NAN), "null");
}

TEST(JsonText, EveryDoubleReadsBack) {
  std::uint64_t bits = 88172645463325252U;
  for (int i = 0; i < 20000; ++i) {
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    ASSERT_EQ(Json::parse(Json(x).dump()).get<double>(), x);
  }
}

TEST(JsonText, TextIsEscaped) {
  EXPECT_EQ(Json(std::string("a\"b\\c\n\t\x01\x1f\0", 10)).dump(),
            R"("a\"b\\c\n\t\u0001\u001f\u0000")");
  EXPECT_EQ(Json("é€😀\x7f").dump(), "\"é€😀\x7f\"");
  EXPECT_EQ(Json::parse(R"("\u00e9\u20ac\ud83d\ude00\/\b\f")").text(), "é€😀/\b\f");
}

TEST(JsonText, TextThatIsNotUtf8IsRefusedBothWays) {
  for (const char* bytes : {"\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                            "\xf0\x8f\xbf\xbf", "\xe2\x82", "\x80", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_THROW(Json(bytes).dump(), JsonError) << bytes;
    EXPECT_FALSE(Json::try_parse("\"" + std::string(bytes) + "\"")) << bytes;
  }
}

TEST(JsonText, MalformedTextIsRefused) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "tru",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "+1",
                           "--1",
                           "0x1",
                           "NaN",
                           "Infinity",
                           "'a'",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\udc00\"",
                           "\"a\nb\"",
                           "[1,]",
                           "[1 2]",
                           "[",
                           "]",
                           "{",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\":1 \"b\":2}",
                           "1 2",
                           "nullx",
                           "[1]]",
                           "1e309",
                           "-1e400",
                           "\"\\u00\"",
                           "/**/1"}) {
    EXPECT_FALSE(Json::try_parse(text)) << text;
  }
}

TEST(JsonText, NumbersBeyondSixtyFourBitsAreReal) {
  EXPECT_TRUE(Json::parse("9223372036854775807").is_integer());
  EXPECT_TRUE(Json::parse("-9223372036854775808").is_integer());
  EXPECT_FALSE(Json::parse("9223372036854775808").is_integer());
  EXPECT_EQ(Json::parse("9223372036854775808").get<double>(), 0x1p63);
  EXPECT_FALSE(Json::parse("59.0").is_integer());
  EXPECT_EQ(Json::parse("59.0"), 59);
}

TEST(JsonText, NumbersBelowAllDoublesAreZero) {
  EXPECT_EQ(Json::parse("1e-400").get<double>(), 0);
  EXPECT_EQ(Json::parse("-1e-99999999999999999999").get<double>(), 0);
  EXPECT_EQ(Json::parse("0." + std::string(400, '0') + "1").get<double>(), 0);
  EXPECT_EQ(Json::parse("5e-324").get<double>(), 5e-324);
  EXPECT_FALSE(Json::try_parse("1" + std::string(400, '0') + "e-10"));
  EXPECT_FALSE(Json::try_parse("1" + std::string(400, '0')));
  EXPECT_FALSE(Json::try_parse("1e99999999999999999999"));
}

TEST(JsonText, TheLastOfTwoMembersWithOneNameCounts) {
  EXPECT_EQ(Json::parse(R"({"a":1,"b":2,"a":3})").dump(), R"({"a":3,"b":2})");
  std::string many = "{";
  for (int i = 0; i < 100; ++i)
    many += "\"" + std::to_string(i % 40) + "\":" + std::to_string(i) + ",";
  const Json json = Json::parse(many + "\"x\":0}");
  EXPECT_EQ(json.size(), 41U);
  EXPECT_EQ(json.at("19"), 99);
  EXPECT_EQ(json.at("20"), 60);
}

// A quadratic reader would take half a minute.
TEST(JsonText, AHundredThousandMembersAreReadInTime) {
  std::string many = "{";
  for (int i = 0; i < 100000; ++i) many += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(Json::parse(many + "\"x\":0}").size(), 100001U);
}

TEST(JsonText, DeepNestingIsRefusedBeforeTheStackEnds) {
  EXPECT_TRUE(Json::try_parse(std::string(1000, '[') + std::string(1000, ']')));
  EXPECT_FALSE(Json::try_parse(std::string(1000000, '[')));
  std::string objects;
  for (int i = 0; i < 1000000; ++i) objects += "{\"a\":";
  EXPECT_FALSE(Json::try_parse(objects));
}

TEST(JsonText, AValueOfAnotherKindIsAnError) {
  const Json json = Json::parse(R"({"text":"a","real":1.5,"whole":300,"list":["a","b"]})");
  EXPECT_THROW(json.at("text").get<double>(), JsonError);
  EXPECT_THROW(json.at("real").get<std::int64_t>(), JsonError);
  EXPECT_THROW(json.at("real").text(), JsonError);
  EXPECT_THROW(json.at("whole").get<std::int8_t>(), JsonError);
  EXPECT_THROW(json.at("lost"), JsonError);
  EXPECT_THROW(json.at("list").at(2), JsonError);
  EXPECT_THROW(Json(1).members(), JsonError);
  EXPECT_EQ(json.at("list").get<std::vector<std::string>>(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(json.value("lost", "else"), "else");
}

TEST(JsonText, ErrorsNameThePlaceTheKindOrTheMember) {
  const auto message = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const JsonError& error) {
      return error.what();
    }
    return "no error";
  };
  const auto of_text = [&](const char* text) { return message([&] { Json::parse(text); }); };
  EXPECT_EQ(of_text("{\"a\":01}"), "the text is not JSON: unexpected character at byte 6");
  EXPECT_EQ(of_text("[\"ab\x01\"]"), "the text is not JSON: unexpected character at byte 5");
  EXPECT_EQ(of_text("[1,"), "the text is not JSON: it ends too early");
  EXPECT_EQ(of_text("1 2"), "the text is not JSON: unexpected character at byte 3");
  const Json json = Json::parse(R"({"a":[1.5,null]})");
  EXPECT_EQ(message([&] { (void)json["b"]; }), "the member \"b\" is missing");
  EXPECT_EQ(message([&] { (void)json["a"].at(2); }), "the array has no item 2, it has 2");
  EXPECT_EQ(message([&] { (void)json["a"][0].get<int>(); }),
            "expected a whole number, got a real number");
  EXPECT_EQ(message([&] { (void)json["a"].text(); }), "expected a string, got an array");
  EXPECT_EQ(message([&] { (void)Json(300).get<std::int8_t>(); }),
            "a whole number is out of range: 300");
}

}  // namespace
}  // namespace sotto
