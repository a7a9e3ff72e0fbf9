// SPDX-License-Identifier: BSD-3-Clause
// Times rounds of a schedule by the routes of their messages: what cost() and run_cost() add up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/cost/messages.hpp"
#include "topoloom/schedule/cost/network_model.hpp"
#include "topoloom/schedule/cost/overlap.hpp"

namespace topoloom {

/// Seconds that a rank needs to send: it copies blocks into a message while it sends the one before, if there is one.
inline double busy(double sending, double copying, double staging, std::uint64_t messages) {
    return staging + (messages > 1 ? std::max(sending, copying) : sending + copying);
}

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

/// Largest entry, and the entries that are not 0, of an array that is emptied again and again.
class RoundLoads {
   public:
    explicit RoundLoads(std::size_t count) : load_(count) {}
    void add(std::size_t index, double amount) {
        if (amount == 0) return;
        if (load_[index] == 0) touched_.push_back(static_cast<std::uint32_t>(index));
        load_[index] += amount;
    }
    double operator[](std::size_t index) const { return load_[index]; }
    /// The largest of measure(index, load); all are 0 then.
    template <class Measure>
    double empty(const Measure& measure) {
        double most = 0;
        for (const std::uint32_t index : touched_) {
            most = std::max(most, measure(index, load_[index]));
            load_[index] = 0;
        }
        touched_.clear();
        return most;
    }

   private:
    std::vector<double> load_;
    std::vector<std::uint32_t> touched_;
};

/// What messages fill, round after round, each when it is free of those before: links and ports of nodes.
class RoundQueues {
   public:
    explicit RoundQueues(std::size_t count) : queues_(count) {}
    /// A message that starts at `start` fills it for some seconds.
    void add(std::size_t index, double seconds, double start) {
        Queue& queue = queues_[index];
        if (queue.filled == 0 && seconds > 0) touched_.push_back(static_cast<std::uint32_t>(index));
        queue.filled += seconds;
        queue.first = std::min(queue.first, start);
        queue.last = std::max(queue.last, start);
    }
    /// When a message of the round has passed that starts then: all share it, so that those that start earlier than others end
    /// as much earlier.
    double passed(std::size_t index, double start) const {
        const Queue& queue = queues_[index];
        return queue.end() - (queue.last - start);
    }
    /// Ends the round; returns the most seconds.
    double end_round() {
        double most = 0;
        for (const std::uint32_t index : touched_) {
            Queue& queue = queues_[index];
            most = std::max(most, queue.filled);
            queue = {.free = queue.end()};
        }
        touched_.clear();
        return most;
    }

   private:
    struct Queue {
        double free = 0;  // of the rounds before
        double filled = 0;
        double first = std::numeric_limits<double>::infinity(), last = 0;  // starts
        double end() const { return std::max(free, first) + filled; }
    };
    std::vector<Queue> queues_;
    std::vector<std::uint32_t> touched_;
};

/// What comes to ranks, emptied again and again.
class RoundArrivals {
   public:
    explicit RoundArrivals(std::size_t ranks) : of_rank_(ranks) {}
    Arrivals& to(Rank rank) {
        Arrivals& arrivals = of_rank_[rank.value];
        if (arrivals.none()) touched_.push_back(rank);
        return arrivals;
    }
    /// Calls visit(rank, when all that comes to it has been taken).
    template <class Visit>
    void empty(const Visit& visit) {
        for (const Rank rank : touched_) {
            visit(rank, of_rank_[rank.value].taken());
            of_rank_[rank.value] = {};
        }
        touched_.clear();
    }

