// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/option.hpp"

#include <algorithm>
#include <charconv>

#include "topoloom/base/error.hpp"

namespace topoloom {

void OptionReader::operator()(std::string_view name, std::uint32_t& value, Range range, std::string_view) {
    known_.emplace_back(name);
    const auto given = values_.find(name);
    if (given == values_.end()) return;
    const std::string& text = given->second;
    std::uint32_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size() || number < range.low ||
        number > range.high) {
        fail(owner_, ": option ", name, " is '", text, "'; it must be a whole number from ", range.low,
             " to ", range.high);
    }
    value = number;
    values_.erase(given);
}

void OptionReader::operator()(std::string_view name, std::uint32_t& value, const Choices& choices,
                              std::string_view) {
    known_.emplace_back(name);
    const auto given = values_.find(name);
    if (given == values_.end()) return;
    const auto chosen = std::find(choices.begin(), choices.end(), given->second);
    if (chosen == choices.end())
        throw Error(
            unknown_name("value of option " + std::string(name) + " of " + owner_, given->second, choices));
    value = static_cast<std::uint32_t>(chosen - choices.begin());
    values_.erase(given);
}

void OptionReader::finish() const {
    if (values_.empty()) return;
    if (known_.empty()) fail(owner_, " has no options, but '", values_.begin()->first, "' is given");
    throw Error(unknown_name("option of " + owner_, values_.begin()->first, known_));
}

}  // namespace topoloom
