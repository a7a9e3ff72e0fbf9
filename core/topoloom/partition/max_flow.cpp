// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/partition/max_flow.hpp"

#include <algorithm>

namespace topoloom::partition {

namespace {
constexpr std::uint32_t unreached = no_index;
}

void FlowNetwork::reset(std::uint32_t vertices) {
    edges_.clear();
    terminal_.assign(vertices, 0);
}

void FlowNetwork::build_arcs() {
    const std::size_t n = terminal_.size();
    first_.assign(n + 1, 0);
    for (const InputEdge& e : edges_) {
        ++first_[e.u.value + 1];
        ++first_[e.v.value + 1];
    }
    for (std::size_t v = 0; v < n; ++v) first_[v + 1] += first_[v];
    current_.assign(first_.begin(), first_.end() - 1);
    arcs_.resize(2 * edges_.size());
    for (const InputEdge& e : edges_) {
        const std::uint32_t there = current_[e.u.value]++;
        const std::uint32_t back = current_[e.v.value]++;
        arcs_[there] = {e.v, back, e.weight};
        arcs_[back] = {e.u, there, e.weight};
    }
}

std::int64_t FlowNetwork::solve() {
    build_arcs();
    std::int64_t value = 0;
    for (const std::int64_t t : terminal_) value += std::min<std::int64_t>(t, 0);
    while (find_levels()) {
        current_.assign(first_.begin(), first_.end() - 1);
        // Vertices adjacent to the source are first in the queue.
        for (std::size_t i = 0; i < queue_.size() && level_[queue_[i].value] == 0; ++i)
            value += augment_from(queue_[i]);
    }
    return value;
}

/// Computes levels by breadth-first search from the source. Returns whether the sink is reachable.
bool FlowNetwork::find_levels() {
    const auto n = static_cast<std::uint32_t>(terminal_.size());
    level_.assign(n, unreached);
    queue_.clear();
    for (std::uint32_t v = 0; v < n; ++v) {
        if (terminal_[v] <= 0) continue;
        level_[v] = 0;
        queue_.push_back(Vertex{v});
    }
    std::uint32_t last = unreached;  // lowest level of a vertex adjacent to the sink
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        const std::uint32_t v = queue_[i].value;
        if (level_[v] >= last) break;
        for (std::uint32_t a = first_[v]; a < first_[v + 1]; ++a) {
            const Arc& arc = arcs_[a];
            if (arc.residual == 0 || level_[arc.head.value] != unreached) continue;
            level_[arc.head.value] = level_[v] + 1;
            queue_.push_back(arc.head);
            if (terminal_[arc.head.value] < 0) last = level_[v] + 1;
        }
        work_ += first_[v + 1] - first_[v];
    }
    return last != unreached;
}

/// Sends as much flow as possible from one vertex to the sink, along arcs to the next level.
std::int64_t FlowNetwork::augment_from(Vertex source) {
    std::int64_t sent = 0;
    path_.clear();
    Vertex v = source;
    while (terminal_[source.value] > 0) {
        if (terminal_[v.value] < 0) {
            std::int64_t amount = std::min(terminal_[source.value], -terminal_[v.value]);
            for (const std::uint32_t a : path_) amount = std::min(amount, arcs_[a].residual);
            terminal_[source.value] -= amount;
            terminal_[v.value] += amount;
            sent += amount;
            std::size_t keep = path_.size();
            for (std::size_t i = path_.size(); i-- > 0;) {
                Arc& arc = arcs_[path_[i]];
                arc.residual -= amount;
                arcs_[arc.reverse].residual += amount;
                if (arc.residual == 0) keep = i;
            }
            work_ += path_.size();
            if (keep < path_.size()) {
                v = arcs_[arcs_[path_[keep]].reverse].head;
                path_.resize(keep);
            }
            continue;
        }
        std::uint32_t& a = current_[v.value];
        const std::uint32_t end = first_[v.value + 1];
        while (a < end && (arcs_[a].residual == 0 || level_[arcs_[a].head.value] != level_[v.value] + 1)) ++a;
        if (a < end) {
            path_.push_back(a);
            v = arcs_[a].head;
        } else if (path_.empty()) {
            break;
        } else {
            // Dead end: go back and try the next arc.
            v = arcs_[arcs_[path_.back()].reverse].head;
            path_.pop_back();
            ++current_[v.value];
        }
    }
    return sent;
}

std::vector<signed char> FlowNetwork::sides() {
    std::vector<signed char> side(terminal_.size(), 0);
    for (std::uint32_t v = 0; v < terminal_.size(); ++v) {
        if (level_[v] != unreached) side[v] = 1;
    }
    queue_.clear();
    for (std::uint32_t v = 0; v < terminal_.size(); ++v) {
        if (terminal_[v] >= 0) continue;
        side[v] = -1;
        queue_.push_back(Vertex{v});
    }
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        const std::uint32_t v = queue_[i].value;
        for (std::uint32_t a = first_[v]; a < first_[v + 1]; ++a) {
            const Arc& arc = arcs_[a];
            if (side[arc.head.value] != 0 || arcs_[arc.reverse].residual == 0) continue;
            side[arc.head.value] = -1;
            queue_.push_back(arc.head);
        }
    }
    return side;
}

}  // namespace topoloom::partition
