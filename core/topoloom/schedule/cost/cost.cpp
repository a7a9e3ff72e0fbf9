// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/cost.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/cost/round_timer.hpp"
#include "topoloom/schedule/cost/route_links.hpp"
#include "topoloom/schedule/cost/run_timer.hpp"

namespace topoloom {

namespace {

/// Cost of one rank in one round.
struct RankCost {
    double time = 0;
    double cpu = 0;
    std::uint64_t messages = 0;
    Bytes bytes;
};

/// Costs of a message of one size; `reducing` is 0 unless it is reduced.
struct SizeCost {
    double latency, turn, send_cpu, receive_cpu, reducing;
};

/// Evaluates the model for the messages of a rank in a round. Remembers the last size, because a rank often
/// receives as much as it sends.
class SizeCostCache {
   public:
    SizeCostCache(const NetworkModel& model, bool from_nic, bool reduces)
        : model_(model), from_nic_(from_nic), reduces_(reduces) {}
    const SizeCost& of(Bytes bytes) {
        if (bytes == last_bytes_) return last_;
        last_bytes_ = bytes;
        last_ = {.latency = model_.latency(bytes),
                 .turn = from_nic_ ? model_.nic_time(bytes) : model_.time(bytes),
                 .send_cpu = model_.send_cpu(bytes),
                 .receive_cpu = model_.receive_cpu(bytes),
                 .reducing = reduces_ ? model_.reduce(bytes) : 0};
        return last_;
    }

   private:
    const NetworkModel& model_;
    bool from_nic_, reduces_;
    Bytes last_bytes_{-1};
    SizeCost last_{};
};

RankCost rank_cost(const RankWork& work, const NetworkModel& model) {
    RankCost cost_of_rank;
    const bool from_nic = model.sends_from_nic() && work.staged_bytes.has_value();
    SizeCostCache costs(model, from_nic, work.transfer == Transfer::combine);
    Departures sent;
    double latency = 0;
    work.sends.for_each([&](const MessageRun& run) {
        const SizeCost message = costs.of(run.bytes);
        latency = std::max(latency, message.latency);
        for (std::uint64_t i = 0; i < run.count; ++i) {
            const double arrived = sent.add(message.send_cpu, message.turn);
            // Includes the receiver's work, because busiest_senders() may not visit the receiver.
            cost_of_rank.time = std::max(cost_of_rank.time, arrived + message.reducing);
            cost_of_rank.cpu += message.send_cpu;
        }
        cost_of_rank.bytes += run.bytes * static_cast<std::int64_t>(run.count);
        cost_of_rank.messages += run.count;
    });
    Arrivals come;
    work.receives.for_each([&](const MessageRun& run) {
        const SizeCost message = costs.of(run.bytes);
        latency = std::max(latency, message.latency);
        for (std::uint64_t i = 0; i < run.count; ++i) {
            come.add(message.turn, message.receive_cpu, message.reducing);
            cost_of_rank.cpu += message.receive_cpu + message.reducing;
        }
    });
    cost_of_rank.time = std::max(cost_of_rank.time, come.end_time());
    if (cost_of_rank.messages > 0) {
        const double copying = model.copy(work.copies.bytes, static_cast<double>(work.copies.blocks));
        cost_of_rank.cpu += copying;
        const double staging = from_nic ? model.stage(*work.staged_bytes) : 0;
        cost_of_rank.time =
            std::max(cost_of_rank.time, sending_time(sent.left, copying, staging, cost_of_rank.messages));
    }
    if (!work.is_pipelined) cost_of_rank.time += latency;
    cost_of_rank.time = std::max(cost_of_rank.time, cost_of_rank.cpu);
    return cost_of_rank;
}

/// Calls use(round, cost) for every round. The cost has the maximum of each field over the ranks that
/// busiest_senders() visits.
template <class Use>
void each_round_cost(const AnySchedule& schedule, const NetworkModel& model, const Use& use) {
    RankCost most;  // of the open round, which may have more ranks
    std::uint64_t open = 0;
    const std::uint64_t rounds = schedule.rounds();
    schedule.busiest_work(0, rounds, [&](const RankWork& work, std::uint64_t first, std::uint64_t count) {
        RankCost cost = rank_cost(work, model);
        if (work.has_barrier) {
            cost.time += model.barrier(schedule.collective().ranks());
            cost.cpu += model.barrier_cpu(schedule.collective().ranks());
        }
        for (std::uint64_t round = first; round < first + count; ++round) {
            if (round != open) {
                use(open, most);
                most = {};
                open = round;
            }
            most.time = std::max(most.time, cost.time);
            most.cpu = std::max(most.cpu, cost.cpu);
            most.messages = std::max(most.messages, cost.messages);
            most.bytes = std::max(most.bytes, cost.bytes);
        }
    });
    if (rounds > 0) use(open, most);
}

/// NICs per node: 1 unless the machine specifies more.
std::uint32_t nic_count(const Machine& machine) {
    std::uint32_t cards = 1;
    const auto count = [&]<class T>(const T& network) {
        if constexpr (requires { network.hosts(); }) cards = std::max(1U, network.hosts().cards);
    };
    with_topology(machine, [&]<class T>(const T& network) {
        if constexpr (std::is_same_v<T, DegradedTopology>) {
            std::visit(count, network.intact());
        } else {
            count(network);
        }
    });
    return cards;
}

/// A dissemination barrier among the nodes, in order of their first rank. Waiting for ranks of the same node
/// costs nothing.
BarrierCost barrier_cost(RouteLinks& routes, const NetworkModel& model, std::span<const Node> node_of_rank,
                         std::size_t node_count) {
    std::vector<Node> nodes;
    std::vector<bool> is_listed(node_count, false);
    for (const Node node : node_of_rank) {
        if (!is_listed[node.value]) nodes.push_back(node);
        is_listed[node.value] = true;
    }
    BarrierCost barrier{model.barrier(nodes.size()), model.barrier_cpu(nodes.size())};
    for (std::size_t step = 1; step < nodes.size(); step *= 2) {
        double longest = 0;
        const double factor = model.link_factors(Bytes{0}).latency;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            double way = 0;
            for (const RouteLink& link : routes.between(nodes[i], nodes[(i + step) % nodes.size()]))
                way += link.part * link.latency;
            longest = std::max(longest, factor * way);
        }
        barrier.time += longest;
    }
    return barrier;
}

/// Whether any round of the schedule ends with a barrier.
bool has_any_barrier(const AnySchedule& schedule) {
    for (std::uint64_t round = 0; round < schedule.rounds(); ++round)
        if (has_barrier(schedule, round)) return true;
    return false;
}

void check_message_count(const ScheduleCost& alone, std::size_t ranks) {
    constexpr double most = 4294967296.0;
    const double messages = static_cast<double>(alone.messages) * static_cast<double>(ranks);
    if (messages > most) {
        fail("this schedule has about ", std::llround(messages),
             " messages; at most 2^32 are routed. Take fewer ranks, or "
             "no machine");
    }
}

/// The nodes of the ranks, and other data that all rounds share.
struct RankNodes {
    NetworkModel model;
    std::vector<Node> node;  // node of each rank, call after call
    std::size_t ranks = 0;   // of a call
    bool shares = false;     // whether processes of a node slow each other

