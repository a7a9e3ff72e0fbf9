// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/dense/grasp.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/place/greedy/sparse_grasp.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/state/dense_qap.hpp"
#include "topoloom/qap/qap_tabu.hpp"

namespace topoloom::dense {

namespace {

constexpr std::uint64_t work_per_round = std::uint64_t{1} << 22;

/// Few candidates leave the construction hardly a choice: restarts would end alike.
constexpr std::size_t fewest_candidates = 5;

std::size_t count_per_mille(std::uint32_t per_mille, std::size_t count) {
    return std::min(count, std::max(fewest_candidates, count * per_mille / 1000));
}

struct FirstPair {
    std::uint32_t i, j, x, y;  // puts item i on location x, and j on y
};

/// Data shared by all restarts: flows and distances, each summed over both directions, and the candidates for
/// the first pair.
struct RestartData {
    RestartData(const qap::Qap& q, const GraspOptions& o)
        : qap(q), options(o), order(qap.order()), searches(qap) {
        for (std::size_t i = 0; i < order; ++i) {
            for (std::size_t j = 0; j < order; ++j) {
                flow.push_back(i == j ? 0 : qap.a(i, j) + qap.a(j, i));
                distance.push_back(i == j ? 0 : qap.b(i, j) + qap.b(j, i));
            }
        }
        list_first_pairs();
    }

    const qap::Qap& qap;
    const GraspOptions& options;
    std::size_t order;
    qap::QapContext searches;
    std::vector<std::int64_t> flow, distance;
    std::vector<FirstPair> first_pairs;

   private:
    struct MatrixEntry {
        std::int64_t value;
        std::uint32_t i, j;
    };

    [[nodiscard]] std::vector<MatrixEntry> smallest_entries(const std::vector<std::int64_t>& matrix,
                                                            std::int64_t sign) const {
        std::vector<MatrixEntry> all;
        for (std::uint32_t i = 0; i < order; ++i) {
            for (std::uint32_t j = 0; j < i; ++j) all.push_back({sign * matrix[i * order + j], i, j});
        }
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(count_per_mille(options.beta, all.size()));
        const auto before = [](const MatrixEntry& a, const MatrixEntry& b) {
            return a.value != b.value ? a.value < b.value : a.i != b.i ? a.i < b.i : a.j < b.j;
        };
        std::partial_sort(all.begin(), end, all.end(), before);
        all.erase(end, all.end());
        return all;
    }

    void list_first_pairs() {
        if (order < 2) return;
        const std::vector<MatrixEntry> flows = smallest_entries(flow, -1);
        const std::vector<MatrixEntry> distances = smallest_entries(distance, 1);
        std::vector<std::uint32_t> at(flows.size());
        std::iota(at.begin(), at.end(), 0U);
        std::stable_sort(at.begin(), at.end(), [&](std::uint32_t a, std::uint32_t b) {
            // Multiplies the largest flows with the smallest distances. Doubles suffice, because only the
            // order of products is used.
            const auto product = [&](std::uint32_t k) {
                return static_cast<double>(-flows[k].value) * static_cast<double>(distances[k].value);
            };
            return product(a) < product(b);
        });
        at.resize(count_per_mille(options.alpha, at.size()));
        for (const std::uint32_t k : at)
            first_pairs.push_back({flows[k].i, flows[k].j, distances[k].i, distances[k].j});
    }
};

/// A restart that can be interrupted and continued.
class GraspRestart {
   public:
    GraspRestart(const RestartData& restart_data, Rng rng)
        : data_(restart_data), rng_(rng), search_(restart_data.searches.search()) {}

    /// Starts with the greedy construction, or with local search from the assignment `warm`.
    void begin(const qap::Permutation* warm, Rng rng) {
        rng_ = rng;
        done_ = false;
        searching_ = warm != nullptr;
        if (warm) {
            search_->start(*warm, rng_);
            return;
        }
        const std::size_t n = data_.order;
        location_.assign(n, no_index);
        touched_.assign(n, false);
        cost_.assign(n * n, 0);
        open_items_.resize(n);
        std::iota(open_items_.begin(), open_items_.end(), 0U);
        open_locations_ = open_items_;
        const auto pairs = static_cast<std::uint32_t>(data_.first_pairs.size());
        FirstPair first = data_.first_pairs[rng_.below(pairs)];
        if (rng_.below(2) == 1) std::swap(first.x, first.y);
        assign(first.i, first.x);
        assign(first.j, first.y);
    }

