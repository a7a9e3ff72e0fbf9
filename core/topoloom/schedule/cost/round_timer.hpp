// SPDX-License-Identifier: BSD-3-Clause
// Times rounds of a schedule by the routes of their messages: what cost() adds up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/cost/calls_at_once.hpp"
#include "topoloom/schedule/cost/network_model.hpp"
#include "topoloom/schedule/cost/overlap.hpp"
#include "topoloom/schedule/cost/round_loads.hpp"
#include "topoloom/schedule/cost/route_links.hpp"

namespace topoloom {

/// Of a round, or several.
struct RoundCost {
    double time = 0, cpu = 0, congestion = 0;
    RoundCost& operator+=(const RoundCost& other) {
        time += other.time;
        cpu += other.cpu;
        congestion += other.congestion;
        return *this;
    }
};

/// One of 0 .. count-1 for each number, such that those of successive numbers lie far apart.
inline std::uint64_t spread_evenly(std::uint64_t number, std::uint64_t count) {
    return (number * 0x9E3779B97F4A7C15 >> 32) * count >> 32;  // multiples of the golden ratio
}

/// Which messages of a round are routed, for all of it: those of every `senders`-th sender, to ranks at one of `distances`
/// distances in a row, which is another one in every row.
struct Thinning {
    std::uint64_t senders = 1;
    std::uint64_t distances = 1;

    [[nodiscard]] bool keeps(std::size_t distance) const {
        return distance % distances == spread_evenly(distance / distances, distances);
    }
};

/// Times rounds, each as if it began when all ranks have ended the one before, with memory of its own.
class RoundTimer {
   public:
    RoundTimer(RouteLinks& routes, const NetworkModel& model, const Machine& machine,
               const CallsAtOnce& calls, const Barrier& barrier, bool shares, const Thinning& thin)
        : routes_(routes),
          model_(model),
          port_(machine.inside().port_bandwidth.value),
          calls_(calls),
          barrier_(barrier),
          shares_(shares),
          thin_(thin),
          links_(machine.link_count()),
          out_(machine.node_count()),
          in_(machine.node_count()),
          cpu_(calls.node.size()),
          come_(calls.node.size()),
          senders_on_(machine.node_count(), 1) {}

    RoundCost time(const AnySchedule& schedule, std::uint64_t round) {
        double latest = 0, most_to_send = 0;
        bool silent = true;
        calls_.list_senders(schedule, round, senders_);
        if (shares_) count_senders(schedule, round);
        const double of_senders = thin_senders();
        const bool reduces = schedule.transfer(round) == Transfer::combine;
        for (const Rank from : senders_) {
            const Node here = calls_.node[from.value];
            calls_.list_messages(schedule, round, from, messages_);
            const std::optional<Bytes> to_card =
                model_.sends_from_nic() ? staged(schedule, calls_.in_call(from), round) : std::nullopt;
            Departures sent_by;
            std::uint64_t sent = 0;
            const double weight = of_senders * weight_of_routed();
            for (std::size_t i = 0; i < messages_.size(); ++i) {
                const SentMessage& message = messages_[i];
                if (here == calls_.node[message.to.value]) continue;
                ++sent;
                const LinkFactors links = model_.link_factors(message.bytes);
                const double filled = weight * static_cast<double>(message.bytes.value) / links.bandwidth;
                // Each of those that the sender stands for has a part of its messages on the ways of its own.
                const std::size_t shift = i % static_cast<std::size_t>(of_senders);
                const Way way = is_routed(message)
                                    ? send(shifted(from, shift), shifted(message.to, shift), filled)
                                    : Way{};
                latest = std::max(latest, model_.latency(message.bytes) + links.latency * way.latency);
                const std::uint32_t processes = senders_on_[here.value];
                const double alone = to_card ? model_.nic_time(message.bytes, processes)
                                             : model_.time(message.bytes, processes);
                const double turn =
                    model_.takes_bytes_on_links(port_)
                        ? model_.time(Bytes{0})
                        : std::max(alone, model_.in_packets(message.bytes, way.latency, way.bandwidth));
                const double overhead = model_.receive_cpu(message.bytes);
                const double work = reduces ? model_.reduce(message.bytes) : 0;
                cpu_.add(from.value, model_.send_cpu(message.bytes));
                cpu_.add(message.to.value, of_senders * (overhead + work));
                const double wire = model_.time(Bytes{0}) + static_cast<double>(message.bytes.value) /
                                                                (links.bandwidth * way.bandwidth);
                come_.to(message.to)
                    .add(sent_by.add(model_.send_cpu(message.bytes), turn, wire), overhead, work, of_senders);
            }
            if (sent == 0) continue;
            silent = false;
            const Copies copies = copied(schedule, calls_.in_call(from), round);
            const double copying = model_.copy(copies.bytes, static_cast<double>(copies.blocks));
            cpu_.add(from.value, copying);
            const double staging = to_card ? model_.stage(*to_card) : 0;
            most_to_send = std::max(most_to_send, busy(sent_by.left, copying, staging, sent));
        }
        const double link = empty_links();
        const auto through_port = [&](std::size_t, double bytes) { return bytes / port_; };
        const double port = std::max(out_.empty(through_port), in_.empty(through_port));
        const double cpu = cpu_.empty([](std::size_t, double seconds) { return seconds; });
        double come = 0;
        come_.empty([&](Rank, double taken) { come = std::max(come, taken); });
        RoundCost sum = schedule.has_barrier(round) ? RoundCost{barrier_.time, barrier_.cpu, 0} : RoundCost{};
        if (silent) return sum;
        const double passing = model_.time(Bytes{0}) + std::max(link, port);
        const double arrival = schedule.pipelined(round) ? 0 : latest;
        return sum += {std::max(arrival + std::max({most_to_send, come, passing}), cpu), cpu, link};
    }

