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

/// A value, and the line on which it begins. What it is not it throws Error about, naming the line; `what` is what the
/// value is called there.
class Json {
   public:
    using List = std::vector<Json>;
    using Object = std::vector<std::pair<std::string, Json>>;  // in the order of the file, keys once
    using Value = std::variant<std::monostate, bool, double, std::string, List, Object>;

    Json(std::size_t line, Value value) : line_(line), value_(std::move(value)) {}

    [[nodiscard]] std::size_t line() const { return line_; }
    [[nodiscard]] const std::string& text(std::string_view what) const;
    /// An integer of this range, which is within +-2^53.
    [[nodiscard]] std::int64_t whole(std::string_view what, std::int64_t low, std::int64_t high) const;
    [[nodiscard]] const List& list(std::string_view what) const;
    /// Null if there is none of that key. Throws Error unless this is an object.
    [[nodiscard]] const Json* find(std::string_view key) const;
    /// Throws Error that names the key if there is none.
    [[nodiscard]] const Json& at(std::string_view key) const;

   private:
    std::size_t line_;
    Value value_;
};

/// One value, or as many as there are, one after another. Throws Error that names the line for anything else: what is not
/// JSON, keys given twice, numbers that no double holds, and more than 64 levels.
[[nodiscard]] Json read_json(std::string_view text);
[[nodiscard]] std::vector<Json> read_json_values(std::string_view text);

/// Throws Error unless it is an object whose `format` and `version` are these.
void check_format(const Json& document, std::string_view format, std::int64_t version);

}  // namespace topoloom
