// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/extents.hpp"

namespace topoloom {

std::string format_extents(const Extents& extents) {
    std::string text;
    for (const std::uint32_t extent : extents) {
        if (!text.empty()) text += 'x';
        text += std::to_string(extent);
    }
    return text;
}

}  // namespace topoloom
