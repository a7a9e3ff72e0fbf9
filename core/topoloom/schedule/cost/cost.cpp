// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/cost.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/schedule/cost/messages.hpp"

namespace topoloom {

namespace {

/// Of one rank in one round.
struct Share {
    double time = 0;
    double cpu = 0;
    std::uint64_t messages = 0;
    Bytes bytes;
};

/// Seconds that a rank needs to send: it copies blocks into a message while it sends the one before, if there is one, and
/// can't be done before its CPU is.
double busy(double sending, double copying, double staging, std::uint64_t messages) {
    return sending + (messages > 1 ? 0 : copying) + staging;
}

template <Schedule S>
Share share_of(const S& schedule, const NetworkModel& model, Rank rank, std::uint64_t round) {
    Share share;
    const std::optional<Bytes> to_card =
        model.sends_from_nic() ? staged(schedule, rank, round) : std::nullopt;
    double sending = 0;
    schedule.sends(rank, round, [&](Rank, Bytes bytes) {
        sending += to_card ? model.nic_time(bytes) : model.time(bytes);
        share.cpu += model.send_cpu(bytes);
        share.bytes += bytes;
        ++share.messages;
    });
    schedule.receives(rank, round, [&](Rank, Bytes bytes) { share.cpu += model.receive_cpu(bytes); });
    if (share.messages > 0) {
        const Copies copies = copied(schedule, rank, round);
        const double copying = model.copy(copies.bytes, static_cast<double>(copies.blocks));
        share.cpu += copying;
        share.time = busy(sending, copying, to_card ? model.stage(*to_card) : 0, share.messages);
    }
    share.time = std::max(share.time, share.cpu);
    if (share.messages > 0 && !pipelined(schedule, round)) share.time += model.costs().latency;
    return share;
}

/// The largest of each over the ranks that the schedule names.
template <Schedule S>
Share busiest_share(const S& schedule, const NetworkModel& model, std::uint64_t round) {
    Share most;
    schedule.busiest(round, [&](Rank rank) {
        const Share share = share_of(schedule, model, rank, round);
        most.time = std::max(most.time, share.time);
        most.cpu = std::max(most.cpu, share.cpu);
        most.messages = std::max(most.messages, share.messages);
        most.bytes = std::max(most.bytes, share.bytes);
    });
    if (has_barrier(schedule, round)) {
        most.time += model.barrier(schedule.collective().ranks());
        most.cpu += model.barrier_cpu(schedule.collective().ranks());
    }
    return most;
}

struct Sum {
    double time = 0, cpu = 0, congestion = 0;
    Sum& operator+=(const Sum& other) {
        time += other.time;
        cpu += other.cpu;
        congestion += other.congestion;
        return *this;
    }
};

/// Largest entry, and the entries that are not 0, of an array that is emptied again and again.
class Loads {
   public:
    explicit Loads(std::size_t count) : load_(count) {}
    void add(std::size_t index, double amount) {
        if (amount == 0) return;
        if (load_[index] == 0) touched_.push_back(static_cast<std::uint32_t>(index));
        load_[index] += amount;
    }
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

/// Whether threads are to go on: the one that asked is asked, the others follow.
class Stop {
   public:
    explicit Stop(const Budget& budget) : meter_(budget) {}
    bool go_on(std::uint64_t messages) {
        if (std::this_thread::get_id() == asking_ && !meter_.spend(messages)) stopped_ = true;
        return !stopped_.load(std::memory_order_relaxed);
    }

