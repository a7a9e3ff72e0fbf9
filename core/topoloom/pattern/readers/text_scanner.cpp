// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/readers/text_scanner.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace topoloom {

namespace {

/// std::from_chars does not accept a plus sign before a number.
const char* skip_plus(std::string_view word) {
    return word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-' ? 1 : 0);
}

/// Reads digits[.digits][e[+|-]digits] exactly. Returns false for other forms, and if the value is not an
/// integer of at most 18 digits.
bool read_decimal(std::string_view word, std::int64_t& value) {
    std::size_t at = word.starts_with('+') ? 1 : 0;
    std::int64_t mantissa = 0;
    int digits = 0;
    int exponent = 0;
    bool fraction = false;
    for (; at < word.size(); ++at) {
        if (word[at] == '.' && !fraction) {
            fraction = true;
            continue;
        }
        const int digit = word[at] - '0';
        if (digit < 0 || digit > 9) break;
        if (++digits > 18) return false;
        mantissa = mantissa * 10 + digit;
        exponent -= fraction ? 1 : 0;
    }
    if (digits == 0) return false;
    if (at < word.size()) {
        if (word[at] != 'e' && word[at] != 'E') return false;
        at += at + 1 < word.size() && word[at + 1] == '+' ? 2 : 1;
        int given = 0;
        const char* end = word.data() + word.size();
        const auto [stop, problem] = std::from_chars(word.data() + at, end, given);
        if (problem != std::errc{} || stop != end || given > 18 || given < -18) return false;
        exponent += given;
    }
    for (; exponent < 0 && mantissa % 10 == 0; ++exponent) {
        if (mantissa == 0) exponent = -1;
        mantissa /= 10;
    }
    for (; exponent > 0 && mantissa < 100'000'000'000'000'000; --exponent) mantissa *= 10;
    value = mantissa;
    return exponent == 0;
}

}  // namespace

void TextScanner::skip_line() {
    previous_ = at_;
    if (at_ == end_) return;
    const void* newline = std::memchr(at_, '\n', remaining());
    at_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
}

void TextScanner::skip_empty_lines(char comment) {
    while (at_ != end_) {
        const char* line = at_;
        skip_blanks();
        if (at_ == end_) return;
        if (*at_ != '\n' && *at_ != comment) {
            at_ = line;
            return;
        }
        skip_line();
    }
}

std::string_view TextScanner::read_word(std::string_view expected) {
    if (at_line_end()) fail_expected(expected);
    previous_ = at_;
    while (!at_separator()) ++at_;
    return {previous_, static_cast<std::size_t>(at_ - previous_)};
}

std::int64_t TextScanner::read_general_count(std::string_view expected) {
    const std::string_view word = read_word(expected);
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(skip_plus(word), at_, value);
    if (problem == std::errc::result_out_of_range && end == at_) {
        fail_at_previous(expected, " ", quoted(word), " does not fit in 64 bits");
    }
    if (problem != std::errc{} || end != at_)
        fail_at_previous("expected ", expected, ", found '", quoted(word), "'");
    if (value < 0) fail_at_previous(expected, " must not be negative, but is ", value);
    return value;
}

std::int64_t TextScanner::read_real_bytes(std::string_view expected) {
    const std::string_view word = read_word(expected);
    std::int64_t whole = 0;
    if (read_decimal(word, whole)) return whole;
    const auto as_integer = std::from_chars(skip_plus(word), at_, whole);
    if (as_integer.ec != std::errc{} || as_integer.ptr != at_) {
        const double real = parse_real(word, expected);
        if (real >= 0 && real != std::floor(real))
            fail_at_previous(expected, " must be an integer, but is ", quoted(word));
        whole = real < 0 ? -1 : static_cast<std::int64_t>(real);
    }
    if (whole < 0) fail_at_previous(expected, " must not be negative, but is ", quoted(word));
    return whole;
}

double TextScanner::parse_real(std::string_view word, std::string_view expected) const {
    double real = 0;
    const auto [end, problem] = std::from_chars(skip_plus(word), at_, real);
    if (end != at_ || problem == std::errc::invalid_argument) {
        fail_at_previous("expected ", expected, ", found '", quoted(word), "'");
    }
    if (problem != std::errc{} || !std::isfinite(real) || std::abs(real) >= 0x1p63) {
        fail_at_previous(expected, " must be a number from 0 to 2^63, but is ", quoted(word));
    }
    return real;
}

double TextScanner::read_real(std::string_view expected) {
    const std::string_view word = read_word(expected);
    const double real = parse_real(word, expected);
    if (real < 0) fail_at_previous(expected, " must not be negative, but is ", quoted(word));
    return real;
}

void TextScanner::fail_expected(std::string_view expected) {
    skip_blanks();
    if (at_ == end_) fail_at_line(line_of(end_), "expected ", expected, ", but the text ends here");
    if (*at_ == '\n') fail_at_line(line_of(at_), "expected ", expected, ", but the line ends here");
    const std::size_t line = line_of(at_);
    fail_at_line(line, "expected ", expected, ", found '", quoted(read_word(expected)), "'");
}

std::string TextScanner::quoted(std::string_view text) {
    constexpr std::size_t most = 20;
    constexpr std::string_view hex = "0123456789abcdef";
    std::string result;
    for (const char c : text.substr(0, most)) {
        if (c >= ' ' && c <= '~') {
            result += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            result += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
        }
    }
    return text.size() > most ? result + "..." : result;
}

std::size_t TextScanner::line_of(const char* place) const {
    return 1 + static_cast<std::size_t>(std::count(begin_, place, '\n'));
}

}  // namespace topoloom
