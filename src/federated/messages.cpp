// Writes and reads messages. The bytes that members sign and the wire format are fixed: changing
// one here breaks the protocol.
#include "federated/messages.hpp"

#include <algorithm>

namespace sotto::federated_detail {
namespace {

constexpr std::string_view title = "sotto federated 1";

bool is_ascending(const std::vector<std::int64_t>& members, std::int64_t count) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] < 0 || members[i] >= count || (i > 0 && members[i] <= members[i - 1]))
      return false;
  }
  return true;
}

std::int64_t read_member(Reader& reader, std::int64_t members) {
  const auto member = static_cast<std::int64_t>(reader.number(4));
  if (member >= members)
    throw ProtocolError("a message names member " + std::to_string(member + 1) +
                        ", and the session has " + std::to_string(members) + " members");
  return member;
}

std::size_t read_count(Reader& reader, std::int64_t most) {
  const std::uint64_t count = reader.number(4);
  if (count > static_cast<std::uint64_t>(most))
    throw ProtocolError("a message has more entries than the session has members");
  return static_cast<std::size_t>(count);
}

}  // namespace

Writer& Writer::number(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xFFU);
  return *this;
}
Writer& Writer::bytes(std::string_view bytes) {
  number(bytes.size());
  out_ += bytes;
  return *this;
}
Writer& Writer::numbers(const std::vector<std::int64_t>& values) {
  number(values.size(), 4);
  for (const std::int64_t value : values) number(static_cast<std::uint64_t>(value), 4);
  return *this;
}

std::uint64_t Reader::number(int bytes) {
  if (in_.size() < static_cast<std::size_t>(bytes)) throw ProtocolError("a message ends early");
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |=
        static_cast<std::uint64_t>(static_cast<unsigned char>(in_[static_cast<std::size_t>(i)]))
        << (8 * i);
  in_.remove_prefix(static_cast<std::size_t>(bytes));
  return value;
}
std::string_view Reader::view() {
  const std::uint64_t size = number();
  if (size > in_.size()) throw ProtocolError("a message ends early");
  const std::string_view bytes = in_.substr(0, static_cast<std::size_t>(size));
  in_.remove_prefix(static_cast<std::size_t>(size));
  return bytes;
}
Bytes Reader::bytes() { return Bytes(view()); }
std::vector<std::int64_t> Reader::numbers(std::size_t most) {
  const std::uint64_t count = number(4);
  if (count > most) throw ProtocolError("a message has more entries than the session has members");
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(static_cast<std::int64_t>(number(4)));
  return values;
}
void Reader::end() const {
  if (!in_.empty())
    throw ProtocolError("a message has " + std::to_string(in_.size()) + " bytes after its end");
}

Bytes signed_part(const Envelope& envelope) {
  return Writer()
      .bytes(title)
      .number(static_cast<std::uint64_t>(envelope.kind), 1)
      .number(static_cast<std::uint64_t>(envelope.sender))
      .bytes(envelope.session)
      .number(static_cast<std::uint64_t>(envelope.round))
      .bytes(envelope.body)
      .build();
}

Bytes to_bytes(const Envelope& envelope) {
  return Writer().bytes(signed_part(envelope)).bytes(envelope.signature).build();
}

Envelope read_envelope(std::string_view bytes) {
  Reader outer(bytes);
  Reader inner(outer.view());
  Envelope envelope{};
  if (inner.view() != title)
    throw ProtocolError("a message is of another protocol or version: it does not begin with \"" +
                        std::string(title) + "\"");
  envelope.kind = static_cast<Kind>(inner.number(1));
  envelope.sender = static_cast<std::int64_t>(inner.number());
  envelope.session = inner.bytes();
  envelope.round = static_cast<std::int64_t>(inner.number());
  envelope.body = inner.bytes();
  inner.end();
  envelope.signature = outer.bytes();
  outer.end();
  return envelope;
}

namespace {

void require(const SessionContext& context, const Envelope& envelope, const std::string& whose,
             Kind kind, std::int64_t round) {
  if (envelope.session != context.hash)
    throw ProtocolError("a message of " + whose +
                        " is of another session than the one that was signed");
  if (envelope.kind != kind)
    throw ProtocolError("a message of " + whose + " has kind " +
                        std::to_string(static_cast<int>(envelope.kind)) + ", and kind " +
                        std::to_string(static_cast<int>(kind)) + " comes next");
  if (envelope.round != round) {
    throw ProtocolError("a message of " + whose + " is of round " + std::to_string(envelope.round) +
                        ", not of round " + std::to_string(round));
  }
}

}  // namespace

