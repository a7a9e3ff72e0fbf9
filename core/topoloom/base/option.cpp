// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/option.hpp"

#include <algorithm>
#include <charconv>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Parses an integer; none if the text is not an integer within the range.
std::optional<std::uint32_t> parse_integer(std::string_view text, Range range) {
    std::uint32_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (number < range.low || number > range.high) return std::nullopt;
    return number;
}

}  // namespace

std::optional<std::string> OptionReader::take(std::string_view name) {
    known_.emplace_back(name);
    const auto given = values_.find(name);
    if (given == values_.end()) return std::nullopt;
    std::string text = given->second;
    values_.erase(given);
    return text;
}

void OptionReader::operator()(std::string_view name, std::uint32_t& value, Range range, std::string_view) {
    const std::optional<std::string> text = take(name);
    if (!text) return;
    const std::optional<std::uint32_t> number = parse_integer(*text, range);
    if (!number) {
        fail(owner_, ": option ", name, " is '", *text, "'; it must be an integer from ",
             static_cast<std::uint64_t>(range.low), " to ", static_cast<std::uint64_t>(range.high));
    }
    value = *number;
}

void OptionReader::operator()(std::string_view name, std::uint32_t& value, const Choices& choices,
                              std::string_view) {
    const std::optional<std::string> text = take(name);
    if (!text) return;
    const auto chosen = std::find(choices.begin(), choices.end(), *text);
    if (chosen == choices.end())
        throw Error(
            unknown_name_message("value of option " + std::string(name) + " of " + owner_, *text, choices));
    value = static_cast<std::uint32_t>(chosen - choices.begin());
}

void OptionReader::operator()(std::string_view name, Extents& value, std::string_view) {
    const std::optional<std::string> text = take(name);
    if (!text) return;
    Extents extents;
    for (std::size_t begin = 0; begin <= text->size();) {
        const std::size_t end = std::min(text->find('x', begin), text->size());
        const auto extent = parse_integer(std::string_view(*text).substr(begin, end - begin), extent_range);
        if (!extent)
            fail(owner_, ": option ", name, " is '", *text, "'; it must be integers from 1, as in 8x8x16");
        extents.push_back(*extent);
        begin = end + 1;
    }
    value = std::move(extents);
}

void OptionReader::operator()(std::string_view name, std::string& value, std::string_view) {
    if (std::optional<std::string> text = take(name)) value = std::move(*text);
}

void OptionReader::finish() const {
    if (values_.empty()) return;
    if (known_.empty()) fail(owner_, " has no options, but '", values_.begin()->first, "' is given");
    throw Error(unknown_name_message("option of " + owner_, values_.begin()->first, known_));
}

std::vector<std::string_view> split_outside_parentheses(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        const char c = at < text.size() ? text[at] : separator;
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth > 0 && at < text.size()) continue;
        if (c != separator) continue;
        parts.push_back(text.substr(begin, at - begin));
        begin = at + 1;
    }
    return parts;
}

NamedOptions read_named_options(std::string_view kind, std::string_view text) {
    const std::size_t open = text.find('(');
    NamedOptions named{text.substr(0, open), {}};
    if (open == std::string_view::npos) return named;
    if (text.back() != ')') fail(kind, " '", text, "': expected ')' at the end");
    for (const std::string_view option :
         split_outside_parentheses(text.substr(open + 1, text.size() - open - 2), ',')) {
        const std::size_t equals = option.find('=');
        if (equals == std::string_view::npos) fail(kind, " '", text, "': expected options as name=value");
        const bool fresh = named.options.emplace(option.substr(0, equals), option.substr(equals + 1)).second;
        if (!fresh) fail(kind, " '", text, "': option ", option.substr(0, equals), " is given twice");
    }
    return named;
}

}  // namespace topoloom
