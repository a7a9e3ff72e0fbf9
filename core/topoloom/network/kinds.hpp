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

/// A name, followed by its options and defaults in parentheses if there are any, and a help text.
struct Kind {
    std::string_view name;
    std::string_view help;
};

/// Throws Error for an unknown name.
[[noreturn]] inline void fail_unknown_kind(std::string_view what, std::string_view name,
                                           std::span<const Kind> kinds) {
    std::vector<std::string> known;
    for (const Kind& kind : kinds) known.emplace_back(kind.name.substr(0, kind.name.find('(')));
    throw Error(unknown_name_message(what, std::string(name), known));
}

/// Parses the name of an enumerator; enumerators are in the order of `kinds`. Throws Error for unknown names.
template <class Value>
[[nodiscard]] Value parse_kind(std::string_view what, std::string_view name, std::span<const Kind> kinds) {
    const auto found = std::ranges::find(kinds, name, &Kind::name);
    if (found != kinds.end()) return static_cast<Value>(found - kinds.begin());
    fail_unknown_kind(what, name, kinds);
}

}  // namespace topoloom
