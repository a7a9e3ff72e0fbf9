// SPDX-License-Identifier: BSD-3-Clause
// What a schedule costs: by its messages alone, and on the links of a machine under a placement.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/collectives/schedules.hpp"
#include "topoloom/schedule/cost/network_model.hpp"

namespace topoloom {

struct ScheduleCost {
    double time = 0;  // s: the sum over the rounds
    /// Seconds that a rank spends on sending, receiving and copying, if it is the busiest of every round; never more than
    /// the time.
    double cpu = 0;
    double congestion = 0;  // s that the busiest link of every round needs; 0 without a machine
    std::uint64_t rounds = 0;
    std::uint64_t messages = 0;  // of a rank that sends the most in every round
    Bytes bytes;                 // the same
};

/// A round takes as long as the rank with the most to do, which is the longer of
///   - the sum of model.time() over its messages, or of nic_time() and what it stages where the model and the schedule send
///     from memory of the card; and what it copies into a message, where it has no other to send meanwhile,
///   - its CPU time, of sending, receiving and copying,
/// and once the latency, as the next round waits for the last message; a pipelined round takes none. A barrier after it is
/// added. O(rounds + messages of one rank).
[[nodiscard]] ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model);

/// What a machine says of itself: messages take their startup time, and pass the port of their node.
[[nodiscard]] NetworkModel model_of(const Machine& machine);

/// Rank r sits on slots[r]. Messages within a node cost nothing, no CPU time either. A round takes the longest of
///   - what the rank with the most to send needs, as above, with those of its node that also send to others in the round
///     sharing its network cards, and packets waiting for their answers,
///   - the start of a message and what then has to pass the busiest link, or the busiest port of a node,
/// and, unless it is pipelined, the latency of the longest route. A barrier is a dissemination among the nodes. Throws Error where slots are not the ranks, and for
/// more than 2^32 messages, which would take minutes. O(messages * hops), rounds in parallel. When the budget ends, so
/// does the count, and nothing is known.
[[nodiscard]] ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model,
                                const Machine& machine, std::span<const Slot> slots, int threads = 0,
                                const Budget& budget = {});

/// About the same, in one thread, but of schedules with more messages than this, which may be more than 2^32, only about
/// as many are routed: of rounds in which the busiest ranks do the same some that are spread over all of them, and of a round
/// of many messages those over some distances between ranks. What ranks do without the network counts in full.
[[nodiscard]] ScheduleCost sampled_cost(const AnySchedule& schedule, const NetworkModel& model,
                                        const Machine& machine, std::span<const Slot> slots,
                                        std::uint64_t most_messages);

}  // namespace topoloom
