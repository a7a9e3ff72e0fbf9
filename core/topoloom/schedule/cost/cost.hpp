// SPDX-License-Identifier: BSD-3-Clause
// Predicted cost of a schedule: from messages alone, or on the links of a machine under a placement.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/any_schedule.hpp"
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

/// A round takes as long as the rank with the most to do. With k messages sent and received, send and receive overheads
/// o_s and o_r, a latency that is added, and a turn per message, model.time() of its size, that is the longest of
///   - the turns of all, one after the other, and the latency,
///   - (k - 1) o_s, the last turn and the latency, and the same of o_r,
///   - k o_s + k o_r, with copies and what a reduction does with each byte that comes: its CPU time.
/// For one message each that is latency + time(), unless overheads are longer than both: they are parts of these (LogGP: L +
/// 2 o + (b - 1) G). Unequal messages leave as Departures says and come as Arrivals does. Where the model and the schedule
/// send from memory of the card, turns are nic_time(), and what it stages is added; so is what is copied into a message that
/// is the only one, where of several it is copied meanwhile. The latency is there once, as the next round waits for the last
/// message; a pipelined round takes none. A barrier after it is added. O(rounds + messages of one rank).
[[nodiscard]] ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model);

/// The network model that follows from a machine's own startup times and node ports.
[[nodiscard]] NetworkModel machine_model(const Machine& machine);

/// Model of intra-node messages: half the startup cost at each end, and a copy by a core of the receiver at 10 GB/s, or
/// at the node's memory bandwidth if that is lower. NodeSpeeds provides the defaults of unspecified values.
[[nodiscard]] NetworkModel memory_model(const NodeSpec& node);
/// The intra-node model of `model`, or memory_model(node) if it has none.
[[nodiscard]] NetworkModel memory_model(const NetworkModel& model, const NodeSpec& node);

/// Rank r sits on slots[r]. Messages within a node cost nothing, no CPU time either. A round takes the longest of
///   - what the rank with the most to do needs, as above, with those of its node that also send to others in the round
///     sharing its network cards, and packets waiting for their answers; a message comes no sooner than its sender has
///     started it and the narrowest link of its route has passed it,
///   - the start of a message and what then has to pass the busiest link, or the busiest port of a node,
/// and, unless it is pipelined, the latency of the longest route: beside the latency, and never beside CPU time alone. Where
/// the model has link factors, links are as long and as wide as these say for the size of each message. A barrier is a
/// dissemination among the nodes. With slots for several times the ranks as many calls run at once, each on the next slots.
/// Throws Error if slots are not the ranks or several times as many, and for more than 2^32 messages, which would
/// take minutes. O(messages * hops). It is what the phases of a pattern cost where a placement is judged by their time,
/// and what sampled_cost() is a sample of; a schedule that runs takes what run_cost() says.
[[nodiscard]] ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model,
                                const Machine& machine, std::span<const Slot> slots);

/// What a run costs, until the last rank has ended, where ranks wait only for messages that come to them, and a message only
/// for its two ranks and for what fills the links of its own route, of its round or of others that ranks are in at the same
/// time: what a program of each rank takes (execute/). Messages within a node take what memory_model() says, and share its
/// memory if the machine says how fast it is. Parts of rounds are else those of cost() above, but that pipelined rounds
/// take their latency; the CPU time is that of the rank whose sum over all rounds is the largest. Throws as that does.
/// O(messages * (hops + log messages)). When the budget ends, the count stops and the result is unknown.
[[nodiscard]] ScheduleCost run_cost(const AnySchedule& schedule, const NetworkModel& model,
                                    const Machine& machine, std::span<const Slot> slots,
                                    const Budget& budget = {});

/// Seconds of a program whose steps are schedules of the same ranks, until the last rank has ended: as run_cost(), with the
/// rounds of all of them one after the other. Throws Error if a step is of other ranks.
[[nodiscard]] double program_time(std::span<const AnySchedule* const> steps, const NetworkModel& model,
                                  const Machine& machine, std::span<const Slot> slots);

/// About what run_cost() says of data in many pieces, which follow each other in rounds alike: only the first rounds are run,
/// and all after them take as long as those of the second half of these.
[[nodiscard]] ScheduleCost stream_cost(const AnySchedule& schedule, const NetworkModel& model,
                                       const Machine& machine, std::span<const Slot> slots,
                                       std::uint64_t rounds);

/// About what cost() says, but of schedules with more messages than this, which may be more than 2^32, only about
/// as many are routed: of rounds in which the busiest ranks do the same some that are spread over all of them, and of a round
/// of many messages those over some distances between ranks. What ranks do without the network counts in full.
[[nodiscard]] ScheduleCost sampled_cost(const AnySchedule& schedule, const NetworkModel& model,
                                        const Machine& machine, std::span<const Slot> slots,
                                        std::uint64_t most_messages);

}  // namespace topoloom
