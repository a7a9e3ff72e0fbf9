// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/loads/objective_loads.hpp"

#include <algorithm>
#include <cmath>

#include "topoloom/pattern/rounds.hpp"

namespace topoloom {

namespace {

/// Returns the number of rounds. All pairs must have the same number of messages.
double round_count(const CommGraph& graph) {
    std::int64_t most = 1;
    for (const std::int64_t messages : graph.all_messages()) most = std::max(most, messages);
    return static_cast<double>(most);
}

/// Converts a sum of soft terms to the 8-norm.
double soft_maximum(std::int64_t sum, double scale) {
    return scale * std::pow(static_cast<double>(sum) / soft_unit, 1.0 / 8);
}

}  // namespace

ObjectiveLoads::ObjectiveLoads(const Machine& machine, const PhasedObjective& objective,
                               std::span<const Slot> slot_of_rank)
    : objective_(objective), scale_(objective.phases.size()), links_gain_(objective.phases.size()) {
    const bool on_links = has_weight(ObjectiveKind::congestion) || has_weight(ObjectiveKind::soft) ||
                          !has_weight(ObjectiveKind::time);
    for (const CommGraph* const phase : objective.phases) {
        if (on_links) links_.emplace_back(machine, *phase, slot_of_rank, objective.background);
        if (has_weight(ObjectiveKind::time)) add_rounds(machine, *phase, slot_of_rank);
    }
    busy_gain_.resize(busy_.size());
    sender_gain_.resize(busy_.size());
    if (has_weight(ObjectiveKind::soft)) set_soft_scale();
}

void ObjectiveLoads::add_rounds(const Machine& machine, const CommGraph& phase,
                                std::span<const Slot> slot_of_rank) {
    const auto add = [&](const CommGraph& graph, std::span<const double> background) {
        busy_.emplace_back(machine, graph, slot_of_rank, background, LoadScope::links_and_nodes);
        times_.emplace_back(machine, graph, slot_of_rank);
    };
    const std::vector<CommGraph>& rounds = rounds_.emplace_back(split_into_rounds(phase));
    if (rounds.empty()) return add(phase, objective_.background);
    // Background traffic is divided equally among rounds.
    double all = 0;
    for (const CommGraph& graph : rounds) all += round_count(graph);
    for (const CommGraph& graph : rounds) {
        std::vector<double> background(objective_.background.begin(), objective_.background.end());
        for (double& bytes : background) bytes *= round_count(graph) / all;
        add(graph, background);
    }
}

std::int64_t ObjectiveLoads::hop_bytes() const {
    std::int64_t sum = 0;
    for (const LinkLoads& phase : links_.empty() ? busy_ : links_) sum += phase.hop_bytes();
    return sum;
}

std::array<double, 4> ObjectiveLoads::measures() {
    double congestion = 0;
    double soft = 0;
    for (std::size_t p = 0; p < links_.size(); ++p) {
        congestion += links_[p].key().congestion;
        if (has_weight(ObjectiveKind::soft)) soft += soft_maximum(links_[p].soft_value(), scale_[p]);
    }
    return {static_cast<double>(hop_bytes()), congestion, soft, total_and_busiest_times().all};
}

TotalAndBusiestTimes ObjectiveLoads::total_and_busiest_times() {
    TotalAndBusiestTimes parts;
    for (std::size_t r = 0; r < busy_.size(); ++r) {
        const BottleneckTimes bottleneck = busy_[r].bottleneck();
        parts.all += times_[r].time(bottleneck);
        parts.busy += std::max(bottleneck.network, bottleneck.memory);
    }
    return parts;
}

const CongestionKey& ObjectiveLoads::key() {
    if (std::exchange(key_known_, true)) return key_;
    const std::array<double, 4> measured = measures();
    key_ = {0, 0, hop_bytes()};
    for (std::size_t kind = 0; kind < measured.size(); ++kind)
        key_.congestion += weight(static_cast<ObjectiveKind>(kind)) * measured[kind];
    for_each_loads([&](LinkLoads& loads) { key_.links_at_maximum += loads.key().links_at_maximum; });
    return key_;
}

std::int64_t ObjectiveLoads::soft_value() const {
    double sum = hop_bytes_gain_ * static_cast<double>(hop_bytes());
    for (std::size_t p = 0; p < links_.size(); ++p)
        sum += links_gain_[p] * static_cast<double>(links_[p].soft_value());
    for (std::size_t r = 0; r < busy_.size(); ++r)
        sum += busy_gain_[r] * static_cast<double>(busy_[r].soft_value()) +
               sender_gain_[r] * static_cast<double>(times_[r].soft_value());
    return static_cast<std::int64_t>(sum);
}

void ObjectiveLoads::set_soft_scale() {
    key_known_ = false;  // with a new scale, soft terms round differently
    std::vector<double> bottleneck(busy_.size(), 0);
    for (std::size_t p = 0; p < links_.size(); ++p) {
        scale_[p] = links_[p].key().congestion;
        if (scale_[p] > 0) links_[p].set_soft_scale(scale_[p]);
    }
    for (std::size_t r = 0; r < busy_.size(); ++r) {
        bottleneck[r] = busy_[r].key().congestion;
        if (bottleneck[r] > 0) busy_[r].set_soft_scale(bottleneck[r]);
        if (times_[r].slowest_sender() > 0) times_[r].set_soft_scale(times_[r].slowest_sender());
    }
    const double value = key().congestion;
    const double on_links = weight(ObjectiveKind::congestion) + weight(ObjectiveKind::soft);
    for (std::size_t p = 0; p < links_gain_.size(); ++p)
        links_gain_[p] = value > 0 ? on_links * scale_[p] / value : 0;
    for (std::size_t r = 0; r < busy_gain_.size(); ++r) {
        const double gain = value > 0 ? weight(ObjectiveKind::time) / value : 0;
        busy_gain_[r] = gain * bottleneck[r];
        sender_gain_[r] = is_latency_bound(r) ? gain * times_[r].slowest_sender() : 0;
    }
    // An increase of the busiest loads by 1 % increases their terms by 8 %.
    hop_bytes_gain_ = value > 0 ? 8 * soft_unit * weight(ObjectiveKind::hop_bytes) / value : 0;
}

void ObjectiveLoads::exchange(Rank u, Rank v) {
    begin_change(u, v);
    for_each_loads([&](LinkLoads& loads) { loads.exchange(u, v); });
    for (PhaseTime& time : times_) time.set_slots(u, last_.slot_of_v, v, last_.slot_of_u);
}

void ObjectiveLoads::move(Rank u, Slot to) {
    begin_change(u, Rank::none);
    for_each_loads([&](LinkLoads& loads) { loads.move(u, to); });
    for (PhaseTime& time : times_) time.set_slots(u, to, Rank::none, Slot{});
}

void ObjectiveLoads::undo() {
    for_each_loads([&](LinkLoads& loads) { loads.undo(); });
    for (PhaseTime& time : times_) time.set_slots(last_.u, last_.slot_of_u, last_.v, last_.slot_of_v);
    key_known_ = false;
}

bool ObjectiveLoads::is_better_than(const CongestionKey& before) {
    if (key() < before) return true;
    undo();
    key_ = before;
    key_known_ = true;
    return false;
}

bool ObjectiveLoads::apply_exchange_if_better(Rank u, Rank v) {
    const CongestionKey before = key();
    exchange(u, v);
    return is_better_than(before);
}

bool ObjectiveLoads::apply_move_if_better(Rank u, Slot to) {
    const CongestionKey before = key();
    move(u, to);
    return is_better_than(before);
}

bool ObjectiveLoads::apply_exchange_if_soft(Rank u, Rank v, const SoftLimit& limit) {
    const std::int64_t before = hop_bytes();
    exchange(u, v);
    return keep_if_within(limit, before);
}

bool ObjectiveLoads::apply_move_if_soft(Rank u, Slot to, const SoftLimit& limit) {
    const std::int64_t before = hop_bytes();
    move(u, to);
    return keep_if_within(limit, before);
}

bool ObjectiveLoads::keep_if_within(const SoftLimit& limit, std::int64_t hop_bytes_before) {
    if (soft_value() <= (hop_bytes() > hop_bytes_before ? limit.farther : limit.nearer)) return true;
    undo();
    return false;
}

/// The bottlenecks are on the links and nodes of every phase; slow senders matter where these take less time.
bool ObjectiveLoads::is_on_slow_message(Rank u, double share) {
    for (std::size_t r = 0; r < times_.size(); ++r) {
        if (is_latency_bound(r) && times_[r].is_slow(u, share)) return true;
    }
    return false;
}

double ObjectiveLoads::latency_bound_share() {
    double all = 0;
    double latency_bound = 0;
    for (std::size_t r = 0; r < times_.size(); ++r) {
        const double time = times_[r].time(busy_[r].bottleneck());
        all += time;
        if (is_latency_bound(r)) latency_bound += time;
    }
    return all > 0 ? latency_bound / all : 0;
}

bool ObjectiveLoads::is_latency_bound(std::size_t round) {
    const BottleneckTimes bottleneck = busy_[round].bottleneck();
    return std::max(bottleneck.network, bottleneck.memory) < 0.5 * times_[round].time(bottleneck);
}

std::vector<Rank> ObjectiveLoads::ranks_on_busy_links(double share) {
    std::vector<char> is_end(rank_count(), depends_on_all_ranks() ? 1 : 0);
    for_each_loads([&](LinkLoads& loads) {
        for (const Rank u : loads.ranks_on_busy_links(share)) is_end[u.value] = 1;
    });
    for (const Rank u : ids<Rank>(rank_count())) {
        if (is_on_slow_message(u, share)) is_end[u.value] = 1;
    }
    std::vector<Rank> ends;
    for (const Rank u : ids<Rank>(rank_count())) {
        if (is_end[u.value] != 0) ends.push_back(u);
    }
    return ends;
}

bool ObjectiveLoads::is_on_busiest_link(Rank u) {
    bool found = depends_on_all_ranks() || is_on_slow_message(u, 1);
    for_each_loads([&](LinkLoads& loads) { found = found || loads.is_on_busiest_link(u); });
    return found;
}

std::unique_ptr<LoadTracker> make_load_tracker(const Machine& machine, const PhasedObjective& objective,
                                               std::span<const Slot> slot_of_rank) {
    const auto of_links = [&](LoadScope busy) {
        return std::make_unique<LinkLoads>(machine, *objective.phases.front(), slot_of_rank,
                                           objective.background, busy);
    };
    if (objective.phases.size() == 1 && objective.mix.is(ObjectiveKind::congestion))
        return of_links(LoadScope::links);
    if (objective.phases.size() == 1 && objective.mix.is(ObjectiveKind::time))
        return of_links(LoadScope::links_and_nodes);
    return std::make_unique<ObjectiveLoads>(machine, objective, slot_of_rank);
}

std::unique_ptr<LoadTracker> make_search_tracker(const Machine& machine, const PhasedObjective& objective,
                                                 std::span<const Slot> slot_of_rank) {
    // Tracking every round takes about ten times as long. A few small collectives, as in any recorded
    // program, do not justify that.
    constexpr double least_share = 0.1;
    if (objective.phases.size() == 1 && objective.mix.is(ObjectiveKind::time)) {
        auto exact = std::make_unique<ObjectiveLoads>(machine, objective, slot_of_rank);
        if (exact->latency_bound_share() >= least_share) return exact;
    }
    return make_load_tracker(machine, objective, slot_of_rank);
}

CongestionKey objective_key(const Machine& machine, const PhasedObjective& objective,
                            std::span<const Slot> slot_of_rank) {
    if (objective.mix.of(ObjectiveKind::time) > 0)
        return ObjectiveLoads(machine, objective, slot_of_rank).key();
    return make_load_tracker(machine, objective, slot_of_rank)->key();
}

std::array<double, 4> objective_values(const Machine& machine, const PhasedObjective& objective,
                                       std::span<const Slot> slot_of_rank) {
    return ObjectiveLoads(machine, objective, slot_of_rank).measures();
}

TotalAndBusiestTimes total_and_busiest_times(const Machine& machine, const PhasedObjective& objective,
                                             std::span<const Slot> slot_of_rank) {
    return ObjectiveLoads(machine, objective, slot_of_rank).total_and_busiest_times();
}

}  // namespace topoloom
