// Sends and receives frames between sotto and the program sotto-spark.
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "data/api/spark_frames.hpp"

namespace sotto {
namespace {

// One byte for the kind, four for the number of bytes that follow.
constexpr std::size_t head_size = 5;

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_all(int socket, char* bytes, std::size_t size) {
  while (size > 0) {
    const auto count = recv(socket, bytes, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

bool write_frame(int socket, SparkFrame kind, std::string_view bytes) {
  if (bytes.size() > UINT32_MAX) return false;
  const auto size = static_cast<std::uint32_t>(bytes.size());
  char head[head_size] = {static_cast<char>(kind)};
  std::memcpy(head + 1, &size, sizeof size);
  return send_all(socket, {head, head_size}) && send_all(socket, bytes);
}

std::optional<SparkMessage> read_frame(int socket) {
  char head[head_size];
  if (!receive_all(socket, head, head_size)) return std::nullopt;
  std::uint32_t size = 0;
  std::memcpy(&size, head + 1, sizeof size);
  SparkMessage message{static_cast<SparkFrame>(head[0]), std::string(size, '\0')};
  if (!receive_all(socket, message.bytes.data(), size)) return std::nullopt;
  return message;
}

}  // namespace sotto
