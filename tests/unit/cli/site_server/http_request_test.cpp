// What is a request, and what is refused as none.
#include "cli/site_server/http_request.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sotto::cli {
namespace {

const std::string good =
    "GET /data/shop/?before=7 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: a browser\r\nCookie: "
    "a=b; sotto=c\r\n\r\n";

int status_of(const std::string& bytes) { return parse_http(bytes).status; }
std::string with_field(const std::string& field) {
  return "GET / HTTP/1.1\r\nHost: localhost:1\r\n" + field + "\r\n\r\n";
}

TEST(HttpRequests, OneIsReadInWhole) {
  const HttpParsed parsed = parse_http(good);
  ASSERT_EQ(parsed.status, 200);
  EXPECT_EQ(parsed.request.method, "GET");
  EXPECT_EQ(parsed.request.path, "/data/shop/");
  EXPECT_EQ(parsed.request.query, "before=7");
  EXPECT_EQ(parsed.request.host, "127.0.0.1:8080");
  EXPECT_EQ(parsed.request.cookie, "a=b; sotto=c");
  EXPECT_FALSE(parsed.request.has_body);
}

TEST(HttpRequests, EveryBeginningOfOneWaitsForTheRest) {
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(status_of(good.substr(0, size)), 0) << size;
}

TEST(HttpRequests, FieldNamesHaveNoCaseAndValuesNoBlanksAround) {
  const HttpParsed parsed =
      parse_http("GET / HTTP/1.0\r\nhOsT:\t localhost:1 \t\r\ncookie:x=1\r\nCOOKIE: y=2\r\n\r\n");
  ASSERT_EQ(parsed.status, 200);
  EXPECT_EQ(parsed.request.host, "localhost:1");
  EXPECT_EQ(parsed.request.cookie, "x=1;y=2");
}

TEST(HttpRequests, NothingIsDecoded) {
  const HttpParsed parsed = parse_http("GET /%2e%2e/a%00?token=%41?b HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_EQ(parsed.status, 200);
  EXPECT_EQ(parsed.request.path, "/%2e%2e/a%00");
  EXPECT_EQ(parsed.request.query, "token=%41?b");
}

TEST(HttpRequests, WhatIsNoRequestLineIsRefused) {
  for (const std::string line :
       {"", "GET", "GET /", "GET  /  HTTP/1.1", " GET / HTTP/1.1", "GET / HTTP/1.1 ",
        "G@T / HTTP/1.1", "GET http://h/ HTTP/1.1", "GET * HTTP/1.1", "CONNECT h:1 HTTP/1.1",
        "GET /a b HTTP/1.1", "GET /\tb HTTP/1.1", "GET /\x7f HTTP/1.1", "GET /\xc3\xa4 HTTP/1.1",
        "GET / http/1.1", "GET / HTTP/11", "GET / HTTP/1.10"}) {
    EXPECT_EQ(status_of(line + "\r\nHost: h\r\n\r\n"), 400) << line;
  }
  EXPECT_EQ(status_of(std::string("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 29)), 400);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(status_of("\x16\x03\x01\x02\x01\n"), 400);  // a browser that tries TLS
}

TEST(HttpRequests, WhatIsNoFieldIsRefused) {
  for (const std::string field :
       {"Host: h", "no colon", ": empty", "Na me: x", "Name : x", " folded", "\tfolded",
        "Name: a\rb", "Name: \x01", "Na\xc3\xa4: x"}) {
    EXPECT_EQ(status_of(with_field(field)), 400) << field;
  }
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);  // no host
  EXPECT_EQ(status_of("GET / HTTP/1.1\nHost: h\n\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\n\r\n"), 400);
  EXPECT_EQ(status_of(with_field("Cookie: \xc3\xa4=1")),
            200);  // something else on this host may have set it
}

TEST(HttpRequests, ABodyIsNoticed) {
  EXPECT_FALSE(parse_http(with_field("Content-Length: 0")).request.has_body);
  for (const char* field : {"Content-Length: 1", "content-length: 00", "Content-Length: x",
                            "Transfer-Encoding: chunked", "transfer-encoding: identity"}) {
    EXPECT_TRUE(parse_http(with_field(field)).request.has_body) << field;
  }
}

TEST(HttpRequests, WhatIsTooLongIsRefusedBeforeItEnds) {
  EXPECT_EQ(
      status_of("GET /" + std::string(most_target_bytes - 1, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"),
      200);
  EXPECT_EQ(
      status_of("GET /" + std::string(most_target_bytes, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"),
      414);
  EXPECT_EQ(status_of("GET /" + std::string(2 * most_target_bytes, 'a')), 414);
  EXPECT_EQ(status_of(std::string(most_head_bytes, 'G')), 414);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(most_head_bytes, 'a')), 431);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(most_head_bytes, 'a') +
                      "\r\n\r\n"),
            431);
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (std::size_t i = 0; i < most_fields; ++i) many += "X: 1\r\n";
  EXPECT_EQ(status_of(many), 431);
}

}  // namespace
}  // namespace sotto::cli