   private:
    std::vector<Arrivals> of_rank_;
    std::vector<Rank> touched_;
};

/// Of a round that ends with one.
struct Barrier {
    double time = 0, cpu = 0;
};

/// Of each rank, in seconds: when it has done its part of a round, and how long its core was busy until then.
struct RankClocks {
    explicit RankClocks(std::size_t ranks) : time(ranks), cpu(ranks) {}
    std::vector<double> time, cpu;
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

/// Times rounds, one after the other, with memory of its own: of one call, or of as many at once as there are times its
/// `ranks` in `node`, the ranks of each next to each other.
template <class T>
class RoundTimer {
   public:
    RoundTimer(const T& network, const NetworkModel& model, const Machine& machine,
               std::span<const Node> node, std::size_t ranks, const Barrier& barrier, bool shares,
               const Thinning& thin, Meter& meter)
        : network_(network),
          model_(model),
          port_(machine.inside().port_bandwidth.value),
          node_(node),
          ranks_(ranks),
          barrier_(barrier),
          shares_(shares),
          thin_(thin),
          meter_(meter),
          links_(machine.link_count()),
          ways_(machine.link_count()),
          ports_(2 * machine.node_count()),
          out_(machine.node_count()),
          in_(machine.node_count()),
          cpu_(node.size()),
          come_(node.size()),
          senders_on_(machine.node_count(), 1) {}

