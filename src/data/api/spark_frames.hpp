// What sotto and the program sotto-spark say to each other, over a socket between the two: frames of a kind and some bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sotto {

enum class SparkFrame : char {
  // to the program
  open = 'O',   ///< JSON: where the server is, its settings, and the table that the view stands for; answered by `done` or `failed`
  query = 'Q',  ///< SQL; answered by any number of `rows` and `progress`, then `done` or `failed`
  stop = 'S',   ///< ends the query under way, which then fails; nothing if there is none
  // from it
  rows = 'R',      ///< a whole Arrow stream
  progress = 'P',  ///< the share that is done, in decimals
  done = 'D',
  failed = 'F',  ///< JSON: `what`, fit for anyone, and `detail`, which may speak of the data
};

struct SparkMessage {
  SparkFrame kind;
  std::string bytes;
};

/// False if nobody is there any more.
bool write_frame(int socket, SparkFrame kind, std::string_view bytes);
/// The next one, waited for; nothing at the end.
std::optional<SparkMessage> read_frame(int socket);

}  // namespace sotto
