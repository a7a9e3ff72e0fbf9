// SPDX-License-Identifier: BSD-3-Clause
// Divides problems that are too large for dense search, and searches twice: first between parts, then inside
// each part.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/slot_space.hpp"
#include "topoloom/partition/bisection.hpp"
#include "topoloom/place/dense/grasp.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/near/near_lists.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/dense_qap.hpp"

namespace topoloom::dense {

namespace {

struct HybridOptions {
    std::uint32_t part = 125;
    void visit(auto& field) {
        field("part", part, Range{2, 1000}, "slots in a part; the last part may be smaller");
    }
};

using Parts = std::vector<std::vector<Vertex>>;  // the ranks or slots of each part

partition::WeightedGraph make_graph_from_rows(std::vector<std::map<std::uint32_t, std::int64_t>> rows) {
    partition::WeightedGraph graph;
    for (const auto& row : rows) {
        for (const auto& [peer, weight] : row) {
            graph.peer.emplace_back(peer);
            graph.weight.push_back(weight);
        }
        graph.first.push_back(static_cast<std::uint32_t>(graph.peer.size()));
        graph.mass.push_back(1);
    }
    return graph;
}

/// The communication graph, plus a vertex without edges for each free slot.
partition::WeightedGraph make_rank_graph(const Problem& problem) {
    std::vector<std::map<std::uint32_t, std::int64_t>> rows(problem.allocation().slot_count());
    for (const Rank u : ids<Rank>(problem.rank_count())) {
        for (const Edge edge : problem.symmetric().sends(u))
            rows[u.value][edge.peer.value] = edge.bytes.value;
    }
    return make_graph_from_rows(std::move(rows));
}

/// A graph that joins each slot to its nearest slots. Weights fall with distance, so that small cuts separate
/// distant slots. If the budget ends, the remaining slots have no edges.
partition::WeightedGraph make_closeness_graph(const SlotSpace& space, const Problem& problem, Meter& meter) {
    constexpr std::uint32_t nearest = 32;
    constexpr std::uint64_t work_per_slot = 64;  // two insertions into sorted rows for each near slot
    constexpr std::int64_t scale = 1 << 20;
    const Allocation& allocation = problem.allocation();
    const NearLists near(allocation, nearest);
    std::vector<std::map<std::uint32_t, std::int64_t>> rows(allocation.slot_count());
    for (const Position x : ids<Position>(rows.size())) {
        if (!meter.spend(work_per_slot + near.take_work())) break;
        for (const Position y : near.list_at(x)) {
            const std::int64_t apart = space.distance(x.value, y.value);
            rows[x.value][y.value] = rows[y.value][x.value] = scale / (1 + apart);
        }
    }
    return make_graph_from_rows(std::move(rows));
}

/// The subgraph of some vertices, renumbered in their order.
partition::WeightedGraph make_subgraph(const partition::WeightedGraph& graph,
                                       const std::vector<Vertex>& vertices, std::vector<Vertex>& number) {
    for (std::size_t i = 0; i < vertices.size(); ++i) number[vertices[i].value] = Vertex{i};
    partition::WeightedGraph part;
    for (const Vertex v : vertices) {
        const auto peers = graph.peers(v);
        const auto weights = graph.weights(v);
        for (std::size_t k = 0; k < peers.size(); ++k) {
            if (number[peers[k].value] == Vertex::none) continue;
            part.peer.push_back(number[peers[k].value]);
            part.weight.push_back(weights[k]);
        }
        part.first.push_back(static_cast<std::uint32_t>(part.peer.size()));
        part.mass.push_back(1);
    }
    for (const Vertex v : vertices) number[v.value] = Vertex::none;
    return part;
}

/// Splits a graph by recursive bisection into parts of exactly `size` vertices; only the last part may be
/// smaller.
class EqualPartition {
   public:
    EqualPartition(const partition::WeightedGraph& graph, std::size_t size, std::uint64_t seed, Meter& meter)
        : graph_(graph), size_(size), seed_(seed), meter_(meter), number_(graph.size(), Vertex::none) {
        split(id_list<Vertex>(graph.size()));
    }
    [[nodiscard]] Parts take_parts() { return std::move(parts_); }

