// SPDX-License-Identifier: BSD-3-Clause
// Efforts of `auto`: a trade-off between time and quality.
#pragma once

#include <cstddef>
#include <string>

#include "topoloom/base/option.hpp"

namespace topoloom {

enum class Effort { fast, standard, best };

/// The names of the efforts, in the order of the enumerators.
inline const Choices effort_names{"fast", "default", "best"};

/// The mapper chain for place() that adapts the search to the problem and this effort.
[[nodiscard]] inline std::string auto_chain(Effort effort) {
    return "auto(effort=" + effort_names[static_cast<std::size_t>(effort)] + ")";
}

}  // namespace topoloom
