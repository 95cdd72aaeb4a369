// What both ends ask of gRPC: signs of life, and no frame that is larger than agreed. The only header that knows gRPC.
#pragma once

#include <grpcpp/grpcpp.h>
#include <relay.grpc.pb.h>

#include "federated/api/frames.hpp"

namespace sotto::grpc_detail {

inline constexpr int ping_every_ms = 20000;     // where nothing is said, so that a connection whose other end is gone is noticed,
inline constexpr int ping_patience_ms = 10000;  // in half a minute at most

/// Writes a message; false where the connection is gone.
template <class Stream>
bool write_message(Stream& stream, const Bytes& message) {
  relay::Frame frame;
  frame.set_total(message.size());
  return in_frames(message, [&](std::uint64_t offset, std::string_view bytes) {
    frame.set_offset(offset);
    frame.set_bytes(bytes.data(), bytes.size());
    return stream.Write(frame);
  });
}

/// gRPC says nothing on stderr by itself; how many handshakes failed so far is counted.
void quiet_logs();
std::uint64_t failed_handshakes();

}  // namespace sotto::grpc_detail