   private:
    std::thread::id asking_ = std::this_thread::get_id();
    Meter meter_;
    std::atomic<bool> stopped_ = false;
};

/// Network cards per node: 1 unless the machine says more.
std::uint32_t cards_of(const Machine& machine) {
    std::uint32_t cards = 1;
    const auto count = [&]<class T>(const T& network) {
        if constexpr (requires { network.hosts(); }) cards = std::max(1U, network.hosts().cards);
    };
    with_topology(machine, [&]<class T>(const T& network) {
        if constexpr (std::is_same_v<T, Degraded>) {
            std::visit(count, network.whole());
        } else {
            count(network);
        }
    });
    return cards;
}

struct Barrier {
    double time = 0, cpu = 0;
};

/// A dissemination among the nodes, in the order in which ranks name them: ranks of a node wait for each other in no time.
template <class T>
Barrier barrier_of(const T& network, const NetworkModel& model, std::span<const Node> node_of_rank,
                   std::size_t node_count) {
    std::vector<Node> nodes;
    std::vector<bool> known(node_count, false);
    for (const Node node : node_of_rank) {
        if (!known[node.value]) nodes.push_back(node);
        known[node.value] = true;
    }
    Barrier barrier{model.barrier(nodes.size()), model.barrier_cpu(nodes.size())};
    for (std::size_t step = 1; step < nodes.size(); step *= 2) {
        double longest = 0;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            double way = 0;
            network.route(nodes[i], nodes[(i + step) % nodes.size()],
                          [&](Link link, double part) { way += part * network.latency(link).value; });
            longest = std::max(longest, way);
        }
        barrier.time += longest;
    }
    return barrier;
}

/// Whether a round of the schedule ends with a barrier.
bool ever_waits(const AnySchedule& schedule) {
    return with_schedule(schedule, [](const auto& s) {
        for (std::uint64_t round = 0; round < s.rounds(); ++round)
            if (has_barrier(s, round)) return true;
        return false;
    });
}

/// Times rounds, one after the other, with memory of its own.
template <class T>
class RoundTimer {
   public:
    RoundTimer(const T& network, const NetworkModel& model, const Machine& machine,
               std::span<const Node> node, const Barrier& barrier, bool shares, Stop& stop)
        : network_(network),
          model_(model),
          port_(machine.inside().port_bandwidth.value),
          node_(node),
          barrier_(barrier),
          shares_(shares),
          stop_(stop),
          links_(machine.link_count()),
          out_(machine.node_count()),
          in_(machine.node_count()),
          cpu_(node.size()),
          senders_on_(machine.node_count(), 1) {}

    Sum time(const AnySchedule& schedule, std::uint64_t round) {
        double longest_way = 0, most_to_send = 0;
        bool silent = true;
        list_senders(schedule, round, senders_);
        if (shares_) count_senders(schedule, round);
        for (const Rank from : senders_) {
            const Node here = node_[from.value];
            list_messages(schedule, round, from, messages_);
            if (!stop_.go_on(messages_.size())) break;
            const std::optional<Bytes> to_card =
                model_.sends_from_nic() ? staged(schedule, from, round) : std::nullopt;
            double sending = 0;
            std::uint64_t sent = 0;
            for (const SentMessage& message : messages_) {
                const Node there = node_[message.to.value];
                if (here == there) continue;
                ++sent;
                const Way way = send(here, there, static_cast<double>(message.bytes.value));
                longest_way = std::max(longest_way, way.latency);
                const std::uint32_t processes = senders_on_[here.value];
                const double alone = to_card ? model_.nic_time(message.bytes, processes)
                                             : model_.time(message.bytes, processes);
                sending += std::max(alone, model_.in_packets(message.bytes, way.latency, way.bandwidth));
                cpu_.add(from.value, model_.send_cpu(message.bytes));
                cpu_.add(message.to.value, model_.receive_cpu(message.bytes));
            }
            if (sent == 0) continue;
            silent = false;
            const Copies copies = copied(schedule, from, round);
            const double copying = model_.copy(copies.bytes, static_cast<double>(copies.blocks));
            cpu_.add(from.value, copying);
            most_to_send =
                std::max(most_to_send, busy(sending, copying, to_card ? model_.stage(*to_card) : 0, sent));
        }
        const double link = links_.empty(
            [&](std::size_t index, double bytes) { return bytes / network_.bandwidth(Link{index}).value; });
        const auto through_port = [&](std::size_t, double bytes) { return bytes / port_; };
        const double port = std::max(out_.empty(through_port), in_.empty(through_port));
        const double cpu = cpu_.empty([](std::size_t, double seconds) { return seconds; });
        const auto [flows, waits] = with_schedule(
            schedule, [&](const auto& s) { return std::pair(pipelined(s, round), has_barrier(s, round)); });
        Sum sum = waits ? Sum{barrier_.time, barrier_.cpu, 0} : Sum{};
        if (silent) return sum;
        const double passing = model_.time(Bytes{0}) + std::max(link, port);
        const double arrival = flows ? 0 : model_.costs().latency + longest_way;
        return sum += {arrival + std::max({most_to_send, passing, cpu}), cpu, link};
    }

