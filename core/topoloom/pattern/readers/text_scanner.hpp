// SPDX-License-Identifier: BSD-3-Clause
// Scanner of numbers and words in a text; errors contain the line number and the token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

/// A cursor in text. Blanks are spaces, tabs and carriage returns, so CR LF line ends are supported. Errors
/// contain the line number, the expected token and the token found. Lines are counted only for errors.
class TextScanner {
   public:
    explicit TextScanner(std::string_view text)
        : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), previous_(begin_) {}

    [[nodiscard]] bool at_end() const { return at_ == end_; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
    [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

    /// Whether only blanks remain on this line.
    [[nodiscard]] bool at_line_end() {
        skip_blanks();
        return at_ == end_ || *at_ == '\n';
    }

    /// Whether the next character is `c`.
    [[nodiscard]] bool at(char c) const { return at_ != end_ && *at_ == c; }

    /// Consumes the next character if it is `c`. Returns whether it was `c`.
    bool take(char c) {
        if (!at(c)) return false;
        ++at_;
        return true;
    }

    /// Skips the rest of this line.
    void skip_line();

    /// Moves to the next line. Throws Error unless only blanks remain on this line.
    void end_line() {
        if (!at_line_end()) fail_expected("the end of the line");
        if (at_ != end_) ++at_;
    }

    /// Skips empty lines and lines that start with `comment` ('\n': no comments).
    void skip_empty_lines(char comment = '\n');

    /// Reads an integer in 0 .. 2^63 - 1.
    std::int64_t read_count(std::string_view expected) {
        std::int64_t value = 0;
        if (!read_digits(value)) value = read_general_count(expected);
        return value;
    }

    /// Reads an integer number of bytes, which may be written as a real such as 1.024e+03.
    Bytes read_bytes(std::string_view expected) {
        std::int64_t value = 0;
        if (!read_digits(value)) value = read_real_bytes(expected);
        return Bytes{value};
    }

    /// Reads a real number from 0 to 2^63.
    double read_real(std::string_view expected);

    /// Reads a non-empty word up to the next blank or line end.
    std::string_view read_word(std::string_view expected);

    /// Throws Error that quotes the next token on this line.
    [[noreturn]] void fail_expected(std::string_view expected);

    /// Throws Error that quotes the token read last.
    template <class... Parts>
    [[noreturn]] void fail_at_previous(const Parts&... parts) const {
        fail_at_line(line_of(previous_), parts...);
    }

    /// Quotes text for messages: at most 24 characters, non-printable ones as \xHH.
    [[nodiscard]] static std::string quoted(std::string_view text);

   private:
    void skip_blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    [[nodiscard]] bool at_separator() const {
        return at_ == end_ || *at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r';
    }

    /// Fast path: reads at most 18 digits and a separator. Otherwise returns false and consumes nothing.
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
    std::int64_t read_general_count(std::string_view expected);
    std::int64_t read_real_bytes(std::string_view expected);
    [[nodiscard]] double parse_real(std::string_view word, std::string_view expected) const;
    [[nodiscard]] std::size_t line_of(const char* place) const;

    const char* begin_;
    const char* at_;
    const char* end_;
    const char* previous_;
};

}  // namespace topoloom
