// SPDX-License-Identifier: BSD-3-Clause
// Options that describe themselves: one list per algorithm serves parsing, help and documentation.
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

/// Words to choose from; the value is the number of the word.
using Choices = std::vector<std::string>;

/// A type whose values are the numbers of words.
template <class Value>
concept Choice = std::is_enum_v<Value> || std::is_same_v<Value, bool>;

/// Of the extents of a grid.
inline constexpr Range extent_range{1, 2147483647};

/// What an option says about itself.
struct OptionInfo {
    std::string name;
    std::string default_value;  // the value when not given
    Range range;                // of numbers, and of the extents of a grid; {0, 0}: a text
    Choices choices;            // of words; empty: a number or a text
    std::string help;
};

using OptionValues = std::map<std::string, std::string, std::less<>>;

/// Lists what `options.visit(field)` names: field(name, value, range, help).
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

/// Sets options from texts; finish() throws Error for names that no option has.
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
    /// Takes the text of an option, if it is given.
    [[nodiscard]] std::optional<std::string> take(std::string_view name);

    std::string owner_;
    OptionValues values_;
    std::vector<std::string> known_;
};

/// What a text such as anneal(sweeps=4;restarts=2) names, and its options.
struct NamedOptions {
    std::string_view name;
    OptionValues options;
};

/// Parts of a text between any of the separators, except those within parentheses.
[[nodiscard]] std::vector<std::string_view> split_outside_parentheses(std::string_view text,
                                                                      std::string_view separators);

/// Throws Error that begins with `kind` unless the text is a name alone, or with options in parentheses, separated by ,
/// or ;.
[[nodiscard]] NamedOptions read_named_options(std::string_view kind, std::string_view text);

/// The options of an algorithm, read from texts.
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

/// For algorithms that have nothing to choose.
struct NoOptions {
    void visit(auto&) {}
};

}  // namespace topoloom
