// SPDX-License-Identifier: BSD-3-Clause
// Evolutionary multilevel search for shared slots: refines and combines a family of placements.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <unordered_map>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/partition/coarsening.hpp"
#include "topoloom/partition/weighted_graph.hpp"
#include "topoloom/place/shared/pair_flow.hpp"
#include "topoloom/place/shared/shared_search.hpp"

namespace topoloom::shared {

struct EvolutionOptions {
    /// Number of families that evolve separately, starting from the coarsest graph; then the best member of
    /// each is combined with the others.
    std::uint32_t islands = 1;
    std::uint32_t family = 1;           // members per family
    std::uint32_t cycles = 0;           // children per family, after the initial members
    std::uint32_t cuts = 3;             // rounds of minimum cuts after each local search
    std::uint32_t max_idle_moves = 20;  // moves without gain after which a local search ends
};

/// Reduces the effort with the level of a split: deeper splits matter less, and there are more of them.
[[nodiscard]] inline EvolutionOptions reduce_effort(EvolutionOptions options, std::uint64_t level) {
    const auto less = [&](std::uint32_t count) {
        return std::max(1U, count >> std::min<std::uint64_t>(level, 31));
    };
    options.family = less(options.family);
    options.islands = less(options.islands);
    options.cycles = options.family > 1 ? options.family : 0;
    return options;
}

/// Iterated multilevel refinement (Walshaw, Annals of OR 131 (2004)). With several members, also combines
/// pairs: vertices that share a part in both members stay together, and refinement starts from the better
/// member (Sanders, Schulz, ALENEX 2012).
template <class Space>
class Evolution {
   public:
    using Parts = std::vector<Part>;  // by vertex
    struct Member {
        Parts parts;
        std::int64_t cost = unfit;
        bool searched = false;  // whether local search on this graph gains nothing
    };
    static constexpr std::int64_t unfit = std::numeric_limits<std::int64_t>::max();

    /// Refers to all arguments except the options. `points` and `capacity` are indexed by part.
    Evolution(const Space& space, const partition::WeightedGraph& graph,
              std::span<const typename Space::Point> points, std::span<const std::int64_t> capacity,
              const EvolutionOptions& options, std::uint64_t seed, int threads)
        : space_(space),
          graph_(graph),
          points_(points),
          capacity_(capacity),
          options_(options),
          seed_(seed),
          threads_(threads) {
        const std::int64_t mass = std::accumulate(graph_.mass.begin(), graph_.mass.end(), std::int64_t{0});
        // With about ten vertices per part, the coarsest graph leaves enough freedom to move vertices.
        max_mass_ = std::max<std::int64_t>(1, mass / static_cast<std::int64_t>(10 * points_.size()));
    }

    /// make(graph, number, seed, work) returns the initial parts of member `number`. Returns the best member;
    /// its cost is `unfit` if no member fits.
    template <class Make>
    Member run(const Make& make, Meter& meter) {
        std::vector<Member> family =
            make_family(graph_, std::max(1U, options_.family), Rng(seed_, 0).next(), make, meter);
        evolve(graph_, family, options_.cycles, Rng(seed_, 1).next(), meter);
        return std::move(*std::ranges::min_element(family, {}, &Member::cost));
    }

    /// Evolves from the coarsest graph to the finest; members and children cost little on coarse graphs. Each
    /// finer level continues with only as many of the best members as take about the same time. Several
    /// islands with different coarse graphs find better results than one large family, whose members soon
    /// become alike.
    template <class Make>
    Member run_multilevel(const Make& make, Meter& meter) {
        std::vector<Member> best;
        for (std::uint32_t i = 0; i < std::max(1U, options_.islands); ++i) {
            if (i > 0 && meter.is_exhausted()) break;
            best.push_back(run_island(i, make, meter));
        }
        if (best.size() > 1) evolve(graph_, best, options_.islands, Rng(seed_, 2).next(), meter);
        return std::move(*std::ranges::min_element(best, {}, &Member::cost));
    }

   private:
    static constexpr std::size_t batch_size = 2;            // children per parallel batch
    static constexpr int rounds = 3;                        // maximum rounds of local search per level
    static constexpr std::size_t vertices_per_place = 200;  // size of an island's coarsest graph, per part

