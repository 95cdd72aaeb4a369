// A catalogue as a site: which page an address leads to. It knows no network, and reads all anew for each page.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sotto/ledger/ledger.hpp"
#include "study/api/data_file.hpp"

namespace sotto {

struct SitePage {
  std::string type;  ///< its media type
  std::string body;
  bool failed = false;  ///< it says why what was asked for cannot be shown
};

/// What a program adds to the pages.
struct SiteWords {
  std::string version;
  /// What can be typed to verify the ledger at a place (without its password) against a head.
  std::function<std::string(const std::string& place, const Head& head)> check;
};

class CatalogueSite {
 public:
  CatalogueSite(Catalogue catalogue, SiteWords words) : catalogue_(std::move(catalogue)), words_(std::move(words)) {}

  /// "/" is the catalogue, "/data/NAME/" a ledger, with "before=NUMBER" as the query its older entries, "/data/NAME/ledger.json" what it holds,
  /// "/data/NAME/NUMBER/" the report of the request that was charged in that entry, "/data/NAME/NUMBER/answer.json" its kept answer. Nothing for
  /// any other address, and where there is no such data set, entry or answer.
  [[nodiscard]] std::optional<SitePage> page(const std::string& path, const std::string& query) const;

 private:
  Catalogue catalogue_;
  SiteWords words_;
};

}  // namespace sotto
