// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/dense/partial_placement_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/loads/phase_time.hpp"
#include "topoloom/metric/loads/soft_term.hpp"
#include "topoloom/pattern/rounds.hpp"

namespace topoloom::dense {

namespace {

constexpr double rounding_margin = 1 - 1e-12;

double power8(double x) {
    const double x2 = x * x;
    const double x4 = x2 * x2;
    return x4 * x4;
}

/// Seconds per byte; 0 without limit.
double cost_of(BytesPerSecond bandwidth) { return 1 / bandwidth.value; }

/// The least value(from, to) of all pairs of nodes; 0 for a single node.
template <class Value>
double find_least_of_pairs(std::size_t nodes, const Value& value) {
    if (nodes < 2) return 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < nodes; ++a) {
        for (std::size_t b = 0; b < nodes; ++b) {
            if (a != b) least = std::min(least, value(a, b));
        }
    }
    return least;
}

double count_hops(std::span<const RoutedLink> route) {
    double hops = 0;
    for (const RoutedLink& part : route) hops += part.share;
    return hops;
}

double find_min_distance(std::span<const std::int64_t> distances, std::size_t slots) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t a = 0; a < slots; ++a) {
        for (std::size_t b = 0; b < slots; ++b) {
            if (a != b) least = std::min(least, distances[a * slots + b]);
        }
    }
    return slots > 1 ? static_cast<double>(least) : 0;
}

}  // namespace

PartialObjective::PartialObjective(const Problem& problem, const RouteTable& routes,
                                   std::span<const std::int64_t> distances)
    : problem_(problem),
      routes_(routes),
      distances_(distances),
      node_of_(problem.allocation().node_of_slot()),
      objective_(problem.link_objective()),
      all_leave_(problem.allocation().slot_count() == routes.node_count()),
      min_distance_(find_min_distance(distances, problem.allocation().slot_count())),
      position_(problem.rank_count(), Position::none) {
    if (problem.is_for_hop_bytes()) objective_.mix = objective_of(ObjectiveKind::hop_bytes);
    for (const double cost : routes.link_costs()) bandwidth_ += 1 / cost;
    if (all_leave_) {
        const auto find_least = [&](const auto& value) {
            return find_least_of_pairs(routes.node_count(), value);
        };
        min_hops_ = find_least([&](auto a, auto b) { return count_hops(routes.route(a, b)); });
        min_latency_ = find_least([&](auto a, auto b) { return routes.latency(a, b); });
        min_transfer_ = find_least([&](auto a, auto b) { return routes.transfer(a, b); });
    }
    const bool is_timed = weight(ObjectiveKind::time) > 0;
    counts_hops_on_links_ =
        !is_timed || weight(ObjectiveKind::congestion) > 0 || weight(ObjectiveKind::soft) > 0;
    for (const CommGraph* const phase : objective_.phases) {
        if (counts_hops_on_links_) add_part(*phase, false, 1);
        if (is_timed) add_rounds(*phase);
    }
    double bytes = 0;
    for (const Part& part : parts_) bytes += counts_hops(part) ? total(part, ahead) : 0;
    hop_bytes_ = state_.size();
    state_.insert(state_.end(), {0, bytes});
}

void PartialObjective::add_rounds(const CommGraph& phase) {
    const std::vector<CommGraph>& rounds = rounds_.emplace_back(split_into_rounds(phase));
    if (rounds.empty()) return add_part(phase, true, 1);
    // As in ObjectiveLoads, background traffic is divided equally among rounds.
    const auto count_rounds = [](const CommGraph& graph) {
        std::int64_t most = 1;
        for (const std::int64_t messages : graph.all_messages()) most = std::max(most, messages);
        return static_cast<double>(most);
    };
    double all = 0;
    for (const CommGraph& graph : rounds) all += count_rounds(graph);
    for (const CommGraph& graph : rounds) add_part(graph, true, count_rounds(graph) / all);
}

void PartialObjective::add_part(const CommGraph& graph, bool is_timed, double background_share) {
    const std::size_t ranks = graph.rank_count();
    const NodeSpeeds& speeds = problem_.machine().speeds();
    Part part;
    part.is_timed = is_timed;
    part.messages.resize(ranks);
    part.loads = state_.size() + totals;
    part.senders = part.loads + routes_.links().size() + (is_timed ? 4 * routes_.node_count() : 0);
    state_.resize(part.senders + (is_timed ? ranks * quantities : 0), 0);
    if (is_timed) {
        part.tick = startup_tick(graph, problem_.machine());
        part.startup = std::floor(speeds.startup.value / part.tick + 0.5);
        part.memory_startup = std::floor(speeds.memory_startup.value / part.tick + 0.5);
    }
    double bytes = 0;
    for (const Rank u : ids<Rank>(ranks)) {
        double messages = 0;
        for (const Edge edge : graph.sends(u)) {
            const Message message{edge.peer, true, static_cast<double>(edge.bytes.value),
                                  static_cast<double>(edge.messages)};
            part.messages[u.value].push_back(message);
            part.messages[edge.peer.value].push_back({u, false, message.bytes, message.number});
            part.rounds = std::max(part.rounds, message.number);
            part.all_messages += edge.messages > 0 ? 1 : 0;
            messages += message.number;
            bytes += message.bytes;
        }
        part.all_senders += messages > 0 ? 1 : 0;
        if (is_timed) assume_nearest(part, u, messages);
    }
    state_[part.loads - totals + ahead] = bytes;
    set_background(part, background_share);
    parts_.push_back(std::move(part));
}

