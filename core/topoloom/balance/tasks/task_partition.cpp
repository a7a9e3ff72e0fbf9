// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/task_partition.hpp"

#include <algorithm>
#include <utility>

namespace topoloom {

namespace {

constexpr std::size_t max_table = 1024;

}  // namespace

RankDistance::RankDistance(const Tasks& tasks) : tasks_(tasks) {
    if (is_uniform() || tasks.ranks > max_table) return;
    for (const Part a : ids<Part>(tasks.ranks))
        for (const Part b : ids<Part>(tasks.ranks))
            table_.push_back(a == b ? 0.0F : static_cast<float>(distance_between(a, b)));
}

TaskPartition::TaskPartition(const Tasks& tasks, const RankDistance& distance, const TaskLevel& level,
                             std::vector<Part> part, double slack)
    : distance_(distance),
      level_(level),
      poll_(tasks.poll),
      periods_(tasks.periods),
      limit_(load_limit(tasks) + slack),
      memory_(tasks.memory),
      part_(std::move(part)),
      load_(tasks.ranks, 0),
      bytes_(tasks.ranks, 0),
      pull_(tasks.ranks, 0) {
    for (const Vertex v : level.graph.vertices()) {
        load_[part_[v.value].value] += level.load[v.value];
        bytes_[part_[v.value].value] += level.bytes[v.value];
    }
}

double TaskPartition::excess(Part rank) const {
    const double load = limit_ > 0 ? load_[rank.value] / limit_ - 1 : 0;
    const double bytes =
        memory_ > 0 ? static_cast<double>(bytes_[rank.value]) / static_cast<double>(memory_) - 1 : 0;
    return std::max({0.0, load, bytes});
}

bool TaskPartition::any_exceeds() const {
    return std::ranges::any_of(ids<Part>(ranks()), [&](Part rank) { return exceeds(rank); });
}

double TaskPartition::cost() const {
    double messages = 0, moves = 0;
    for (const Vertex v : level_.graph.vertices()) {
        const auto peers = level_.graph.peers(v);
        const auto weights = level_.graph.weights(v);
        for (std::size_t i = 0; i < peers.size(); ++i) {
            if (peers[i] < v)
                messages +=
                    static_cast<double>(weights[i]) * distance_(part_[v.value], part_[peers[i].value]);
        }
        for (const TaskAnchor& anchor : level_.anchors_of(v))
            moves += static_cast<double>(anchor.bytes) * distance_(anchor.home, part_[v.value]);
    }
    return periods_ * messages + moves;
}

void TaskPartition::gather_pulls(Vertex v) {
    for (const Part rank : pulling_) pull_[rank.value] = 0;
    pulling_.clear();
    const auto add = [&](Part rank, double bytes) {
        if (bytes <= 0) return;
        if (pull_[rank.value] == 0) pulling_.push_back(rank);
        pull_[rank.value] += bytes;
    };
    const auto peers = level_.graph.peers(v);
    const auto weights = level_.graph.weights(v);
    for (std::size_t i = 0; i < peers.size(); ++i)
        add(part_[peers[i].value], periods_ * static_cast<double>(weights[i]));
    for (const TaskAnchor& anchor : level_.anchors_of(v)) add(anchor.home, static_cast<double>(anchor.bytes));
}

double TaskPartition::gain_from_pulls(Part from, Part to) const {
    if (distance_.is_uniform()) return pull_[to.value] - pull_[from.value];
    double gain = 0;
    for (const Part rank : pulling_)
        gain += pull_[rank.value] * (distance_(rank, from) - distance_(rank, to));
    return gain;
}

double TaskPartition::gain(Vertex v, Part to) {
    gather_pulls(v);
    return gain_from_pulls(part_[v.value], to);
}

std::optional<VertexMove> TaskPartition::best_move(Vertex v, std::span<const Part> more) {
    gather_pulls(v);
    const Part from = part_[v.value];
    std::optional<VertexMove> best;
    const auto consider = [&](Part to) {
        if (to == from || !has_room(to, v)) return;
        const double gain = gain_from_pulls(from, to);
        if (!best || gain > best->gain || (gain == best->gain && load_[to.value] < load_[best->to.value]))
            best = VertexMove{to, gain};
    };
    for (const Part rank : pulling_) consider(rank);
    for (const Part rank : more) consider(rank);
    return best;
}

void TaskPartition::move(Vertex v, Part to) {
    Part& at = part_[v.value];
    load_[at.value] -= level_.load[v.value];
    bytes_[at.value] -= level_.bytes[v.value];
    at = to;
    load_[to.value] += level_.load[v.value];
    bytes_[to.value] += level_.bytes[v.value];
}

bool TaskPartition::has_remote_neighbor(Vertex v) const {
    const auto elsewhere = [&](Part rank) { return rank != part_[v.value]; };
    return std::ranges::any_of(level_.graph.peers(v), [&](Vertex u) { return elsewhere(part_[u.value]); }) ||
           std::ranges::any_of(level_.anchors_of(v),
                               [&](const TaskAnchor& anchor) { return elsewhere(anchor.home); });
}

}  // namespace topoloom