   private:
    void split(std::vector<Vertex> vertices) {
        const std::size_t count = (vertices.size() + size_ - 1) / size_;
        if (count <= 1) {
            parts_.push_back(std::move(vertices));
            return;
        }
        const std::size_t first = (count + 1) / 2 * size_;
        std::array<std::vector<Vertex>, 2> sides;
        if (meter_.is_exhausted()) {
            sides[0].assign(vertices.begin(), vertices.begin() + static_cast<std::ptrdiff_t>(first));
            sides[1].assign(vertices.begin() + static_cast<std::ptrdiff_t>(first), vertices.end());
        } else {
            const std::array<std::int64_t, 2> capacity{static_cast<std::int64_t>(first),
                                                       static_cast<std::int64_t>(vertices.size() - first)};
            const partition::Bisection cut = partition::bisect(make_subgraph(graph_, vertices, number_), {},
                                                               capacity, {}, Rng(seed_, ++splits_));
            for (std::size_t k = 0; k < vertices.size(); ++k)
                sides[static_cast<std::size_t>(cut.side[k])].push_back(vertices[k]);
            meter_.spend(cut.work + vertices.size());
        }
        split(std::move(sides[0]));
        split(std::move(sides[1]));
    }

    const partition::WeightedGraph& graph_;
    std::size_t size_;
    std::uint64_t seed_;
    Meter& meter_;
    std::uint64_t splits_ = 0;
    std::vector<Vertex> number_;
    Parts parts_;
};

std::vector<Part> list_part_of_vertex(const Parts& parts, std::size_t vertices) {
    std::vector<Part> part(vertices);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        for (const Vertex v : parts[k]) part[v.value] = Part{k};
    }
    return part;
}

/// 256 times the average distance between the slots of two parts.
std::int64_t measure_distance(const SlotSpace& space, const std::vector<Vertex>& a,
                              const std::vector<Vertex>& b) {
    std::int64_t sum = 0;
    for (const Vertex x : a) {
        for (const Vertex y : b) sum += space.distance(x.value, y.value);
    }
    const auto pairs = static_cast<std::int64_t>(a.size() * b.size());
    return 256 * (sum / pairs) + 256 * (sum % pairs) / pairs;
}

/// The QAP of placing parts of ranks on parts of slots: bytes between parts of ranks, and 256 times the
/// average distance between parts of slots. None if the budget ends before.
std::optional<qap::Qap> make_coarse_qap(const SlotSpace& space, const partition::WeightedGraph& graph,
                                        const Parts& ranks, const Parts& slots, Meter& meter) {
    const std::size_t count = ranks.size();
    std::vector<std::int64_t> bytes(count * count);
    const std::vector<Part> part = list_part_of_vertex(ranks, graph.size());
    double all_bytes = 0;
    for (const Vertex u : graph.vertices()) {
        const auto peers = graph.peers(u);
        for (std::size_t k = 0; k < peers.size(); ++k) {
            const Part mine = part[u.value];
            const Part other = part[peers[k].value];
            if (mine == other) continue;
            bytes[mine.value * count + other.value] += graph.weights(u)[k];
            all_bytes += static_cast<double>(graph.weights(u)[k]);
        }
    }
    // Divides bytes if exact sums could overflow.
    const auto unit = static_cast<std::int64_t>(all_bytes * 0x1.0p-30) + 1;
    for (std::int64_t& b : bytes) b /= unit;
    std::vector<std::int64_t> distance(count * count);
    std::int64_t farthest = 1;
    for (std::size_t a = 0; a < count; ++a) {
        if (!charge_step(meter, slots[a].size() * graph.size())) return std::nullopt;
        for (std::size_t b = 0; b < count; ++b) {
            if (a == b) continue;
            distance[a * count + b] = measure_distance(space, slots[a], slots[b]);
            farthest = std::max(farthest, distance[a * count + b]);
        }
    }
    // A part of ranks fits only a part of slots of the same size. If the last part of ranks is smaller, this
    // makes it too expensive on all but the last part of slots.
    if (ranks.back().size() != ranks.front().size()) {
        bytes.back() = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{1});
        for (std::size_t k = 0; k + 1 < count; ++k) distance[k * count + k] = 2 * farthest;
    }
    return qap::Qap{count, std::move(bytes), std::move(distance)};
}