    [[nodiscard]] ConcurrentCalls calls() const { return {node, ranks}; }
};

RankNodes rank_nodes(const AnySchedule& schedule, const NetworkModel& model, const Machine& machine,
                     std::span<const Slot> slots) {
    RankNodes found{.model = model.with_nics(nic_count(machine)), .node = {}};
    std::vector<bool> is_taken(machine.node_count(), false);
    for (const Slot slot : slots) {
        found.node.push_back(machine.node(slot));
        found.shares = found.shares || is_taken[found.node.back().value];
        is_taken[found.node.back().value] = true;
    }
    const std::size_t ranks = schedule.collective().ranks();
    if (slots.empty() || slots.size() % ranks != 0)
        fail("there are ", slots.size(), " slots for a schedule of ", ranks, " ranks");
    found.ranks = ranks;
    found.shares = found.shares && (found.model.shares_injection() || found.model.sends_from_nic());
    return found;
}

/// Returns the cost of the barriers in the schedule.
BarrierCost barrier_cost(const AnySchedule& schedule, const RankNodes& at, const Machine& machine,
                         RouteLinks& routes) {
    if (!has_any_barrier(schedule)) return {};
    return barrier_cost(routes, at.model, std::span(at.node).first(at.ranks), machine.node_count());
}

/// Calls use(timer) with a RoundTimer.
template <class Use>
RoundCost with_timer(const AnySchedule& schedule, const RankNodes& at, const Machine& machine,
                     const Sampling& sampling, const Use& use) {
    RouteLinks routes(machine);
    const BarrierCost barrier = barrier_cost(schedule, at, machine, routes);
    RoundTimer timer(routes, at.model, machine, at.calls(), barrier, at.shares, sampling);
    return use(timer);
}

/// Calls use(run_until). run_until(round) advances a run to a round and returns its cost so far.
template <class Use>
RoundCost with_run(const AnySchedule& schedule, const RankNodes& at, const Machine& machine,
                   std::size_t ranks, Meter& meter, const Use& use) {
    const NetworkModel memory = memory_model(at.model, machine.node_spec());
    RouteLinks routes(machine);
    const BarrierCost barrier = barrier_cost(schedule, at, machine, routes);
    RunTimer timer(routes, at.model, memory, machine, at.calls(), barrier, at.shares, meter);
    RankClocks clocks(ranks);
    double congestion = 0;
    std::uint64_t round = 0;
    return use([&](std::uint64_t end) {
        for (; round < end && meter.spend(ranks); ++round)
            congestion += timer.advance(schedule, round, clocks);
        return RoundCost{std::ranges::max(clocks.time), std::ranges::max(clocks.cpu), congestion};
    });
}

ScheduleCost replace_route_costs(ScheduleCost alone, const RoundCost& routed) {
    alone.time = routed.time;
    alone.cpu = routed.cpu;
    alone.congestion = routed.congestion;
    return alone;
}

/// A round that represents several similar rounds.
struct SampledRound {
    std::uint64_t round;
    double count;
    std::uint64_t messages;  // messages of the busiest sender
};

bool is_different(double value, double from) { return std::abs(value - from) > 0.01 * from; }

bool is_similar(const RankCost& round, const RankCost& to) {
    return round.messages == to.messages && !is_different(round.time, to.time) &&
           !is_different(static_cast<double>(round.bytes.value), static_cast<double>(to.bytes.value));
}

/// Groups consecutive rounds whose busiest ranks send equally many messages and bytes, and need equal times.
/// Samples 4 to 32 rounds per group, with about `most_messages` messages in total.
std::vector<SampledRound> sample_rounds(const AnySchedule& schedule, const NetworkModel& model,
                                        std::uint64_t most_messages) {
    std::vector<SampledRound> sample;
    const std::uint64_t ranks = schedule.collective().ranks();
    std::uint64_t begin = 0;
    RankCost first;  // of round `begin`
    const auto sample_group = [&](std::uint64_t end) {
        const std::uint64_t fit = most_messages / std::max<std::uint64_t>(first.messages * ranks, 1);
        const std::uint64_t length = end - begin,
                            count = std::min(length, std::clamp<std::uint64_t>(fit, 4, 32));
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t from = begin + length * i / count, to = begin + length * (i + 1) / count;
            sample.push_back(
                {from + spread_evenly(i, to - from), static_cast<double>(to - from), first.messages});
        }
    };
    each_round_cost(schedule, model, [&](std::uint64_t round, const RankCost& next) {
        if (round > 0 && !is_similar(next, first)) {
            sample_group(round);
            begin = round;
        }
        if (round == begin) first = next;
    });
    sample_group(schedule.rounds());
    return sample;
}

}  // namespace

ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model) {
    ScheduleCost sum;
    sum.rounds = schedule.rounds();
    each_round_cost(schedule, model, [&](std::uint64_t, const RankCost& busiest) {
        sum.time += busiest.time;
        sum.cpu += busiest.cpu;
        sum.messages += busiest.messages;
        sum.bytes += busiest.bytes;
    });
    return sum;
}