/// Initializes the quantities of a sender as if all its messages had the shortest of all routes.
void PartialObjective::assume_nearest(const Part& part, Rank u, double messages) {
    const NodeSpeeds& speeds = problem_.machine().speeds();
    double* const sender = state_.data() + part.senders + u.value * quantities;
    sender[startups] = messages * least_startup(part);
    if (!all_leave_ || messages == 0) return;
    sender[longest] = speeds.latency.value + min_latency_;
    const double cost = std::max({min_transfer_, cost_of(speeds.port), cost_of(speeds.memory)});
    double out = 0;
    double in = 0;
    for (const Message& message : part.messages[u.value]) {
        (message.sent ? out : in) += message.bytes;
        if (message.sent && message.number > 0)
            sender[largest] = std::max(sender[largest], message.bytes * cost * rounding_margin);
    }
    double& busiest = state_[part.loads - totals + network_peak];
    busiest = std::max(busiest, std::max(out, in) * cost_of(speeds.port) * rounding_margin);
}

void PartialObjective::set_background(Part& part, double share) {
    if (objective_.background.empty()) return;
    const NetworkView network(problem_.machine().topology());
    std::vector<char> is_routed(objective_.background.size(), 0);
    double* const sums = state_.data() + part.loads - totals;
    for (std::size_t i = 0; i < routes_.links().size(); ++i) {
        const std::size_t link = routes_.links()[i].value;
        is_routed[link] = 1;
        const double bytes = share * objective_.background[link];
        state_[part.loads + i] = bytes;
        sums[carried] += bytes;
        sums[network_peak] = std::max(sums[network_peak], bytes * routes_.link_costs()[i]);
        sums[norm] += power8(bytes * routes_.link_costs()[i]);
    }
    for (std::size_t link = 0; link < is_routed.size(); ++link) {
        if (is_routed[link] != 0 || objective_.background[link] == 0) continue;
        const double seconds = share * objective_.background[link] / network.bandwidth(Link{link}).value;
        sums[network_peak] = std::max(sums[network_peak], seconds);
        sums[norm] += power8(seconds);
        ++loaded_elsewhere_;
    }
}

void PartialObjective::place(Rank u, Position at) {
    placed_.emplace_back(u, undo_.size());
    position_[u.value] = at;
    for (const Part& part : parts_) {
        for (const Message& message : part.messages[u.value]) {
            if (position_[message.peer.value] == Position::none) continue;
            if (message.sent) {
                send(part, u, message.peer, message);
            } else {
                send(part, message.peer, u, message);
            }
        }
    }
}

void PartialObjective::unplace() {
    const auto [u, mark] = placed_.back();
    placed_.pop_back();
    while (undo_.size() > mark) {
        state_[undo_.back().first] = undo_.back().second;
        undo_.pop_back();
    }
    position_[u.value] = Position::none;
}

std::size_t PartialObjective::message_count(Rank u) const {
    std::size_t count = 0;
    for (const Part& part : parts_) count += part.messages[u.value].size();
    return count;
}

void PartialObjective::send(const Part& part, Rank from, Rank to, const Message& message) {
    const Position at = position_[from.value];
    const Position target = position_[to.value];
    const std::size_t a = node_of_[at.value];
    const std::size_t b = node_of_[target.value];
    const std::size_t sums = part.loads - totals;
    set(sums + ahead, state_[sums + ahead] - message.bytes);
    if (counts_hops(part)) {
        const auto distance =
            static_cast<double>(distances_[at.value * problem_.allocation().slot_count() + target.value]);
        set(hop_bytes_, state_[hop_bytes_] + message.bytes * distance);
        set(hop_bytes_ + 1, state_[hop_bytes_ + 1] - message.bytes);
    }
    double on_links = 0;
    for (const RoutedLink& link : routes_.route(a, b)) {
        load(part, link.link, link.share * message.bytes, routes_.link_costs()[link.link], network_peak);
        on_links += link.share * message.bytes;
    }
    if (on_links > 0) set(sums + carried, state_[sums + carried] + on_links);
    if (part.is_timed) send_timed(part, from, a, b, message);
}