    RoundCost time(const AnySchedule& schedule, std::uint64_t round) {
        double longest_way = 0, most_to_send = 0;
        bool silent = true;
        find_senders(schedule, round);
        if (shares_) count_senders(schedule, round);
        const double of_senders = thin_senders();
        const bool reduces =
            with_schedule(schedule, [&](const auto& s) { return s.transfer(round) == Transfer::combine; });
        for (const Rank from : senders_) {
            const Node here = node_[from.value];
            find_messages(schedule, round, from);
            const std::optional<Bytes> to_card =
                model_.sends_from_nic() ? staged(schedule, in_call(from), round) : std::nullopt;
            Departures sent_by;
            std::uint64_t sent = 0;
            const double weight = of_senders * weight_of_routed();
            for (std::size_t i = 0; i < messages_.size(); ++i) {
                const SentMessage& message = messages_[i];
                if (here == node_[message.to.value]) continue;
                ++sent;
                const LinkFactors links = model_.link_factors(message.bytes);
                const double filled = weight * static_cast<double>(message.bytes.value) / links.bandwidth;
                // Each of those that the sender stands for has a part of its messages on the ways of its own.
                const std::size_t shift = i % static_cast<std::size_t>(of_senders);
                const Way way = is_routed(message)
                                    ? send(shifted(from, shift), shifted(message.to, shift), filled)
                                    : Way{};
                longest_way = std::max(longest_way, links.latency * way.latency);
                const std::uint32_t processes = senders_on_[here.value];
                const double alone = to_card ? model_.nic_time(message.bytes, processes)
                                             : model_.time(message.bytes, processes);
                const double turn =
                    std::max(alone, model_.in_packets(message.bytes, way.latency, way.bandwidth));
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
            const Copies copies = copied(schedule, in_call(from), round);
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
        const auto [flows, waits] = with_schedule(
            schedule, [&](const auto& s) { return std::pair(pipelined(s, round), has_barrier(s, round)); });
        RoundCost sum = waits ? RoundCost{barrier_.time, barrier_.cpu, 0} : RoundCost{};
        if (silent) return sum;
        const double passing = model_.time(Bytes{0}) + std::max(link, port);
        const double arrival = flows ? 0 : model_.costs().latency + longest_way;
        return sum += {std::max(arrival + std::max({most_to_send, come, passing}), cpu), cpu, link};
    }

    /// Takes the clocks of all ranks on to when each has done its part of the round: it waits only for what comes to it,
    /// and a message starts once both its ranks have come to the round. Returns what the busiest link needs.
    double advance(const AnySchedule& schedule, std::uint64_t round, RankClocks& ranks) {
        std::vector<double>& clocks = ranks.time;
        before_ = clocks;
        find_senders(schedule, round);
        if (shares_) count_senders(schedule, round);
        for (const Rank from : senders_) {
            find_messages(schedule, round, from);
            fill_ways(from);
        }
        const bool reduces =
            with_schedule(schedule, [&](const auto& s) { return s.transfer(round) == Transfer::combine; });
        for (const Rank from : senders_) {
            find_messages(schedule, round, from);
            if (!meter_.spend(messages_.size())) break;
            const double left = send_all(schedule, round, from, reduces);
            clocks[from.value] = std::max(clocks[from.value], before_[from.value] + left);
        }
        come_.empty(
            [&](Rank rank, double taken) { clocks[rank.value] = std::max(clocks[rank.value], taken); });
        cpu_.empty([&](std::size_t rank, double seconds) {
            clocks[rank] = std::max(clocks[rank], before_[rank] + seconds);
            ranks.cpu[rank] += seconds;
            return seconds;
        });
        const double link = ways_.end_round();
        ports_.end_round();
        const bool waits = with_schedule(schedule, [&](const auto& s) { return has_barrier(s, round); });
        for (std::size_t first = 0; waits && first < clocks.size(); first += ranks_) {
            const std::span<double> call = std::span(clocks).subspan(first, ranks_);
            std::ranges::fill(call, std::ranges::max(call) + barrier_.time);
            for (double& cpu : std::span(ranks.cpu).subspan(first, ranks_)) cpu += barrier_.cpu;
        }
        return link;
    }

   private:
    [[nodiscard]] Node shifted(Rank rank, std::size_t by) const {
        const std::size_t in = in_call(rank).value;
        return node_[rank.value - in + (in + by) % ranks_];
    }
    struct Way {
        double latency = 0;
        double bandwidth = std::numeric_limits<double>::infinity();  // of its narrowest link
    };
    /// Returns the seconds that the busiest needs.
    double empty_links() {
        return links_.empty(
            [&](std::size_t index, double bytes) { return bytes / network_.bandwidth(Link{index}).value; });
    }
    [[nodiscard]] Rank in_call(Rank rank) const { return Rank{rank.value % ranks_}; }
    /// Of all calls.
    void find_senders(const AnySchedule& schedule, std::uint64_t round) {
        list_senders(schedule, round, senders_);
        const std::size_t of_call = senders_.size();
        for (std::size_t first = ranks_; first < node_.size(); first += ranks_)
            for (std::size_t i = 0; i < of_call; ++i) senders_.push_back(Rank{senders_[i].value + first});
    }
    void find_messages(const AnySchedule& schedule, std::uint64_t round, Rank from) {
        list_messages(schedule, round, in_call(from), messages_);
        const std::size_t first = from.value - in_call(from).value;
        for (SentMessage& message : messages_) message.to = Rank{message.to.value + first};
    }
    /// When a message of a rank starts, after others for which it was busy.
    [[nodiscard]] double start_of(Rank from, const SentMessage& message, double busy_before) const {
        const double overhead = model_.send_cpu(message.bytes);
        return std::max(before_[from.value], before_[message.to.value] - overhead) + busy_before;
    }
    /// Of the messages of a rank.
    void fill_ways(Rank from) {
        const Node here = node_[from.value];
        double busy_before = 0;
        for (const SentMessage& message : messages_) {
            const Node there = node_[message.to.value];
            if (here == there) continue;
            const double bytes =
                static_cast<double>(message.bytes.value) / model_.link_factors(message.bytes).bandwidth;
            const double start = start_of(from, message, busy_before);
            network_.route(here, there, [&](Link link, double part) {
                ways_.add(link.value, part * bytes / network_.bandwidth(link).value, start);
            });
            ports_.add(2 * here.value, bytes / port_, start);
            ports_.add(2 * there.value + 1, bytes / port_, start);
            busy_before += model_.send_cpu(message.bytes);
        }
    }
    /// The messages of a rank on links that are filled; returns how long it is busy with sending.
    double send_all(const AnySchedule& schedule, std::uint64_t round, Rank from, bool reduces) {
        const Node here = node_[from.value];
        const std::optional<Bytes> to_card =
            model_.sends_from_nic() ? staged(schedule, in_call(from), round) : std::nullopt;
        Departures sent_by;
        std::uint64_t sent = 0;
        double busy_before = 0;
        for (const SentMessage& message : messages_) {
            const Node there = node_[message.to.value];
            const double overhead = model_.receive_cpu(message.bytes);
            const double work = reduces ? model_.reduce(message.bytes) : 0;
            if (here == there) {
                come_.to(message.to).add(before_[from.value], 0, 0);
                continue;
            }
            ++sent;
            const LinkFactors links = model_.link_factors(message.bytes);
            const double start = start_of(from, message, busy_before);
            const FilledWay way = follow(here, there, start);
            const std::uint32_t processes = senders_on_[here.value];
            const double alone =
                to_card ? model_.nic_time(message.bytes, processes) : model_.time(message.bytes, processes);
            const double turn = std::max(alone, model_.in_packets(message.bytes, way.latency, way.bandwidth));
            const double first = model_.time(Bytes{0});
            const double wire =
                first + static_cast<double>(message.bytes.value) / (links.bandwidth * way.bandwidth);
            const double begun = start - busy_before;
            const double send_cpu = model_.send_cpu(message.bytes);
            const double passed = std::max(begun + sent_by.add(send_cpu, turn, wire), first + way.passed);
            const double latency = model_.costs().latency + links.latency * way.latency;
            come_.to(message.to).add(passed + latency, overhead, work);
            busy_before += send_cpu;
            cpu_.add(from.value, model_.send_cpu(message.bytes));
            cpu_.add(message.to.value, overhead + work);
        }
        if (sent == 0) return 0;
        const Copies copies = copied(schedule, in_call(from), round);
        const double copying = model_.copy(copies.bytes, static_cast<double>(copies.blocks));
        cpu_.add(from.value, copying);
        return busy(sent_by.left, copying, to_card ? model_.stage(*to_card) : 0, sent);
    }
    struct FilledWay : Way {
        double passed = 0;  // when it has passed its busiest link or port
    };
    FilledWay follow(Node from, Node to, double start) const {
        FilledWay way;
        way.passed = std::max(ports_.passed(2 * from.value, start), ports_.passed(2 * to.value + 1, start));
        network_.route(from, to, [&](Link link, double part) {
            const double bandwidth = network_.bandwidth(link).value;
            way.latency += part * network_.latency(link).value;
            way.bandwidth = std::min(way.bandwidth, bandwidth);
            way.passed = std::max(way.passed, ways_.passed(link.value, start));
        });
        return way;
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
        return thin_.keeps((in_call(message.to).value + ranks_ - message.from.value) % ranks_);
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
        for (const Rank from : senders_) senders_on_[node_[from.value].value] = 0;
        for (const Rank from : senders_) {
            const Node here = node_[from.value];
            if (thin_.senders > 1) {
                ++senders_on_[here.value];
                continue;
            }
            find_messages(schedule, round, from);
            senders_on_[here.value] += std::ranges::any_of(
                messages_, [&](const SentMessage& message) { return node_[message.to.value] != here; });
        }
    }
    /// Fills the links of the route.
    Way send(Node from, Node to, double bytes) {
        Way way;
        network_.route(from, to, [&](Link link, double part) {
            links_.add(link.value, part * bytes);
            way.latency += part * network_.latency(link).value;
            way.bandwidth = std::min(way.bandwidth, network_.bandwidth(link).value);
        });
        out_.add(from.value, bytes);
        in_.add(to.value, bytes);
        return way;
    }

    const T& network_;
    const NetworkModel& model_;
    double port_;
    std::span<const Node> node_;  // by rank, call after call
    std::size_t ranks_;           // of a call
    Barrier barrier_;
    bool shares_;  // whether processes of a node slow each other
    Thinning thin_;
    Meter& meter_;
    RoundLoads links_;
    RoundQueues ways_, ports_;
    RoundLoads out_, in_, cpu_;
    RoundArrivals come_;
    std::vector<std::uint32_t> senders_on_;  // by node
    std::vector<double> before_;             // clocks of ranks
    std::vector<Rank> senders_;
    std::vector<SentMessage> messages_;
};

}  // namespace topoloom
