// SPDX-License-Identifier: BSD-3-Clause
// Parallel simulated annealing by regions of ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/place/local/anneal_options.hpp"
#include "topoloom/place/local/anneal_walker.hpp"
#include "topoloom/place/local/cooling.hpp"
#include "topoloom/place/near/near_lists.hpp"
#include "topoloom/place/state/packed_graph.hpp"

namespace topoloom::local {

/// A partition of the slots into regions. Ranks that are near each other in the graph share a region, so that
/// most slots near a rank's partners are in the rank's region.
class SlotRegions {
   public:
    [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
    [[nodiscard]] std::span<const Position> positions(Part region) const {
        const std::uint32_t first = first_[region.value];
        return {position_.data() + first, first_[region.value + 1] - first};
    }
    [[nodiscard]] Part region_of(Position position) const { return region_of_[position.value]; }
    /// Index of a slot inside its region.
    [[nodiscard]] Position local(Position position) const { return local_[position.value]; }

    /// Grows regions of about `region_size` ranks around random ranks. Ranks with numbers >= `active` have no
    /// partners. Their slots, and free slots, join the region of a slot near them. O(edges).
    template <class Graph>
    SlotRegions(const Graph& graph, std::uint32_t active, const NearLists& near,
                std::span<const Position> position_of_rank, std::span<const Rank> occupant,
                std::uint32_t region_size, Rng rng)
        : region_of_(occupant.size(), Part::none), local_(occupant.size()) {
        grow_regions(graph, active, position_of_rank, region_size, rng);
        std::vector<std::pair<Position, Part>> others;  // with regions
        for (const Position p : ids<Position>(occupant.size())) {
            if (region_of(p) != Part::none) continue;
            const auto beside = near.list_at(p);
            const auto found =
                std::ranges::find_if(beside, [&](Position q) { return region_of(q) != Part::none; });
            if (found != beside.end()) others.emplace_back(p, region_of(*found));
        }
        for (const auto& [position, region] : others) region_of_[position.value] = region;
        list_positions();
    }

   private:
    template <class Graph>
    void grow_regions(const Graph& graph, std::uint32_t active, std::span<const Position> position_of_rank,
                      std::uint32_t region_size, Rng& rng) {
        std::vector<std::uint32_t> size;
        std::vector<Rank> queue;
        queue.reserve(active);
        const auto take = [&](Rank u, Part region) {
            region_of_[position_of_rank[u.value].value] = region;
            ++size[region.value];
            queue.push_back(u);
        };
        const auto is_taken = [&](Rank u) { return region_of(position_of_rank[u.value]) != Part::none; };
        std::size_t next = 0;
        const auto spread = [&](std::uint32_t most) {
            for (; next < queue.size(); ++next) {
                const Part region = region_of(position_of_rank[queue[next].value]);
                for (const auto& edge : graph.sends(queue[next])) {
                    if (size[region.value] >= most) break;
                    if (!is_taken(edge.peer)) take(edge.peer, region);
                }
            }
        };
        for (std::uint32_t i = 0; i < active / region_size; ++i) {
            const Rank u{rng.below(active)};
            if (is_taken(u)) continue;
            size.push_back(0);
            take(u, Part{size.size() - 1});
        }
        spread(2 * region_size);
        // Ranks left over between full regions form further regions, in the order of their numbers.
        bool open = false;
        for (const Rank u : ids<Rank>(active)) {
            if (is_taken(u)) continue;
            if (!open || size.back() >= region_size) size.push_back(0);
            open = true;
            take(u, Part{size.size() - 1});
            spread(region_size);
        }
        first_.assign(size.size() + 1, 0);
    }

    void list_positions() {
        for (const Part region : region_of_) {
            if (region != Part::none) ++first_[region.value + 1];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        position_.resize(first_.back());
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        for (const Position p : ids<Position>(region_of_.size())) {
            const Part region = region_of(p);
            if (region == Part::none) continue;
            std::uint32_t& at = next[region.value];
            local_[p.value] = Position{at - first_[region.value]};
            position_[at++] = p;
        }
    }

    std::vector<Part> region_of_;       // by position
    std::vector<Position> local_;       // by position
    std::vector<std::uint32_t> first_;  // by region: index of its first slot in position_
    std::vector<Position> position_;
};

/// The ranks and slots of one region, and their fixed partners in other regions.
template <class Graph>
class RegionState {
   public:
    using Edge = typename Graph::PackedEdge;
    struct LocalGraph {
        std::vector<std::uint32_t> first{0};
        std::vector<Edge> edges;
        [[nodiscard]] std::span<const Edge> sends(Rank u) const {
            return {edges.data() + first[u.value], edges.data() + first[u.value + 1]};
        }
    };
    struct LocalNear {
        std::vector<std::uint32_t> first{0};
        std::vector<Position> slots;
        [[nodiscard]] std::span<const Position> list_at(Position local) const {
            return {slots.data() + first[local.value], slots.data() + first[local.value + 1]};
        }
    };

    /// Numbers the slots of the region first, then the slots of fixed ranks.
    RegionState(const SlotRegions& regions, Part region, const Graph& graph, const NearLists& near,
                std::uint32_t active, std::span<const Position> position_of_rank,
                std::span<const Rank> occupant, std::vector<Rank>& local_rank)
        : positions_(regions.positions(region)) {
        for (const bool partners : {true, false}) {
            for (std::size_t i = 0; i < positions_.size(); ++i) {
                const Rank u = occupant[positions_[i].value];
                if (u == Rank::none || (u.value < active) != partners) continue;
                local_rank[u.value] = Rank{ranks_.size()};
                ranks_.push_back(u);
                start_.emplace_back(i);
            }
            if (partners) active_ = static_cast<std::uint32_t>(ranks_.size());
        }
        const auto here = [&](Position position) { return regions.region_of(position) == region; };
        std::vector<Position> outside;
        for (const Rank u : ranks_) {
            for (const auto& edge : graph.sends(u)) {
                const Position p = position_of_rank[edge.peer.value];
                if (!here(p)) outside.push_back(p);
            }
        }
        std::ranges::sort(outside);
        outside.erase(std::ranges::unique(outside).begin(), outside.end());
        for (const Rank u : ranks_) {
            for (const auto& edge : graph.sends(u)) {
                const Position p = position_of_rank[edge.peer.value];
                const auto still = [&] {
                    const auto at = std::ranges::lower_bound(outside, p) - outside.begin();
                    return Rank{ranks_.size() + static_cast<std::size_t>(at)};
                };
                graph_.edges.push_back({here(p) ? local_rank[edge.peer.value] : still(), edge.bytes});
            }
            graph_.first.push_back(static_cast<std::uint32_t>(graph_.edges.size()));
        }
        for (const Position p : positions_) add_slot(p, regions, region, near);
        for (std::size_t i = 0; i < outside.size(); ++i) {
            start_.emplace_back(positions_.size() + i);
            graph_.first.push_back(graph_.first.back());
            add_slot(outside[i], regions, region, near);
        }
    }

    [[nodiscard]] std::uint32_t active() const { return active_; }
    [[nodiscard]] const LocalGraph& graph() const { return graph_; }
    [[nodiscard]] const LocalNear& near() const { return near_; }
    /// Local positions: first those of the region's ranks, then those of fixed ranks outside it.
    [[nodiscard]] const std::vector<Position>& start_positions() const { return start_; }
    /// By local position: the position in the allocation.
    [[nodiscard]] std::span<const Position> slots() const { return slots_; }
    [[nodiscard]] std::span<const Rank> ranks() const { return ranks_; }
    /// The position in the allocation of a slot of the region.
    [[nodiscard]] Position position(Position local) const { return positions_[local.value]; }

   private:
    void add_slot(Position position, const SlotRegions& regions, Part region, const NearLists& near) {
        slots_.push_back(position);
        for (const Position q : near.list_at(position)) {
            if (regions.region_of(q) == region) near_.slots.push_back(regions.local(q));
        }
        // If no slot of the region is near, takes any of its slots.
        if (near_.slots.size() == near_.first.back())
            near_.slots.emplace_back(slots_.size() % positions_.size());
        near_.first.push_back(static_cast<std::uint32_t>(near_.slots.size()));
    }

    std::span<const Position> positions_;
    std::vector<Rank> ranks_;  // ranks of the region; ranks with partners come first
    std::uint32_t active_ = 0;
    std::vector<Position> start_;
    std::vector<Position> slots_;  // by local position: the position in the allocation
    LocalGraph graph_;
    LocalNear near_;
};

/// Creates walkers. Walkers are compiled once for each space; with this interface, the cooling loops are not.
template <class Graph>
class WalkerFactory {
   public:
    virtual ~WalkerFactory() = default;
    /// A walker over all ranks.
    [[nodiscard]] virtual std::unique_ptr<AnnealWalker> make_global(Rng rng) const = 0;
    /// A walker over the ranks of a region; refers to the region.
    [[nodiscard]] virtual std::unique_ptr<AnnealWalker> make_regional(const RegionState<Graph>& region,
                                                                      Rng rng) const = 0;
};

/// Anneals in rounds, each with new regions. A few regions at a time are annealed in parallel; each treats
/// the other regions as fixed.
template <class Graph>
class RegionAnnealing {
   public:
    /// Refers to the first four arguments. Ranks are numbered as in `graph`; only the first `active` have
    /// partners.
    RegionAnnealing(const WalkerFactory<Graph>& factory, const Graph& graph, const NearLists& near,
                    const Problem& problem, std::uint32_t active, std::vector<Position> position_of_rank,
                    std::uint32_t region_size)
        : factory_(factory),
          graph_(graph),
          near_(near),
          problem_(problem),
          active_(active),
          region_size_(region_size),
          position_(std::move(position_of_rank)),
          occupant_(problem.allocation().slot_count()),
          local_rank_(position_.size()) {}

    std::vector<Position> run(const AnnealOptions& options, Meter& meter) {
        const bool fit = options.sweeps == 0 && meter.is_limited();
        const std::uint32_t sweeps = options.sweeps == 0 ? sweeps_without_budget : options.sweeps;
        const std::uint32_t rounds = std::max(min_rounds, (sweeps + max_sweeps - 1) / max_sweeps);
        const double share_at_start = meter.used_share();
        Cooling cooling{0, 0};
        double progress = 0;
        double before = 0;
        for (std::uint32_t i = 0; progress < 1 && !meter.is_exhausted(); ++i) {
            repartition(i);
            if (i == 0) cooling = calibrate(options.heat, meter);
            // The first round is short, because it measures the progress per round.
            const std::uint32_t now = fit ? (i == 0 ? 1 : max_sweeps / 2)
                                          : std::max(1U, sweeps * (i + 1) / rounds - sweeps * i / rounds);
            const double next = fit ? 2 * progress - before : static_cast<double>(i + 1) / rounds;
            anneal_round(i, now, cooling, progress, next, meter);
            before = progress;
            progress =
                fit ? (meter.used_share() - share_at_start) / (share_for_cooling * (1 - share_at_start))
                    : next;
        }
        return std::move(position_);
    }

    /// Anneals a few regions with the full cooling schedule and discards the result. Returns the share of
    /// their hop-bytes that this saved.
    double probe(const AnnealOptions& options, Meter& meter) {
        repartition(0);
        const Cooling cooling = calibrate(options.heat, meter);
        const std::size_t count = std::min(probed_regions, regions_->size());
        struct Outcome {
            std::int64_t before = 0;
            std::int64_t saved = 0;
            std::uint64_t work = 0;
        };
        std::vector<Outcome> outcomes(count);
        parallel_for(count, problem_.threads(), [&](std::size_t i, int) {
            const Region here = make_region(Part{i * regions_->size() / count});
            if (here.active() == 0) return;
            const auto walker = factory_.make_regional(here, Rng(problem_.seed(), i + 1));
            Outcome& outcome = outcomes[i];
            outcome.before = walker->value();
            outcome.work = std::uint64_t{options.sweeps} * here.active();
            cool(*walker, outcome.work, cooling, 0, 1, min_rounds * steps);
            outcome.saved = outcome.before - walker->best_value();
        });
        Outcome sum;
        for (const Outcome& outcome : outcomes) {
            sum.before += outcome.before;
            sum.saved += outcome.saved;
            sum.work += outcome.work;
        }
        meter.spend(sum.work + near_.take_work());
        return static_cast<double>(sum.saved) / static_cast<double>(std::max<std::int64_t>(1, sum.before));
    }

   private:
    using Region = RegionState<Graph>;
    static constexpr std::size_t probed_regions = 8;
    static constexpr std::uint32_t max_sweeps = 32;  // sweeps before regions are chosen anew
    static constexpr std::uint32_t min_rounds = 4;
    static constexpr std::uint32_t sweeps_without_budget = 100;
    static constexpr double share_for_cooling = 0.9;        // share of the budget; the rest is for swap
    static constexpr std::size_t regions_in_parallel = 16;  // regions
    static constexpr std::uint64_t steps = 8;               // temperatures per region and round

    void repartition(std::uint64_t round) {
        std::ranges::fill(occupant_, Rank::none);
        for (const Rank u : ids<Rank>(position_.size())) occupant_[position_[u.value].value] = u;
        regions_.emplace(graph_, active_, near_, position_, occupant_, region_size_,
                         Rng(problem_.seed(), round << 32));
    }

    [[nodiscard]] Region make_region(Part r) {
        return {*regions_, r, graph_, near_, active_, position_, occupant_, local_rank_};
    }

    /// Derives the temperatures from sampled losses in a few regions.
    Cooling calibrate(std::uint32_t heat, Meter& meter) {
        constexpr std::uint64_t samples = 250;
        std::vector<std::int64_t> losses;
        for (std::size_t i = 0; i < probed_regions; ++i) {
            const Region here = make_region(Part{i * regions_->size() / probed_regions});
            if (here.active() == 0) continue;
            const auto more = factory_.make_regional(here, Rng(problem_.seed(), i))->sample_losses(samples);
            losses.insert(losses.end(), more.begin(), more.end());
            meter.spend(samples);
        }
        return Cooling::from_losses(losses, heat);
    }

    static void cool(AnnealWalker& walker, std::uint64_t proposals, const Cooling& cooling, double from,
                     double to, std::uint64_t temperatures) {
        for (std::uint64_t s = 0; s < temperatures; ++s) {
            const double at = from + (to - from) * static_cast<double>(s) / static_cast<double>(temperatures);
            walker.run(proposals * (s + 1) / temperatures - proposals * s / temperatures,
                       Acceptance(cooling.at(at)));
        }
    }

    void anneal_round(std::uint64_t number, std::uint32_t sweeps, const Cooling& cooling, double from,
                      double to, Meter& meter) {
        for (std::size_t begin = 0; begin < regions_->size() && !meter.is_exhausted();
             begin += regions_in_parallel) {
            const std::size_t count = std::min(regions_in_parallel, regions_->size() - begin);
            std::vector<std::vector<std::pair<Rank, Position>>> moves(count);
            std::vector<std::uint64_t> work(count, 0);
            parallel_for(count, problem_.threads(), [&](std::size_t i, int) {
                const Region here = make_region(Part{begin + i});
                if (here.active() == 0) return;
                const auto walker =
                    factory_.make_regional(here, Rng(problem_.seed(), (number << 32) + begin + i + 1));
                work[i] = std::uint64_t{sweeps} * here.active();
                cool(*walker, work[i], cooling, from, to, steps);
                for (const Rank r : ids<Rank>(here.ranks().size()))
                    moves[i].emplace_back(here.ranks()[r.value], here.position(walker->positions()[r.value]));
            });
            for (const auto& moved : moves) {
                for (const auto& [u, position] : moved) position_[u.value] = position;
            }
            meter.spend(std::accumulate(work.begin(), work.end(), near_.take_work()));
        }
    }

    const WalkerFactory<Graph>& factory_;
    const Graph& graph_;
    const NearLists& near_;
    const Problem& problem_;
    std::uint32_t active_;
    std::uint32_t region_size_;
    std::vector<Position> position_;  // by rank
    std::vector<Rank> occupant_;      // by position: its rank at the start of the round
    std::vector<Rank> local_rank_;    // by rank: its number inside the region
    std::optional<SlotRegions> regions_;
};

}  // namespace topoloom::local