void PartialObjective::send_timed(const Part& part, Rank from, std::size_t a, std::size_t b,
                                  const Message& message) {
    const NodeSpeeds& speeds = problem_.machine().speeds();
    const double memory_cost = cost_of(speeds.memory);
    const double port_cost = cost_of(speeds.port);
    const std::size_t ports = routes_.links().size();
    const std::size_t nodes = routes_.node_count();
    load(part, ports + 2 * nodes + a, message.bytes, memory_cost, memory_peak);
    load(part, ports + 3 * nodes + b, message.bytes, memory_cost, memory_peak);
    double latency = 0;
    double transfer = message.bytes * memory_cost;
    const bool leaves = a != b;
    if (leaves) {
        load(part, ports + a, message.bytes, port_cost, network_peak);
        load(part, ports + nodes + b, message.bytes, port_cost, network_peak);
        latency = speeds.latency.value + routes_.latency(a, b);
        transfer = std::max({transfer, message.bytes * port_cost, message.bytes * routes_.transfer(a, b)});
    }
    if (message.number == 0) return;
    const std::size_t sender = part.senders + from.value * quantities;
    const auto raise = [&](Quantity which, double value) {
        if (value > state_[sender + which]) set(sender + which, value);
    };
    const auto add = [&](Quantity which, double value) {
        if (value != 0) set(sender + which, state_[sender + which] + value);
    };
    raise(longest, latency);
    raise(largest, transfer);
    const double startup = leaves ? part.startup : part.memory_startup;
    add(startups, message.number * (startup - least_startup(part)));
    if (leaves) {
        add(leaving, 1);
    } else {
        add(startups_inside, message.number * startup);
    }
}

void PartialObjective::load(const Part& part, std::size_t resource, double amount, double cost, Total peak) {
    if (cost == 0) return;
    const std::size_t index = part.loads + resource;
    const std::size_t sums = part.loads - totals;
    const double before = state_[index];
    set(index, before + amount);
    const double seconds = (before + amount) * cost;
    if (seconds > state_[sums + peak]) set(sums + peak, seconds);
    if (!part.is_timed && weight(ObjectiveKind::soft) > 0)
        set(sums + norm, state_[sums + norm] + power8(seconds) - power8(before * cost));
}

double PartialObjective::hop_bytes() const {
    return state_[hop_bytes_] + state_[hop_bytes_ + 1] * min_distance_;
}

double PartialObjective::evaluate(bool is_complete) const {
    double sum = weight(ObjectiveKind::hop_bytes) * hop_bytes();
    for (const Part& part : parts_) {
        if (part.is_timed) {
            sum += weight(ObjectiveKind::time) * bound_time(part, is_complete);
        } else {
            sum += weight(ObjectiveKind::congestion) * bound_network(part);
            if (weight(ObjectiveKind::soft) > 0) sum += weight(ObjectiveKind::soft) * bound_soft(part);
        }
    }
    return sum;
}

double PartialObjective::bound_network(const Part& part) const {
    if (bandwidth_ == 0) return total(part, network_peak);
    const double average = (total(part, carried) + total(part, ahead) * min_hops_) / bandwidth_;
    return std::max(total(part, network_peak), average * rounding_margin);
}

double PartialObjective::bound_soft(const Part& part) const {
    // The objective rounds the term of every loaded link down to a multiple of 1 / soft_unit.
    const auto links = static_cast<double>(routes_.links().size() + loaded_elsewhere_);
    const double lost = std::min(1.0, links / soft_unit);
    return std::pow(total(part, norm) * (1 - lost), 1.0 / 8) * rounding_margin;
}

double PartialObjective::bound_time(const Part& part, bool is_complete) const {
    const NodeSpeeds& speeds = problem_.machine().speeds();
    double all_leaving = 0;
    double leaving_senders = 0;
    double waiting_ticks = 0;
    double longest_of_all = 0;
    double last_start = 0;
    double last_end = 0;
    for (std::size_t u = 0; u < position_.size(); ++u) {
        const double starting =
            quantity(part, u, startups) * part.tick + part.rounds * quantity(part, u, longest);
        longest_of_all = std::max(longest_of_all, quantity(part, u, longest));
        last_start = std::max(last_start, starting);
        last_end = std::max(last_end, starting + quantity(part, u, largest));
        if (quantity(part, u, leaving) == 0) continue;
        all_leaving += quantity(part, u, leaving);
        ++leaving_senders;
        waiting_ticks += quantity(part, u, startups_inside);
    }
    const double network = is_complete ? total(part, network_peak) : bound_network(part);
    const double memory = total(part, memory_peak);
    const bool all_leave = all_leave_ || (is_complete && all_leaving == part.all_messages);
    const double startup = all_leave || all_leaving > 0 ? speeds.startup.value
                           : is_complete ? speeds.memory_startup.value
                                         : std::min(speeds.startup.value, speeds.memory_startup.value);
    const double first = part.rounds * (longest_of_all + startup);
    double first_inside = part.rounds * speeds.memory_startup.value;
    if (all_leave) {
        first_inside = first;
    } else if (!is_complete) {
        first_inside = std::min(first, first_inside);
    }
    double last = memory / std::max(1.0, part.all_messages / std::max(1.0, part.all_senders));
    double waiting = 0;
    if (is_complete && all_leaving > 0) {
        last = std::max(last, network / (all_leaving / leaving_senders));
        waiting = waiting_ticks * part.tick / all_leaving;
    }
    const double bound =
        std::max({first + waiting + network, first_inside + memory, last_end, last_start + last});
    return is_complete ? bound : bound * rounding_margin;
}

}  // namespace topoloom::dense