    template <class Make>
    Member run_island(std::uint32_t island, const Make& make, Meter& meter) {
        Rng rng(seed_, 10 + island);
        std::deque<partition::Coarsening> steps;
        const partition::WeightedGraph* coarsest = &graph_;
        while (coarsest->size() > vertices_per_place * points_.size()) {
            partition::Coarsening step =
                partition::coarsen(*coarsest, max_mass_, Rng(rng.next(), rng.next()));
            if (step.graph.size() >= coarsest->size() - coarsest->size() / 20) break;
            steps.push_back(std::move(step));
            coarsest = &steps.back().graph;
        }
        const auto share = [&](const partition::WeightedGraph& graph, std::uint32_t count) {
            return static_cast<std::uint32_t>(std::uint64_t{count} * coarsest->size() / graph.size());
        };
        const std::uint32_t members = std::max(1U, options_.family);
        std::vector<Member> family = make_family(*coarsest, members, rng.next(), make, meter);
        evolve(*coarsest, family, options_.cycles, rng.next(), meter);
        for (std::size_t i = steps.size(); i-- > 0;) {
            const partition::WeightedGraph& graph = i == 0 ? graph_ : steps[i - 1].graph;
            std::ranges::sort(family, {}, &Member::cost);
            family.resize(std::min<std::size_t>(family.size(), std::max(1U, share(graph, members))));
            project_family(graph, steps[i].coarse_of, family, rng.next(), meter);
            evolve(graph, family, share(graph, options_.cycles), rng.next(), meter);
        }
        return std::move(*std::ranges::min_element(family, {}, &Member::cost));
    }

    template <class Make>
    std::vector<Member> make_family(const partition::WeightedGraph& graph, std::uint32_t count,
                                    std::uint64_t seed, const Make& make, Meter& meter) {
        std::vector<Member> family;
        while (family.size() < count && (family.empty() || !meter.is_exhausted())) {
            const std::size_t first = family.size();
            family.resize(std::min<std::size_t>(first + batch_size, count));
            std::array<std::uint64_t, batch_size> work{};
            parallel_for(family.size() - first, threads_, [&](std::size_t i, int) {
                const std::size_t m = first + i;
                Rng rng(seed, m);
                SharedSearch<Space> search(space_, graph, points_, capacity_,
                                           make(graph, m, rng.next(), work[i]));
                if (!search.fits()) search.repair();
                if (!search.fits()) return;
                family[m] = {search.parts(), search.cost()};
                family[m] = run_cycle(graph, family[m], rng, family[m].parts, work[i]);
            });
            for (const std::uint64_t w : work) meter.spend(w);
        }
        return family;
    }

    /// Projects a family to a finer graph and refines it.
    void project_family(const partition::WeightedGraph& graph, std::span<const Vertex> coarse_of,
                        std::vector<Member>& family, std::uint64_t seed, Meter& meter) {
        std::vector<std::uint64_t> work(family.size());
        parallel_for(family.size(), threads_, [&](std::size_t m, int) {
            if (family[m].cost == unfit) return;
            Rng rng(seed, m);
            family[m] =
                refine_member(graph, project_parts(family[m].parts, coarse_of), nullptr, rng, work[m]);
        });
        for (const std::uint64_t w : work) meter.spend(w);
    }

    void evolve(const partition::WeightedGraph& graph, std::vector<Member>& family, std::uint32_t cycles,
                std::uint64_t seed, Meter& meter) {
        for (std::uint32_t done = 0; done < cycles && !meter.is_exhausted(); done += batch_size)
            evolve_generation(graph, family, Rng(seed, done).next(), meter);
    }

    /// Runs local search and minimum cuts on one graph. If `searched` is given, it must be a local optimum;
    /// the search then visits only vertices near differences from it.
    Member refine_member(const partition::WeightedGraph& graph, Parts start, const Parts* searched, Rng& rng,
                         std::uint64_t& work) const {
        SharedSearch<Space> search(space_, graph, points_, capacity_, std::move(start));
        if (searched) search.wake_only_changes(*searched);
        for (int round = 0; round < rounds; ++round) {
            if (search.search_from_borders(rng, options_.max_idle_moves) == 0) break;
        }
        work += search.work();
        if (options_.cuts == 0) return {search.parts(), search.cost(), true};
        Parts parts = search.parts();
        PairFlow<Space> flow(space_, graph, points_, capacity_, parts);
        std::int64_t gained = 0;
        for (std::uint32_t round = 0; round < options_.cuts; ++round) {
            const std::int64_t gain = flow.round(rng);
            gained += gain;
            if (gain == 0) break;
        }
        work += flow.work();
        if (gained == 0) return {search.parts(), search.cost(), true};
        SharedSearch<Space> last(space_, graph, points_, capacity_, std::move(parts));
        last.wake_only_changes(search.parts());
        last.search_from_borders(rng, options_.max_idle_moves);
        work += last.work();
        return {last.parts(), last.cost(), true};
    }

