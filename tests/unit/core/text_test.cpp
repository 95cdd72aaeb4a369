// Unsafe characters: which they are, and how each kind of text escapes them.
#include "core/api/text.hpp"

#include <gtest/gtest.h>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

TEST(Text, OfEveryScriptIsPlain) {
  for (const char* text : {"", "income", "Größe", "日本語", "שלום", "مرحبا", "e\u0301",
                           "👩\u200d🔬", "a|b, \"c\" = <d> \\ 'e'"}) {
    EXPECT_TRUE(is_plain(text)) << text;
    EXPECT_EQ(escaped_for_terminal(text), text);
    EXPECT_NO_THROW(require_plain_name(text, "the title"));
  }
}

TEST(Text, SpellsOutUnsafeCharacters) {
  EXPECT_EQ(escaped_for_terminal("a\x1b[2Kb"), "a\\u{1b}[2Kb");
  EXPECT_EQ(escaped_for_terminal("a\r\nb\tc"), "a\\u{d}\\u{a}b\\u{9}c");
  EXPECT_EQ(escaped_for_terminal("a\u202eb\u2066c"), "a\\u{202e}b\\u{2066}c");
  EXPECT_EQ(escaped_for_terminal("a\u009bb\x7f"), "a\\u{9b}b\\u{7f}");
  EXPECT_EQ(escaped_for_terminal("a\xff\xc3(\xed\xa0\x80"),
            "a\\x{ff}\\x{c3}(\\x{ed}\\x{a0}\\x{80}");
  EXPECT_EQ(escaped_for_terminal("\U000e0041"), "\\u{e0041}");
  EXPECT_EQ(escaped_for_terminal(std::string("a\0b", 3)), "a\\u{0}b");
}

TEST(Text, IsRefusedAsANameIfUnsafe) {
  for (const char* text : {"a\x1b[2K", "a\nb", "a\u202eb", "a\u200bb", "\xff"}) {
    try {
      require_plain_name(text, "the title");
      ADD_FAILURE() << escaped_for_terminal(text);
    } catch (const InvalidValue& error) {
      EXPECT_TRUE(is_plain(error.what())) << error.what();
      EXPECT_EQ(std::string(error.what()).find("the title"), 0U);
    }
  }
}

TEST(Text, OfSeveralLinesIsIndentedAfterTheFirst) {
  EXPECT_EQ(escaped_lines("cannot\nsotto: charged 0\r\n"), "cannot\n  sotto: charged 0\\u{d}");
  EXPECT_EQ(escaped_document("a\r\nb\rc\td\n"), "a\nb\\u{d}c\td\n");
}

TEST(Text, OfJsonDenotesAnEqualValue) {
  EXPECT_EQ(escaped_json("{\"a\":\"\u202e\x7f\U000e0041é\"}"),
            "{\"a\":\"\\u202e\\u007f\\udb40\\udc41é\"}");
}

}  // namespace
}  // namespace sotto
