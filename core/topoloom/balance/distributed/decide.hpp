// SPDX-License-Identifier: BSD-3-Clause
// Distributed computation of sweep_plan(): each rank learns only its own transfers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/balance/distributed/channel.hpp"

namespace topoloom {

struct RankTasks {
    std::uint32_t rank;
    std::int64_t tasks;

    friend bool operator==(const RankTasks&, const RankTasks&) = default;
};

/// The transfers of one rank in a plan.
struct OwnPlan {
    std::vector<RankTasks> to;  // ascending
    std::optional<RankTasks> from;
};

/// A rank sends at most 2 ceil(log2 ranks) + this number of messages.
inline constexpr std::uint32_t further_messages = 9;

/// Computes the transfers of one rank in sweep_plan(). All ranks call it; it throws Error on all of them if
/// any load is negative or the loads add up to 2^62 or more. About 7 log2(ranks) messages are on the critical
/// path: a sum, a scan, a merge of the prefix sums of senders and receivers by a bitonic network with one
/// element per rank, another scan, and a gather of receivers at their sender. Payloads are small, except
/// those that list the receivers of a sender.
Coroutine<OwnPlan> decide(PeerChannel& channel, std::uint32_t rank, std::uint32_t ranks, std::int64_t load);

}  // namespace topoloom