    /// Continues for about `work` steps; returns the work done.
    std::uint64_t run(std::uint64_t work) {
        const std::uint64_t pairs = data_.order * (data_.order - 1) / 2;
        std::uint64_t spent = 0;
        while (!done_ && spent < work) {
            if (searching_) {
                const std::uint64_t exchanges = (work - spent) / pairs + 1;
                const std::uint64_t before = search_->iterations();
                done_ = search_->descend(exchanges);
                spent += pairs * (search_->iterations() - before + 1);
            } else if (open_items_.empty()) {
                search_->start(location_, rng_);
                searching_ = true;
                spent += pairs;
            } else {
                spent += assign_next_item();
            }
        }
        return spent;
    }
    [[nodiscard]] bool is_done() const { return done_; }

    /// The assignment found so far. If it is partial, open items are put on open locations in order.
    [[nodiscard]] qap::Permutation assignment() const {
        if (searching_) return search_->best();
        qap::Permutation p = location_;
        for (std::size_t k = 0; k < open_items_.size(); ++k) p[open_items_[k]] = open_locations_[k];
        return p;
    }

   private:
    struct Candidate {
        std::int64_t cost;
        std::uint32_t i, x;
    };

    /// Assigns one more item. Items without flow to assigned items wait, because all locations cost them
    /// the same.
    std::uint64_t assign_next_item() {
        candidates_.clear();
        const bool any_touched =
            std::ranges::any_of(open_items_, [&](std::uint32_t i) { return touched_[i] != 0; });
        for (const std::uint32_t i : open_items_) {
            if (any_touched && touched_[i] == 0) continue;
            for (const std::uint32_t x : open_locations_)
                candidates_.push_back({cost_[i * data_.order + x], i, x});
        }
        const auto drawn =
            rng_.below(static_cast<std::uint32_t>(count_per_mille(data_.options.alpha, candidates_.size())));
        const auto place = candidates_.begin() + drawn;
        std::nth_element(candidates_.begin(), place, candidates_.end(),
                         [](const Candidate& a, const Candidate& b) {
                             return a.cost != b.cost ? a.cost < b.cost : a.i != b.i ? a.i < b.i : a.x < b.x;
                         });
        const std::uint64_t looked = candidates_.size();
        return looked + assign(place->i, place->x);
    }

    std::uint64_t assign(std::uint32_t i, std::uint32_t x) {
        const std::size_t n = data_.order;
        location_[i] = x;
        std::erase(open_items_, i);
        std::erase(open_locations_, x);
        const std::int64_t* distance = data_.distance.data() + x * n;
        std::uint64_t work = 0;
        for (const std::uint32_t j : open_items_) {
            const std::int64_t flow = data_.flow[j * n + i];
            if (flow == 0) continue;
            work += open_locations_.size();
            std::int64_t* cost = cost_.data() + j * n;
            if (touched_[j] == 0) {
                touched_[j] = true;
                const qap::Qap& qap = data_.qap;
                for (std::size_t y = 0; y < n; ++y)
                    cost[y] = 2 * (qap.a(j, j) * qap.b(y, y) + qap.linear(j, y));
            }
            for (std::size_t y = 0; y < n; ++y) cost[y] += flow * distance[y];
        }
        return work;
    }