Envelope read_signed(const SessionContext& context, Primitives& primitives, std::string_view bytes,
                     Kind kind, std::int64_t round) {
  Envelope envelope = read_envelope(bytes);
  if (envelope.sender < 0 || envelope.sender >= context.session.size())
    throw ProtocolError("a message names the sender " + std::to_string(envelope.sender) +
                        ", who is not a member of the session");
  const Member& sender = context.session.members[static_cast<std::size_t>(envelope.sender)];
  require(context, envelope, sender.name, kind, round);
  if (!primitives.is_signed(signed_part(envelope), envelope.signature, sender.key)) {
    throw ProtocolError(
        "a message in the name of " + sender.name +
        " is not signed with that member's key: somebody forged or changed the message");
  }
  return envelope;
}

Envelope read_unsigned(const SessionContext& context, std::string_view bytes, Kind kind,
                       std::int64_t round) {
  Envelope envelope = read_envelope(bytes);
  require(context, envelope, "the coordinator", kind, round);
  return envelope;
}

Bytes signed_message(const SessionContext& context, Primitives& primitives, std::int64_t self,
                     Kind kind, std::int64_t round, Bytes body) {
  Envelope envelope{kind, self, context.hash, round, std::move(body)};
  envelope.signature = primitives.sign(signed_part(envelope));
  return to_bytes(envelope);
}

Bytes unsigned_message(const SessionContext& context, Kind kind, std::int64_t round, Bytes body) {
  return to_bytes(Envelope{kind, coordinator, context.hash, round, std::move(body)});
}

const std::string& name_of(const SessionContext& context, std::int64_t member) {
  return context.session.members.at(static_cast<std::size_t>(member)).name;
}

Bytes to_bytes(const Keys& keys) {
  Writer writer;
  writer.bytes(keys.channel).bytes(keys.mask).bytes(keys.self_mask);
  for (const Bytes& hash : keys.mask_shares) writer.bytes(hash);
  for (const Bytes& hash : keys.self_shares) writer.bytes(hash);
  return writer.build();
}
Keys read_keys(std::string_view bytes, std::int64_t members) {
  Reader reader(bytes);
  Keys keys{reader.bytes(), reader.bytes(), reader.bytes(), {}, {}};
  for (std::int64_t i = 0; i < members; ++i) keys.mask_shares.push_back(reader.bytes());
  for (std::int64_t i = 0; i < members; ++i) keys.self_shares.push_back(reader.bytes());
  reader.end();
  return keys;
}

Bytes signed_part(const SessionContext& context, std::int64_t round, const SealedShares& shares) {
  return Writer()
      .bytes(std::string(title) + " shares")
      .bytes(context.hash)
      .number(static_cast<std::uint64_t>(round))
      .number(static_cast<std::uint64_t>(shares.from), 4)
      .number(static_cast<std::uint64_t>(shares.to), 4)
      .bytes(shares.sealed)
      .build();
}
Bytes to_bytes(const std::vector<SealedShares>& all) {
  Writer writer;
  writer.number(all.size(), 4);
  for (const SealedShares& one : all) {
    writer.number(static_cast<std::uint64_t>(one.from), 4)
        .number(static_cast<std::uint64_t>(one.to), 4)
        .bytes(one.sealed)
        .bytes(one.signature);
  }
  return writer.build();
}
std::vector<SealedShares> read_shares(std::string_view bytes, std::int64_t members) {
  Reader reader(bytes);
  std::vector<SealedShares> all(read_count(reader, members));
  for (SealedShares& one : all) {
    one.from = read_member(reader, members);
    one.to = read_member(reader, members);
    one.sealed = reader.bytes();
    one.signature = reader.bytes();
  }
  reader.end();
  return all;
}