   private:
    struct Way {
        double latency = 0;
        double bandwidth = std::numeric_limits<double>::infinity();  // of its narrowest link
    };
    /// Those of each node with a message that leaves it.
    void count_senders(const AnySchedule& schedule, std::uint64_t round) {
        for (const Rank from : senders_) senders_on_[node_[from.value].value] = 0;
        for (const Rank from : senders_) {
            const Node here = node_[from.value];
            list_messages(schedule, round, from, messages_);
            senders_on_[here.value] += std::ranges::any_of(
                messages_, [&](const SentMessage& message) { return node_[message.to.value] != here; });
        }
    }
    /// Loads the route.
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
    std::span<const Node> node_;  // by rank
    Barrier barrier_;
    bool shares_;  // whether processes of a node slow each other
    Stop& stop_;
    Loads links_, out_, in_, cpu_;
    std::vector<std::uint32_t> senders_on_;  // by node
    std::vector<Rank> senders_;
    std::vector<SentMessage> messages_;
};

void check_message_count(const ScheduleCost& alone, std::size_t ranks) {
    constexpr double most = 4294967296.0;
    const double messages = static_cast<double>(alone.messages) * static_cast<double>(ranks);
    if (messages > most) {
        fail("this schedule has about ", std::llround(messages),
             " messages; at most 2^32 are routed. Take fewer ranks, or "
             "no machine");
    }
}

}  // namespace

ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model) {
    return with_schedule(schedule, [&](const auto& s) {
        ScheduleCost sum;
        sum.rounds = s.rounds();
        for (std::uint64_t round = 0; round < sum.rounds; ++round) {
            const Share share = busiest_share(s, model, round);
            sum.time += share.time;
            sum.cpu += share.cpu;
            sum.messages += share.messages;
            sum.bytes += share.bytes;
        }
        return sum;
    });
}

NetworkModel model_of(const Machine& machine) {
    return NetworkModel::regimes(
        {CostLine{machine.speeds().startup.value, 1 / machine.inside().port_bandwidth.value}},
        {.latency = machine.speeds().latency.value});
}

ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model, const Machine& machine,
                  std::span<const Slot> slots, int threads, const Budget& budget) {
    ScheduleCost all = cost(schedule, model);
    std::vector<Node> node;
    std::vector<bool> taken(machine.node_count(), false);
    bool shares = false;
    for (const Slot slot : slots) {
        node.push_back(machine.node(slot));
        shares = shares || taken[node.back().value];
        taken[node.back().value] = true;
    }
    const std::size_t ranks = with_schedule(schedule, [](const auto& s) { return s.collective().ranks(); });
    if (slots.size() != ranks) fail("there are ", slots.size(), " slots for a schedule of ", ranks, " ranks");
    check_message_count(all, ranks);
    Stop stop(budget);
    const NetworkModel here = model.with_cards(cards_of(machine));
    shares = shares && (here.slows_neighbors() || here.sends_from_nic());
    const bool waits = ever_waits(schedule);
    const Sum sum = with_common_topology(machine, [&](const auto& network) {
        const Barrier barrier = waits ? barrier_of(network, here, node, machine.node_count()) : Barrier{};
        const Chunks chunks(all.rounds, 16);
        return parallel_sum<Sum>(chunks, threads, [&](const Chunk& chunk) {
            RoundTimer timer(network, here, machine, node, barrier, shares, stop);
            Sum part;
            for (std::uint64_t round = chunk.begin; round < chunk.end && stop.go_on(0); ++round)
                part += timer.time(schedule, round);
            return part;
        });
    });
    all.time = sum.time;
    all.cpu = sum.cpu;
    all.congestion = sum.congestion;
    return all;
}

}  // namespace topoloom
