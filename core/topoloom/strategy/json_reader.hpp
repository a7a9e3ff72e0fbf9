// SPDX-License-Identifier: BSD-3-Clause
// A strict JSON reader (RFC 8259) for Topoloom's files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace topoloom {

/// A JSON value and the line on which it begins. Accessors throw Error, naming the line, if the value has
/// another type; `what` names the value in the message.
class Json {
   public:
    using List = std::vector<Json>;
    using Object = std::vector<std::pair<std::string, Json>>;  // entries in file order, with unique keys
    using Value = std::variant<std::monostate, bool, double, std::string, List, Object>;

    Json(std::size_t line, Value value) : line_(line), value_(std::move(value)) {}

    [[nodiscard]] std::size_t line() const { return line_; }
    [[nodiscard]] const std::string& text(std::string_view what) const;
    /// An integer in [low, high], which must lie within +-2^53.
    [[nodiscard]] std::int64_t whole(std::string_view what, std::int64_t low, std::int64_t high) const;
    [[nodiscard]] const List& list(std::string_view what) const;
    /// The value of a key; null if the key is missing. Throws Error unless this is an object.
    [[nodiscard]] const Json* find(std::string_view key) const;
    /// The value of a key. Throws Error, naming the key, if the key is missing.
    [[nodiscard]] const Json& at(std::string_view key) const;

   private:
    std::size_t line_;
    Value value_;
};

/// Parse one value, or all consecutive values. Throw Error, naming the line, for invalid JSON, duplicate
/// keys, numbers out of the range of double, and nesting deeper than 64 levels.
[[nodiscard]] Json read_json(std::string_view text);
[[nodiscard]] std::vector<Json> read_json_values(std::string_view text);

/// Throws Error unless the document is an object with this `format` and `version`.
void check_format(const Json& document, std::string_view format, std::int64_t version);

}  // namespace topoloom
