// SPDX-License-Identifier: BSD-3-Clause
// Options that describe themselves: parsing, help and documentation use the same list for each algorithm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "topoloom/base/extents.hpp"

namespace topoloom {

/// Minimum and maximum of an option.
struct Range {
    double low;
    double high;
};

/// The allowed words of an option. The value of the option is an index into them.
using Choices = std::vector<std::string>;

/// A type whose values are indices into a list of words.
template <class Value>
concept Choice = std::is_enum_v<Value> || std::is_same_v<Value, bool>;

/// Allowed extents of a grid.
inline constexpr Range extent_range{1, 2147483647};

/// Description of an option.
struct OptionInfo {
    std::string name;
    std::string default_value;  // default value as text
    Range range;                // of integers and grid extents; {0, 0} for text
    Choices choices;            // allowed words; empty for integers and text
    std::string help;
};

using OptionValues = std::map<std::string, std::string, std::less<>>;

/// Collects the options that `options.visit(field)` reports by calling field(name, value, range, help).
class OptionLister {
   public:
    void operator()(std::string_view name, std::uint32_t value, Range range, std::string_view help) {
        list_.push_back({std::string(name), std::to_string(value), range, {}, std::string(help)});
    }
    void operator()(std::string_view name, std::uint32_t value, const Choices& choices,
                    std::string_view help) {
        list_.push_back({std::string(name), choices[value], {}, choices, std::string(help)});
    }
    void operator()(std::string_view name, Choice auto value, const Choices& choices, std::string_view help) {
        (*this)(name, static_cast<std::uint32_t>(value), choices, help);
    }
    void operator()(std::string_view name, const Extents& value, std::string_view help) {
        list_.push_back({std::string(name), format_extents(value), extent_range, {}, std::string(help)});
    }
    void operator()(std::string_view name, const std::string& value, std::string_view help) {
        list_.push_back({std::string(name), value, {}, {}, std::string(help)});
    }
    [[nodiscard]] const std::vector<OptionInfo>& list() const { return list_; }

   private:
    std::vector<OptionInfo> list_;
};

/// Parses the values of options. finish() throws Error if an option name is unknown.
class OptionReader {
   public:
    OptionReader(std::string owner, OptionValues values)
        : owner_(std::move(owner)), values_(std::move(values)) {}
    void operator()(std::string_view name, std::uint32_t& value, Range range, std::string_view help);
    void operator()(std::string_view name, std::uint32_t& value, const Choices& choices,
                    std::string_view help);
    template <Choice Value>
    void operator()(std::string_view name, Value& value, const Choices& choices, std::string_view help) {
        auto number = static_cast<std::uint32_t>(value);
        (*this)(name, number, choices, help);
        value = static_cast<Value>(number);
    }
    void operator()(std::string_view name, Extents& value, std::string_view help);
    void operator()(std::string_view name, std::string& value, std::string_view help);
    void finish() const;

   private:
    /// Removes and returns the value of an option, if given.
    [[nodiscard]] std::optional<std::string> take(std::string_view name);

    std::string owner_;
    OptionValues values_;
    std::vector<std::string> known_;
};

/// A name with options, parsed from text such as anneal(sweeps=4,restarts=2).
struct NamedOptions {
    std::string_view name;
    OptionValues options;
};

/// Splits text at every separator that is not inside parentheses.
[[nodiscard]] std::vector<std::string_view> split_outside_parentheses(std::string_view text, char separator);

/// Parses a name, which options in parentheses may follow, separated by commas. For any other text, throws an
/// Error whose message begins with `kind`.
[[nodiscard]] NamedOptions read_named_options(std::string_view kind, std::string_view text);

/// Parses the options of an algorithm.
template <class Options>
[[nodiscard]] Options read_options(std::string_view owner, const OptionValues& values) {
    Options options;
    OptionReader reader{std::string(owner), values};
    options.visit(reader);
    reader.finish();
    return options;
}

template <class Options>
[[nodiscard]] std::vector<OptionInfo> list_options() {
    Options options;
    OptionLister lister;
    options.visit(lister);
    return lister.list();
}

/// The empty options of an algorithm that has none.
struct NoOptions {
    void visit(auto&) {}
};

}  // namespace topoloom
