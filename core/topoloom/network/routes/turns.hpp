// SPDX-License-Identifier: BSD-3-Clause
// Channel dependencies of routes, and the turns that break their cycles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/network/fabric.hpp"

namespace topoloom {

/// A set of turns. A turn is a pair of consecutive channels of a route.
class Turns {
   public:
    explicit Turns(std::size_t channels) : after_(channels) {}
    void add(ChannelId before, ChannelId after) {
        std::vector<ChannelId>& known = after_[before.value];
        const auto place = std::ranges::lower_bound(known, after);
        if (place == known.end() || *place != after) known.insert(place, after);
    }
    [[nodiscard]] bool has(ChannelId before, ChannelId after) const {
        return std::ranges::binary_search(after_[before.value], after);
    }
    [[nodiscard]] std::size_t channel_count() const { return after_.size(); }
    [[nodiscard]] std::span<const ChannelId> after(ChannelId channel) const { return after_[channel.value]; }

   private:
    std::vector<std::vector<ChannelId>> after_;  // sorted
};

/// Strongly connected components of the channel dependency graph, and the turns whose removal breaks all cycles.
struct CycleCuts {
    std::vector<std::uint32_t> part;  // [channel]
    std::uint32_t parts = 0;
    Turns cut{0};
    std::vector<ChannelId> circle;  // the channels of one of the cycles, in order; empty if there are no
                                    // cycles
};

/// Breaks cycles at datelines first, then at back edges of a depth-first search from the first channel.
[[nodiscard]] CycleCuts break_cycles(const Turns& turns,
                                     const std::function<bool(ChannelId, ChannelId)>& is_dateline);

}  // namespace topoloom