NetworkModel machine_model(const Machine& machine) {
    return NetworkModel::regimes(
        {CostLine{machine.speeds().startup.value, 1 / machine.node_spec().port_bandwidth.value}},
        {.latency = machine.speeds().latency.value});
}

NetworkModel memory_model(const NodeSpec& node) {
    constexpr double copied_by_core = 0.1e-9;  // s/B
    const double startup = node.memory_startup.value_or(Seconds{0.3e-6}).value;
    const double beta = node.memory ? std::max(copied_by_core, 1 / node.memory->value) : copied_by_core;
    return NetworkModel::regimes(
        {{startup, beta}},
        {.send_cpu = startup / 2, .receive_cpu = startup / 2, .receive_cpu_per_byte = beta});
}

NetworkModel memory_model(const NetworkModel& model, const NodeSpec& node) {
    return model.inside() == nullptr ? memory_model(node) : *model.inside();
}

ScheduleCost cost(const AnySchedule& schedule, const NetworkModel& model, const Machine& machine,
                  std::span<const Slot> slots) {
    const ScheduleCost alone = cost(schedule, model);
    const RankNodes at = rank_nodes(schedule, model, machine, slots);
    check_message_count(alone, slots.size());
    return replace_route_costs(alone, with_timer(schedule, at, machine, {}, [&](RoundTimer& timer) {
                                   RoundCost sum;
                                   for (std::uint64_t round = 0; round < alone.rounds; ++round)
                                       sum += timer.time(schedule, round);
                                   return sum;
                               }));
}