    /// The parts of the vertices of a finer graph, given those of the coarse graph.
    [[nodiscard]] static Parts project_parts(const Parts& coarse, std::span<const Vertex> coarse_of) {
        Parts finer;
        finer.reserve(coarse_of.size());
        for (const Vertex c : coarse_of) finer.push_back(coarse[c.value]);
        return finer;
    }

    /// Coarsens, joining only vertices with the same label, then refines from the coarsest graph to the
    /// finest.
    Member run_cycle(const partition::WeightedGraph& finest, const Member& start, Rng rng,
                     std::vector<Part> label, std::uint64_t& work) const {
        std::deque<partition::Coarsening> steps;
        Parts parts = start.parts;
        const partition::WeightedGraph* coarsest = &finest;
        while (coarsest->size() > 8 * points_.size()) {
            partition::Coarsening step =
                partition::coarsen(*coarsest, max_mass_, Rng(rng.next(), rng.next()), label);
            if (step.graph.size() >= coarsest->size() - coarsest->size() / 20) break;
            Parts coarse(step.graph.size());
            std::vector<Part> coarse_label(step.graph.size());
            for (std::uint32_t v = 0; v < coarsest->size(); ++v) {
                coarse[step.coarse_of[v].value] = parts[v];
                coarse_label[step.coarse_of[v].value] = label[v];
            }
            label = std::move(coarse_label);
            parts = std::move(coarse);
            steps.push_back(std::move(step));
            coarsest = &steps.back().graph;
        }
        for (std::size_t i = steps.size(); i > 0; --i) {
            const Member member = refine_member(steps[i - 1].graph, std::move(parts), nullptr, rng, work);
            parts = project_parts(member.parts, steps[i - 1].coarse_of);
        }
        return refine_member(finest, std::move(parts), start.searched ? &start.parts : nullptr, rng, work);
    }

    /// Creates children of random parents. A child that is no worse than a parent replaces it.
    void evolve_generation(const partition::WeightedGraph& graph, std::vector<Member>& family,
                           std::uint64_t seed, Meter& meter) {
        struct Child {
            std::size_t mother = 0;  // the better parent
            std::size_t father = 0;
            Member member;
            std::uint64_t work = 0;
        };
        std::array<Child, batch_size> children{};
        parallel_for(batch_size, threads_, [&](std::size_t i, int) {
            Child& child = children[i];
            Rng rng(seed, i);
            const auto size = static_cast<std::uint32_t>(family.size());
            child.mother = rng.below(size);
            child.father = size == 1 ? 0 : (child.mother + 1 + rng.below(size - 1)) % size;
            if (family[child.father].cost < family[child.mother].cost) std::swap(child.mother, child.father);
            if (family[child.father].cost == unfit) return;
            child.member = run_cycle(
                graph, family[child.mother], rng,
                label_shared_parts(family[child.mother].parts, family[child.father].parts), child.work);
        });
        for (Child& child : children) {
            meter.spend(child.work);
            Member& better = family[child.mother];
            Member& worse = family[child.father];
            // A child that is at least as good as its better parent replaces that one, which resembles it:
            // this preserves diversity.
            Member& parent = child.member.cost <= better.cost ? better : worse;
            if (child.member.cost <= parent.cost) parent = std::move(child.member);
        }
    }

    /// Vertices get the same label if both placements put them together.
    [[nodiscard]] static std::vector<Part> label_shared_parts(const Parts& a, const Parts& b) {
        std::unordered_map<std::uint64_t, Part> label_of;
        std::vector<Part> labels;
        labels.reserve(a.size());
        for (std::size_t v = 0; v < a.size(); ++v) {
            const std::uint64_t both = std::uint64_t{a[v].value} << 32 | b[v].value;
            labels.push_back(label_of.emplace(both, label_of.size()).first->second);
        }
        return labels;
    }

    const Space& space_;
    const partition::WeightedGraph& graph_;
    std::span<const typename Space::Point> points_;
    std::span<const std::int64_t> capacity_;
    EvolutionOptions options_;
    std::uint64_t seed_;
    int threads_;
    std::int64_t max_mass_ = 1;
};

}  // namespace topoloom::shared
