// SPDX-License-Identifier: BSD-3-Clause
// Parts of machine text with their column, for error messages.
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

/// Returns the text as one line of at most 80 printable characters.
[[nodiscard]] std::string abbreviate(std::string_view text);

/// A part of machine text with its column, for error messages.
class TextPiece {
   public:
    TextPiece(std::string_view whole, std::string_view part) : whole_(whole), part_(part) {}

    [[nodiscard]] std::string_view text() const { return part_; }
    /// The whole machine text.
    [[nodiscard]] std::string_view whole() const { return whole_; }
    [[nodiscard]] bool empty() const { return part_.empty(); }

    /// Throws Error with this message and the column.
    template <class... Parts>
    [[noreturn]] void reject(const Parts&... parts) const {
        fail("cannot read machine '", abbreviate(whole_), "': ", parts..., " at column ",
             part_.data() - whole_.data() + 1);
    }
    /// Returns the result of make(). Prefixes the messages of its errors with the machine text.
    template <class Make>
    [[nodiscard]] auto add_context(const Make& make) const {
        try {
            return make();
        } catch (const Error& error) {
            fail("machine '", abbreviate(whole_), "': ", error.what());
        }
    }
    [[nodiscard]] TextPiece sub(std::string_view part) const { return {whole_, part}; }

    /// Splits the text at every separator. An empty text has no parts.
    [[nodiscard]] std::vector<TextPiece> split(char separator) const {
        std::vector<TextPiece> parts;
        if (part_.empty()) return parts;
        std::size_t begin = 0;
        for (std::size_t at = 0; at <= part_.size(); ++at) {
            if (at < part_.size() && part_[at] != separator) continue;
            parts.push_back(sub(part_.substr(begin, at - begin)));
            begin = at + 1;
        }
        return parts;
    }
    /// Returns the text before and after the first separator. If there is no separator, the second is absent.
    [[nodiscard]] std::pair<TextPiece, std::optional<TextPiece>> cut(char separator) const {
        const std::size_t at = part_.find(separator);
        if (at == std::string_view::npos) return {*this, std::nullopt};
        return {sub(part_.substr(0, at)), sub(part_.substr(at + 1))};
    }
    [[nodiscard]] std::uint32_t number() const {
        std::uint32_t value = 0;
        const auto [end, problem] = std::from_chars(part_.data(), part_.data() + part_.size(), value);
        if (problem == std::errc::result_out_of_range) reject("this number is too large");
        if (problem != std::errc{} || end != part_.data() + part_.size()) reject("expected a number");
        return value;
    }
    /// The index of the text in a list of words. Throws Error such as "expected plus or split".
    [[nodiscard]] std::size_t one_of(std::span<const std::string_view> words) const {
        std::string expected;
        for (std::size_t index = 0; index < words.size(); ++index) {
            if (part_ == words[index]) return index;
            const char* const separator = index == 0 ? "" : index + 1 == words.size() ? " or " : ", ";
            expected += separator + std::string(words[index]);
        }
        reject("expected ", expected);
    }
    [[nodiscard]] std::vector<std::uint32_t> numbers(char separator) const {
        std::vector<std::uint32_t> values;
        for (const TextPiece& part : split(separator)) values.push_back(part.number());
        if (values.empty()) reject("expected numbers separated by '", separator, "'");
        return values;
    }

   private:
    std::string_view whole_;
    std::string_view part_;
};

/// A section `name:body,key=value,...`; options are in text order.
struct Section {
    TextPiece name;
    TextPiece body;
    std::vector<TextPiece> items;  // parts without '=' after the body
    std::vector<std::pair<TextPiece, TextPiece>> options;
};

[[nodiscard]] Section read_section(const TextPiece& text);

/// Throws Error with the message that the section has no option `key`, and a list of the known options.
[[noreturn]] void reject_option(const Section& section, const TextPiece& key,
                                const std::vector<std::string>& known);

/// Throws Error if there are parts without '=' after the body.
void reject_items(const Section& section);

/// The parts of a machine text, not yet parsed.
struct MachineTextParts {
    TextPiece network;              ///< such as `torus:4x4`, or a name
    std::optional<TextPiece> down;  ///< such as `down:17,v40`
    std::optional<TextPiece> node;  ///< such as `node:2:8`
};

/// Throws Error if +down: follows +node:.
[[nodiscard]] MachineTextParts split_machine_text(const TextPiece& text);

/// Returns the result of read() for the text of the value. Adds the column to the errors of read().
template <class Read>
[[nodiscard]] auto read_quantity(const TextPiece& value, const Read& read) {
    try {
        return read(value.text());
    } catch (const Error& error) {
        value.reject(error.what(), ";");
    }
}

/// Reads a bandwidth, or a word such as `half`, relative to the default `standard`.
[[nodiscard]] BytesPerSecond read_bandwidth(const TextPiece& value, BytesPerSecond standard);

/// Reads one bandwidth per level, or one for all `count` levels.
[[nodiscard]] std::vector<BytesPerSecond> read_level_bandwidths(const TextPiece& value, std::size_t count);
[[nodiscard]] std::vector<Seconds> read_level_latencies(const TextPiece& value, std::size_t count);

}  // namespace topoloom
