// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/structure/bricks.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/recognize/recognize.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/rank_grid.hpp"
#include "topoloom/place/structure/balance_computes.hpp"
#include "topoloom/place/structure/brick_shells.hpp"
#include "topoloom/place/structure/patch_halving.hpp"
#include "topoloom/place/structure/proxy_slots.hpp"
#include "topoloom/place/structure/spare_slots.hpp"

namespace topoloom::structure {

namespace {

/// Finds the first rank that is neither a patch (whose only partners are computes) nor a compute of one to
/// `most` patches. None if all ranks are patches or computes.
std::optional<Rank> find_misfit_rank(const CommGraph& symmetric, std::size_t patches, std::size_t most) {
    for (const Rank u : ids<Rank>(symmetric.rank_count())) {
        const auto peers = symmetric.peers(u);
        const bool fits = u.value < patches
                              ? peers.empty() || peers.front().value >= patches
                              : !peers.empty() && peers.size() <= most && peers.back().value < patches;
        if (!fits) return u;
    }
    return std::nullopt;
}

/// The graph of patches; an edge joins two patches that share a compute.
CommGraph make_patch_graph(const CommGraph& symmetric, std::size_t patches) {
    return CommGraph::from_rows(patches, [&](Rank u, const auto& add) {
        for (const Rank compute : symmetric.peers(u)) {
            for (const Rank v : symmetric.peers(compute)) {
                if (v != u) add(Edge{v, Bytes{1}});
            }
        }
    });
}

std::optional<Patches> recognize_patches(const Problem& problem) {
    // A compute connects at most the eight cells around a corner. If ranks connect more, the pattern is
    // probably another one.
    constexpr std::size_t most = 8;
    const CommGraph& graph = problem.symmetric();
    const auto peers = graph.peers(Rank{0});
    if (peers.empty() || find_misfit_rank(graph, peers.front().value, most)) return std::nullopt;
    std::optional<GridPattern> pattern =
        recognize(make_patch_graph(graph, peers.front().value), problem.threads());
    if (!pattern) return std::nullopt;
    return Patches{extents_of(pattern->axes), std::move(pattern->rank_of_cell)};
}

Patches make_patches(const Problem& problem, const Extents& cells) {
    const std::size_t count = cell_count(cells);
    if (count >= problem.rank_count()) {
        fail("bricks: cells of ", format_extents(cells), " leave none of the ", problem.rank_count(),
             " ranks for computes; patches come first, computes follow");
    }
    if (const auto odd = find_misfit_rank(problem.symmetric(), count, count)) {
        fail("bricks: rank ", odd->value, " is not a ", odd->value < count ? "patch" : "compute",
             ": with cells of ", format_extents(cells), " the first ", count,
             " ranks must not exchange messages, and every further rank only with some of them");
    }
    Patches patches{cells, {}};
    for (const Rank patch : ids<Rank>(count)) patches.patch_of_cell.push_back(patch);
    return patches;
}

/// Makes all distances 0, so that only capacity counts.
struct ZeroDistances final : SlotSpace::DistanceSum {
    [[nodiscard]] std::uint64_t at(std::uint32_t) const override { return 0; }
    [[nodiscard]] std::uint64_t bound(std::uint32_t) const override { return 0; }
};

/// Places patches near the slots of their cells, and computes in the bricks between their patches.
class BrickPlacer {
   public:
    /// Refers to the problem and the meter.
    BrickPlacer(const Problem& problem, std::size_t patches, bool equally_far, Meter& meter)
        : problem_(problem),
          meter_(meter),
          equally_far_(equally_far),
          mass_(problem.capacity().masses()),
          capacity_(problem.capacity().capacities().begin(), problem.capacity().capacities().end()),
          space_(make_slot_space(problem.allocation().machine(), problem.allocation().slots())),
          shells_(problem.allocation(), capacity_),
          proxies_(*space_, problem.graph().proxied(), patches, capacity_, equally_far),
          position_of_rank_(problem.rank_count()) {}

    [[nodiscard]] const std::vector<Position>& positions() const { return position_of_rank_; }

    /// Returns the patch that found no slot, if any.
    std::optional<Rank> place_patches(const Patches& patches) {
        const std::vector<Position> position_of_cell = halve_patches_and_slots(problem_, patches);
        for (std::size_t cell = 0; cell < patches.count(); ++cell) {
            const std::array wanted{position_of_cell[cell]};
            const Rank patch = patches.patch_of_cell[cell];
            const auto home = place_rank(patch, wanted, {});
            if (!home) return patch;
            proxies_.add_home(patch, *home);
        }
        return std::nullopt;
    }

