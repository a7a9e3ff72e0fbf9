// SPDX-License-Identifier: BSD-3-Clause
// Times a run of a schedule on routes, rank by rank, for run_cost().
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/cost/concurrent_calls.hpp"
#include "topoloom/schedule/cost/link_queues.hpp"
#include "topoloom/schedule/cost/message_times.hpp"
#include "topoloom/schedule/cost/network_model.hpp"
#include "topoloom/schedule/cost/round_loads.hpp"
#include "topoloom/schedule/cost/route_links.hpp"

namespace topoloom {

/// Times per rank in seconds: when it finished its part of a round, and its CPU time until then.
struct RankClocks {
    explicit RankClocks(std::size_t ranks) : time(ranks), cpu(ranks) {}
    std::vector<double> time, cpu;
};

/// Times rounds one after the other; stores the messages of one round.
class RunTimer {
   public:
    /// `memory` is the model of intra-node messages.
    RunTimer(RouteLinks& routes, const NetworkModel& model, const NetworkModel& memory,
             const Machine& machine, const ConcurrentCalls& calls, const BarrierCost& barrier, bool shares,
             Meter& meter)
        : routes_(routes),
          model_(model),
          memory_(memory),
          port_(machine.node_spec().port_bandwidth.value),
          memory_rate_(machine.node_spec().memory.value_or(unlimited).value),
          calls_(calls),
          barrier_(barrier),
          shares_(shares),
          meter_(meter),
          links_(machine.link_count()),
          ports_(3 * machine.node_count()),
          cpu_(calls.node.size()),
          arrivals_(calls.node.size()),
          senders_on_(machine.node_count(), 1) {}

    /// Advances the clocks of all ranks to the end of their part of the round. A rank waits only for its
    /// incoming messages, and a message starts after both its ranks have reached the round. Returns the
    /// seconds of the busiest link.
    double advance(const AnySchedule& schedule, std::uint64_t round, RankClocks& ranks) {
        before_ = ranks.time;
        list_round_messages(schedule, round);
        queue_messages();
        const bool reduces = schedule.transfer(round) == Transfer::combine;
        for (std::size_t first = 0; first < messages_.size();) {
            const Rank from = messages_[first].from;
            std::size_t end = first + 1;
            while (end < messages_.size() && messages_[end].from == from) ++end;
            const std::span<const MessageInFlight> of_rank = std::span(messages_).subspan(first, end - first);
            if (!meter_.spend(of_rank.size())) break;
            const double done = before_[from.value] + process_sends(schedule, round, of_rank, reduces);
            ranks.time[from.value] = std::max(ranks.time[from.value], done);
            first = end;
        }
        arrivals_.drain([&](Rank rank, double taken) {
            ranks.time[rank.value] = std::max(ranks.time[rank.value], taken);
        });
        cpu_.drain([&](std::size_t rank, double seconds) {
            ranks.time[rank] = std::max(ranks.time[rank], before_[rank] + seconds);
            ranks.cpu[rank] += seconds;
            return seconds;
        });
        if (has_barrier(schedule, round)) wait_in_barrier(ranks);
        ports_.end_round();
        return links_.end_round();
    }

   private:
    static constexpr BytesPerSecond unlimited{std::numeric_limits<double>::infinity()};
    struct MessageInFlight {
        Rank from, to;
        Bytes bytes;
        double start;             // time after which its sender has started all earlier messages
        double passing_time = 0;  // time after which it has passed all its links and ports
        double latency = 0;
        double bandwidth = std::numeric_limits<double>::infinity();  // of the narrowest link of the route
        std::size_t first_filled = 0;                                // index in filled_
        std::size_t links = 0, ports = 0;                            // number of links and ports used
    };

    [[nodiscard]] Node node(Rank rank) const { return calls_.node[rank.value]; }
    [[nodiscard]] bool is_intra_node(const MessageInFlight& message) const {
        return node(message.from) == node(message.to);
    }
    [[nodiscard]] const NetworkModel& select_model(bool inside) const { return inside ? memory_ : model_; }

