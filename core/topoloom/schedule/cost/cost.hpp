// SPDX-License-Identifier: BSD-3-Clause
// Predicts the cost of a schedule: from messages alone, or on the links of a machine under a placement.
#pragma once

#include <cstdint>
#include <span>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/any_schedule.hpp"
#include "topoloom/schedule/cost/network_model.hpp"

namespace topoloom {

struct ScheduleCost {
    double time = 0;  // seconds, summed over the rounds
    /// CPU seconds that a rank spends on sending, receiving and copying if it is the busiest in every round;
    /// never more than the time.
    double cpu = 0;
    double congestion = 0;  // seconds on the busiest link, summed over the rounds; 0 without a machine
    std::uint64_t rounds = 0;
    std::uint64_t messages = 0;  // messages of a rank that sends the most in every round
    Bytes bytes;                 // the same
};

/// Returns the cost without a machine: a round takes as long as its busiest rank. A rank sends and receives k
/// messages, with overheads o_s and o_r and a latency. Each message takes a turn of model.time(size). The
/// rank's time is the longest of
///   - all turns, one after the other, plus the latency,
///   - (k - 1) o_s plus the last turn and the latency, and likewise with o_r,
///   - its CPU time: k o_s + k o_r, plus copying, plus reducing the received bytes.
/// For one message each way this is latency + time(), which include the overheads (LogGP: L + 2 o + (b - 1)
/// G), unless the overheads are longer. Messages of different sizes depart and arrive as in Departures and
/// Arrivals. If model and schedule send from NIC memory, turns are nic_time(), and staging is added. Copying
/// into a message is added if the message is the only one of its round; otherwise it overlaps with sending.
/// The latency counts once per round, because the next round waits for the last message; a pipelined round
/// has no latency. A barrier after the round is added. O(rounds + messages of one rank).
[[nodiscard]] ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model);

/// Derives a network model from the machine's startup times and node ports.
[[nodiscard]] NetworkModel machine_model(const Machine& machine);

/// Model of intra-node messages: half the startup cost at each end, and a copy by a receiver core at 10 GB/s,
/// or at the node's memory bandwidth if that is lower. NodeSpeeds provides the defaults of unspecified
/// values.
[[nodiscard]] NetworkModel memory_model(const NodeSpec& node);
/// Returns the intra-node model of `model`, or memory_model(node) if it has none.
[[nodiscard]] NetworkModel memory_model(const NetworkModel& model, const NodeSpec& node);

/// Returns the cost on the links of a machine; rank r has slot slots[r]. Intra-node messages cost neither
/// time nor CPU time. A round takes the longest of
///   - the time of its busiest rank, as above. Ranks of a node that send inter-node messages in the round
///     share the NICs, and packets wait for acknowledgments. A message arrives after its sender has started
///     it and the narrowest link of its route has transferred it,
///   - the startup of a message plus the transfer of all bytes over the busiest link or the busiest node
///     port,
/// plus the latency of the longest route, unless the round is pipelined or CPU-bound. If the model has link
/// factors, they scale the latency and bandwidth of links by message size. A barrier is a dissemination among
/// the nodes. If there are n times as many slots as ranks, n calls run concurrently, each on the next slots.
/// Throws Error unless the number of slots is a multiple of the number of ranks, and for more than 2^32
/// messages, which would take minutes. O(messages * hops). Phases of a pattern are costed with this function
/// if the objective is time, and sampled_cost() approximates it; use run_cost() for a schedule that runs
/// without barriers between rounds.
[[nodiscard]] ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model,
                                const Machine& machine, std::span<const Slot> slots);

/// Returns the cost of a run until the last rank has finished, as in programs with one sequence per rank
/// (execute/). A rank waits only for its incoming messages. A message waits only for its sender and receiver,
/// and for messages on the links of its route, including those of other rounds. Intra-node messages cost what
/// memory_model() returns, and share the memory bandwidth if the machine specifies it. All other costs are
/// those of cost() above, except that pipelined rounds include their latency; the CPU time is the largest
/// total of a rank. Throws Error like cost(). O(messages * (hops + log messages)). When the budget ends, the
/// run stops and the result is unknown.
[[nodiscard]] ScheduleCost run_cost(const AnySchedule& schedule, const NetworkModel& model,
                                    const Machine& machine, std::span<const Slot> slots,
                                    const Budget& budget = {});

/// Returns the seconds until the last rank has finished a program of several schedules: run_cost() of all
/// their rounds in sequence. Throws Error unless all schedules have the same number of ranks.
[[nodiscard]] double program_time(std::span<const AnySchedule* const> steps, const NetworkModel& model,
                                  const Machine& machine, std::span<const Slot> slots);

/// Approximates run_cost() for data in many pieces that follow each other in similar rounds: runs only the
/// first rounds, and assumes that each later round takes as long as the mean of the second half of those.
[[nodiscard]] ScheduleCost stream_cost(const AnySchedule& schedule, const NetworkModel& model,
                                       const Machine& machine, std::span<const Slot> slots,
                                       std::uint64_t rounds);

/// Approximates cost() for schedules with more than `most_messages` messages, possibly more than 2^32, by
/// routing only about that many. Among rounds with equal busiest ranks, evenly spread ones are sampled; in a
/// round of many messages, only some of the distances between ranks are sampled. The time that ranks spend
/// outside the network is counted exactly.
[[nodiscard]] ScheduleCost sampled_cost(const AnySchedule& schedule, const NetworkModel& model,
                                        const Machine& machine, std::span<const Slot> slots,
                                        std::uint64_t most_messages);

}  // namespace topoloom
