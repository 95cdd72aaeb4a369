// The transport between members and coordinator: whole messages, from listed members only, and
// within the limits.
#include "transport.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "acceptor.hpp"
#include "federated/api/frames.hpp"
#include "federated/api/identity.hpp"
#include "sotto/plan/text.hpp"
#include "wire.hpp"

namespace sotto {
namespace {

using namespace std::chrono_literals;

constexpr int members = 3;

/// Three members with a coordinator's server in this process.
class Door {
 public:
  explicit Door(std::int64_t size = 3, std::chrono::seconds coordinator_valid = 24h,
                std::int64_t deadline = 20)
      : relay_(make_tls_identity(coordinator_valid)) {
    session_.title = "a sum";
    session_.nonce = std::string(32, 'a');
    for (int i = 0; i < members; ++i) {
      keys_.push_back(make_member_key("member-" + std::to_string(i + 1)));
      session_.members.push_back(card_of(keys_.back()));
    }
    session_.threshold = 3;
    session_.honest = 2;
    session_.deadline = deadline;
    session_.relation = "add-remove";
    session_.items = {{"x", size, 100, 1, 0, 1e9, 1}};
    session_.plan = print(plan_of_sums(session_));
    session_.certificate = relay_.certificate;
    require_sound(session_);
    context_ = context_of(session_);
  }
  ~Door() { close(); }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  void open(const std::string& also_trusted = "") {
    std::string trusted = also_trusted;
    for (const Member& member : session_.members) trusted += member.certificate;
    relay_primitives_ = real_primitives(64);
    Coordinator::Options with;
    with.wake = [this](std::int64_t member) {
      if (server_) server_->wake(member);
    };
    with.on_event = [this](const std::string& what) {
      const std::lock_guard lock(said_mutex_);
      said_ += what + "\n";
    };
    coordinator_ = std::make_unique<Coordinator>(context_, *relay_primitives_, with);
    server_ = std::make_unique<RelayServer>(
        *coordinator_,
        RelayServer::Options{
            address, {relay_, trusted}, members, largest_message(session_), with.on_event});
    thread_ = std::thread([this] { server_->serve([this](int port) { port_ = port; }); });
    while (port_ == 0) std::this_thread::sleep_for(1ms);
  }
  void close() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  void wait() { thread_.join(); }