   private:
    [[nodiscard]] Node shifted(Rank rank, std::size_t by) const {
        const std::size_t in = calls_.in_call(rank).value;
        return calls_.node[rank.value - in + (in + by) % calls_.ranks];
    }
    struct Way {
        double latency = 0;
        double bandwidth = std::numeric_limits<double>::infinity();  // of its narrowest link
    };
    /// Returns the seconds that the busiest needs.
    double empty_links() {
        return links_.empty(
            [&](std::size_t index, double bytes) { return bytes / routes_.bandwidth(Link{index}); });
    }
    /// How many senders each that is left stands for.
    double thin_senders() {
        if (thin_.senders == 1) return 1;
        const auto all = static_cast<double>(senders_.size());
        std::size_t left = 0;
        for (std::size_t i = 0; i < senders_.size(); i += thin_.senders) senders_[left++] = senders_[i];
        senders_.resize(left);
        return all / static_cast<double>(std::max<std::size_t>(left, 1));
    }
    [[nodiscard]] bool is_routed(const SentMessage& message) const {
        if (thin_.distances == 1 || messages_.size() < 2 * thin_.distances) return true;
        return thin_.keeps(
            (calls_.in_call(message.to).value + calls_.ranks - calls_.in_call(message.from).value) %
            calls_.ranks);
    }
    /// How many messages of a sender each that is routed stands for.
    [[nodiscard]] double weight_of_routed() const {
        if (thin_.distances == 1) return 1;
        const auto routed =
            std::ranges::count_if(messages_, [&](const SentMessage& message) { return is_routed(message); });
        return static_cast<double>(messages_.size()) /
               static_cast<double>(std::max<std::ptrdiff_t>(routed, 1));
    }
    /// Those of each node with a message that leaves it; where senders are thinned, all.
    void count_senders(const AnySchedule& schedule, std::uint64_t round) {
        for (const Rank from : senders_) senders_on_[calls_.node[from.value].value] = 0;
        for (const Rank from : senders_) {
            const Node here = calls_.node[from.value];
            if (thin_.senders > 1) {
                ++senders_on_[here.value];
                continue;
            }
            calls_.list_messages(schedule, round, from, messages_);
            senders_on_[here.value] += std::ranges::any_of(
                messages_, [&](const SentMessage& message) { return calls_.node[message.to.value] != here; });
        }
    }
    /// Fills the links of the route.
    Way send(Node from, Node to, double bytes) {
        Way way;
        for (const RouteLink& link : routes_.between(from, to)) {
            links_.add(link.link.value, link.part * bytes);
            way.latency += link.part * link.latency;
            way.bandwidth = std::min(way.bandwidth, link.bandwidth);
        }
        out_.add(from.value, bytes);
        in_.add(to.value, bytes);
        return way;
    }

    RouteLinks& routes_;
    const NetworkModel& model_;
    double port_;
    CallsAtOnce calls_;
    Barrier barrier_;
    bool shares_;  // whether processes of a node slow each other
    Thinning thin_;
    RoundLoads links_, out_, in_, cpu_;
    RoundArrivals come_;
    std::vector<std::uint32_t> senders_on_;  // by node
    std::vector<Rank> senders_;
    std::vector<SentMessage> messages_;
};

}  // namespace topoloom
