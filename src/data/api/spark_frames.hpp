// The protocol between sotto and the program sotto-spark: frames over a local socket, each a kind
// and a payload.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sotto {

enum class SparkFrame : char {
  // from sotto to the program
  /// JSON: the server's address, the session settings, and the table that the view stands for. The
  /// reply is `done` or `failed`.
  open = 'O',
  /// SQL. The reply is any number of `rows` and `progress`, then `done` or `failed`.
  query = 'Q',
  /// Cancels the running query, which then fails. Ignored if no query is running.
  stop = 'S',
  // from the program to sotto
  rows = 'R',      ///< a complete Arrow stream
  progress = 'P',  ///< the fraction of the work that is done, in decimal digits
  done = 'D',
  /// JSON: `what`, which anyone may see, and `detail`, which may quote the data.
  failed = 'F',
};

struct SparkMessage {
  SparkFrame kind;
  std::string bytes;
};

/// Sends a frame. Returns false if the peer has closed the socket.
bool write_frame(int socket, SparkFrame kind, std::string_view bytes);
/// Waits for the next frame. Empty if the peer has closed the socket.
std::optional<SparkMessage> read_frame(int socket);

}  // namespace sotto
