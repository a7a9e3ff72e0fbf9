// SPDX-License-Identifier: BSD-3-Clause
// The exception that the core throws, and helpers that format its message.
#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace topoloom {

class Error : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
};

/// Throws an Error whose message is the concatenation of the parts.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    throw Error(text.str());
}

/// Like fail(), prefixed with `line 7: `. Lines count from 1. The caller that opened the file adds its name.
template <class... Parts>
[[noreturn]] void fail_at_line(std::size_t line, const Parts&... parts) {
    fail("line ", line, ": ", parts...);
}

/// Formats an error about an unknown name: lists the known names and suggests the nearest.
[[nodiscard]] std::string unknown_name_message(std::string_view kind, std::string_view given,
                                               const std::vector<std::string>& known);

}  // namespace topoloom
