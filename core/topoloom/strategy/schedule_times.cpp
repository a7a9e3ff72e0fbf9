// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/schedule_times.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/cost/cost.hpp"

namespace topoloom {

namespace {

/// The network model for costs without routes.
NetworkModel make_direct_model(const CostBasis& basis) {
    const bool shares = !basis.slots.empty() && basis.nodes < basis.slots.size();
    if (basis.nodes > 1 && !shares) return basis.model;
    return memory_model(basis.model, basis.machine == nullptr ? NodeSpec{} : basis.machine->node_spec());
}

/// The cost without routes, assuming that a round starts when all ranks have finished the previous one.
ScheduleCost compute_direct_cost(const AnySchedule& schedule, const CostBasis& basis) {
    return cost(schedule, make_direct_model(basis));
}

/// A lower bound of the time, unless ranks start rounds before others: the smaller of the times with
/// node-local costs and with network costs.
double lower_bound_time(const AnySchedule& schedule, const CostBasis& basis) {
    const double direct = compute_direct_cost(schedule, basis).time;
    return basis.machine == nullptr ? direct : std::min(direct, cost(schedule, basis.model).time);
}

/// A model in which all messages cost as much as empty ones.
NetworkModel make_startup_model(const NetworkModel& model) {
    std::vector<CostLine> lines = model.lines(), alone = model.alone();
    for (std::vector<CostLine>* each : {&lines, &alone})
        for (CostLine& line : *each) line.beta = 0;
    MessageCosts costs = model.costs();
    for (double* per_byte : {&costs.send_cpu_per_byte, &costs.receive_cpu_per_byte, &costs.gamma,
                             &costs.reduce, &costs.delta, &costs.beta_em, &costs.node_beta})
        *per_byte = 0;
    const NetworkModel made = model.takes_largest() ? NetworkModel::largest(std::move(lines), costs)
                                                    : NetworkModel::regimes(std::move(lines), costs);
    return made.with_single_message_lines(std::move(alone));
}

/// If data is in more pieces than there are ranks, the number of rounds after which all rounds are alike.
std::optional<std::uint64_t> count_rounds_until_alike(const AnySchedule& schedule) {
    const Collective& collective = schedule.collective();
    if (collective.pieces() <= collective.ranks()) return std::nullopt;
    return 8 * collective.ranks();
}

ScheduleCost compute_routed_cost(const AnySchedule& schedule, const CostBasis& basis) {
    constexpr std::uint64_t most_messages = 1 << 16;  // some milliseconds
    const ScheduleCost alone = cost(schedule, basis.model);
    const auto rounds = count_rounds_until_alike(schedule);
    if (rounds && alone.rounds > *rounds && *rounds * basis.slots.size() <= most_messages)
        return stream_cost(schedule, basis.model, *basis.machine, basis.slots, *rounds);
    if (alone.messages * basis.slots.size() <= most_messages)
        return run_cost(schedule, basis.model, *basis.machine, basis.slots);
    ScheduleCost sampled = sampled_cost(schedule, basis.model, *basis.machine, basis.slots, most_messages);
    if (basis.nodes == basis.slots.size()) return sampled;
    const ScheduleCost in_memory = compute_direct_cost(schedule, basis);
    sampled.time += in_memory.time;
    sampled.cpu += in_memory.cpu;
    return sampled;
}

}  // namespace

ScheduleCost schedule_cost(const AnySchedule& schedule, const CostBasis& basis) {
    return basis.nodes == 1 || basis.machine == nullptr ? compute_direct_cost(schedule, basis)
                                                        : compute_routed_cost(schedule, basis);
}

ScheduleParts predict_schedule_parts(const AnySchedule& schedule, const CostBasis& basis) {
    const double least = compute_direct_cost(schedule, basis).time;
    const double starts = std::min(least, cost(schedule, make_startup_model(make_direct_model(basis))).time);
    const double time = schedule_cost(schedule, basis).time;
    const double direct = std::min(least, time);  // below `least` if some ranks run ahead
    const double share = least > 0 ? direct / least : 0;
    return {share * starts, share * (least - starts), time - direct};
}

std::vector<std::string> select_schedules_within(double ratio, const Call& call, const CostBasis& basis,
                                                 std::span<const std::string> texts) {
    std::vector<double> times;
    for (const std::string& text : texts)
        times.push_back(compute_direct_cost(make_schedule(call, text), basis).time);
    const double most = ratio * std::ranges::min(times);
    std::vector<std::string> close;
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (times[i] <= most) close.push_back(texts[i]);
    return close;
}

const std::string& find_fastest(const Call& call, const CostBasis& basis, std::span<const std::string> texts,
                                const std::function<bool(const std::string&)>& suits) {
    // If all ranks waited for each other in each round, the fastest schedule would be slower by at most this
    // factor.
    constexpr double most_hidden = 1.5;
    struct BoundedSchedule {
        double least;
        std::size_t index;
    };
    std::vector<BoundedSchedule> order;
    for (std::size_t i = 0; i < texts.size(); ++i)
        order.push_back({lower_bound_time(make_schedule(call, texts[i]), basis), i});
    std::ranges::sort(order, {},
                      [](const BoundedSchedule& timed) { return std::pair(timed.least, timed.index); });
    std::pair<double, std::size_t> best{std::numeric_limits<double>::infinity(), texts.size()};
    for (const auto& [least, index] : order) {
        if (least > most_hidden * best.first) break;
        if (!suits(texts[index])) continue;
        best = std::min(best, {schedule_cost(make_schedule(call, texts[index]), basis).time, index});
    }
    if (best.second == texts.size())
        fail(operation_name(call.operation), ": no schedule for ", call.ranks,
             " ranks keeps the order of operands");
    return texts[best.second];
}

}  // namespace topoloom
