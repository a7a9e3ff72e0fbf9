// SPDX-License-Identifier: BSD-3-Clause
// Arbiters: select one of several requesters.
#pragma once

#include <array>
#include <cstdint>

#include "topoloom/base/id.hpp"
#include "topoloom/network/component_choices.hpp"

namespace topoloom {

/// Priority rule.
enum class Arbiter { round_robin, age, random };
inline constexpr std::array<Alternative, 3> arbiters{{
    {"round-robin", "round-robin, advanced past each winner"},
    {"age", "the oldest packet first"},
    {"random", "a random packet"},
}};

/// Round-robin pointer: points to the requester after the last one that was served.
class RoundRobin {
   public:
    /// Distance of a requester from the pointer; the smallest distance wins.
    [[nodiscard]] std::uint32_t distance(std::uint32_t requester, std::uint32_t requesters) const {
        return requester >= turn_ ? requester - turn_ : requester + requesters - turn_;
    }
    void advance_past(std::uint32_t requester, std::uint32_t requesters) {
        turn_ = requester + 1 == requesters ? 0 : requester + 1;
    }

   private:
    std::uint32_t turn_ = 0;
};

/// The best request for a resource among those considered so far.
struct Grant {
    std::uint32_t distance = no_index;
    std::uint32_t requester = no_index;

    /// Considers a request. Returns true for the first one.
    bool consider(std::uint32_t candidate, std::uint32_t candidate_distance) {
        const bool first = requester == no_index;
        if (candidate_distance < distance) *this = {candidate_distance, candidate};
        return first;
    }
};

}  // namespace topoloom
