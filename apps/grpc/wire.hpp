// Settings and messages that both ends of a gRPC connection share. The only header that includes
// gRPC.
#pragma once

#include <grpcpp/grpcpp.h>
#include <relay.grpc.pb.h>

#include "federated/api/frames.hpp"

namespace sotto::grpc_detail {

// An idle connection is pinged, so that a lost peer is noticed within half a minute.
inline constexpr int ping_every_ms = 20000;
inline constexpr int ping_patience_ms = 10000;

/// Writes a message in frames. Returns false if the connection is lost.
template <class Stream>
bool write_message(Stream& stream, const Bytes& message) {
  relay::Frame frame;
  frame.set_total(message.size());
  return for_each_frame(message, [&](std::uint64_t offset, std::string_view bytes) {
    frame.set_offset(offset);
    frame.set_bytes(bytes.data(), bytes.size());
    return stream.Write(frame);
  });
}

/// Silences gRPC's own log on stderr, and counts the failed TLS handshakes that it reports.
void silence_logs();
/// Returns the number of failed handshakes so far.
std::uint64_t failed_handshakes();

}  // namespace sotto::grpc_detail
