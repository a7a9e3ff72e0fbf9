// SPDX-License-Identifier: BSD-3-Clause
// The one exception that leaves the core: what was wrong, where, and what to do about it.
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

/// Throws an Error whose text is the parts, concatenated.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    throw Error(text.str());
}

/// Like fail, with `line 7: ` in front; lines count from 1. Whoever opened the file adds its name.
template <class... Parts>
[[noreturn]] void fail_at_line(std::size_t line, const Parts&... parts) {
    fail("line ", line, ": ", parts...);
}

/// The text of an error about an unknown name: says which names there are and which one is nearest.
[[nodiscard]] std::string unknown_name_message(std::string_view kind, std::string_view given,
                                               const std::vector<std::string>& known);

}  // namespace topoloom
