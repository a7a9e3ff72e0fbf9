// SPDX-License-Identifier: BSD-3-Clause
// Parts of a machine's short text that know where they stand in it, for error messages.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

/// At most 80 characters on one line, whatever the bytes are.
[[nodiscard]] std::string shown(std::string_view text);

/// A piece of the machine text that knows where in the text it stands, for error messages.
class Piece {
   public:
    Piece(std::string_view whole, std::string_view part) : whole_(whole), part_(part) {}

    [[nodiscard]] std::string_view text() const { return part_; }
    /// The machine text that this is a part of.
    [[nodiscard]] std::string_view whole() const { return whole_; }
    [[nodiscard]] bool empty() const { return part_.empty(); }

    template <class... Parts>
    [[noreturn]] void complain(const Parts&... parts) const {
        fail("cannot read machine '", shown(whole_), "': ", parts..., " at column ",
             part_.data() - whole_.data() + 1);
    }
    /// Calls make(); its errors are about what the text means, not how it is spelled.
    template <class Make>
    [[nodiscard]] auto build(const Make& make) const {
        try {
            return make();
        } catch (const Error& error) {
            fail("machine '", shown(whole_), "': ", error.what());
        }
    }
    [[nodiscard]] Piece sub(std::string_view part) const { return {whole_, part}; }

    /// Splits at every separator; an empty text has no parts.
    [[nodiscard]] std::vector<Piece> split(char separator) const {
        std::vector<Piece> parts;
        if (part_.empty()) return parts;
        std::size_t begin = 0;
        for (std::size_t at = 0; at <= part_.size(); ++at) {
            if (at < part_.size() && part_[at] != separator) continue;
            parts.push_back(sub(part_.substr(begin, at - begin)));
            begin = at + 1;
        }
        return parts;
    }
    /// The text before and after the first separator; the second is absent if there is none.
    [[nodiscard]] std::pair<Piece, std::optional<Piece>> cut(char separator) const {
        const std::size_t at = part_.find(separator);
        if (at == std::string_view::npos) return {*this, std::nullopt};
        return {sub(part_.substr(0, at)), sub(part_.substr(at + 1))};
    }
    [[nodiscard]] std::uint32_t number() const {
        std::uint32_t value = 0;
        const auto [end, problem] = std::from_chars(part_.data(), part_.data() + part_.size(), value);
        if (problem == std::errc::result_out_of_range) complain("this number is too large");
        if (problem != std::errc{} || end != part_.data() + part_.size()) complain("expected a number");
        return value;
    }
    /// The position of the text in a list of words; complains "expected plus or split".
    [[nodiscard]] std::size_t one_of(std::span<const std::string_view> words) const {
        std::string expected;
        for (std::size_t index = 0; index < words.size(); ++index) {
            if (part_ == words[index]) return index;
            const char* const separator = index == 0 ? "" : index + 1 == words.size() ? " or " : ", ";
            expected += separator + std::string(words[index]);
        }
        complain("expected ", expected);
    }
    [[nodiscard]] std::vector<std::uint32_t> numbers(char separator) const {
        std::vector<std::uint32_t> values;
        for (const Piece& part : split(separator)) values.push_back(part.number());
        if (values.empty()) complain("expected numbers separated by '", separator, "'");
        return values;
    }

   private:
    std::string_view whole_;
    std::string_view part_;
};

/// `name:body,key=value,...`, options in the order given.
struct Section {
    Piece name;
    Piece body;
    std::vector<Piece> items;  // comma-separated parts without '=', after the body
    std::vector<std::pair<Piece, Piece>> options;
};

[[nodiscard]] Section read_section(const Piece& text);

/// Throws Error: the section has no option `key`, but the `known` ones.
[[noreturn]] void refuse_option(const Section& section, const Piece& key,
                                const std::vector<std::string>& known);

/// Throws Error if there are parts without '=' after the body.
void refuse_items(const Section& section);

/// A machine's short text in its parts, unread.
struct TextParts {
    Piece network;              ///< `torus:4x4`, or whatever else precedes the others, such as a name
    std::optional<Piece> down;  ///< such as `down:17,v40`
    std::optional<Piece> node;  ///< such as `node:2:8`
};

/// Throws Error if +down: comes behind +node:.
[[nodiscard]] TextParts split_machine(const Piece& text);

/// What read() makes of the text of a value, which it may refuse.
template <class Read>
[[nodiscard]] auto read_quantity(const Piece& value, const Read& read) {
    try {
        return read(value.text());
    } catch (const Error& error) {
        value.complain(error.what(), ";");
    }
}

/// A bandwidth, or a word for a fraction of the default.
[[nodiscard]] BytesPerSecond read_bandwidth(const Piece& value, BytesPerSecond standard);

/// One bandwidth for each of `count` levels, or one for all.
[[nodiscard]] std::vector<BytesPerSecond> read_level_bandwidths(const Piece& value, std::size_t count);
[[nodiscard]] std::vector<Seconds> read_level_latencies(const Piece& value, std::size_t count);

}  // namespace topoloom