  [[nodiscard]] std::string target() const { return host + ":" + std::to_string(port_); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::size_t unauthenticated() const { return server_->unauthenticated(); }
  [[nodiscard]] Tls tls(int i) const {
    return {keys_[static_cast<std::size_t>(i)].tls, relay_.certificate};
  }
  [[nodiscard]] const MemberKey& key(int i) const { return keys_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const SessionContext& session() const { return context_; }
  [[nodiscard]] const TlsIdentity& relay() const { return relay_; }
  [[nodiscard]] const Coordinator& coordinator() const { return *coordinator_; }
  [[nodiscard]] Connector connect(const Tls& tls) const {
    return grpc_connect(target(), tls, largest_message(session_));
  }

  [[nodiscard]] bool has_said(const std::string& what) {
    const std::lock_guard lock(said_mutex_);
    return said_.find(what) != std::string::npos;
  }

  std::string address = "127.0.0.1:0", host = "127.0.0.1";

 private:
  std::mutex said_mutex_;
  std::string said_;
  Session session_;
  SessionContext context_;
  TlsIdentity relay_;
  std::vector<MemberKey> keys_;
  std::unique_ptr<Primitives> relay_primitives_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<RelayServer> server_;
  std::thread thread_;
  std::atomic<int> port_ = 0;
};

struct MemoryStore : MemberStore {
  void keep(const Bytes& state) override { state_ = state; }
  std::optional<Bytes> last_state() override { return state_; }
  std::optional<Bytes> state_;
};

struct CountingWork : MemberWork {
  explicit CountingWork(std::int64_t a_size) : size(a_size) {}
  Bytes contribution(std::int64_t) override {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
    return elements(numbers, 64);
  }
  void take(std::int64_t, const RoundResult& result) override { sum = centred(result.total, 64); }
  [[nodiscard]] Bytes progress() const override { return {}; }
  void resume(const Bytes&) override {}
  std::int64_t size;
  std::vector<std::int64_t> sum;
};

void take_part_as(const Door& door, int i, const Connector& connect, CountingWork& work,
                  std::chrono::seconds patience = 20s) {
  const auto primitives = real_primitives(64, door.key(i).seed);
  MemoryStore store;
  take_part({door.session(), i, *primitives, connect, {}, patience}, store, work);
}

template <class Call>
std::string refused(Call call) {
  try {
    call();
  } catch (const ProtocolError& error) {
    return error.what();
  } catch (const LinkLost& error) {
    return std::string("lost: ") + error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Frames, AMessageOfSeveralFramesRoundTrips) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, frame_size, frame_size + 1, 3 * frame_size}) {
    Bytes message(size, 'x');
    for (std::size_t i = 0; i < size; i += 977) message[i] = static_cast<char>(i);
    Assembly assembly(size);
    std::optional<Bytes> whole;
    int frames = 0;
    EXPECT_TRUE(for_each_frame(message, [&](std::uint64_t offset, std::string_view bytes) {
      EXPECT_FALSE(whole);
      EXPECT_LE(bytes.size(), frame_size);
      whole = assembly.take(message.size(), offset, bytes);
      ++frames;
      return true;
    }));
    EXPECT_EQ(whole, message);
    EXPECT_EQ(frames, std::max<std::size_t>(1, (size + frame_size - 1) / frame_size));
  }
}

TEST(Frames, WhatIsTooLargeOrOutOfOrderIsRefused) {
  const std::string part(10, 'x');
  EXPECT_THROW((void)Assembly(20).take(21, 0, part), ProtocolError);  // before a byte of it is kept
  EXPECT_THROW((void)Assembly(~0ULL).take(~0ULL, ~0ULL - 3, part),
               ProtocolError);                                         // it starts at its end
  EXPECT_THROW((void)Assembly(20).take(5, 0, part), ProtocolError);    // more than announced
  EXPECT_THROW((void)Assembly(20).take(20, 10, part), ProtocolError);  // no beginning
  EXPECT_THROW((void)Assembly(20).take(20, 0, ""), ProtocolError);     // a frame for ever
  EXPECT_THROW((void)Assembly(1U << 22U).take(1U << 22U, 0, std::string(frame_size + 1, 'x')),
               ProtocolError);
  Assembly assembly(20);
  EXPECT_FALSE(assembly.take(20, 0, part));
  EXPECT_THROW((void)assembly.take(20, 0, part), ProtocolError);   // once more from the start
  EXPECT_THROW((void)assembly.take(19, 10, part), ProtocolError);  // another length
  EXPECT_EQ(assembly.take(20, 10, part), part + part);
}

TEST(Frames, BytesAreThoseOfTheProtocolBuffer) {
  for (const auto& [total, offset, bytes] : {std::tuple{0ULL, 0ULL, Bytes()},
                                             {3ULL, 0ULL, Bytes("abc")},
                                             {1ULL << 40U, 300ULL, Bytes(100000, '\0')}}) {
    relay::Frame frame;
    frame.set_total(total);
    frame.set_offset(offset);
    frame.set_bytes(bytes);
    EXPECT_EQ(to_bytes(total, offset, bytes), frame.SerializeAsString());
    EXPECT_EQ(parse_frame(frame.SerializeAsString()), (Frame{total, offset, bytes}));
  }
}

TEST(Frames, UnknownFieldsAreSkippedAndOtherBytesRefused) {
  const Bytes known = to_bytes(3, 0, "abc");
  const Bytes unknown =
      Bytes("\x20\x07\x29", 3) + Bytes(8, 'x') + Bytes("\x32\x02zz\x3d", 5) + "1234";
  EXPECT_EQ(parse_frame(unknown + known), (Frame{3, 0, "abc"}));
  relay::Frame frame;
  ASSERT_TRUE(frame.ParseFromString(unknown + known));
  EXPECT_EQ(frame.bytes(), "abc");
  for (std::size_t cut = 1; cut < known.size(); ++cut) {  // within a field, or between two
    const Bytes part = known.substr(0, cut);
    if (frame.ParseFromString(part)) {
      EXPECT_EQ(parse_frame(part).total, frame.total());
    } else {
      EXPECT_THROW((void)parse_frame(part), ProtocolError);
    }
  }
  EXPECT_THROW((void)parse_frame(Bytes("\x08") + Bytes(10, '\xff')),
               ProtocolError);  // a number without an end
  EXPECT_THROW((void)parse_frame(Bytes("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")),
               ProtocolError);                                    // longer than memory
  EXPECT_THROW((void)parse_frame(Bytes("\x23")), ProtocolError);  // a group
}

TEST(Transport, ThreeMembersSumVectorsOfManyFrames) {
  const std::int64_t size = 400000;  // 3.2 MB
  Door door(size);
  door.open();
  std::vector<CountingWork> works(members, CountingWork(size));
  std::vector<std::thread> threads;
  for (int i = 0; i < members; ++i)
    threads.emplace_back([&, i] {
      take_part_as(door, i, door.connect(door.tls(i)), works[static_cast<std::size_t>(i)]);
    });
  for (std::thread& thread : threads) thread.join();
  door.wait();
  ASSERT_EQ(door.coordinator().results().size(), 1U);
  for (const CountingWork& work : works) {
    ASSERT_EQ(work.sum.size(), static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < work.sum.size(); i += 999)
      ASSERT_EQ(work.sum[i], members * static_cast<std::int64_t>(i));
  }
}

TEST(Transport, AForeignCertificateDoesNotReachTheCoordinator) {
  Door door;
  door.open();
  const std::string why = refused([&] {
    (void)door.connect({make_tls_identity(), door.relay().certificate})();
  });
  EXPECT_TRUE(has(why, "lost: ")) << why;
  while (!door.has_said("certificate")) std::this_thread::sleep_for(1ms);
}

TEST(Transport, ACoordinatorWithAnotherCertificateIsRefused) {
  Door door;
  door.open();
  Tls tls = door.tls(0);
  tls.trusted = make_tls_identity().certificate;
  const std::string why = refused([&] { (void)door.connect(tls)(); });
  EXPECT_TRUE(has(why, "is not the coordinator of this session")) << why;
}

TEST(Transport, AnExpiredCertificateIsRefusedWithItsDay) {
  Door door;
  door.open();
  const TlsIdentity expired = make_tls_identity(-1h);
  EXPECT_TRUE(has(refused([&] {
                    (void)door.connect({expired, door.relay().certificate});
                  }),
                  "this member's own certificate expired on 20"));
  EXPECT_TRUE(has(refused([&] {
                    (void)door.connect({door.key(0).tls, expired.certificate});
                  }),
                  "the coordinator's certificate expired on 20"));
  EXPECT_TRUE(has(refused([&] { Door(3, -1h).open(); }), "certificate expired on 20"));
}

// The server verifies certificates, too: it refuses a listed certificate that has expired.
TEST(Transport, TheServerRefusesAnExpiredCertificateThatItLists) {
  Door door;
  const TlsIdentity expired = make_tls_identity(-1h);
  door.open(expired.certificate);
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride("sotto");
  const auto channel = grpc::CreateCustomChannel(
      door.target(),
      grpc::SslCredentials({door.relay().certificate, expired.key, expired.certificate}),
      arguments);
  const auto stub = relay::Relay::NewStub(channel);
  grpc::ClientContext context;
  const auto stream = stub->Join(&context);
  relay::Frame frame;
  EXPECT_FALSE(stream->Read(&frame));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

// A hostile certificate authority signs a stranger's certificate: the connection succeeds, but the
// hello is refused.
TEST(Transport, ATrustedCertificateWithoutAMembersKeyIsRefused) {
  Door door;
  const TlsIdentity hostile = make_tls_identity();
  door.open(hostile.certificate);
  const auto primitives = real_primitives(64, signing_seed());
  MemoryStore store;
  CountingWork work(3);
  const std::string why = refused([&] {
    take_part(
        {door.session(), 0, *primitives, door.connect({hostile, door.relay().certificate}), {}, 5s},
        store, work);
  });
  EXPECT_TRUE(has(why, "the coordinator refuses")) << why;
  EXPECT_TRUE(has(why, "member-1")) << why;
  EXPECT_FALSE(store.last_state());
}

TEST(Transport, AnotherSessionIsRefusedByTheMember) {
  Door door;
  door.open();
  Session other = door.session().session;
  other.nonce = std::string(32, 'b');
  const SessionContext of_another = context_of(other);
  const auto primitives = real_primitives(64, door.key(0).seed);
  MemoryStore store;
  CountingWork work(3);
  const std::string why = refused([&] {
    take_part({of_another, 0, *primitives, door.connect(door.tls(0)), {}, 5s}, store, work);
  });
  EXPECT_TRUE(has(why, "session")) << why;
  EXPECT_FALSE(has(why, "lost")) << why;
  EXPECT_FALSE(store.last_state());
}

/// A stream that does not follow the protocol.
struct RawStream {
  explicit RawStream(const Door& door) {
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("sotto");
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const Tls tls = door.tls(0);
    stub = relay::Relay::NewStub(grpc::CreateCustomChannel(
        door.target(), grpc::SslCredentials({tls.trusted, tls.own.key, tls.own.certificate}),
        arguments));
    stream = stub->Join(&context);
    relay::Frame challenge;
    EXPECT_TRUE(stream->Read(&challenge));
  }
  grpc::Status end_after(std::uint64_t total, std::uint64_t offset, const std::string& bytes) {
    relay::Frame frame;
    frame.set_total(total);
    frame.set_offset(offset);
    frame.set_bytes(bytes);
    (void)stream->Write(frame);
    while (stream->Read(&frame)) {
    }
    return stream->Finish();
  }
  grpc::ClientContext context;
  std::unique_ptr<relay::Relay::Stub> stub;
  std::unique_ptr<grpc::ClientReaderWriter<relay::Frame, relay::Frame>> stream;
};

TEST(Transport, MalformedAndOversizedFramesAreRefusedWithAReason) {
  Door door;
  door.open();
  const auto refusal = [&](std::uint64_t total, std::uint64_t offset, const std::string& bytes) {
    const grpc::Status status = RawStream(door).end_after(total, offset, bytes);
    EXPECT_FALSE(status.ok());
    return std::to_string(status.error_code()) + " " + status.error_message();
  };
  const std::string unauthenticated = std::to_string(grpc::StatusCode::UNAUTHENTICATED) + " ";
  EXPECT_TRUE(refusal(std::uint64_t{1} << 60U, 0, "x")
                  .starts_with(unauthenticated +
                               "a frame announces a message of 1152921504606846976 bytes"));
  EXPECT_TRUE(refusal(10, 5, "x")
                  .starts_with(unauthenticated + "the frames of a message are out of order"));
  EXPECT_TRUE(refusal(3, 0, "xyz").starts_with(unauthenticated));
  EXPECT_TRUE(refusal(0, 0, "").starts_with(unauthenticated));
  EXPECT_TRUE(refusal(100, 0, std::string(2 * frame_size, 'x'))
                  .starts_with(std::to_string(grpc::StatusCode::RESOURCE_EXHAUSTED)));
  std::uint64_t state = 1;
  for (int i = 0; i < 50; ++i) {  // noise
    std::string bytes;
    for (int j = 0; j < 100; ++j)
      bytes += static_cast<char>(
          (state = state * 6364136223846793005ULL + 1442695040888963407ULL) >> 56U);
    EXPECT_TRUE(refusal(bytes.size(), 0, bytes).starts_with(unauthenticated));
  }
  // The server still serves others.
  std::vector<CountingWork> works(members, CountingWork(3));
  std::vector<std::thread> threads;
  for (int i = 0; i < members; ++i)
    threads.emplace_back([&, i] {
      take_part_as(door, i, door.connect(door.tls(i)), works[static_cast<std::size_t>(i)]);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(works[0].sum, (std::vector<std::int64_t>{0, 3, 6}));
}

/// A client without TLS.
class Client {
 public:
  explicit Client(int port, const std::string& from = "127.0.0.1")
      : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    inet_pton(AF_INET, from.c_str(), &own.sin_addr);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    socklen_t size = sizeof own;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size);
    peer = "ipv4:" + from + ":" + std::to_string(ntohs(own.sin_port));
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(socket_); }
  void say(const std::string& bytes) const {
    (void)::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Returns whether the other end closes the connection within this time.
  [[nodiscard]] bool is_closed(std::chrono::milliseconds patience) const {
    const timeval time{patience.count() / 1000, patience.count() % 1000 * 1000};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    char byte = 0;
    const ssize_t count = recv(socket_, &byte, 1, 0);
    return count == 0 || (count < 0 && errno != EAGAIN);
  }
  std::string peer;

 private:
  int socket_;
};

bool has_ipv6() {
  const int file = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 own{};
  own.sin6_family = AF_INET6;
  own.sin6_addr = in6addr_loopback;
  const bool has = bind(file, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0;
  close(file);
  return has;
}

// The server recognises an authenticated connection by the address in gRPC's notation. A notation
// that it does not recognise would disconnect members.
TEST(Transport, AMemberStaysConnectedWhateverItsAddressLooksLike) {
  for (const auto& [address, host] : {std::pair{"127.0.0.1:0", "127.0.0.1"},
                                      {"[::]:0", "127.0.0.1"},
                                      {"0.0.0.0:0", "127.0.0.1"},
                                      {"[::]:0", "[::1]"},
                                      {"[::1]:0", "[::1]"},
                                      {"localhost:0", "localhost"}}) {
    if (host[0] == '[' && !has_ipv6()) continue;
    Door door;
    door.address = address;
    door.host = host;
    door.open();
    std::optional<Client> stranger;
    if (host[0] == '1') stranger.emplace(door.port());
    RawStream member(door);  // it has read the coordinator's challenge
    const std::size_t others = stranger ? 1 : 0;
    while (door.unauthenticated() < others) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(door.unauthenticated(), others) << address << " " << host;
    EXPECT_EQ(member.end_after(3, 0, "xyz").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  }
}

/// An acceptor, and the descriptors that it forwards.
struct Accepting {
  explicit Accepting(const grpc_detail::Acceptor::Limits& limits)
      : acceptor("127.0.0.1:0", limits) {
    acceptor.start([this](int, int fd) {
      const std::lock_guard lock(mutex);
      descriptors.push_back(fd);
    });
  }
  ~Accepting() {
    acceptor.stop();
    for (const int fd : descriptors) close(fd);
  }
  Accepting(const Accepting&) = delete;
  Accepting& operator=(const Accepting&) = delete;
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return descriptors.size();
  }
  void wait_for(std::size_t how_many) {
    while (count() < how_many) std::this_thread::sleep_for(1ms);
  }
  std::mutex mutex;
  std::vector<int> descriptors;
  grpc_detail::Acceptor acceptor;
};

const std::string hello_record = std::string("\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9);

TEST(Acceptor, ForwardsWholeHandshakeRecordsAndClosesOthers) {
  Accepting here({.silent = 8, .handshakes = 8, .silent_patience = 1000s});
  const Client whole(here.acceptor.port());
  const Client parts(here.acceptor.port());
  for (const char c : hello_record) {
    parts.say(std::string(1, c));
    std::this_thread::sleep_for(2ms);
  }
  whole.say(hello_record + "and more");
  here.wait_for(2);
  for (const std::string& junk :
       {std::string("GET / HTTP/1.1\r\n"), std::string("\x16\x02\x01", 3),
        std::string("\x16\x03\x01\x00\x00", 5), std::string("\x16\x03\x01\xff\xff", 5),
        std::string("\x16\x03\x01\x00\x04\x02", 6), std::string("\x17")}) {
    const Client client(here.acceptor.port());
    client.say(junk);
    EXPECT_TRUE(client.is_closed(10s));
  }
  EXPECT_EQ(here.count(), 2U);
  EXPECT_EQ(here.acceptor.refused(), 6U);
  EXPECT_FALSE(whole.is_closed(50ms));
  std::string bytes(100, 0);  // nothing was taken from what was looked at
  const int first = here.descriptors.front();
  const ssize_t size = recv(first, bytes.data(), bytes.size(), 0);
  EXPECT_EQ(bytes.substr(0, hello_record.size()), hello_record) << size;
}

TEST(Acceptor, ClosesSilentAndUnauthenticatedConnectionsInTime) {
  Accepting here(
      {.silent = 8, .handshakes = 8, .silent_patience = 300ms, .handshake_patience = 600ms});
  const Client silent(here.acceptor.port());
  const Client half(here.acceptor.port());
  half.say(hello_record.substr(0, 7));
  const Client slow(here.acceptor.port());
  slow.say(hello_record);
  const Client member(here.acceptor.port());
  member.say(hello_record);
  here.wait_for(2);
  here.acceptor.authenticated(member.peer);
  EXPECT_TRUE(silent.is_closed(10s));
  EXPECT_TRUE(half.is_closed(10s));
  EXPECT_TRUE(slow.is_closed(10s));
  EXPECT_FALSE(member.is_closed(1s));
}

TEST(Acceptor, WhereSeatsAreShortTheAddressThatHoldsTheMostLosesItsOldest) {
  Accepting here({.silent = 20, .handshakes = 20, .handshake_grace = 0ms});
  const Client member(here.acceptor.port(), "127.0.0.9");
  member.say(hello_record);
  here.wait_for(1);
  const Client quiet(here.acceptor.port(), "127.0.0.9");
  std::vector<std::unique_ptr<Client>> slow;
  std::vector<std::unique_ptr<Client>> idle;
  for (std::size_t i = 0; i < 100; ++i) {
    slow.push_back(std::make_unique<Client>(here.acceptor.port(), "127.0.0.7"));
    slow.back()->say(hello_record);
    here.wait_for(2 + i);
    idle.push_back(std::make_unique<Client>(here.acceptor.port(), "127.0.0.7"));
  }
  for (auto* const all : {&slow, &idle}) {
    for (std::size_t i = 0; i < 81; ++i) EXPECT_TRUE((*all)[i]->is_closed(10s)) << i;
    for (std::size_t i = 81; i < 100; ++i) EXPECT_FALSE((*all)[i]->is_closed(5ms)) << i;
  }
  EXPECT_FALSE(member.is_closed(50ms));
  EXPECT_FALSE(quiet.is_closed(50ms));
}

TEST(Acceptor, AHandshakeHasItsTimeExceptWhereAnotherAddressNeedsTheSeat) {
  Accepting here({.silent = 20, .handshakes = 20, .handshake_grace = 1000s});
  std::vector<std::unique_ptr<Client>> first;
  for (std::size_t i = 0; i < 20; ++i) {
    first.push_back(std::make_unique<Client>(here.acceptor.port(), "127.0.0.7"));
    first.back()->say(hello_record);
    here.wait_for(1 + i);
  }
  const Client same(here.acceptor.port(), "127.0.0.7");
  same.say(hello_record);
  EXPECT_TRUE(same.is_closed(10s));
  for (const auto& one : first) EXPECT_FALSE(one->is_closed(5ms));
  const Client other(here.acceptor.port(), "127.0.0.9");
  other.say(hello_record);
  EXPECT_TRUE(first.front()->is_closed(10s));
  EXPECT_FALSE(other.is_closed(50ms));
}

TEST(Acceptor, ManyAddressesWithFewConnectionsEachLoseTheOldestOfAll) {
  Accepting here({.silent = 8, .handshakes = 8});
  std::vector<std::unique_ptr<Client>> all;
  for (int i = 0; i < 9; ++i)
    all.push_back(std::make_unique<Client>(here.acceptor.port(),
                                           "127.0.0." + std::to_string(10 + (i + 1) / 2)));
  EXPECT_TRUE(all.front()->is_closed(10s));
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_FALSE(all[i]->is_closed(20ms)) << i;
}

TEST(Acceptor, LimitsLeaveFilesForMembers) {
  const auto seats = grpc_detail::Acceptor::limits_for(3);
  EXPECT_EQ(seats.silent, 512U);
  EXPECT_EQ(seats.handshakes, 256U);
  EXPECT_THROW(grpc_detail::Acceptor("192.0.2.1:1", seats), std::runtime_error);
  EXPECT_THROW(grpc_detail::Acceptor("nonsense", seats), std::runtime_error);
  const grpc_detail::Acceptor first("127.0.0.1:0", seats);
  EXPECT_THROW(grpc_detail::Acceptor("127.0.0.1:" + std::to_string(first.port()), seats),
               std::runtime_error);
}

/// A link that sends junk at its n-th message.
class JunkLink : public Link {
 public:
  JunkLink(std::unique_ptr<Link> link, int at) : link_(std::move(link)), at_(at) {}
  void send(const Bytes& message) override {
    link_->send(at_-- == 0 ? Bytes(message.size(), 'j') : message);
  }
  std::optional<Bytes> receive(std::chrono::milliseconds patience) override {
    return link_->receive(patience);
  }

 private:
  std::unique_ptr<Link> link_;
  int at_;
};

TEST(Transport, AMembersJunkAfterItsHelloClosesItsConnectionWithTheReason) {
  Door door(3, 24h, 1);
  door.open();
  std::vector<std::thread> threads;
  std::vector<CountingWork> works(members, CountingWork(3));
  std::string why;
  for (int i = 0; i < members; ++i) {
    threads.emplace_back([&, i] {
      const Connector good = door.connect(door.tls(i));
      const Connector junk = [&]() -> std::unique_ptr<Link> {
        return std::make_unique<JunkLink>(good(), 1);
      };
      const std::string said = refused([&] {
        take_part_as(door, i, i == 0 ? junk : good, works[static_cast<std::size_t>(i)], 20s);
      });
      if (i == 0) why = said;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(has(why, "the coordinator refuses")) << why;
  door.wait();
  EXPECT_TRUE(door.coordinator().failure());  // of three, none may be missing
}

/// A link whose connection outlives it.
struct SharedLink : Link {
  explicit SharedLink(std::shared_ptr<Link> a_link) : link(std::move(a_link)) {}
  void send(const Bytes& message) override { link->send(message); }
  std::optional<Bytes> receive(std::chrono::milliseconds patience) override {
    return link->receive(patience);
  }
  std::shared_ptr<Link> link;
};

/// Takes part in a separate thread. Stores the error that ends it, so that it fails the test and
/// not the process.
class TakesPart {
 public:
  TakesPart(const Door& door, int i, const Connector& connect, MemberStore& store)
      : thread_([this, &door, i, connect, &store] {
          try {
            const auto primitives = real_primitives(64, door.key(i).seed);
            const auto on_progress = [this](const std::string&, double) { return !stopped_; };
            take_part({door.session(), i, *primitives, connect, on_progress, 20s}, store, work);
          } catch (const std::exception& error) {
            ended = error.what();
          }
        }) {}
  void stop() {
    stopped_ = true;
    wait();
  }
  void wait() { thread_.join(); }

  CountingWork work{3};
  std::string ended;

 private:
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

// The member's process is stopped after its hello, and restarted from its disk; its first
// connection stays open and silent.
TEST(Transport, AReconnectingMemberReplacesItsOldConnection) {
  Door door;
  door.open();
  const Connector connect = door.connect(door.tls(0));
  RawStream silent(door);  // a half-open connection that never says who it is holds up nobody
  std::shared_ptr<Link> link;
  MemoryStore store;
  {
    TakesPart first(
        door, 0, [&] { return std::make_unique<SharedLink>(link = connect()); }, store);
    while (!door.has_said("member-1 takes part")) std::this_thread::sleep_for(1ms);
    first.stop();
    ASSERT_EQ(first.ended, "stopped");
  }
  std::vector<MemoryStore> stores(members);
  TakesPart again(door, 0, connect, store);
  TakesPart second(door, 1, door.connect(door.tls(1)), stores[1]);
  TakesPart third(door, 2, door.connect(door.tls(2)), stores[2]);
  for (TakesPart* one : {&again, &second, &third}) {
    one->wait();
    EXPECT_EQ(one->work.sum, (std::vector<std::int64_t>{0, 3, 6})) << one->ended;
  }
  const std::string why = refused([&] {
    while (true) (void)link->receive(100ms);
  });
  EXPECT_TRUE(has(why, "lost: ")) << why;
}

}  // namespace
}  // namespace sotto
