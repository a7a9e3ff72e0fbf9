// SPDX-License-Identifier: BSD-3-Clause
// A family of placements on shared slots, refined across scales and combined.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/place/coarsening.hpp"
#include "topoloom/place/shared_search.hpp"
#include "topoloom/place/weighted_graph.hpp"

namespace topoloom {

struct EvolutionOptions {
    std::uint32_t family = 1;     // members
    std::uint32_t cycles = 0;     // children made after the members
    std::uint32_t patience = 20;  // moves without gain before a local search gives up
};

/// Iterated multilevel refinement (Walshaw, Annals of OR 131 (2004)) and, with several members, the combination of two
/// of them: what both put together stays together, the better one is the start (Sanders, Schulz, ALENEX 2012).
template <class Space>
class Evolution {
   public:
    using Places = std::vector<std::uint32_t>;  // by vertex
    struct Member {
        Places places;
        std::int64_t cost = unfit;
        bool searched = false;  // no single search on the finest graph gains
    };
    static constexpr std::int64_t unfit = std::numeric_limits<std::int64_t>::max();

    /// Refers to all but the options. Points and capacities are those of the places.
    Evolution(const Space& space, const WeightedGraph& graph, std::span<const typename Space::Point> points,
              std::span<const std::int64_t> capacity, const EvolutionOptions& options, std::uint64_t seed,
              int threads)
        : space_(space),
          graph_(graph),
          points_(points),
          capacity_(capacity),
          options_(options),
          seed_(seed),
          threads_(threads) {
        const std::int64_t mass = std::accumulate(graph_.mass.begin(), graph_.mass.end(), std::int64_t{0});
        // About ten vertices a place on the coarsest graph leave room to move them.
        max_mass_ = std::max<std::int64_t>(1, mass / static_cast<std::int64_t>(10 * points_.size()));
    }

    /// make(number, work) gives the places that member `number` starts from. Returns the best member; its cost is
    /// `unfit` if none could be made to fit.
    template <class Make>
    Member run(const Make& make, Meter& meter) {
        std::vector<Member> family = breed(make, meter);
        for (std::uint64_t round = 0; round * brood < options_.cycles && !meter.exhausted(); ++round)
            generation(family, round, meter);
        return std::move(*std::ranges::min_element(family, {}, &Member::cost));
    }

   private:
    static constexpr std::size_t brood = 2;  // made side by side, whatever the number of threads
    static constexpr int rounds = 3;         // of local search on one level, at the most

    template <class Make>
    std::vector<Member> breed(const Make& make, Meter& meter) {
        std::vector<Member> family;
        while (family.size() < std::max(1U, options_.family) && (family.empty() || !meter.exhausted())) {
            const std::size_t first = family.size();
            family.resize(std::min<std::size_t>(first + brood, std::max(1U, options_.family)));
            std::array<std::uint64_t, brood> work{};
            parallel_for(family.size() - first, threads_, [&](std::size_t i, int) {
                const std::size_t m = first + i;
                SharedSearch<Space> search(space_, graph_, points_, capacity_, make(m, work[i]));
                if (!search.fits()) search.repair();
                if (!search.fits()) return;
                family[m] = {search.places(), search.cost()};
                family[m] = cycle(family[m], Rng(seed_, 1000 + m), family[m].places, work[i]);
            });
            for (const std::uint64_t w : work) meter.spend(w);
        }
        return family;
    }

    /// Coarsens within the labels, then refines from the coarsest graph to the finest.
    Member cycle(const Member& start, Rng rng, std::vector<std::uint32_t> label, std::uint64_t& work) const {
        struct Level {
            Coarsening step;
            Places finer;  // where the vertices one level finer are
        };
        std::vector<Level> levels;
        Places places = start.places;
        const WeightedGraph* fine = &graph_;
        while (fine->size() > 8 * points_.size()) {
            Coarsening step = coarsen(*fine, max_mass_, Rng(rng.next(), rng.next()), label);
            if (step.graph.size() > fine->size() - fine->size() / 20) break;
            Places coarse(step.graph.size());
            std::vector<std::uint32_t> coarse_label(step.graph.size());
            for (std::uint32_t v = 0; v < fine->size(); ++v) {
                coarse[step.coarse_of[v]] = places[v];
                coarse_label[step.coarse_of[v]] = label[v];
            }
            label = std::move(coarse_label);
            levels.push_back({std::move(step), std::move(places)});
            places = std::move(coarse);
            fine = &levels.back().step.graph;
        }
        for (std::size_t i = levels.size() + 1; i-- > 0;) {
            const WeightedGraph& graph = i == 0 ? graph_ : levels[i - 1].step.graph;
            SharedSearch<Space> search(space_, graph, points_, capacity_, std::move(places));
            if (i == 0 && start.searched) search.wake_only_changes(start.places);
            for (int round = 0; round < rounds; ++round) {
                if (search.round(rng, options_.patience) == 0) break;
            }
            work += search.work();
            if (i == 0) return {search.places(), search.cost(), true};
            places.assign(levels[i - 1].finer.size(), 0);
            for (std::size_t v = 0; v < places.size(); ++v)
                places[v] = search.places()[levels[i - 1].step.coarse_of[v]];
        }
        return start;
    }

    /// Children of random parents; each takes the place of the parent that is worse if it is better than that.
    void generation(std::vector<Member>& family, std::uint64_t round, Meter& meter) {
        struct Child {
            std::size_t mother = 0;  // the better parent
            std::size_t father = 0;
            Member member;
            std::uint64_t work = 0;
        };
        std::array<Child, brood> children{};
        parallel_for(brood, threads_, [&](std::size_t i, int) {
            Child& child = children[i];
            Rng rng(seed_, 5000 + round * brood + i);
            const auto size = static_cast<std::uint32_t>(family.size());
            child.mother = rng.below(size);
            child.father = size == 1 ? 0 : (child.mother + 1 + rng.below(size - 1)) % size;
            if (family[child.father].cost < family[child.mother].cost) std::swap(child.mother, child.father);
            if (family[child.father].cost == unfit) return;
            child.member =
                cycle(family[child.mother], rng,
                      common_labels(family[child.mother].places, family[child.father].places), child.work);
        });
        for (Child& child : children) {
            meter.spend(child.work);
            Member& better = family[child.mother];
            Member& worse = family[child.father];
            // A child that is like its mother takes her place, or it would drive out the variety.
            Member& parent = child.member.cost <= better.cost ? better : worse;
            if (child.member.cost <= parent.cost) parent = std::move(child.member);
        }
    }

    /// Vertices have the same label where both placements put them together.
    [[nodiscard]] static std::vector<std::uint32_t> common_labels(const Places& a, const Places& b) {
        std::unordered_map<std::uint64_t, std::uint32_t> label_of;
        std::vector<std::uint32_t> labels;
        labels.reserve(a.size());
        for (std::size_t v = 0; v < a.size(); ++v) {
            const std::uint64_t both = std::uint64_t{a[v]} << 32 | b[v];
            labels.push_back(
                label_of.emplace(both, static_cast<std::uint32_t>(label_of.size())).first->second);
        }
        return labels;
    }

    const Space& space_;
    const WeightedGraph& graph_;
    std::span<const typename Space::Point> points_;
    std::span<const std::int64_t> capacity_;
    EvolutionOptions options_;
    std::uint64_t seed_;
    int threads_;
    std::int64_t max_mass_ = 1;
};

}  // namespace topoloom
