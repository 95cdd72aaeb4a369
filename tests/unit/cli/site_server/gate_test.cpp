// Who is let in: the token, the cookie, and the address by which a browser came.
#include "cli/site_server/gate.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sotto::cli {
namespace {

using Verdict = Gate::Verdict;

struct Door {
  Gate gate{8080};
  std::string token = gate.url().substr(gate.url().find('=') + 1);
  std::string room =
      gate.cookie().substr(gate.cookie().find("Path=") + 5, 33);  // "/…", without the last slash

  [[nodiscard]] Gate::Judgement judge(const std::string& path, const std::string& query,
                                      const std::string& cookie,
                                      const std::string& host = "127.0.0.1:8080") const {
    return gate.judge(
        {.method = "GET", .path = path, .query = query, .host = host, .cookie = cookie});
  }
};

TEST(Gates, TheUrlLetsInAndTheCookieStays) {
  const Door door;
  EXPECT_EQ(door.gate.url(), "http://127.0.0.1:8080/?token=" + door.token);
  EXPECT_EQ(door.token.size(), 64U);
  EXPECT_EQ(door.gate.cookie(),
            "sotto=" + door.token + "; Path=" + door.room + "/; HttpOnly; SameSite=Strict");
  const auto entered = door.judge("/", "token=" + door.token, "");
  EXPECT_EQ(entered.verdict, Verdict::enters);
  EXPECT_EQ(entered.path, door.room + "/");
  EXPECT_EQ(door.judge("/data/shop/", "token=" + door.token, "").path, door.room + "/data/shop/");
  EXPECT_EQ(door.judge(door.room + "/data/", "token=" + door.token, "").path, door.room + "/data/");
  const auto inside = door.judge(door.room + "/data/shop/", "before=3", "x=1; sotto=" + door.token);
  EXPECT_EQ(inside.verdict, Verdict::inside);
  EXPECT_EQ(inside.path, "/data/shop/");
}

TEST(Gates, EveryPageNeedsTheToken) {
  const Door door;
  std::string other = door.token;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& query : std::vector<std::string>{
           "", "token=", "token=" + other, "token=" + door.token + "0",
           "token=" + door.token + "&token=" + door.token, "token=" + door.token.substr(1),
           "Token=" + door.token, "a=b&token=" + door.token, "token=%" + door.token}) {
    EXPECT_EQ(door.judge("/", query, "").verdict, Verdict::refused) << query;
  }
  for (const std::string& cookie : std::vector<std::string>{
           "", std::string("sotto="), "sotto=" + other, "sotto=" + door.token + "0",
           "xsotto=" + door.token, "sotto =" + door.token, "sotto=\"" + door.token + "\"",
           "a=sotto=" + door.token, "SOTTO=" + door.token, std::string(";;;=;")}) {
    EXPECT_EQ(door.judge(door.room + "/", "", cookie).verdict, Verdict::refused) << cookie;
  }
  // a wrong token is not made good by the cookie, and a shadow that someone set beside the right
  // cookie is no obstacle
  EXPECT_EQ(door.judge(door.room + "/", "token=" + other, "sotto=" + door.token).verdict,
            Verdict::refused);
  EXPECT_EQ(door.judge(door.room + "/", "", "sotto=x; sotto=" + door.token).verdict,
            Verdict::inside);
}

TEST(Gates, TheRoomHasAPathThatNobodyElseKnows) {
  const Door door;
  const std::string cookie = "sotto=" + door.token;
  for (const std::string& path : std::vector<std::string>{
           "/", std::string("/data/shop/"), door.room, "//" + door.room.substr(1) + "/",
           "/0" + door.room.substr(2) + "x/", "/../" + door.room.substr(1) + "/"}) {
    EXPECT_EQ(door.judge(path, "", cookie).verdict, Verdict::refused) << path;
  }
  const Door other;
  EXPECT_NE(other.token, door.token);
  EXPECT_NE(other.room, door.room);
}

// A page of another name that its owner points at 127.0.0.1 is the browser's same origin as this
// server, but for the Host.
TEST(Gates, AnotherHostIsRefusedWhateverItBrings) {
  const Door door;
  const std::string cookie = "sotto=" + door.token;
  for (const std::string host : {"127.0.0.1:8080", "localhost:8080"})
    EXPECT_EQ(door.judge(door.room + "/", "", cookie, host).verdict, Verdict::inside);
  for (const std::string host :
       {"", "127.0.0.1", "localhost", "127.0.0.1:8081", "127.0.0.1:80800", "evil.example:8080",
        "127.0.0.1.evil.example:8080", "evil.example", "[::1]:8080", "0.0.0.0:8080", "127.1:8080",
        "2130706433:8080", "127.0.0.1:08080", "127.0.0.1:8080@evil.example", "localhost.:8080"}) {
    EXPECT_EQ(door.judge(door.room + "/", "", cookie, host).verdict, Verdict::refused) << host;
    EXPECT_EQ(door.judge("/", "token=" + door.token, "", host).verdict, Verdict::refused) << host;
  }
  const Gate usual(80);  // whose port browsers leave out
  EXPECT_EQ(usual
                .judge({.method = "GET",
                        .path = "/",
                        .query = usual.url().substr(usual.url().find('?') + 1),
                        .host = "127.0.0.1",
                        .cookie = ""})
                .verdict,
            Verdict::enters);
}

TEST(Gates, TextsAreComparedInWhole) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "xbc", "axc", "abx"})
    EXPECT_FALSE(equal_in_constant_time("abc", other)) << other;
}

}  // namespace
}  // namespace sotto::cli
