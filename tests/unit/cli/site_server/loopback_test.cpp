// The server and its clients, good and bad, over real sockets.
#include "cli/site_server/loopback.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

using std::chrono::milliseconds;

class Running {
 public:
  explicit Running(LoopbackLimits limits = {}, std::size_t body = 5) : server_(0, limits) {
    if (pipe(stop_.data()) != 0) throw std::runtime_error("no pipe");
    thread_ = std::thread([this, body] {
      server_.run(stop_[0], [body](const HttpRequest& request) {
        return HttpResponse{.body = request.path == "/big" ? std::string(body, 'x') : "hello"};
      });
    });
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    end();
    close(stop_[0]);
    close(stop_[1]);
  }
  void end() {
    if (!thread_.joinable()) return;
    EXPECT_EQ(write(stop_[1], "", 1), 1);
    thread_.join();
  }
  [[nodiscard]] int port() const { return server_.port(); }

 private:
  LoopbackServer server_;
  std::array<int, 2> stop_{};
  std::thread thread_;
};

class Client {
 public:
  explicit Client(int port, const char* to = "127.0.0.1")
      : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, to, &address.sin_addr);
    connected = connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const timeval patience{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(socket_); }

  bool say(const std::string& text) const {
    return send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  // Until the server hangs up.
  [[nodiscard]] std::string all() const {
    std::string text;
    std::array<char, 65536> bytes{};
    for (ssize_t count = 0; (count = recv(socket_, bytes.data(), bytes.size(), 0)) > 0;)
      text.append(bytes.data(), static_cast<std::size_t>(count));
    return text;
  }
  bool connected = false;

 private:
  int socket_;
};

const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

std::string asked(int port, const std::string& request) {
  const Client client(port);
  EXPECT_TRUE(client.say(request));
  return client.all();
}
bool starts(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }
bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Loopback, ARequestIsAnsweredAndTheConnectionEnds) {
  const Running server;
  const std::string text = asked(server.port(), get);
  EXPECT_TRUE(starts(text, "HTTP/1.1 200 OK\r\n")) << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\nhello")) << text;
  for (const char* field :
       {"Connection: close", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
        "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY", "frame-ancestors 'none'",
        "default-src 'none'", "Content-Length: 5"}) {
    EXPECT_TRUE(mentions(text, field)) << field;
  }
  EXPECT_FALSE(mentions(text, "script-src"));
  const std::string head = asked(server.port(), "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(mentions(head, "Content-Length: 5") && head.ends_with("\r\n\r\n")) << head;
}

TEST(Loopback, ARequestMayComeInPieces) {
  const Running server;
  const Client client(server.port());
  for (const char c : get) {
    ASSERT_TRUE(client.say(std::string(1, c)));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(client.all().ends_with("hello"));
}

TEST(Loopback, WhatIsWrongIsAnsweredAlsoWhileTheClientStillTalks) {
  const Running server;
  EXPECT_TRUE(starts(asked(server.port(), "nonsense\r\n"), "HTTP/1.1 400 "));
  EXPECT_TRUE(
      starts(asked(server.port(), "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(200000, 'x')),
             "HTTP/1.1 431 "));
  EXPECT_TRUE(starts(asked(server.port(), "GET /" + std::string(100000, 'x')), "HTTP/1.1 414 "));
  EXPECT_TRUE(starts(asked(server.port(), get + std::string(100000, 'x')),
                     "HTTP/1.1 200 "));  // one request a connection
}

TEST(Loopback, WhoIsSlowIsSentAway) {
  const Running server({.connections = 4, .head = milliseconds(500), .body = milliseconds(500)});
  const Client silent(server.port());
  const Client slow(server.port());
  ASSERT_TRUE(slow.say("GET / HT"));
  EXPECT_EQ(silent.all(), "");
  EXPECT_TRUE(starts(slow.all(), "HTTP/1.1 408 "));
  // a byte now and then does not buy more time
  const Client trickling(server.port());
  int bytes = 0;
  for (constexpr int most = 1000; bytes < most && trickling.say("G"); ++bytes)
    std::this_thread::sleep_for(milliseconds(20));
  EXPECT_LT(bytes, 1000);
}

TEST(Loopback, ManyWhoSayNothingKeepNobodyOut) {
  const Running server(
      {.connections = 4, .head = milliseconds(60000), .body = milliseconds(60000)});
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(std::make_unique<Client>(server.port()));
  EXPECT_TRUE(asked(server.port(), get).ends_with("hello"));
  EXPECT_EQ(silent.front()->all(), "");  // made room
}

TEST(Loopback, WhoDoesNotTakeTheAnswerHoldsUpNobodyAndIsSentAway) {
  constexpr std::size_t size = 50'000'000;
  const Running server({.connections = 4, .head = milliseconds(60000), .body = milliseconds(100)},
                       size);
  const Client lazy(server.port());
  ASSERT_TRUE(lazy.say("GET /big HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_TRUE(asked(server.port(), get).ends_with("hello"));
  std::this_thread::sleep_for(milliseconds(2000));
  EXPECT_LT(lazy.all().size(), size);
}

TEST(Loopback, ALargeAnswerArrivesInWhole) {
  constexpr std::size_t size = 20'000'000;
  const Running server({}, size);
  const std::string text = asked(server.port(), "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(text.size() - text.find("\r\n\r\n") - 4, size);
}

TEST(Loopback, ItEndsWithClientsInEveryState) {
  Running server({}, 50'000'000);
  const Client silent(server.port());
  const Client begun(server.port());
  const Client lazy(server.port());
  ASSERT_TRUE(begun.say("GET") && lazy.say("GET /big HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_TRUE(asked(server.port(), get).ends_with("hello"));
  server.end();
  EXPECT_EQ(silent.all(), "");
}

TEST(Loopback, NoOtherAddressLeadsToIt) {
  const Running server;
  EXPECT_TRUE(Client(server.port()).connected);
  EXPECT_FALSE(Client(server.port(), "127.0.0.2").connected);  // this machine, too
}

TEST(Loopback, APortThatIsTakenSaysSo) {
  const LoopbackServer first(0);
  try {
    const LoopbackServer second(first.port());
    FAIL();
  } catch (const InvalidValue& error) {
    EXPECT_TRUE(mentions(error.what(), "is in use")) << error.what();
  }
}

}  // namespace
}  // namespace sotto::cli