    void list_round_messages(const AnySchedule& schedule, std::uint64_t round) {
        messages_.clear();
        calls_.list_senders(schedule, round, senders_);
        if (shares_)
            for (const Rank from : senders_) senders_on_[node(from).value] = 0;
        for (const Rank from : senders_) {
            calls_.list_messages(schedule, round, from, of_rank_);
            double busy_before = 0;
            bool leaves = false;
            for (const SentMessage& message : of_rank_) {
                const bool inside = node(from) == node(message.to);
                const double overhead = select_model(inside).send_cpu(message.bytes);
                const double begun = std::max(before_[from.value], before_[message.to.value] - overhead);
                messages_.push_back({from, message.to, message.bytes, begun + busy_before});
                busy_before += overhead;
                leaves = leaves || !inside;
            }
            if (shares_) senders_on_[node(from).value] += leaves;
        }
    }
    /// Passes the messages through the queues in order of their start.
    void queue_messages() {
        order_.clear();
        for (std::size_t i = 0; i < messages_.size(); ++i) order_.emplace_back(messages_[i].start, i);
        if (!std::ranges::is_sorted(order_)) std::ranges::sort(order_);
        filled_.clear();
        for (const auto& [start, i] : order_) queue_message(messages_[i]);
    }
    void queue_message(MessageInFlight& message) {
        const Node here = node(message.from), there = node(message.to);
        const auto bytes = static_cast<double>(message.bytes.value);
        message.first_filled = filled_.size();
        const auto fill = [&](LinkQueues& queues, std::size_t index, double seconds) {
            if (seconds <= 0) return;
            message.passing_time = std::max(message.passing_time, queues.add(index, seconds, message.start));
            filled_.push_back(static_cast<std::uint32_t>(index));
        };
        if (here == there) {
            fill(ports_, 3 * here.value + 2, bytes / memory_rate_);
        } else {
            const double wide = bytes / model_.link_factors(message.bytes).bandwidth;
            for (const RouteLink& link : routes_.between(here, there)) {
                message.latency += link.part * link.latency;
                message.bandwidth = std::min(message.bandwidth, link.bandwidth);
                fill(links_, link.link.value, link.part * wide / link.bandwidth);
            }
            message.links = filled_.size() - message.first_filled;
            fill(ports_, 3 * here.value, wide / port_);
            fill(ports_, 3 * there.value + 1, wide / port_);
        }
        message.ports = filled_.size() - message.first_filled - message.links;
    }
    [[nodiscard]] double passing_time(const MessageInFlight& message) const {
        double last = message.passing_time;
        const std::uint32_t* filled = filled_.data() + message.first_filled;
        for (std::size_t i = 0; i < message.links; ++i)
            last = std::max(last, links_.passing_time(*filled++, message.start));
        for (std::size_t i = 0; i < message.ports; ++i)
            last = std::max(last, ports_.passing_time(*filled++, message.start));
        return last;
    }
    /// Processes the messages of a rank. Returns how long the rank is busy with sending.
    double process_sends(const AnySchedule& schedule, std::uint64_t round,
                         std::span<const MessageInFlight> messages, bool reduces) {
        const Rank from = messages.front().from;
        const std::optional<Bytes> to_card =
            model_.sends_from_nic() ? staged_bytes(schedule, calls_.rank_in_call(from), round) : std::nullopt;
        const std::uint32_t processes = senders_on_[node(from).value];
        Departures sent_by, inside;  // departures of inter-node and intra-node messages
        double busy_before = 0;
        for (const MessageInFlight& message : messages) {
            const NetworkModel& model = select_model(is_intra_node(message));
            const double overhead = model.receive_cpu(message.bytes), start = model.send_cpu(message.bytes);
            const double work = reduces ? model_.reduce(message.bytes) : 0;
            const double begun = message.start - busy_before;
            busy_before += start;
            cpu_.add(from.value, start);
            cpu_.add(message.to.value, overhead + work);
            (is_intra_node(message) ? sent_by : inside).started += start;
            if (is_intra_node(message)) {
                const double come =
                    std::max(begun + inside.add(start, memory_.time(message.bytes)), passing_time(message));
                arrivals_.arrivals_of(message.to).add(come + memory_.latency(message.bytes), overhead, work);
                continue;
            }
            const LinkFactors links = model_.link_factors(message.bytes);
            const double alone =
                to_card ? model_.nic_time(message.bytes, processes) : model_.time(message.bytes, processes);
            const double first = model_.time(Bytes{0});
            const double turn =
                model_.is_limited_by_links_only(port_)
                    ? first
                    : std::max(alone, model_.in_packets(message.bytes, message.latency, message.bandwidth));
            const double wire =
                first + static_cast<double>(message.bytes.value) / (links.bandwidth * message.bandwidth);
            const double come =
                std::max(begun + sent_by.add(start, turn, wire), first + passing_time(message));
            const double latency = model_.latency(message.bytes) + links.latency * message.latency;
            arrivals_.arrivals_of(message.to).add(come + latency, overhead, work);
        }
        const Copies combined = copies(schedule, calls_.rank_in_call(from), round);
        const double copying = model_.copy(combined.bytes, static_cast<double>(combined.blocks));
        cpu_.add(from.value, copying);
        return sending_time(std::max(sent_by.left, inside.left), copying,
                            to_card ? model_.stage(*to_card) : 0, messages.size());
    }
    /// Advances all ranks of a call through a barrier.
    void wait_in_barrier(RankClocks& ranks) const {
        for (std::size_t first = 0; first < ranks.time.size(); first += calls_.ranks) {
            const std::span<double> call = std::span(ranks.time).subspan(first, calls_.ranks);
            std::ranges::fill(call, std::ranges::max(call) + barrier_.time);
            for (double& cpu : std::span(ranks.cpu).subspan(first, calls_.ranks)) cpu += barrier_.cpu;
        }
    }

    RouteLinks& routes_;
    const NetworkModel& model_;
    const NetworkModel& memory_;
    double port_, memory_rate_;
    ConcurrentCalls calls_;
    BarrierCost barrier_;
    bool shares_;  // whether processes of a node slow each other
    Meter& meter_;
    LinkQueues links_;
    LinkQueues ports_;  // queues per node for outgoing, incoming and intra-node bytes
    RoundLoads cpu_;
    RoundArrivals arrivals_;
    std::vector<std::uint32_t> senders_on_;  // by node
    std::vector<double> before_;             // clocks of the ranks before the round
    std::vector<Rank> senders_;
    std::vector<SentMessage> of_rank_;
    std::vector<MessageInFlight> messages_;
    std::vector<std::pair<double, std::size_t>> order_;
    std::vector<std::uint32_t> filled_;  // links and ports of all messages, message by message
};

}  // namespace topoloom
