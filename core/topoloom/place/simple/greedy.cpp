// SPDX-License-Identifier: BSD-3-Clause
// Greedy constructors that grow a placement along the communication graph: GGE, MAHD and EMAHD.
#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/place/entry.hpp"
#include "topoloom/place/state/free_slots.hpp"

namespace topoloom::simple {

namespace {

struct MahdOptions {
    std::uint32_t weighted = 0;
    void visit(auto& field) {
        field("weighted", weighted, Range{0, 1},
              "1: weigh the distance to each partner by the bytes exchanged with it");
    }
};

struct EmahdOptions : MahdOptions {
    std::uint32_t starts = 0;
    void visit(auto& field) {
        MahdOptions::visit(field);
        field("starts", starts, Range{0, 1e9}, "first ranks to try, spread evenly; 0: every rank");
    }
};

enum class Beside { all_partners, all_partners_by_bytes, latest_partner };

/// Positions of the allocation, the most central first: least total distance to all allocated slots.
std::vector<Position> by_centrality(const Allocation& allocation) {
    std::vector<std::uint64_t> total(allocation.slot_count());
    with_space(allocation.machine(), [&]<class Space>(const Space& space) {
        std::vector<typename Space::Network::Point> points;
        for (const Node node : allocation.nodes()) points.push_back(space.network().point(node));
        const std::vector<std::uint64_t> totals = space.network().total_distances(points);
        for (std::size_t i = 0; i < total.size(); ++i) {
            const std::uint64_t port = space.port_cost(space.point(allocation.slots()[i]));
            total[i] = space.hop_weight() * totals[allocation.node_of_slot()[i]] + (points.size() - 1) * port;
        }
    });
    std::vector<Position> order = id_list<Position>(total.size());
    std::ranges::stable_sort(order, {}, [&](Position position) { return total[position.value]; });
    return order;
}

/// What all runs on one problem share: made once, copied where a run changes it.
struct Ground {
    const Allocation& allocation;
    const CommGraph& graph;  // symmetric
    FreeSlots free;
    std::vector<Position> central;
    std::vector<Rank> by_degree;  // most partners first

    explicit Ground(const Problem& problem)
        : allocation(problem.allocation()),
          graph(problem.symmetric()),
          free(problem.allocation()),
          central(by_centrality(problem.allocation())) {
        for (const Rank u : ids<Rank>(graph.rank_count())) by_degree.push_back(u);
        std::stable_sort(by_degree.begin(), by_degree.end(),
                         [&](Rank a, Rank b) { return graph.degree(a) > graph.degree(b); });
    }
};

/// One growth of a placement from a first rank.
class Growth {
   public:
    Growth(const Ground& ground, Beside beside)
        : ground_(ground),
          beside_(beside),
          free_(ground.free),
          position_(ground.graph.rank_count(), Position::none),
          queued_(ground.graph.rank_count(), false),
          latest_(beside == Beside::latest_partner ? ground.graph.rank_count() : 0) {}

    /// Spends one unit per slot looked at; once `spend` says stop, the rest goes to free slots in order.
    template <class Spend>
    std::vector<Slot> run(Rank first, const Spend& spend) {
        start(first);
        std::size_t next = 0;
        for (bool go_on = true; go_on;) {
            while (!queue_.empty() && go_on) {
                const Rank s = queue_.top().rank;
                queue_.pop();
                const auto found = best_slot(s);
                put(s, found.position);
                go_on = spend(found.evaluated);
            }
            while (next < ground_.by_degree.size() && placed(ground_.by_degree[next])) ++next;
            if (next == ground_.by_degree.size()) break;
            if (go_on) start(ground_.by_degree[next]);
        }
        return finish();
    }

   private:
    struct Waiting {
        std::size_t degree;
        Rank rank;
        friend bool operator<(const Waiting& a, const Waiting& b) {
            return std::tie(a.degree, b.rank) < std::tie(b.degree, a.rank);
        }
    };

    [[nodiscard]] bool placed(Rank u) const { return position_[u.value] != Position::none; }

    /// A new component: its first rank goes to the most central free slot.
    void start(Rank first) {
        while (!free_.is_free(ground_.central[next_central_])) ++next_central_;
        queued_[first.value] = true;
        put(first, ground_.central[next_central_]);
    }

    void put(Rank u, Position position) {
        free_.take(position);
        position_[u.value] = position;
        for (const Rank v : ground_.graph.peers(u)) {
            if (beside_ == Beside::latest_partner) latest_[v.value] = u;
            if (queued_[v.value]) continue;
            queued_[v.value] = true;
            queue_.push({ground_.graph.degree(v), v});
        }
    }