ScheduleCost run_cost(const AnySchedule& schedule, const NetworkModel& model, const Machine& machine,
                      std::span<const Slot> slots, const Budget& budget) {
    const ScheduleCost alone = cost(schedule, model);
    const RankNodes at = rank_nodes(schedule, model, machine, slots);
    check_message_count(alone, slots.size());
    Meter meter(budget);
    return replace_route_costs(alone, with_run(schedule, at, machine, slots.size(), meter,
                                               [&](const auto& go_to) { return go_to(alone.rounds); }));
}

double program_time(std::span<const AnySchedule* const> steps, const NetworkModel& model,
                    const Machine& machine, std::span<const Slot> slots) {
    if (steps.empty()) return 0;
    const RankNodes at = rank_nodes(*steps.front(), model, machine, slots);
    for (const AnySchedule* step : steps) {
        const std::size_t ranks = step->collective().ranks();
        if (ranks != at.ranks)
            fail("a step of a program has ", ranks, " ranks; ranks of the first step: ", at.ranks);
    }
    const NetworkModel memory = memory_model(at.model, machine.node_spec());
    const Budget unlimited;
    Meter meter(unlimited);
    RouteLinks routes(machine);
    const BarrierCost barrier =
        barrier_cost(routes, at.model, std::span(at.node).first(at.ranks), machine.node_count());
    RunTimer timer(routes, at.model, memory, machine, at.calls(), barrier, at.shares, meter);
    RankClocks clocks(slots.size());
    for (const AnySchedule* step : steps) {
        const std::uint64_t rounds = step->rounds();
        for (std::uint64_t round = 0; round < rounds; ++round) timer.advance(*step, round, clocks);
    }
    return std::ranges::max(clocks.time);
}

ScheduleCost stream_cost(const AnySchedule& schedule, const NetworkModel& model, const Machine& machine,
                         std::span<const Slot> slots, std::uint64_t rounds) {
    const ScheduleCost alone = cost(schedule, model);
    if (alone.rounds <= rounds) return run_cost(schedule, model, machine, slots);
    const RankNodes at = rank_nodes(schedule, model, machine, slots);
    const Budget unlimited;
    Meter meter(unlimited);
    return replace_route_costs(
        alone, with_run(schedule, at, machine, slots.size(), meter, [&](const auto& go_to) {
            const RoundCost half = go_to(rounds / 2), all = go_to(rounds);
            const double more =
                static_cast<double>(alone.rounds - rounds) / static_cast<double>(rounds - rounds / 2);
            const auto go_on = [&](double then, double now) { return now + more * (now - then); };
            return RoundCost{go_on(half.time, all.time), go_on(half.cpu, all.cpu),
                             go_on(half.congestion, all.congestion)};
        }));
}

ScheduleCost sampled_cost(const AnySchedule& schedule, const NetworkModel& model, const Machine& machine,
                          std::span<const Slot> slots, std::uint64_t most_messages) {
    const ScheduleCost alone = cost(schedule, model);
    const std::uint64_t ranks = slots.size();
    if (alone.messages * ranks <= most_messages) return cost(schedule, model, machine, slots);
    const RankNodes at = rank_nodes(schedule, model, machine, slots);
    const std::vector<SampledRound> sample =
        sample_rounds(schedule, model, std::max<std::uint64_t>(most_messages / (ranks / at.ranks), 1));
    std::uint64_t most_of_rank = 0, all_of_rank = 0;
    for (const SampledRound& one : sample) {
        most_of_rank = std::max(most_of_rank, one.messages);
        all_of_rank += one.messages;
    }
    // So many senders are skipped that messages that are not routed take at most a tenth of the time.
    const std::uint64_t senders = 1 + most_of_rank * ranks / (most_messages << 8);
    const Sampling sampling{senders, 1 + all_of_rank * ranks / senders / most_messages};
    return replace_route_costs(alone, with_timer(schedule, at, machine, sampling, [&](RoundTimer& timer) {
                                   RoundCost sum;
                                   for (const SampledRound& one : sample) {
                                       const RoundCost of_one = timer.time(schedule, one.round);
                                       sum += {one.count * of_one.time, one.count * of_one.cpu,
                                               one.count * of_one.congestion};
                                   }
                                   return sum;
                               }));
}

}  // namespace topoloom
