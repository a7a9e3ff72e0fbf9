// SPDX-License-Identifier: BSD-3-Clause
// Times single rounds of a schedule on routes, for cost().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/cost/concurrent_calls.hpp"
#include "topoloom/schedule/cost/message_times.hpp"
#include "topoloom/schedule/cost/network_model.hpp"
#include "topoloom/schedule/cost/round_loads.hpp"
#include "topoloom/schedule/cost/route_links.hpp"

namespace topoloom {

/// The cost of one or several rounds.
struct RoundCost {
    double time = 0, cpu = 0, congestion = 0;
    RoundCost& operator+=(const RoundCost& other) {
        time += other.time;
        cpu += other.cpu;
        congestion += other.congestion;
        return *this;
    }
};

/// Maps a number to 0 .. count-1 such that successive numbers are far apart.
inline std::uint64_t spread_evenly(std::uint64_t number, std::uint64_t count) {
    return (number * 0x9E3779B97F4A7C15 >> 32) * count >> 32;  // multiples of the golden ratio
}

/// A sample of the messages of a round: every `senders`-th sender, and one of every `distances` consecutive
/// distances between sender and receiver. A different one is chosen from each such group of distances.
struct Sampling {
    std::uint64_t senders = 1;
    std::uint64_t distances = 1;

    [[nodiscard]] bool is_sampled(std::size_t distance) const {
        return distance % distances == spread_evenly(distance / distances, distances);
    }
};

/// Times rounds separately, each as if it began when all ranks have finished the previous one.
class RoundTimer {
   public:
    RoundTimer(RouteLinks& routes, const NetworkModel& model, const Machine& machine,
               const ConcurrentCalls& calls, const BarrierCost& barrier, bool shares,
               const Sampling& sampling)
        : routes_(routes),
          model_(model),
          port_(machine.node_spec().port_bandwidth.value),
          calls_(calls),
          barrier_(barrier),
          shares_(shares),
          sampling_(sampling),
          links_(machine.link_count()),
          out_(machine.node_count()),
          in_(machine.node_count()),
          cpu_(calls.node.size()),
          arrivals_(calls.node.size()),
          senders_on_(machine.node_count(), 1) {}

    RoundCost time(const AnySchedule& schedule, std::uint64_t round) {
        double latest = 0, most_to_send = 0;
        bool silent = true;
        calls_.list_senders(schedule, round, senders_);
        if (shares_) count_senders(schedule, round);
        const double of_senders = sample_senders();
        const bool reduces = schedule.transfer(round) == Transfer::combine;
        for (const Rank from : senders_) {
            const Node here = calls_.node[from.value];
            calls_.list_messages(schedule, round, from, messages_);
            const std::optional<Bytes> to_card =
                model_.sends_from_nic() ? staged_bytes(schedule, calls_.rank_in_call(from), round)
                                        : std::nullopt;
            Departures sent_by;
            std::uint64_t sent = 0;
            const double weight = of_senders * weight_of_routed_message();
            for (std::size_t i = 0; i < messages_.size(); ++i) {
                const SentMessage& message = messages_[i];
                if (here == calls_.node[message.to.value]) continue;
                ++sent;
                const LinkFactors links = model_.link_factors(message.bytes);
                const double filled = weight * static_cast<double>(message.bytes.value) / links.bandwidth;
                // The sender represents several ranks; its messages are spread over the routes of all these
                // ranks.
                const std::size_t shift = i % static_cast<std::size_t>(of_senders);
                const RouteCost route =
                    is_routed(message)
                        ? add_to_route(shifted_node(from, shift), shifted_node(message.to, shift), filled)
                        : RouteCost{};
                latest = std::max(latest, model_.latency(message.bytes) + links.latency * route.latency);
                const std::uint32_t processes = senders_on_[here.value];
                const double alone = to_card ? model_.nic_time(message.bytes, processes)
                                             : model_.time(message.bytes, processes);
                const double turn =
                    model_.is_limited_by_links_only(port_)
                        ? model_.time(Bytes{0})
                        : std::max(alone, model_.in_packets(message.bytes, route.latency, route.bandwidth));
                const double overhead = model_.receive_cpu(message.bytes);
                const double work = reduces ? model_.reduce(message.bytes) : 0;
                cpu_.add(from.value, model_.send_cpu(message.bytes));
                cpu_.add(message.to.value, of_senders * (overhead + work));
                const double wire = model_.time(Bytes{0}) + static_cast<double>(message.bytes.value) /
                                                                (links.bandwidth * route.bandwidth);
                arrivals_.arrivals_of(message.to)
                    .add(sent_by.add(model_.send_cpu(message.bytes), turn, wire), overhead, work, of_senders);
            }
            if (sent == 0) continue;
            silent = false;
            const Copies combined = copies(schedule, calls_.rank_in_call(from), round);
            const double copying = model_.copy(combined.bytes, static_cast<double>(combined.blocks));
            cpu_.add(from.value, copying);
            const double staging = to_card ? model_.stage(*to_card) : 0;
            most_to_send = std::max(most_to_send, sending_time(sent_by.left, copying, staging, sent));
        }
        const RoundCost drained = drain_loads(schedule.is_pipelined(round) ? 0 : latest, most_to_send);
        RoundCost sum = schedule.has_barrier(round) ? RoundCost{barrier_.time, barrier_.cpu, 0} : RoundCost{};
        if (!silent) sum += drained;
        return sum;
    }

