// SPDX-License-Identifier: BSD-3-Clause
// GGE, MAHD and EMAHD choose the same slots as references that examine every pair of rank and slot.
#include <doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

enum class SlotRule { mahd, mahd_weighted, gge };
enum class CentralityKey { degree, neighbors, bytes };

/// Sudheer 2012, ch. 6, algorithm 1 literally: every step examines every rank and slot.
std::vector<Slot> reference_greedy(const CommGraph& directed, const Allocation& allocation, CentralityKey key,
                                   SlotRule rule, Rank first) {
    const CommGraph graph = directed.symmetric();
    const Machine& machine = allocation.machine();
    const std::size_t n = graph.rank_count();
    std::vector<std::optional<std::size_t>> position(n);  // index in the allocation
    std::vector<char> is_taken(allocation.slot_count(), false);
    std::vector<std::size_t> mapped_at(n, 0);
    std::size_t clock = 0;

    const auto centrality = [&](std::size_t p) {
        std::uint64_t sum = 0;
        const Slot here = allocation.slots()[p];
        for (const Node other : allocation.nodes()) {
            if (machine.node(here) != other) sum += machine.distance(here, machine.slot(other, 0));
        }
        return sum;
    };
    const auto put = [&](Rank u, std::size_t p) {
        position[u.value] = p;
        is_taken[p] = true;
        mapped_at[u.value] = ++clock;
    };
    const auto start = [&](Rank u) {
        std::size_t best = allocation.slot_count();
        for (std::size_t p = 0; p < allocation.slot_count(); ++p) {
            if (!is_taken[p] && (best == allocation.slot_count() || centrality(p) < centrality(best)))
                best = p;
        }
        put(u, best);
    };
    const auto cost = [&](Rank s, std::size_t p) {
        std::uint64_t sum = 0;
        std::size_t latest = 0;
        for (const Edge edge : graph.sends(s)) {
            if (!position[edge.peer.value]) continue;
            const std::uint64_t d =
                machine.distance(allocation.slots()[p], allocation.slots()[*position[edge.peer.value]]);
            if (rule == SlotRule::mahd) sum += d;
            if (rule == SlotRule::mahd_weighted) sum += d * static_cast<std::uint64_t>(edge.bytes.value);
            if (rule == SlotRule::gge && mapped_at[edge.peer.value] > latest) {
                latest = mapped_at[edge.peer.value];
                sum = d;
            }
        }
        return sum;
    };
    const auto placed_neighbors = [&](Rank u) {
        std::int64_t count = 0;
        for (const Rank v : graph.peers(u)) count += position[v.value].has_value() ? 1 : 0;
        return count;
    };
    const auto bytes_to_placed = [&](Rank u) {
        std::int64_t bytes = 0;
        for (const Edge edge : graph.sends(u)) bytes += position[edge.peer.value] ? edge.bytes.value : 0;
        return bytes;
    };
    const auto degree = [&](Rank u) { return static_cast<std::int64_t>(graph.degree(u)); };
    const auto key_of = [&](Rank u) {
        if (key == CentralityKey::degree) return degree(u);
        return key == CentralityKey::neighbors ? placed_neighbors(u) : bytes_to_placed(u);
    };
    const auto unplaced_with_most = [&](const auto& of, const auto& eligible) {
        std::optional<Rank> best;
        for (const Rank u : ids<Rank>(n)) {
            if (!position[u.value] && eligible(u) && (!best || of(u) > of(*best))) best = u;
        }
        return best;
    };
    start(first);
    while (true) {
        if (const auto s = unplaced_with_most(key_of, [&](Rank u) { return placed_neighbors(u) > 0; })) {
            std::size_t best = allocation.slot_count();
            for (std::size_t p = 0; p < allocation.slot_count(); ++p) {
                if (!is_taken[p] && (best == allocation.slot_count() || cost(*s, p) < cost(*s, best)))
                    best = p;
            }
            put(*s, best);
        } else if (const auto next = unplaced_with_most(degree, [](Rank) { return true; })) {
            start(*next);
        } else {
            break;
        }
    }
    std::vector<Slot> slots;
    for (const auto& p : position) slots.push_back(allocation.slots()[*p]);
    return slots;
}

/// The center of weighted points on a ring or line, multiplied by their total weight. The center has the
/// least weighted sum of squared distances to the points. Tries every position at which the ring can be cut.
std::int64_t reference_center(const std::vector<std::pair<std::int64_t, std::int64_t>>& points,
                              std::int64_t extent, bool wraps) {
    std::int64_t weight = 0;
    for (const auto& [x, w] : points) weight += w;
    std::int64_t best = 0;
    std::int64_t least = -1;
    for (std::int64_t cut = 0; cut <= (wraps ? extent : 0); ++cut) {
        std::int64_t sum = 0;
        for (const auto& [x, w] : points) sum += w * (x < cut ? x + extent : x);
        std::int64_t spread = 0;  // multiplied by the square of the total weight
        for (const auto& [x, w] : points) {
            const std::int64_t off = weight * (x < cut ? x + extent : x) - sum;
            spread += w * off * off;
        }
        if (least < 0 || spread < least) {
            least = spread;
            best = sum;
        }
    }
    return weight == 0 ? 0 : best % (weight * extent);
}

