// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/refine.hpp"

#include <unordered_map>

#include "topoloom/base/error.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/place/coarsening.hpp"
#include "topoloom/place/multisection.hpp"
#include "topoloom/place/shared_search.hpp"

namespace topoloom {

namespace {

WeightedGraph weighted(const CommGraph& symmetric, std::span<const std::int64_t> mass) {
    WeightedGraph graph;
    graph.first.reserve(symmetric.rank_count() + 1);
    for (const Rank u : ids<Rank>(symmetric.rank_count())) {
        for (const Edge edge : symmetric.sends(u)) {
            if (edge.bytes.value == 0) continue;
            graph.peer.push_back(edge.peer.value);
            graph.weight.push_back(edge.bytes.value);
        }
        graph.first.push_back(static_cast<std::uint32_t>(graph.peer.size()));
    }
    graph.mass.assign(mass.begin(), mass.end());
    return graph;
}

using Places = std::vector<std::uint32_t>;

/// A placement with its hop-bytes.
struct Member {
    Places places;
    std::int64_t cost = 0;
    bool searched = false;  // no single search on the finest graph gains
};

template <class Space>
class Refinement {
   public:
    Refinement(const Space& space, const Problem& problem, const RefineOptions& options)
        : space_(space),
          problem_(problem),
          options_(options),
          graph_(weighted(problem.symmetric(), problem.room().masses())),
          capacity_(problem.room().capacities()) {
        for (const Slot slot : problem.allocation().slots()) points_.push_back(space.point(slot));
        const std::int64_t mass = std::accumulate(graph_.mass.begin(), graph_.mass.end(), std::int64_t{0});
        // About ten vertices a slot on the coarsest graph leave room to move them.
        max_mass_ = std::max<std::int64_t>(1, mass / static_cast<std::int64_t>(10 * points_.size()));
    }

    [[nodiscard]] Member member(Places places) const {
        SharedSearch<Space> search(space_, graph_, points_, capacity_, std::move(places));
        if (!search.fits()) search.repair();
        return {search.places(), search.fits() ? search.cost() : std::numeric_limits<std::int64_t>::max()};
    }

