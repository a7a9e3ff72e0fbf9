// SPDX-License-Identifier: BSD-3-Clause
// Named alternatives of a switch component, such as arbiters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topoloom/base/error.hpp"

namespace topoloom {

/// A name and a help text. The name is followed by options with their defaults, in parentheses.
struct Alternative {
    std::string_view name;
    std::string_view help;
};

/// Throws Error for an unknown name.
[[noreturn]] inline void fail_unknown_alternative(std::string_view what, std::string_view name,
                                                  std::span<const Alternative> alternatives) {
    std::vector<std::string> known;
    for (const Alternative& one : alternatives) known.emplace_back(one.name.substr(0, one.name.find('(')));
    throw Error(unknown_name_message(what, std::string(name), known));
}

/// Converts a name to an enumerator. `alternatives` must be in the order of the enumerators. Throws Error for
/// unknown names.
template <class Value>
[[nodiscard]] Value parse_alternative(std::string_view what, std::string_view name,
                                      std::span<const Alternative> alternatives) {
    const auto found = std::ranges::find(alternatives, name, &Alternative::name);
    if (found != alternatives.end()) return static_cast<Value>(found - alternatives.begin());
    fail_unknown_alternative(what, name, alternatives);
}

}  // namespace topoloom