    const RestartData& data_;
    Rng rng_;
    std::unique_ptr<qap::QapTabu> search_;
    bool searching_ = false;
    bool done_ = true;
    qap::Permutation location_;  // by item
    std::vector<char> touched_;
    std::vector<std::int64_t> cost_;  // [item * order + location]: cost of messages to assigned items
    std::vector<std::uint32_t> open_items_, open_locations_;
    std::vector<Candidate> candidates_;
};

std::size_t choose_restart_count(std::size_t order) {
    constexpr double wanted_work = 2e6;
    const double each = std::pow(static_cast<double>(order), 3) / 4;
    return static_cast<std::size_t>(std::clamp(wanted_work / each, 1.0, 256.0));
}

}  // namespace

qap::Permutation grasp(const qap::Qap& qap, std::span<const qap::Permutation> warm, std::uint64_t seed,
                       int threads, Meter& meter, const GraspOptions& options) {
    const std::size_t order = qap.order();
    qap::Permutation best(order);
    std::iota(best.begin(), best.end(), 0U);
    if (!warm.empty()) best = warm.front();
    if (order < 2 || meter.is_exhausted()) return best;
    const RestartData restart_data(qap, options);
    const std::size_t restarts = options.restarts == 0 ? choose_restart_count(order) : options.restarts;
    const std::size_t total = warm.size() + restarts;
    std::vector<GraspRestart> starts;
    for (std::size_t k = 0; k < std::min(total, grasp_searches); ++k)
        starts.emplace_back(restart_data, Rng(seed));
    std::size_t begun = 0;
    std::int64_t value = qap.value(best);
    const auto consider = [&](const GraspRestart& start) {
        qap::Permutation p = start.assignment();
        const std::int64_t its = qap.value(p);
        if (its >= value) return;
        value = its;
        best = std::move(p);
    };
    std::vector<std::size_t> start_number(starts.size());
    for (bool busy = true; busy && !meter.is_exhausted();) {
        busy = false;
        for (std::size_t k = 0; k < starts.size(); ++k) {
            start_number[k] = starts[k].is_done() && begun < total ? begun++ : total;
            busy |= start_number[k] < total || !starts[k].is_done();
        }
        std::vector<std::uint64_t> work(starts.size());
        parallel_for(starts.size(), threads, [&](std::size_t k, int) {
            const std::size_t number = start_number[k];
            if (number < total)
                starts[k].begin(number < warm.size() ? &warm[number] : nullptr, Rng(seed, number + 1));
            if (!starts[k].is_done()) work[k] = starts[k].run(work_per_round);
        });
        for (std::size_t k = 0; k < starts.size(); ++k) {
            if (work[k] > 0) {
                consider(starts[k]);
                meter.spend(work[k]);
            }
        }
    }
    return best;
}

Placement place_grasp(const Problem& problem, Meter& meter, const GraspOptions& options) {
    const std::size_t slots = problem.allocation().slot_count();
    const bool is_dense = slots <= options.dense;
    if (is_dense) require_dense_memory("grasp", slots, grasp_searches);
    std::vector<Placement> warm;
    WarmStart first = options.warm;
    if (first == WarmStart::automatic) first = is_dense ? WarmStart::emahd : WarmStart::none;
    if (first != WarmStart::none) {
        const std::string& name = warm_start_names[static_cast<std::size_t>(first)];
        warm.push_back(place(problem.for_hop_bytes(), name, meter));
    }
    if (!is_dense) {
        const greedy::SparseGraspOptions along_edges{
            .alpha = options.alpha, .beta = options.beta, .restarts = options.restarts};
        return greedy::grasp_along_edges(problem, warm, meter, along_edges);
    }
    const MovablePart part(problem);
    if (part.positions().empty()) return part.complete({});
    std::vector<qap::Permutation> assignments;
    for (const Placement& placement : warm) assignments.push_back(assignment_of(part, placement));
    return placement_of(
        part, grasp(dense_qap(part), assignments, problem.seed(), problem.threads(), meter, options));
}

MapperEntry grasp_mapper() {
    return mapper_entry<place_grasp>(
        {.name = "grasp",
         .summary = "randomized greedy starts, each improved by the best exchanges; the best of them",
         .source = "Li, Pardalos, Resende 1994",
         .needs = "graph, distances, memory for slots^2 up to 1000 slots",
         .occupancy = Occupancy::alone});
}

}  // namespace topoloom::dense