   private:
    /// Resets all loads. Returns the cost of the round without its barrier. `latency` delays the round,
    /// `most_to_send` is the time of the busiest sender.
    RoundCost drain_loads(double latency, double most_to_send) {
        const double link = drain_links();
        const auto through_port = [&](std::size_t, double bytes) { return bytes / port_; };
        const double port = std::max(out_.drain(through_port), in_.drain(through_port));
        const double cpu = cpu_.drain([](std::size_t, double seconds) { return seconds; });
        double come = 0;
        arrivals_.drain([&](Rank, double taken) { come = std::max(come, taken); });
        const double passing = model_.time(Bytes{0}) + std::max(link, port);
        return {std::max(latency + std::max({most_to_send, come, passing}), cpu), cpu, link};
    }
    [[nodiscard]] Node shifted_node(Rank rank, std::size_t by) const {
        const std::size_t in = calls_.rank_in_call(rank).value;
        return calls_.node[rank.value - in + (in + by) % calls_.ranks];
    }
    struct RouteCost {
        double latency = 0;
        double bandwidth = std::numeric_limits<double>::infinity();  // of the narrowest link of the route
    };
    /// Resets link loads. Returns the seconds of the busiest link.
    double drain_links() {
        return links_.drain(
            [&](std::size_t index, double bytes) { return bytes / routes_.bandwidth(Link{index}); });
    }
    /// Thins out the senders. Returns the number of senders that each remaining one represents.
    double sample_senders() {
        if (sampling_.senders == 1) return 1;
        const auto all = static_cast<double>(senders_.size());
        std::size_t left = 0;
        for (std::size_t i = 0; i < senders_.size(); i += sampling_.senders) senders_[left++] = senders_[i];
        senders_.resize(left);
        return all / static_cast<double>(std::max<std::size_t>(left, 1));
    }
    [[nodiscard]] bool is_routed(const SentMessage& message) const {
        if (sampling_.distances == 1 || messages_.size() < 2 * sampling_.distances) return true;
        return sampling_.is_sampled(
            (calls_.rank_in_call(message.to).value + calls_.ranks - calls_.rank_in_call(message.from).value) %
            calls_.ranks);
    }
    /// The number of messages that each routed message of a sender represents.
    [[nodiscard]] double weight_of_routed_message() const {
        if (sampling_.distances == 1) return 1;
        const auto routed =
            std::ranges::count_if(messages_, [&](const SentMessage& message) { return is_routed(message); });
        return static_cast<double>(messages_.size()) /
               static_cast<double>(std::max<std::ptrdiff_t>(routed, 1));
    }
    /// Counts, per node, the ranks that send inter-node messages; if senders are sampled, all sampled ranks
    /// of the node.
    void count_senders(const AnySchedule& schedule, std::uint64_t round) {
        for (const Rank from : senders_) senders_on_[calls_.node[from.value].value] = 0;
        for (const Rank from : senders_) {
            const Node here = calls_.node[from.value];
            if (sampling_.senders > 1) {
                ++senders_on_[here.value];
                continue;
            }
            calls_.list_messages(schedule, round, from, messages_);
            senders_on_[here.value] += std::ranges::any_of(
                messages_, [&](const SentMessage& message) { return calls_.node[message.to.value] != here; });
        }
    }
    /// Adds the bytes to the links of the route.
    RouteCost add_to_route(Node from, Node to, double bytes) {
        RouteCost route;
        for (const RouteLink& link : routes_.between(from, to)) {
            links_.add(link.link.value, link.part * bytes);
            route.latency += link.part * link.latency;
            route.bandwidth = std::min(route.bandwidth, link.bandwidth);
        }
        out_.add(from.value, bytes);
        in_.add(to.value, bytes);
        return route;
    }

    RouteLinks& routes_;
    const NetworkModel& model_;
    double port_;
    ConcurrentCalls calls_;
    BarrierCost barrier_;
    bool shares_;  // whether processes of a node slow each other
    Sampling sampling_;
    RoundLoads links_, out_, in_, cpu_;
    RoundArrivals arrivals_;
    std::vector<std::uint32_t> senders_on_;  // by node
    std::vector<Rank> senders_;
    std::vector<SentMessage> messages_;
};

}  // namespace topoloom
