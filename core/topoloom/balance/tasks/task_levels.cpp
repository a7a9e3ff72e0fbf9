// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/task_levels.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "topoloom/partition/bisection.hpp"
#include "topoloom/partition/coarsening.hpp"

namespace topoloom {

namespace {

/// Coarsening stops at about this number of vertices per rank, or if a level does not shrink to this fraction
/// of the previous one.
constexpr std::size_t vertices_per_rank = 30;
constexpr double least_shrinking = 0.95;
/// Masses are loads scaled to integers; this is their sum.
constexpr double mass_sum = 0x1p40;

TaskLevel build_finest_level(const Tasks& tasks) {
    const std::size_t count = tasks.loads.size();
    const double sum = std::accumulate(tasks.loads.begin(), tasks.loads.end(), 0.0);
    std::vector<std::int64_t> mass;
    for (const double load : tasks.loads)
        mass.push_back(1 + (sum > 0 ? std::llround(load / sum * mass_sum) : 0));
    TaskLevel level;
    const CommGraph symmetric =
        tasks.graph != nullptr ? tasks.graph->symmetric() : CommGraph::from_edges(count, {}, {}, {});
    level.graph = partition::make_weighted_graph(symmetric, mass);
    level.load.assign(tasks.loads.begin(), tasks.loads.end());
    level.bytes.assign(tasks.bytes.begin(), tasks.bytes.end());
    level.bytes.resize(count, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
        level.first_anchor.push_back(i);
        level.anchors.push_back({Part{tasks.owners[i].value}, level.bytes[i]});
    }
    level.first_anchor.push_back(static_cast<std::uint32_t>(count));
    return level;
}

TaskLevel build_coarser_level(const TaskLevel& fine, partition::WeightedGraph graph) {
    TaskLevel level;
    level.graph = std::move(graph);
    level.load.assign(level.graph.size(), 0);
    level.bytes.assign(level.graph.size(), 0);
    std::vector<std::vector<TaskAnchor>> anchors(level.graph.size());
    for (const Vertex v : fine.graph.vertices()) {
        const Vertex into = fine.coarse_of[v.value];
        level.load[into.value] += fine.load[v.value];
        level.bytes[into.value] += fine.bytes[v.value];
        std::vector<TaskAnchor>& list = anchors[into.value];
        for (const TaskAnchor& anchor : fine.anchors_of(v)) {
            const auto same = std::ranges::find(list, anchor.home, &TaskAnchor::home);
            if (same == list.end()) {
                list.push_back(anchor);
            } else {
                same->bytes += anchor.bytes;
            }
        }
    }
    level.first_anchor.push_back(0);
    for (const std::vector<TaskAnchor>& list : anchors) {
        level.anchors.insert(level.anchors.end(), list.begin(), list.end());
        level.first_anchor.push_back(static_cast<std::uint32_t>(level.anchors.size()));
    }
    return level;
}

/// Assigns parts first .. first + count - 1 to these vertices by recursive bisection.
class TaskBisection {
   public:
    TaskBisection(const TaskLevel& level, Rng rng)
        : level_(level), rng_(rng), part_(level.graph.size(), Part{0}), number_(level.graph.size()) {}

    void split(std::vector<Vertex> vertices, std::uint32_t first, std::uint32_t count) {
        if (count == 1 || vertices.empty()) {
            for (const Vertex v : vertices) part_[v.value] = Part{first};
            return;
        }
        const partition::WeightedGraph graph = extract_subgraph(vertices);
        const std::int64_t mass = std::reduce(graph.mass.begin(), graph.mass.end());
        const std::int64_t largest = *std::ranges::max_element(graph.mass);
        const std::uint32_t left = count / 2;
        const auto share = [&](std::uint32_t parts) {
            return static_cast<std::int64_t>(1.01 * static_cast<double>(mass) * parts / count) + largest;
        };
        const std::vector<std::int64_t> no_bias(vertices.size(), 0);
        const partition::Bisection found = partition::bisect(
            graph, no_bias, {share(left), share(count - left)}, {.starts = 8}, Rng(rng_.next(), first));
        std::vector<Vertex> sides[2];
        for (std::size_t i = 0; i < vertices.size(); ++i)
            sides[static_cast<std::size_t>(found.side[i])].push_back(vertices[i]);
        vertices = {};
        split(std::move(sides[0]), first, left);
        split(std::move(sides[1]), first + left, count - left);
    }
    [[nodiscard]] std::vector<Part> take() { return std::move(part_); }

