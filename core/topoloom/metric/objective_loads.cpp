// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/objective_loads.hpp"

#include <algorithm>
#include <cmath>

namespace topoloom {

namespace {

/// The 8-norm that a sum of soft terms stands for.
double soft_maximum(std::int64_t sum, double scale) {
    return scale * std::pow(static_cast<double>(sum) / soft_unit, 1.0 / 8);
}

}  // namespace

template <class T>
ObjectiveLoads<T>::ObjectiveLoads(const T& network, const Machine& machine, const Goal& goal,
                                  std::span<const Slot> slot_of_rank)
    : goal_(goal), scale_(goal.phases.size()), gain_(goal.phases.size()) {
    phases_.reserve(goal.phases.size());
    times_.reserve(goal.phases.size());
    for (const CommGraph* const phase : goal.phases) {
        phases_.emplace_back(network, machine, *phase, slot_of_rank, goal.background);
        if (!counts(Aim::time)) continue;
        times_.emplace_back(network, machine, phases_.back().messages(), slot_of_rank);
    }
    if (counts(Aim::soft)) set_soft_scale();
}

template <class T>
std::int64_t ObjectiveLoads<T>::hop_bytes() const {
    std::int64_t sum = 0;
    for (const LinkLoads<T>& phase : phases_) sum += phase.hop_bytes();
    return sum;
}

template <class T>
std::array<double, 4> ObjectiveLoads<T>::measures() {
    double congestion = 0;
    double soft = 0;
    double time = 0;
    for (std::size_t p = 0; p < phases_.size(); ++p) {
        const double busiest = phases_[p].key().congestion;
        congestion += busiest;
        if (counts(Aim::soft)) soft += soft_maximum(phases_[p].soft(), scale_[p]);
        if (counts(Aim::time)) time += times_[p].latency() + std::max(busiest, times_[p].port());
    }
    return {static_cast<double>(hop_bytes()), congestion, soft, time};
}

template <class T>
const CongestionKey& ObjectiveLoads<T>::key() {
    if (std::exchange(key_known_, true)) return key_;
    const std::array<double, 4> measured = measures();
    key_ = {0, 0, hop_bytes()};
    for (std::size_t aim = 0; aim < measured.size(); ++aim)
        key_.congestion += weight(static_cast<Aim>(aim)) * measured[aim];
    for (LinkLoads<T>& phase : phases_) key_.links_at_maximum += phase.key().links_at_maximum;
    return key_;
}

template <class T>
std::int64_t ObjectiveLoads<T>::soft() const {
    double sum = hop_bytes_gain_ * static_cast<double>(hop_bytes());
    for (std::size_t p = 0; p < phases_.size(); ++p) {
        std::int64_t terms = phases_[p].soft();
        if (counts(Aim::time)) terms += times_[p].soft();
        sum += gain_[p] * static_cast<double>(terms);
    }
    return static_cast<std::int64_t>(sum);
}

template <class T>
void ObjectiveLoads<T>::set_soft_scale() {
    key_known_ = false;  // soft terms are cut to other parts
    for (std::size_t p = 0; p < phases_.size(); ++p) {
        const double busiest = phases_[p].key().congestion;
        const double longest = counts(Aim::time) ? std::max(busiest, times_[p].port()) : busiest;
        scale_[p] = counts(Aim::soft) ? busiest : longest;
        if (scale_[p] > 0) phases_[p].set_soft_scale(scale_[p]);
        if (counts(Aim::time) && longest > 0) times_[p].set_soft_scale(longest);
    }
    const double value = key().congestion;
    const double on_links = weight(Aim::congestion) + weight(Aim::soft) + weight(Aim::time);
    for (std::size_t p = 0; p < phases_.size(); ++p) gain_[p] = value > 0 ? on_links * scale_[p] / value : 0;
    // One percent more on the busiest links is eight more of their terms.
    hop_bytes_gain_ = value > 0 ? 8 * soft_unit * weight(Aim::hop_bytes) / value : 0;
}

template <class T>
void ObjectiveLoads<T>::exchange(Rank u, Rank v) {
    begin_change(u, v);
    for (LinkLoads<T>& phase : phases_) phase.exchange(u, v);
    for (PhaseTime<T>& time : times_) time.sit(u, last_.slot_of_v, v, last_.slot_of_u);
}

template <class T>
void ObjectiveLoads<T>::move(Rank u, Slot to) {
    begin_change(u, nobody);
    for (LinkLoads<T>& phase : phases_) phase.move(u, to);
    for (PhaseTime<T>& time : times_) time.sit(u, to, nobody, Slot{});
}

template <class T>
void ObjectiveLoads<T>::undo() {
    for (LinkLoads<T>& phase : phases_) phase.undo();
    for (PhaseTime<T>& time : times_) time.sit(last_.u, last_.slot_of_u, last_.v, last_.slot_of_v);
    key_known_ = false;
}

template <class T>
bool ObjectiveLoads<T>::is_better_than(const CongestionKey& before) {
    if (key() < before) return true;
    undo();
    key_ = before;
    key_known_ = true;
    return false;
}

template <class T>
bool ObjectiveLoads<T>::exchange_if_better(Rank u, Rank v) {
    const CongestionKey before = key();
    exchange(u, v);
    return is_better_than(before);
}

template <class T>
bool ObjectiveLoads<T>::move_if_better(Rank u, Slot to) {
    const CongestionKey before = key();
    move(u, to);
    return is_better_than(before);
}

template <class T>
bool ObjectiveLoads<T>::exchange_if_soft(Rank u, Rank v, std::int64_t most) {
    exchange(u, v);
    if (soft() <= most) return true;
    undo();
    return false;
}

template <class T>
bool ObjectiveLoads<T>::move_if_soft(Rank u, Slot to, std::int64_t most) {
    move(u, to);
    if (soft() <= most) return true;
    undo();
    return false;
}

template <class T>
std::vector<Rank> ObjectiveLoads<T>::ends_of_busy(double share) {
    std::vector<char> is_end(rank_count(), concerns_all() ? 1 : 0);
    for (std::size_t p = 0; p < phases_.size(); ++p) {
        for (const Rank u : phases_[p].ends_of_busy(share)) is_end[u.value] = 1;
        for (const Rank u : ids<Rank>(rank_count())) {
            if (is_at_port(p, u, share)) is_end[u.value] = 1;
        }
    }
    std::vector<Rank> ends;
    for (const Rank u : ids<Rank>(rank_count())) {
        if (is_end[u.value] != 0) ends.push_back(u);
    }
    return ends;
}

template <class T>
bool ObjectiveLoads<T>::is_at_maximum(Rank u) {
    if (concerns_all()) return true;
    for (std::size_t p = 0; p < phases_.size(); ++p) {
        if (phases_[p].is_at_maximum(u) || is_at_port(p, u, 1)) return true;
    }
    return false;
}

template <class T>
bool ObjectiveLoads<T>::is_at_port(std::size_t phase, Rank u, double share) {
    if (!counts(Aim::time)) return false;
    const PhaseTime<T>& time = times_[phase];
    return time.is_busy(u, share * std::max(phases_[phase].key().congestion, time.port()));
}

CongestionKey objective_key(const Machine& machine, const Goal& goal, std::span<const Slot> slot_of_rank) {
    return with_loads(machine, goal,
                      [&](const auto& make) { return CongestionKey(make(slot_of_rank).key()); });
}

std::array<double, 4> objective_measures(const Machine& machine, const Goal& goal,
                                         std::span<const Slot> slot_of_rank) {
    return with_topology(machine, [&]<class T>(const T& network) {
        return ObjectiveLoads<T>(network, machine, goal, slot_of_rank).measures();
    });
}

template class ObjectiveLoads<Torus>;
template class ObjectiveLoads<WideTorus>;
template class ObjectiveLoads<Tree>;
template class ObjectiveLoads<FatTree>;
template class ObjectiveLoads<HyperX>;
template class ObjectiveLoads<Hypercube>;
template class ObjectiveLoads<RingBus>;
template class ObjectiveLoads<TwistedTorus>;
template class ObjectiveLoads<RailCluster>;
template class ObjectiveLoads<Dragonfly>;
template class ObjectiveLoads<ExplicitGraph>;
template class ObjectiveLoads<Degraded>;

}  // namespace topoloom
