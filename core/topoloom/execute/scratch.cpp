// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/execute/scratch.hpp"

#include <algorithm>

namespace topoloom {

Scratch::Area Scratch::allocate(std::int64_t units) {
    std::int64_t offset = 0;
    auto at = used_.begin();
    for (; at != used_.end(); ++at) {
        const ScratchArea& next = areas_[*at];
        if (next.offset - offset >= units) break;
        offset = next.offset + next.units;
    }
    const auto area = static_cast<Area>(areas_.size());
    areas_.push_back({offset, units});
    used_.insert(at, area);
    units_ = std::max(units_, offset + units);
    return area;
}

void Scratch::free_released() {
    std::erase_if(used_, [&](Area area) { return areas_[area].holders == 0; });
}

}  // namespace topoloom