/// Whether every rank, in the given order, is on the free slot closest to the centroid of its placed
/// partners.
bool is_at_centroids(const CommGraph& directed, const Allocation& allocation, const Placement& placement,
                     const std::vector<Rank>& order) {
    const CommGraph graph = directed.symmetric();
    const Machine& machine = allocation.machine();
    const std::vector<std::uint32_t> extents = machine.grid();
    const std::vector<bool> wraps = machine.wraps();
    const auto at = [&](Slot slot, std::size_t axis) {
        return std::int64_t{machine.coordinates(machine.node(slot))[axis]};
    };
    std::vector<char> is_placed(graph.rank_count(), false);
    std::vector<char> is_taken(machine.slot_count(), false);
    for (const Rank u : order) {
        std::int64_t weight = 0;
        for (const Edge edge : graph.sends(u)) weight += is_placed[edge.peer.value] ? edge.bytes.value : 0;
        const auto apart = [&](Slot slot) {
            std::int64_t sum = 0;
            for (std::size_t axis = 0; axis < extents.size(); ++axis) {
                std::vector<std::pair<std::int64_t, std::int64_t>> points;
                for (const Edge edge : graph.sends(u)) {
                    if (is_placed[edge.peer.value])
                        points.emplace_back(at(placement[edge.peer], axis), edge.bytes.value);
                }
                const std::int64_t center = reference_center(points, extents[axis], wraps[axis]);
                const std::int64_t line = std::abs(weight * at(slot, axis) - center);
                sum += wraps[axis] ? std::min(line, weight * extents[axis] - line) : line;
            }
            return sum;
        };
        const bool begins =
            std::ranges::none_of(graph.peers(u), [&](Rank v) { return is_placed[v.value] != 0; });
        for (const Slot slot : allocation.slots()) {
            if (!begins && !is_taken[slot.value] && apart(slot) < apart(placement[u])) return false;
        }
        is_placed[u.value] = true;
        is_taken[placement[u].value] = true;
    }
    return true;
}

/// The order in which ranks are placed: most bytes to placed partners first.
std::vector<Rank> growth_order(const CommGraph& directed) {
    const CommGraph graph = directed.symmetric();
    std::vector<char> is_placed(graph.rank_count(), false);
    std::vector<Rank> order;
    while (order.size() < graph.rank_count()) {
        const auto rank_of = [&](Rank u) {
            std::int64_t bytes = -1;
            for (const Edge edge : graph.sends(u)) {
                if (is_placed[edge.peer.value]) bytes = std::max<std::int64_t>(bytes, 0) + edge.bytes.value;
            }
            // In a new component the rank with the most partners is first.
            return std::pair(bytes, bytes < 0 ? graph.degree(u) : 0);
        };
        Rank best = Rank::none;
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            if (!is_placed[u.value] && (best == Rank::none || rank_of(u) > rank_of(best))) best = u;
        }
        is_placed[best.value] = true;
        order.push_back(best);
    }
    return order;
}

Rank max_partners(const CommGraph& directed) {
    const CommGraph graph = directed.symmetric();
    Rank best{0};
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        if (graph.degree(u) > graph.degree(best)) best = u;
    }
    return best;
}

CommGraph random_weights(std::size_t n, std::uint64_t seed) {
    Rng rng(seed);
    return CommGraph::from_rows(n, [&](Rank u, const auto& add) {
        Rng row(seed, u.value);
        for (std::uint32_t i = row.below(5); i > 0; --i) {
            add(Edge{Rank{row.below(static_cast<std::uint32_t>(n))}, Bytes{row.below(1000)}, 1});
        }
    });
}

}  // namespace