   private:
    partition::WeightedGraph extract_subgraph(const std::vector<Vertex>& vertices) {
        partition::WeightedGraph graph;
        std::ranges::fill(number_, no_index);
        for (std::uint32_t i = 0; i < vertices.size(); ++i) number_[vertices[i].value] = i;
        for (const Vertex v : vertices) {
            const auto peers = level_.graph.peers(v);
            for (std::size_t i = 0; i < peers.size(); ++i) {
                if (number_[peers[i].value] == no_index) continue;
                graph.peer.push_back(Vertex{number_[peers[i].value]});
                graph.weight.push_back(level_.graph.weights(v)[i]);
            }
            graph.first.push_back(static_cast<std::uint32_t>(graph.peer.size()));
            graph.mass.push_back(level_.graph.mass[v.value]);
        }
        return graph;
    }

    const TaskLevel& level_;
    Rng rng_;
    std::vector<Part> part_;
    std::vector<std::uint32_t> number_;  // index within the vertices being split
};

/// Assigns parts to ranks; begins with the pairs of a part and a rank that have the most bytes in common.
void assign_parts_to_ranks(const TaskLevel& level, std::size_t ranks, std::vector<Part>& part) {
    struct CommonBytes {
        std::int64_t bytes;
        std::uint64_t pair;  // part * ranks + rank
    };
    std::vector<CommonBytes> common;
    for (const Vertex v : level.graph.vertices()) {
        for (const TaskAnchor& anchor : level.anchors_of(v))
            common.push_back({anchor.bytes, part[v.value].value * ranks + anchor.home.value});
    }
    std::ranges::sort(common, {}, &CommonBytes::pair);
    std::size_t kept = 0;
    for (const CommonBytes& one : common) {
        if (kept > 0 && common[kept - 1].pair == one.pair) {
            common[kept - 1].bytes += one.bytes;
        } else {
            common[kept++] = one;
        }
    }
    common.resize(kept);
    std::ranges::stable_sort(common, std::greater(), &CommonBytes::bytes);
    std::vector<Part> rank_of(ranks, Part::none);
    std::vector<char> is_taken(ranks, 0);
    for (const CommonBytes& one : common) {
        const std::size_t from = one.pair / ranks, to = one.pair % ranks;
        if (rank_of[from] != Part::none || is_taken[to] != 0) continue;
        rank_of[from] = Part{to};
        is_taken[to] = 1;
    }
    std::size_t next = 0;
    for (Part& rank : rank_of) {
        if (rank != Part::none) continue;
        while (is_taken[next] != 0) ++next;
        is_taken[next] = 1;
        rank = Part{next};
    }
    for (Part& one : part) one = rank_of[one.value];
}

}  // namespace

std::vector<TaskLevel> build_task_levels(const Tasks& tasks, std::span<const Part> label, Rng rng) {
    std::vector<TaskLevel> levels;
    levels.push_back(build_finest_level(tasks));
    std::vector<Part> labels(label.begin(), label.end());
    const std::size_t enough = vertices_per_rank * tasks.ranks;
    const auto max_mass = static_cast<std::int64_t>(mass_sum / static_cast<double>(enough) * 2);
    while (levels.back().graph.size() > enough) {
        if (tasks.poll) tasks.poll();
        TaskLevel& fine = levels.back();
        partition::Coarsening found = partition::coarsen(fine.graph, max_mass, Rng(rng.next()), labels);
        if (found.graph.size() > least_shrinking * fine.graph.size()) break;
        fine.coarse_of = std::move(found.coarse_of);
        std::vector<Part> next(labels.empty() ? 0 : found.graph.size());
        for (std::size_t v = 0; v < labels.size(); ++v) next[fine.coarse_of[v].value] = labels[v];
        labels = std::move(next);
        levels.push_back(build_coarser_level(fine, std::move(found.graph)));
    }
    return levels;
}

std::vector<Part> project_to_coarsest(std::span<const TaskLevel> levels, std::vector<Part> part) {
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        std::vector<Part> next(levels[i + 1].graph.size());
        for (std::size_t v = 0; v < part.size(); ++v) next[levels[i].coarse_of[v].value] = part[v];
        part = std::move(next);
    }
    return part;
}

std::vector<Part> split_coarsest(const TaskLevel& level, std::size_t ranks, Rng rng) {
    TaskBisection bisection(level, rng);
    bisection.split(id_list<Vertex>(level.graph.size()), 0, static_cast<std::uint32_t>(ranks));
    std::vector<Part> part = bisection.take();
    assign_parts_to_ranks(level, ranks, part);
    return part;
}

}  // namespace topoloom