/// The QAP of placing one part of ranks, with its share of free slots, on one part of slots.
qap::Qap make_inner_qap(const SlotSpace& space, const partition::WeightedGraph& graph,
                        const std::vector<Vertex>& ranks, const std::vector<Vertex>& slots,
                        std::vector<Vertex>& number) {
    const std::size_t order = ranks.size();
    const partition::WeightedGraph inside = make_subgraph(graph, ranks, number);
    std::vector<std::int64_t> bytes(order * order);
    for (const Vertex u : inside.vertices()) {
        const auto peers = inside.peers(u);
        for (std::size_t k = 0; k < peers.size(); ++k)
            bytes[u.value * order + peers[k].value] = inside.weights(u)[k];
    }
    std::vector<std::int64_t> distance(order * order);
    for (std::size_t a = 0; a < order; ++a) {
        for (std::size_t b = 0; b < order; ++b) {
            if (a != b) distance[a * order + b] = space.distance(slots[a].value, slots[b].value);
        }
    }
    return {order, std::move(bytes), std::move(distance)};
}

Placement place_in_parts(const Problem& problem, Meter& meter, std::size_t size) {
    if (!charge_preparation(meter, problem)) return fall_back_to_block(problem);
    const auto machine_slots = make_slot_space(problem.machine(), problem.allocation().slots());
    const SlotSpace& space = *machine_slots;
    const std::size_t slot_count = problem.allocation().slot_count();
    const partition::WeightedGraph graph = make_rank_graph(problem);
    if (!meter.poll()) return fall_back_to_block(problem);
    const Parts ranks = EqualPartition(graph, size, problem.seed(), meter).take_parts();
    const Parts slots =
        EqualPartition(make_closeness_graph(space, problem, meter), size, problem.seed() + 1, meter)
            .take_parts();
    const GraspOptions options;
    require_dense_memory("hybrid", std::max(ranks.size(), size), grasp_searches);
    qap::Permutation to(ranks.size());
    std::iota(to.begin(), to.end(), 0U);
    if (const auto coarse = make_coarse_qap(space, graph, ranks, slots, meter)) {
        const qap::Permutation in_order = to;  // the identity, which maps parts to parts of the same size
        to = grasp(*coarse, std::span(&in_order, 1), problem.seed(), problem.threads(), meter, options);
    }
    std::vector<Vertex> number(slot_count, Vertex::none);
    std::vector<Position> position(slot_count);
    for (std::size_t k = 0; k < ranks.size(); ++k) {
        const std::vector<Vertex>& there = slots[to[k]];
        qap::Permutation p(there.size());
        std::iota(p.begin(), p.end(), 0U);
        if (!meter.is_exhausted()) {
            p = grasp(make_inner_qap(space, graph, ranks[k], there, number), {}, problem.seed() + k,
                      problem.threads(), meter, options);
        }
        for (std::size_t i = 0; i < p.size(); ++i) position[ranks[k][i].value] = Position{there[p[i]].value};
    }
    position.resize(problem.rank_count());
    return placement_at(problem.allocation(), position);
}

/// Splits ranks and slots into parts of equal size. Ranks that exchange many bytes, and slots that are close
/// (by 1 / distance to their nearest slots), share a part. grasp() maps parts of ranks to parts of slots by
/// bytes and average distances, and then the ranks of each part to its slots (Sudheer 2012, sec. 6.2.3).
/// Parts are exchanged only with parts of the same size. About O(slots * part^2 + edges * log parts) on all
/// cores.
Placement place_hybrid(const Problem& problem, Meter& meter, const HybridOptions& options) {
    return place_in_parts(problem, meter, options.part);
}

}  // namespace

MapperEntry hybrid_mapper() {
    return mapper_entry<place_hybrid>(
        {.name = "hybrid",
         .summary = "grasp between parts of ranks and slots, then inside each of them",
         .source = "Sudheer 2012, sec. 6.2.3",
         .needs = "graph, distances",
         .occupancy = Occupancy::alone});
}

}  // namespace topoloom::dense
