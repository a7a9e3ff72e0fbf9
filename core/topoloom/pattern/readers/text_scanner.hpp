// SPDX-License-Identifier: BSD-3-Clause
// Reads numbers and words from text in memory, one line at a time, and says where and what when it cannot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

/// A position in a text. Blanks are spaces, tabs and carriage returns, so lines may end in CR LF. Everything
/// throws Error with the number of the line, what was expected and what was found. The line is counted only
/// then.
class TextScanner {
   public:
    explicit TextScanner(std::string_view text)
        : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), previous_(begin_) {}

    [[nodiscard]] bool at_end() const { return at_ == end_; }
    [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

    /// True when nothing but blanks is left on this line.
    [[nodiscard]] bool at_line_end() {
        skip_blanks();
        return at_ == end_ || *at_ == '\n';
    }

    /// Whether the next character is this one.
    [[nodiscard]] bool at(char c) const { return at_ != end_ && *at_ == c; }

    /// Steps over `c` if it comes next, and says whether it did.
    bool take(char c) {
        if (!at(c)) return false;
        ++at_;
        return true;
    }

    /// Goes behind the end of this line, whatever is left on it.
    void skip_line();

    /// Goes to the next line; only blanks may be left on this one.
    void end_line() {
        if (!at_line_end()) fail_expected("the end of the line");
        if (at_ != end_) ++at_;
    }

    /// Steps over lines that are empty or start with `comment` ('\n': there are no comments).
    void skip_empty_lines(char comment = '\n');

    /// An integer >= 0 that a 64-bit integer holds.
    std::int64_t read_count(std::string_view expected) {
        std::int64_t value = 0;
        if (!read_digits(value)) value = read_count_slowly(expected);
        return value;
    }

    /// An integer number of bytes. Spellings of reals such as 1.024e+03 are read too.
    Bytes read_bytes(std::string_view expected) {
        std::int64_t value = 0;
        if (!read_digits(value)) value = read_real_bytes(expected);
        return Bytes{value};
    }

    /// The characters up to the next blank or line end; there must be one.
    std::string_view read_word(std::string_view expected);

    /// Throws Error about what comes next on this line.
    [[noreturn]] void fail_expected(std::string_view expected);

    /// Throws Error about the number, word or line read last.
    template <class... Parts>
    [[noreturn]] void fail_at_previous(const Parts&... parts) const {
        fail_at_line(line_of(previous_), parts...);
    }

    /// The text itself, for messages: at most 24 characters, others than printable ones as \xHH.
    [[nodiscard]] static std::string quoted(std::string_view text);

   private:
    void skip_blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    [[nodiscard]] bool at_separator() const {
        return at_ == end_ || *at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r';
    }

    /// The common case: at most 18 digits, then a separator. Otherwise stays before the number and returns
    /// false.
    bool read_digits(std::int64_t& value) {
        skip_blanks();
        previous_ = at_;
        std::uint64_t digits = 0;
        while (at_ != end_ && static_cast<unsigned char>(*at_ - '0') < 10) {
            digits = digits * 10 + static_cast<std::uint64_t>(*at_++ - '0');
        }
        const auto length = at_ - previous_;
        if (length == 0 || length > 18 || !at_separator()) {
            at_ = previous_;
            return false;
        }
        value = static_cast<std::int64_t>(digits);
        return true;
    }
    std::int64_t read_count_slowly(std::string_view expected);
    std::int64_t read_real_bytes(std::string_view expected);
    [[nodiscard]] std::size_t line_of(const char* place) const;

    const char* begin_;
    const char* at_;
    const char* end_;
    const char* previous_;
};

}  // namespace topoloom