TEST_CASE("greedy constructors choose the same slots as their papers") {
    const char* const machines[] = {"torus:4x5x3",
                                    "mesh:6x6",
                                    "torus:3x3x2,nodes=2",
                                    "tree:3:4:3,distance=1:5:20",
                                    "torus:3x3+node:2:2,distance=1:2:3",
                                    "torus:3x4+node:3",
                                    "torus:3x4+node:3,port=2:0:1",
                                    "tree:3:3,distance=1:3+node:2:2,distance=1:2:4,port=3:0",
                                    "graph:7:0-1,1-2,2-3,3-4,4-5,5-6,6-0"};
    for (const char* text : machines) {
        const Machine machine = make_machine(text);
        const Allocation whole = Allocation::whole(machine);
        std::vector<Slot> shuffled(whole.slots().begin(), whole.slots().end());
        Rng(4).shuffle(std::span<Slot>(shuffled));
        shuffled.resize(shuffled.size() - shuffled.size() / 5);
        for (const Allocation& allocation : {whole, Allocation::of_slots(machine, shuffled)}) {
            for (std::uint64_t seed = 1; seed <= 4; ++seed) {
                CAPTURE(text);
                CAPTURE(seed);
                const CommGraph graph = random_weights(allocation.slot_count() - seed % 3, seed);
                const Problem problem(graph, allocation);
                const Rank first = max_partners(graph);
                const auto check = [&](const char* mapper, CentralityKey key, SlotRule rule) {
                    CAPTURE(mapper);
                    CHECK(std::ranges::equal(place(problem, mapper).placement.slots(),
                                             reference_greedy(graph, allocation, key, rule, first)));
                };
                check("mahd", CentralityKey::bytes, SlotRule::mahd_weighted);
                check("mahd(key=degree,weighted=0)", CentralityKey::degree, SlotRule::mahd);
                check("mahd(key=degree)", CentralityKey::degree, SlotRule::mahd_weighted);
                check("mahd(key=neighbors,weighted=0)", CentralityKey::neighbors, SlotRule::mahd);
                check("gge", CentralityKey::bytes, SlotRule::gge);
                check("gge(key=degree)", CentralityKey::degree, SlotRule::gge);
                check("gge(key=neighbors)", CentralityKey::neighbors, SlotRule::gge);
            }
        }
    }
}

TEST_CASE("emahd is the best result of mahd over all first ranks, by the objective") {
    const Machine machine = make_machine("torus:5x5,bandwidth=1GB/s");
    const Allocation allocation = fragmented_allocation(machine, 18, 2, 1);
    const CommGraph graph = random_weights(17, 6);
    for (const char* const objective : {"hop-bytes", "congestion", "time"}) {
        CAPTURE(objective);
        const Problem problem = Problem(graph, allocation).with_objective(parse_objective(objective), {}, {});
        std::optional<CongestionKey> best;
        for (const Rank first : ids<Rank>(graph.rank_count())) {
            const CongestionKey key = problem.key(
                reference_greedy(graph, allocation, CentralityKey::bytes, SlotRule::mahd_weighted, first));
            if (!best || key < *best) best = key;
        }
        CHECK(problem.key(place(problem, "emahd").placement.slots()) == best);
    }
}

TEST_CASE("emahd returns a placement for any budget") {
    const Machine machine = make_machine("torus:8x8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_weights(60, 3);
    for (const std::uint64_t work : {std::uint64_t{0}, std::uint64_t{1}}) {
        const Budget budget{.work = work};
        CHECK(place(Problem(graph, allocation), "emahd", budget).placement.rank_count() == 60);
    }
}

TEST_CASE("mahd puts a periodic stencil on its torus with one hop per message") {
    const std::vector<GridAxis> grid{{8, true}, {8, true}, {8, true}};
    const CommGraph graph = stencil(grid, StencilShape::star, Bytes{1024});
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = Allocation::whole(machine);
    const PlaceResult result = place(Problem(graph, allocation), "mahd");
    CHECK(hop_bytes(graph, machine, result.placement.slots()) == 512 * 6 * 1024);
}

TEST_CASE("mht puts every rank on the free slot closest to the centroid of its placed partners") {
    for (const char* text :
         {"torus:4x5x3", "mesh:6x6", "torus:11", "torus:3x3+node:2:2", "torus:4x4,nodes=2"}) {
        const Machine machine = make_machine(text);
        const Allocation whole = Allocation::whole(machine);
        const Allocation part = fragmented_allocation(machine, machine.node_count() - 2, 2, 1);
        for (const Allocation& allocation : {whole, part}) {
            for (std::uint64_t seed = 1; seed <= 4; ++seed) {
                CAPTURE(text);
                CAPTURE(seed);
                const CommGraph graph = random_weights(allocation.slot_count() - seed % 3, seed);
                const Problem problem(graph, allocation, seed);
                CHECK(
                    is_at_centroids(graph, allocation, place(problem, "mht").placement, growth_order(graph)));
            }
        }
    }
}

TEST_CASE("the seed determines the first slot of mht") {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph graph = random_weights(100, 2);
    const auto placed = [&](std::uint64_t seed) {
        return place(Problem(graph, allocation, seed), "mht").placement;
    };
    CHECK(placed(1) == placed(1));
    CHECK(!(placed(1) == placed(2)));
}

TEST_CASE("mht refuses machines without coordinates in a one-line error") {
    const CommGraph graph = random_weights(6, 1);
    for (const char* text : {"tree:3:4", "fattree:4:4", "graph:7:0-1,1-2,2-3,3-4,4-5,5-6,6-0"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        CHECK_THROWS_WITH_AS(
            place(Problem(graph, allocation), "mht"),
            (std::string("mapper 'mht' needs coordinates, which nodes of ") + text + " do not have; use mahd")
                .c_str(),
            Error);
    }
}
