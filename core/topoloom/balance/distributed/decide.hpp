// SPDX-License-Identifier: BSD-3-Clause
// sweep_plan() by messages: each rank learns only its own transfers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/balance/distributed/channel.hpp"

namespace topoloom {

struct Share {
    std::uint32_t rank;
    std::int64_t tasks;

    friend bool operator==(const Share&, const Share&) = default;
};

/// The transfers of one rank in a plan.
struct OwnPlan {
    std::vector<Share> to;  // ascending
    std::optional<Share> from;
};

/// A rank sends at most 2 ceil(log2 ranks) + this many messages.
inline constexpr std::uint32_t further_messages = 9;

/// The part of a rank in sweep_plan(). All ranks call it; it throws Error on all of them for a negative load, and for loads that add
/// up to 2^62 or more. It takes about 7 log2(ranks) messages one after another: a sum, a scan, a merge of givers' and receivers'
/// prefix sums by a bitonic network of one element per rank, another scan, and a gathering of receivers at their giver. Payloads
/// are small, except those that list the receivers of a giver.
Coroutine<OwnPlan> decide(PeerChannel& channel, std::uint32_t rank, std::uint32_t ranks, std::int64_t load);

}  // namespace topoloom