Bytes to_bytes(const SessionContext& context, std::int64_t round, const SurvivorList& list) {
  return Writer()
      .bytes(std::string(title) + " list")
      .bytes(context.hash)
      .number(static_cast<std::uint64_t>(round))
      .numbers(list.sharers)
      .numbers(list.survivors)
      .build();
}
SurvivorList read_list(const SessionContext& context, std::int64_t round, std::string_view bytes) {
  const auto most = static_cast<std::size_t>(context.session.size());
  Reader reader(bytes);
  if (reader.view() != std::string(title) + " list" || reader.view() != context.hash) {
    throw ProtocolError("a list of survivors is of another session than the one that was signed");
  }
  if (static_cast<std::int64_t>(reader.number()) != round)
    throw ProtocolError("a list of survivors is of another round");
  SurvivorList list{reader.numbers(most), reader.numbers(most)};
  reader.end();
  if (!is_ascending(list.sharers, context.session.size()) ||
      !is_ascending(list.survivors, context.session.size()) ||
      !std::includes(list.sharers.begin(), list.sharers.end(), list.survivors.begin(),
                     list.survivors.end())) {
    throw ProtocolError(
        "the coordinator's list of survivors is not in ascending order, or names a member that did "
        "not deal shares");
  }
  // A sum of fewer than t members could contain the noise of fewer than h = t - c honest members.
  if (static_cast<std::int64_t>(list.survivors.size()) < context.session.threshold) {
    throw ProtocolError("the coordinator's list has " + std::to_string(list.survivors.size()) +
                        " survivors, and a sum of fewer than " +
                        std::to_string(context.session.threshold) + " is never opened");
  }
  return list;
}

Bytes to_bytes(const std::vector<NamedBytes>& all) {
  Writer writer;
  writer.number(all.size(), 4);
  for (const NamedBytes& one : all)
    writer.number(static_cast<std::uint64_t>(one.member), 4).bytes(one.bytes);
  return writer.build();
}
std::vector<NamedBytes> read_named(std::string_view bytes, std::int64_t members) {
  Reader reader(bytes);
  std::vector<NamedBytes> all(read_count(reader, members));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].member = read_member(reader, members);
    all[i].bytes = reader.bytes();
    if (i > 0 && all[i].member <= all[i - 1].member)
      throw ProtocolError("a message names members twice, or not in ascending order");
  }
  reader.end();
  return all;
}

Bytes to_bytes(const Masked& masked) {
  return Writer().bytes(masked.sharers).bytes(masked.statement).bytes(masked.vector).build();
}
Masked read_masked(std::string_view bytes) {
  Reader reader(bytes);
  Masked masked{reader.bytes(), reader.bytes(), reader.bytes()};
  reader.end();
  return masked;
}

void add_vector(const SessionContext& context, Primitives& primitives, std::int64_t member,
                Bytes& total, const Bytes& vector, std::int64_t elements) {
  try {
    primitives.add(total, vector, elements);
  } catch (const ProtocolError& error) {
    throw ProtocolError("the vector of " + name_of(context, member) +
                        " cannot be added: " + error.what());
  }
}

std::string purpose(const SessionContext& context, std::int64_t round, const std::string& use,
                    std::int64_t first, std::int64_t second) {
  return Writer()
      .bytes(title)
      .bytes(use)
      .bytes(context.hash)
      .number(static_cast<std::uint64_t>(round))
      .number(static_cast<std::uint64_t>(first))
      .number(static_cast<std::uint64_t>(second))
      .build();
}

Bytes share_hash(Primitives& primitives, const SessionContext& context, std::int64_t round,
                 std::int64_t dealer, std::int64_t holder, const std::string& what,
                 const Bytes& share) {
  return primitives.hash(
      Writer().bytes(purpose(context, round, what, dealer, holder)).bytes(share).build());
}

Bytes sharers_hash(Primitives& primitives, const std::vector<std::int64_t>& sharers) {
  return primitives.hash(Writer().bytes("sharers").numbers(sharers).build());
}

Bytes sharers_statement(const SessionContext& context, std::int64_t round, std::int64_t member,
                        const Bytes& sharers) {
  return Writer()
      .bytes(std::string(title) + " sharers")
      .bytes(context.hash)
      .number(static_cast<std::uint64_t>(round))
      .number(static_cast<std::uint64_t>(member))
      .bytes(sharers)
      .build();
}

Bytes to_bytes(const ListMessage& message) {
  return Writer().bytes(message.list).bytes(to_bytes(message.statements)).build();
}
ListMessage read_list_message(std::string_view bytes, std::int64_t members) {
  Reader reader(bytes);
  ListMessage message{reader.bytes(), read_named(reader.view(), members)};
  reader.end();
  return message;
}

}  // namespace sotto::federated_detail