    FreeSlots::Found best_slot(Rank s) {
        near_.clear();
        weights_.clear();
        if (beside_ == Beside::latest_partner) {
            near_.push_back(position_[latest_[s.value].value]);
            weights_.push_back(1);
        } else {
            const auto peers = ground_.graph.peers(s);
            const auto bytes = ground_.graph.bytes(s);
            for (std::size_t i = 0; i < peers.size(); ++i) {
                if (!placed(peers[i])) continue;
                near_.push_back(position_[peers[i].value]);
                weights_.push_back(
                    beside_ == Beside::all_partners ? 1 : static_cast<std::uint64_t>(bytes[i].value));
            }
        }
        return free_.nearest({near_, weights_});
    }

    std::vector<Slot> finish() {
        std::vector<Slot> slots;
        Position next{0};
        for (Position& position : position_) {
            if (position == Position::none) {
                while (!free_.is_free(next)) ++next.value;
                position = next;
                free_.take(next);
            }
            slots.push_back(ground_.allocation.slots()[position.value]);
        }
        return slots;
    }

    const Ground& ground_;
    Beside beside_;
    FreeSlots free_;
    std::vector<Position> position_;
    std::vector<char> queued_;
    std::vector<Rank> latest_;
    std::priority_queue<Waiting> queue_;
    std::size_t next_central_ = 0;
    std::vector<Position> near_;  // kept to save allocations
    std::vector<std::uint64_t> weights_;
};

Placement grow(const Problem& problem, Meter& meter, Beside beside) {
    const Ground ground(problem);
    Growth growth(ground, beside);
    return {problem.allocation(),
            growth.run(ground.by_degree.front(), [&](std::uint64_t work) { return meter.spend(work); })};
}

Beside by(std::uint32_t weighted) {
    return weighted != 0 ? Beside::all_partners_by_bytes : Beside::all_partners;
}

/// The i-th of `count` first ranks, spread evenly over all of them.
Rank start_rank(const std::vector<Rank>& by_degree, std::size_t i, std::size_t count) {
    return by_degree[i * by_degree.size() / count];
}

/// GGE, the comparator of the same chapter: like MAHD, but beside the most recently placed partner only.
Placement place_gge(const Problem& problem, Meter& meter) {
    return grow(problem, meter, Beside::latest_partner);
}

/// MAHD (Sudheer 2012, ch. 6, algorithm 1): starts with the rank of most partners on the node nearest to all others,
/// then always takes the rank of most partners among the neighbors of placed ones, and puts it on the free slot with
/// the least average distance to its placed partners. Ties go to the lowest index. Every component of the graph
/// starts anew at the most central free slot. About O(edges + ranks * log slots) on a torus.
Placement place_mahd(const Problem& problem, Meter& meter, const MahdOptions& options) {
    return grow(problem, meter, by(options.weighted));
}

/// MAHD from every first rank (or an even choice of them), on all cores; keeps the least hop-bytes.
Placement place_emahd(const Problem& problem, Meter& meter, const EmahdOptions& options) {
    struct Run {
        std::vector<Slot> slots;
        std::int64_t value = std::numeric_limits<std::int64_t>::max();
        std::uint64_t work = 0;
    };
    // Rounds of a fixed size, so that a work budget ends the search at the same place for any number of threads.
    constexpr std::size_t round_size = 32;
    const std::size_t starts = options.starts == 0
                                   ? problem.rank_count()
                                   : std::min<std::size_t>(options.starts, problem.rank_count());
    const Ground ground(problem);
    Run best;
    for (std::size_t begin = 0; begin < starts && !meter.exhausted(); begin += round_size) {
        std::vector<Run> round(std::min(round_size, starts - begin));
        parallel_for(round.size(), problem.threads(), [&](std::size_t i, int) {
            Growth growth(ground, by(options.weighted));
            Run& run = round[i];
            run.slots = growth.run(start_rank(ground.by_degree, begin + i, starts), [&](std::uint64_t work) {
                run.work += work;
                return true;
            });
            run.value = hop_bytes(problem.graph(), problem.machine(), run.slots, 1);
        });
        for (Run& run : round) {
            meter.spend(run.work);
            if (run.value < best.value) best = std::move(run);
        }
    }
    return {problem.allocation(), std::move(best.slots)};
}

}  // namespace

MapperEntry gge_mapper() {
    return mapper_entry<place_gge>(
        {.name = "gge",
         .summary = "greedy graph embedding: beside the most recently placed partner",
         .source = "Sudheer 2012, sec. 6.2",
         .needs = "graph, distances",
         .serves = Serves::alone});
}

MapperEntry mahd_mapper() {
    return mapper_entry<place_mahd>({.name = "mahd",
                                     .summary = "minimum average hop distance to all placed partners",
                                     .source = "Sudheer 2012, ch. 6, alg. 1",
                                     .needs = "graph, distances",
                                     .serves = Serves::alone});
}

MapperEntry emahd_mapper() {
    return mapper_entry<place_emahd>({.name = "emahd",
                                      .summary = "mahd from every possible first rank, the best of them",
                                      .source = "Sudheer 2012, sec. 6.2",
                                      .needs = "graph, distances, time",
                                      .serves = Serves::alone});
}

}  // namespace topoloom::simple
