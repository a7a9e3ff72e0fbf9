// SPDX-License-Identifier: BSD-3-Clause
// Who of several requesters is served.
#pragma once

#include <array>
#include <cstdint>

#include "topoloom/base/id.hpp"
#include "topoloom/network/kinds.hpp"

namespace topoloom {

/// By what requesters come first.
enum class Arbiter { round_robin, age, random };
inline constexpr std::array<Kind, 3> arbiters{{
    {"round-robin", "in turns that move on with success"},
    {"age", "the packet that was made first"},
    {"random", "by lot"},
}};

/// The requester that comes first from where the turn is, round the end: its own last success is the end.
class RoundRobin {
   public:
    /// How far a requester is from the turn: the smallest wins.
    [[nodiscard]] std::uint32_t distance(std::uint32_t requester, std::uint32_t requesters) const {
        return requester >= turn_ ? requester - turn_ : requester + requesters - turn_;
    }
    void served(std::uint32_t requester, std::uint32_t requesters) {
        turn_ = requester + 1 == requesters ? 0 : requester + 1;
    }

   private:
    std::uint32_t turn_ = 0;
};

/// The best of the requests that have been seen for one thing.
struct Grant {
    std::uint32_t distance = no_index;
    std::uint32_t requester = no_index;

    /// True if it is the first request.
    bool offer(std::uint32_t from, std::uint32_t at) {
        const bool first = requester == no_index;
        if (at < distance) *this = {at, from};
        return first;
    }
};

}  // namespace topoloom