    /// Coarsens within the labels, then refines from the coarsest graph to the finest.
    Member cycle(const Member& start, Rng rng, std::span<const std::uint32_t> label,
                 std::uint64_t& work) const {
        struct Level {
            Coarsening step;
            Places finer;  // where the vertices one level finer are
        };
        std::vector<Level> levels;
        std::vector<std::uint32_t> labels(label.begin(), label.end());
        Places places = start.places;
        const WeightedGraph* fine = &graph_;
        while (!label.empty() && fine->size() > 8 * points_.size()) {
            Coarsening step = coarsen(*fine, max_mass_, Rng(rng.next(), rng.next()), labels);
            if (step.graph.size() > fine->size() - fine->size() / 20) break;
            Places coarse(step.graph.size());
            std::vector<std::uint32_t> coarse_labels(step.graph.size());
            for (std::uint32_t v = 0; v < fine->size(); ++v) {
                coarse[step.coarse_of[v]] = places[v];
                coarse_labels[step.coarse_of[v]] = labels[v];
            }
            labels = std::move(coarse_labels);
            levels.push_back({std::move(step), std::move(places)});
            places = std::move(coarse);
            fine = &levels.back().step.graph;
        }
        for (std::size_t i = levels.size() + 1; i-- > 0;) {
            const WeightedGraph& graph = i == 0 ? graph_ : levels[i - 1].step.graph;
            SharedSearch<Space> search(space_, graph, points_, capacity_, std::move(places));
            if (i == 0 && start.searched) search.wake_only_changes(start.places);
            for (int round = 0; round < 3; ++round) {
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

    Member run(Places start, Meter& meter) {
        std::vector<Member> family;
        family.push_back(member(std::move(start)));
        if (family.front().cost == std::numeric_limits<std::int64_t>::max())
            fail("the ranks' loads do not fit into the slots' capacities; allow more imbalance");
        breed(family, meter);
        for (std::uint64_t round = 0; round < options_.cycles && !meter.exhausted(); ++round)
            generation(family, round, meter);
        return *std::ranges::min_element(family, {}, &Member::cost);
    }

   private:
    static constexpr std::size_t brood =
        2;  // children of one round: made at the same time, whatever the threads

    /// Makes the other members, and gives all a first refinement.
    void breed(std::vector<Member>& family, Meter& meter) {
        family.resize(1 + options_.family);
        std::vector<std::uint64_t> work(family.size(), 0);
        for (std::size_t begin = 0; begin < family.size() && !meter.exhausted(); begin += brood) {
            const std::size_t end = std::min(begin + brood, family.size());
            parallel_for(end - begin, problem_.threads(), [&](std::size_t i, int) {
                const std::size_t m = begin + i;
                if (m > 0) family[m] = member(another(m, work[m]));
                family[m] = cycle(family[m], Rng(problem_.seed(), 1000 + m), family[m].places, work[m]);
            });
            for (std::size_t m = begin; m < end; ++m) meter.spend(work[m]);
            made_ = end;
        }
        family.resize(std::max<std::size_t>(1, made_));
    }

    /// A placement from multisection with a seed of its own.
    Places another(std::size_t number, std::uint64_t& work) const {
        const Problem other = problem_.with_seed(problem_.seed() + 7919 * number);
        const Budget unlimited;
        Meter meter(unlimited);
        const Placement placement = place_multisection(other, meter, {.starts = 4, .cycles = 1});
        work += meter.done();
        return places_of(placement);
    }

   public:
    [[nodiscard]] Places places_of(const Placement& placement) const {
        std::unordered_map<std::uint32_t, std::uint32_t> place;
        const auto slots = problem_.allocation().slots();
        for (std::uint32_t i = 0; i < slots.size(); ++i) place.emplace(slots[i].value, i);
        Places places;
        for (const Slot slot : placement.slots()) places.push_back(place.at(slot.value));
        return places;
    }

   private:
    /// Children of random parents; each takes the place of the parent that is worse if it is better than that.
    void generation(std::vector<Member>& family, std::uint64_t round, Meter& meter) {
        struct Child {
            std::size_t mother;
            std::size_t father;
            Member member;
            std::uint64_t work = 0;
        };
        std::array<Child, brood> children{};
        parallel_for(brood, problem_.threads(), [&](std::size_t i, int) {
            Child& child = children[i];
            Rng rng(problem_.seed(), 5000 + round * brood + i);
            const auto size = static_cast<std::uint32_t>(family.size());
            child.mother = rng.below(size);
            child.father = size == 1 ? 0 : (child.mother + 1 + rng.below(size - 1)) % size;
            if (family[child.father].cost < family[child.mother].cost) std::swap(child.mother, child.father);
            child.member =
                cycle(family[child.mother], rng,
                      common_labels(family[child.mother].places, family[child.father].places), child.work);
        });
        for (Child& child : children) {
            meter.spend(child.work);
            Member& worse = family[child.father];
            Member& better = family[child.mother];
            if (child.member.cost <= better.cost) {
                // A copy of its mother with little change must not drive out the variety.
                (child.mother == child.father || child.member.cost < better.cost ? better : worse) =
                    std::move(child.member);
            } else if (child.member.cost < worse.cost) {
                worse = std::move(child.member);
            }
        }
    }

    /// Vertices have the same label where both placements put them together.
    [[nodiscard]] std::vector<std::uint32_t> common_labels(const Places& a, const Places& b) const {
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
    const Problem& problem_;
    RefineOptions options_;
    WeightedGraph graph_;
    std::span<const std::int64_t> capacity_;
    std::vector<typename Space::Point> points_;
    std::int64_t max_mass_ = 1;
    std::size_t made_ = 0;
};

}  // namespace

Placement refine_shared(const Problem& problem, Placement start, Meter& meter, const RefineOptions& options) {
    if (problem.room().one_rank_per_slot()) return start;
    return with_space(problem.machine(), [&]<class Space>(const Space& space) {
        Refinement<Space> refinement(space, problem, options);
        std::vector<Slot> slots;
        for (const std::uint32_t place : refinement.run(refinement.places_of(start), meter).places)
            slots.push_back(problem.allocation().slots()[place]);
        return Placement(problem.allocation(), std::move(slots), SlotUse::shared);
    });
}

}  // namespace topoloom
