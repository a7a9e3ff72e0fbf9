// SPDX-License-Identifier: BSD-3-Clause
// Which channels follow which on routes, and where the circles that they make are cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/network/fabric.hpp"

namespace topoloom {

/// A set of turns, from channels to those that follow.
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

/// Channels that lie on a circle with each other are a part. Without the turns that are cut there is no circle.
struct BrokenCycles {
    std::vector<std::uint32_t> part;  // [channel]
    std::uint32_t parts = 0;
    Turns cut{0};
    std::vector<ChannelId> circle;  // one of them, in its order; empty: there is none
};

/// Circles are cut first where `is_dateline` says so, then where a search from the first channel on comes back to one that it has
/// come through.
[[nodiscard]] BrokenCycles break_cycles(const Turns& turns,
                                        const std::function<bool(ChannelId, ChannelId)>& is_dateline);

}  // namespace topoloom