    /// Places the ranks from `first` on, the heaviest first. Returns the compute that found no slot, if any.
    std::optional<Rank> place_computes(std::size_t first) {
        std::vector<std::pair<std::int64_t, Rank>> computes;  // (-mass, rank)
        for (std::size_t u = first; u < problem_.rank_count(); ++u) computes.emplace_back(-mass_[u], Rank{u});
        std::ranges::sort(computes);
        std::vector<Position> near;
        std::vector<PatchSource> sources;
        for (const auto& [_, u] : computes) {
            near.clear();
            sources.clear();
            for (const Edge edge : problem_.symmetric().sends(u)) {
                near.push_back(position_of_rank_[edge.peer.value]);
                sources.push_back({edge.peer, near.back(), static_cast<std::uint64_t>(edge.bytes.value)});
            }
            const auto position = place_rank(u, near, sources);
            if (!position) return u;
            for (const PatchSource& source : sources) proxies_.add_proxy(source.patch, *position);
        }
        return std::nullopt;
    }

   private:
    std::optional<Position> place_rank(Rank u, std::span<const Position> near,
                                       std::span<const PatchSource> sources) {
        std::uint64_t evaluated = 0;
        const std::int64_t mass = mass_[u.value];
        const auto by_proxies = proxies_.find_nearest(sources, mass, evaluated);
        auto found = by_proxies ? std::optional(by_proxies->position) : std::nullopt;
        if (!by_proxies || by_proxies->cost > 0) {
            const auto in_brick = find_slot(near, equally_far_ && !sources.empty(), mass, evaluated);
            if (in_brick && (!by_proxies || proxies_.cost_at(*in_brick, sources).better_than(*by_proxies)))
                found = in_brick;
        }
        meter_.spend(evaluated);
        if (!found) return std::nullopt;
        capacity_[found->value] -= mass;
        shells_.update(*found);
        if (everywhere_) everywhere_->take(*found, mass);
        position_of_rank_[u.value] = *found;
        return found;
    }

    std::optional<Position> find_slot(std::span<const Position> near, bool anywhere, std::int64_t mass,
                                      std::uint64_t& evaluated) {
        anywhere = anywhere || meter_.is_exhausted();
        if (!anywhere) {
            if (const auto found = shells_.find_nearest(near, mass, evaluated)) return found;
        }
        if (!everywhere_) everywhere_.emplace(problem_.allocation(), capacity_);
        const auto found =
            anywhere ? everywhere_->find_nearest(ZeroDistances{}, mass, evaluated)
                     : everywhere_->find_nearest(*everywhere_->sum_distances(near), mass, evaluated);
        return found ? std::optional(found->position) : std::nullopt;
    }

    const Problem& problem_;
    Meter& meter_;
    bool equally_far_;
    std::span<const std::int64_t> mass_;
    std::vector<std::int64_t> capacity_;
    std::unique_ptr<SlotSpace> space_;
    BrickShells shells_;
    ProxySlots proxies_;
    std::optional<SpareSlots> everywhere_;  // built only on first use
    std::vector<Position> position_of_rank_;
};

/// Returns a placement, or the rank that found no slot.
std::variant<Placement, Rank> place_patches_and_computes(const Problem& problem, const Patches& patches,
                                                         bool equally_far, Meter& meter) {
    BrickPlacer placer(problem, patches.count(), equally_far, meter);
    if (const auto patch = placer.place_patches(patches)) return *patch;
    if (const auto compute = placer.place_computes(patches.count())) return *compute;
    const SlotUse use = problem.capacity().one_rank_per_slot() ? SlotUse::one_rank : SlotUse::shared;
    return placement_at(problem.allocation(), placer.positions(), use);
}

}  // namespace

Placement place_bricks(const Problem& problem, Meter& meter, const BricksOptions& options) {
    if (options.like_source && options.equally_far)
        fail("bricks: choose=source places computes near their patches; leave out computes=anywhere");
    if (!charge_preparation(meter, problem) && problem.capacity().one_rank_per_slot())
        return fall_back_to_block(problem);
    std::optional<Patches> patches =
        options.cells.empty() ? recognize_patches(problem) : make_patches(problem, options.cells);
    if (!patches)
        fail(
            "bricks: no patches and computes are recognized; say which ranks are patches, as in "
            "bricks(cells=6x6x4)");
    auto placed = options.like_source
                      ? balance_computes(problem, *patches, meter)
                      : place_patches_and_computes(problem, *patches, options.equally_far, meter);
    if (const Rank* rank = std::get_if<Rank>(&placed)) {
        fail("rank ", rank->value, " of load ", problem.graph().load(*rank),
             " no longer fits on any slot; allow more imbalance or larger capacities");
    }
    return std::get<Placement>(std::move(placed));
}

std::optional<Placement> place_recognized_bricks(const Problem& problem, Meter& meter) {
    if (!charge_preparation(meter, problem)) return std::nullopt;
    const std::optional<Patches> patches = recognize_patches(problem);
    if (!patches || !charge_preparation(meter, problem)) return std::nullopt;
    auto placed = place_patches_and_computes(problem, *patches, false, meter);
    if (std::holds_alternative<Rank>(placed)) return std::nullopt;
    return std::get<Placement>(std::move(placed));
}

MapperEntry bricks_mapper() {
    return mapper_entry<place_bricks>(
        {.name = "bricks",
         .summary =
             "patches of molecular dynamics by bisection of space, computes in the brick between theirs",
         .source = "Bhatele, Kale 2008",
         .needs = "patches and computes, distances",
         .occupancy = Occupancy::both});
}

}  // namespace topoloom::structure
