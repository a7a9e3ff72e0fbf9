// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/multilevel/multisection.hpp"

#include <array>
#include <numeric>

#include "topoloom/partition/binary_labeling.hpp"
#include "topoloom/partition/bisection.hpp"
#include "topoloom/partition/exhaustive_bisection.hpp"
#include "topoloom/place/mapper_entry.hpp"
#include "topoloom/place/multilevel/extract_part.hpp"
#include "topoloom/place/multilevel/half_swap_costs.hpp"
#include "topoloom/place/multilevel/independent_batches.hpp"
#include "topoloom/place/multilevel/initial_parts.hpp"
#include "topoloom/place/multilevel/machine_part.hpp"
#include "topoloom/place/multilevel/piece_capacities.hpp"
#include "topoloom/place/parallel_search.hpp"
#include "topoloom/place/preparation.hpp"
#include "topoloom/place/shared/fitting.hpp"
#include "topoloom/place/shared/group_split.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/locality_order.hpp"

namespace topoloom::multilevel {

using partition::WeightedGraph;

namespace {

/// Whether the problem is so large that parts without common edges are divided in parallel.
bool needs_parallel_division(const Problem& problem) {
    return problem.capacity().one_rank_per_slot() && problem.rank_count() > max_ranks_in_parallel;
}

class Multisection {
   public:
    /// Refers to the problem.
    Multisection(const Problem& problem, const MultisectionOptions& options)
        : problem_(problem),
          many_(needs_parallel_division(problem)),
          bisection_{.starts = options.starts,
                     .passes = 2,
                     .cycles = options.cycles,
                     .order_limit = many_ ? 2U : 0U,
                     .window = many_ ? 4096U : 0U},
          evolution_{.islands = options.islands,
                     .family = options.family,
                     .cycles = options.family > 1 ? options.family : 0,
                     .cuts = options.cuts},
          machine_(make_machine_parts(problem.allocation(), problem.spare_capacities(), options.rings,
                                      list_fixed_slots(problem))),
          rank_of_(id_list<Rank>(problem.rank_count())),
          local_(problem.rank_count()),
          part_of_(problem.rank_count()),
          next_part_of_(problem.rank_count()) {
        graph_ = partition::make_weighted_graph(problem.symmetric(), problem.capacity().masses(),
                                                compute_weight_shift(problem, *machine_), problem.threads());
        start_parts(rank_of_);
        number_parts();
    }

    /// Returns the position of every rank.
    std::vector<Position> run(Meter& meter) {
        if (many_ && charge_preparation(meter, problem_)) renumber_along_edges();
        for (std::uint64_t level = 0; !all_finished(); ++level) {
            // Out of time: ranks that have slots of their own fill the slots of their parts in order.
            if (!charge_step(meter, sorting_steps * ranks_.size()) && problem_.capacity().one_rank_per_slot())
                break;
            if (many_ && level > 0 && level % levels_a_numbering == 0) renumber();
            divide_parts(level, meter);
        }
        std::vector<Position> position_of(ranks_.size());
        for (const RankedPart& part : parts_) place_finished_part(part, position_of);
        return position_of;
    }

   private:
    static constexpr std::size_t min_batched = 8;  // parts; fewer parts are all neighbors
    static constexpr std::uint64_t levels_a_numbering = 3;
    static constexpr std::size_t sorting_steps = 16;     // visits of a slot while a level is divided
    static constexpr std::uint64_t edges_per_unit = 16;  // of a refinement, as in charge_step()
    static constexpr std::size_t bisection_steps = 4;    // visits of an edge while a part is divided
    using Batches = std::vector<std::vector<std::uint32_t>>;

    [[nodiscard]] bool all_finished() const {
        return std::ranges::all_of(parts_, [](const RankedPart& part) { return part.finished; });
    }

    /// Creates the parts before the first division; those of free ranks list them in this order.
    void start_parts(std::span<const Rank> order) {
        InitialParts initial = make_initial_parts(problem_, *machine_, order);
        ranks_ = std::move(initial.ranks);
        parts_ = std::move(initial.parts);
        fixed_parts_ = static_cast<std::size_t>(std::ranges::count_if(parts_, &RankedPart::finished));
    }

    /// Renumbers the ranks so that partners have near numbers.
    void renumber_along_edges() {
        const std::vector<Rank> order = locality_order(problem_.symmetric());
        if (order.empty()) return;
        start_parts(order);
        renumber();
    }

    /// Renumbers the ranks so that those of a part are consecutive, for memory locality.
    void renumber() {
        graph_ = renumber_graph(graph_, ranks_, problem_.threads());
        std::vector<Rank> rank_of;
        rank_of.reserve(ranks_.size());
        for (const Vertex u : ranks_) rank_of.push_back(rank_of_[u.value]);
        rank_of_ = std::move(rank_of);
        ranks_ = id_list<Vertex>(ranks_.size());
        number_parts();
    }

    void number_parts() {
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            for (const Vertex u : ranks(parts_[p])) part_of_[u.value] = Part{p};
        }
    }

    /// The number of parts without those of fixed ranks, which come last and are never divided.
    [[nodiscard]] std::size_t divisible_count() const { return parts_.size() - fixed_parts_; }

    /// The division of all parts at a level.
    struct LevelDivision {
        std::uint64_t level;
        std::vector<std::vector<MachinePart>> pieces;  // by part
        std::vector<std::uint32_t> first_child;        // by part, followed by the number of children
        bool one_by_one = false;
    };

    /// Divides all unfinished parts once.
    void divide_parts(std::uint64_t level, Meter& meter) {
        LevelDivision division{level, divide_machine_parts(), std::vector<std::uint32_t>(parts_.size() + 1)};
        auto& [_, pieces, first_child, one_by_one] = division;
        for (std::size_t p = 0; p < parts_.size(); ++p)
            first_child[p + 1] =
                first_child[p] + (parts_[p].finished ? 1 : static_cast<std::uint32_t>(pieces[p].size()));
        const bool is_out_of_time = many_ && meter.is_exhausted();  // out of time: only fills pieces in order
        if (!is_out_of_time) sample_parts();
        // Parts are divided sequentially: each division accounts for the previous ones, so that cuts align.
        one_by_one = problem_.capacity().one_rank_per_slot() && !is_out_of_time &&
                     (!many_ || divisible_count() >= min_batched);
        children_.assign(first_child.back(), {});
        machine_->set_part_count(parts_.size() + children_.size());
        for (const std::vector<std::uint32_t>& batch : make_part_batches(is_out_of_time))
            divide_batch(batch, division, meter);
        for (std::size_t p = divisible_count(); p < parts_.size(); ++p) set_child(first_child[p], parts_[p]);
        parts_ = std::move(children_);
        std::swap(part_of_, next_part_of_);
        if (meter.poll()) improve_halves(first_child, meter);
    }

    /// Determines the finished parts. Returns the pieces of each other part.
    std::vector<std::vector<MachinePart>> divide_machine_parts() {
        std::vector<std::vector<MachinePart>> pieces(parts_.size());
        parallel_for(parts_.size(), problem_.threads(), [&](std::size_t p, int) {
            RankedPart& part = parts_[p];
            part.finished = part.finished || part.size() == 0 || part.machine.size() == 1 ||
                            machine_->is_indivisible(part.machine);
            if (!part.finished) pieces[p] = divide_machine_part(part.machine);
        });
        return pieces;
    }

    void divide_batch(std::span<const std::uint32_t> batch, const LevelDivision& division, Meter& meter) {
        const std::size_t count = batch.size();
        std::vector<std::uint64_t> work(count, 0);
        const bool fills_in_order = !meter.poll();
        const Budget rest = meter.remaining();
        const int threads = division.one_by_one && !many_ ? 1 : problem_.threads();
        parallel_for(count, threads, [&](std::size_t i, int) {
            const std::uint32_t p = batch[i];
            const std::uint32_t first = division.first_child[p];
            if (parts_[p].finished) return set_child(first, parts_[p]);
            const std::vector<MachinePart>& pieces = division.pieces[p];
            const DivisionInput input{
                pieces,
                compute_piece_capacities(pieces, parts_[p].machine.capacity, parts_[p].mass,
                                         problem_.capacity().one_rank_per_slot()),
                division.level, threads_per_item(count)};
            Meter own(Budget{.work = rest.work / count, .seconds = rest.seconds});
            const auto divided = divide(p, input, fills_in_order, divisible_count() == 1 ? meter : own);
            work[i] = own.work_done();
            for (std::uint32_t k = 0; k < divided.size(); ++k) set_child(first + k, divided[k]);
            if (division.one_by_one && !many_) publish_children(p, division);
        });
        // Published only after the batch: its parts may be neighbors, and must not read each other's halves.
        if (division.one_by_one && many_)
            parallel_for(count, threads, [&](std::size_t i, int) { publish_children(batch[i], division); });
        meter.spend(std::accumulate(work.begin(), work.end(), std::uint64_t{0}));
    }

    void set_child(std::uint32_t c, const RankedPart& child) {
        children_[c] = child;
        for (const Vertex u : ranks(child)) next_part_of_[u.value] = Part{c};
    }

    /// Makes the children of a part visible to later divisions, numbered after all parts.
    void publish_children(std::uint32_t p, const LevelDivision& division) {
        if (parts_[p].finished) return;
        for (std::uint32_t c = division.first_child[p]; c < division.first_child[p + 1]; ++c) {
            const Part child{parts_.size() + c};
            for (const Vertex u : ranks(children_[c])) part_of_[u.value] = child;
            machine_->sample(child, children_[c].machine);
        }
    }

    void sample_parts() {
        machine_->set_part_count(parts_.size());
        const Chunks chunks(parts_.size(), 1024);
        parallel_for(chunks.size(), problem_.threads(), [&](std::size_t i, int) {
            for (std::size_t p = chunks[i].begin; p < chunks[i].end; ++p)
                machine_->sample(Part{p}, parts_[p].machine);
        });
    }

    /// Improves halves that were cut at the same time, without knowledge of each other. Swaps the halves of a
    /// part if that lowers the cost, then refines every cut; with many ranks, refines independent cuts in
    /// parallel.
    void improve_halves(std::span<const std::uint32_t> first_child, Meter& meter) {
        sample_parts();
        std::vector<Part> lefts;
        for (std::size_t p = 0; p + 1 < first_child.size(); ++p)
            if (first_child[p + 1] - first_child[p] == 2) lefts.emplace_back(first_child[p]);
        if (lefts.size() < 2) return;
        swap_halves(lefts, meter);
        if (meter.is_exhausted()) return;
        if (!many_) {
            for (const Part left : lefts) {
                meter.spend(refine(left, 1));
                publish_half(left);
            }
            return;
        }
        for (const auto& batch : make_half_batches(lefts)) {
            if (!meter.poll()) return;
            std::vector<std::uint64_t> work(batch.size());
            const auto each = [&](const auto& body) {
                parallel_for(batch.size(), problem_.threads(), [&](std::size_t i, int) { body(i); });
            };
            each([&](std::size_t i) { work[i] = refine(lefts[batch[i]], threads_per_item(batch.size())); });
            each([&](std::size_t i) { publish_half(lefts[batch[i]]); });
            meter.spend(std::accumulate(work.begin(), work.end(), std::uint64_t{0}));
        }
    }

    /// Number of threads for each of `items` items that run in parallel.
    [[nodiscard]] int threads_per_item(std::size_t items) const {
        const auto threads = static_cast<std::size_t>(thread_count(problem_.threads()));
        return static_cast<int>(std::max<std::size_t>(1, threads / items));
    }

    /// The batches in which parts are divided. Parts of one batch do not see each other's halves, so
    /// neighbors are in different batches, even if they share few edges: unaligned cuts cost several percent.
    Batches make_part_batches(bool is_out_of_time) {
        const auto count = static_cast<std::uint32_t>(divisible_count());
        if (many_ && !is_out_of_time && count >= min_batched) {
            std::vector<std::uint32_t> item(parts_.size(), no_item);
            std::iota(item.begin(), item.begin() + count, 0U);
            return make_independent_batches(
                graph_, [&](Part p) { return ranks(parts_[p.value]); }, part_of_, item, count,
                problem_.threads(), Adjacency::any_edge);
        }
        // Splits for shared slots may be slow. Small batches allow checks of time and interrupts in between.
        const std::uint32_t most = problem_.capacity().one_rank_per_slot() ? count : 16;
        Batches batches;
        for (std::uint32_t p = 0; p < count; ++p) {
            if (p % most == 0) batches.emplace_back();
            batches.back().push_back(p);
        }
        return batches;
    }

    Batches make_half_batches(std::span<const Part> lefts) {
        const auto count = static_cast<std::uint32_t>(lefts.size());
        std::vector<std::uint32_t> item(parts_.size(), no_item);
        for (std::uint32_t i = 0; i < count; ++i) item[lefts[i].value] = item[lefts[i].value + 1] = i;
        return make_independent_batches(
            graph_, [&](Part p) { return ranks(parts_[p.value]); }, part_of_, item, count, problem_.threads(),
            Adjacency::many_edges);
    }

    /// Moves ranks between two halves, given the places of all other ranks. Returns the work done.
    std::uint64_t refine(Part left, int threads) {
        RankedPart& a = parts_[left.value];
        RankedPart& b = parts_[left.value + 1];
        const std::span<Vertex> mine(ranks_.data() + a.begin, b.end - a.begin);
        const std::array<MachinePart, 2> pieces{a.machine, b.machine};
        const auto [sub, bias] = extract(mine, {left.value, left.value + 1}, pieces, threads);
        if (bias.empty()) return 0;
        std::vector<char> side(mine.size(), 0);
        std::fill(side.begin() + a.size(), side.end(), char{1});
        const std::array<std::int64_t, 2> capacity{a.machine.capacity, b.machine.capacity};
        const auto refined = sub.size() <= partition::max_exhaustive_vertices
                                 ? partition::bisect_exhaustively(sub, bias, capacity, side)
                                 : partition::refine_bisection(sub, bias, capacity, side, bisection_.passes);
        const std::vector<Vertex> before(mine.begin(), mine.end());
        std::array<std::vector<Vertex>, 2> halves;
        for (std::size_t i = 0; i < before.size(); ++i)
            halves[static_cast<std::size_t>(refined.side[i])].push_back(before[i]);
        std::ranges::copy(halves[1], std::ranges::copy(halves[0], mine.begin()).out);
        a.end = b.begin = a.begin + static_cast<std::uint32_t>(halves[0].size());
        return refined.work + sub.peer.size() / edges_per_unit;
    }

    /// Makes the result of refine() visible to the other parts.
    void publish_half(Part left) {
        for (const Part p : {left, Part{left.value + 1}}) {
            RankedPart& half = parts_[p.value];
            half.mass = 0;
            for (const Vertex u : ranks(half)) {
                part_of_[u.value] = p;
                half.mass += graph_.mass[u.value];
            }
        }
    }

    /// Swaps the two halves of parts where that lowers the cost; decides for all parts together.
    void swap_halves(std::span<const Part> lefts, Meter& meter) {
        const auto ranks_of = [&](Part p) { return ranks(parts_[p.value]); };
        const auto make_distance_difference = [&](Part left) {
            return machine_->make_distance_difference(left, Part{left.value + 1});
        };
        WeightedGraph choices;
        std::vector<std::int64_t> bias;
        HalfSwapCosts(graph_, part_of_, parts_.size(), lefts, ranks_of, make_distance_difference)
            .build_choice_graph(choices, bias, problem_.threads());
        for (const Part left : lefts) {
            const RankedPart& a = parts_[left.value];
            const RankedPart& b = parts_[left.value + 1];
            choices.mass.push_back(a.mass <= b.machine.capacity && b.mass <= a.machine.capacity ? 1 : 0);
        }
        partition::BinaryLabeling search(choices, bias);
        const std::vector<char>& swapped = search.run();
        meter.spend(search.work());
        for (std::uint32_t k = 0; k < lefts.size(); ++k) {
            if (swapped[k] == 0) continue;
            const std::uint32_t left = lefts[k].value;
            std::swap(parts_[left].machine, parts_[left + 1].machine);
            machine_->swap_samples(Part{left}, Part{left + 1});
        }
    }

    /// With one rank per slot, halves must be balanced exactly, which bisections achieve better than direct
    /// splits into groups. With fixed ranks, only bisections count the messages to them.
    std::vector<MachinePart> divide_machine_part(const MachinePart& part) {
        if (!problem_.capacity().one_rank_per_slot() && fixed_parts_ == 0) return machine_->divide(part);
        const auto halves = machine_->halve(part);
        return {halves.begin(), halves.end()};
    }

    [[nodiscard]] std::span<Vertex> ranks(const RankedPart& part) {
        return {ranks_.data() + part.begin, part.size()};
    }

    /// The input for dividing a part.
    struct DivisionInput {
        std::span<const MachinePart> pieces;
        std::vector<std::int64_t> capacity;
        std::uint64_t level;
        int threads;
    };

    /// Distributes the ranks of a part over its pieces; reorders the ranks by piece.
    std::vector<RankedPart> divide(std::uint32_t p, const DivisionInput& input, bool fills_in_order,
                                   Meter& meter) {
        const RankedPart part = parts_[p];
        const std::span<Vertex> mine = ranks(part);
        const std::vector<Part> piece_of =
            fills_in_order ? assign_in_order(mine, graph_.mass, input.capacity) : split_part(p, input, meter);
        std::vector<RankedPart> divided;
        std::vector<Vertex> sorted;
        for (std::size_t i = 0; i < input.pieces.size(); ++i) {
            RankedPart piece{input.pieces[i], part.begin + static_cast<std::uint32_t>(sorted.size())};
            for (std::size_t k = 0; k < mine.size(); ++k) {
                if (piece_of[k] != Part{i}) continue;
                sorted.push_back(mine[k]);
                piece.mass += graph_.mass[mine[k].value];
            }
            piece.end = part.begin + static_cast<std::uint32_t>(sorted.size());
            divided.push_back(piece);
        }
        std::ranges::copy(sorted, mine.begin());
        return divided;
    }

    [[nodiscard]] std::vector<Part> split_part(std::uint32_t p, const DivisionInput& input, Meter& meter) {
        const auto [sub, bias] = extract(ranks(parts_[p]), {p, p}, input.pieces, input.threads);
        charge_step(meter, bisection_steps * (sub.size() + sub.peer.size()));
        const std::uint64_t seed = Rng(problem_.seed(), input.level << 32 | p).next();
        if (input.pieces.size() == 2 && (problem_.capacity().one_rank_per_slot() || !bias.empty())) {
            const std::array<std::int64_t, 2> capacity{input.capacity[0], input.capacity[1]};
            const auto halves =
                sub.size() <= partition::max_exhaustive_vertices
                    ? partition::bisect_exhaustively(sub, bias, capacity, std::vector<char>(sub.size(), 0))
                    : partition::bisect(sub, bias, capacity, bisection_, Rng(seed), &meter, input.threads);
            meter.spend(halves.work);
            return partition::parts_of_sides(halves.side);
        }
        return shared::split_into_groups(sub, input.capacity, bisection_,
                                         shared::reduce_effort(evolution_, input.level), seed, input.threads,
                                         meter);
    }

    PartGraph extract(std::span<const Vertex> mine, std::array<std::uint32_t, 2> within,
                      std::span<const MachinePart> pieces, int threads) {
        return extract_part({graph_, part_of_, local_, *machine_}, mine, within, pieces, threads);
    }

    /// Puts the ranks of a finished part on its slots, which are equally good.
    void place_finished_part(const RankedPart& part, std::vector<Position>& position_of) {
        const std::span<const Position> slots = machine_->slots(part.machine);
        std::vector<std::int64_t> spare;
        for (const Position slot : slots) spare.push_back(machine_->capacity(slot));
        std::size_t at = 0;
        for (const Vertex u : ranks(part)) {
            while (at + 1 < slots.size() && spare[at] < graph_.mass[u.value]) ++at;
            spare[at] -= graph_.mass[u.value];
            position_of[rank_of_[u.value].value] = slots[at];
        }
    }

    const Problem& problem_;
    bool many_;
    partition::BisectionOptions bisection_;
    shared::EvolutionOptions evolution_;
    WeightedGraph graph_;  // communication graph in the current numbering of ranks
    std::unique_ptr<MachineParts> machine_;
    std::vector<Vertex> ranks_;  // ranks, part by part
    std::vector<Rank> rank_of_;
    std::vector<Vertex> local_;  // number of a vertex in the graph of its part
    std::vector<Part> part_of_;
    std::vector<Part> next_part_of_;
    std::vector<RankedPart> parts_, children_;
    std::size_t fixed_parts_ = 0;
};

}  // namespace

Placement place_multisection_without_repair(const Problem& problem, Meter& meter,
                                            const MultisectionOptions& options) {
    const bool alone = problem.capacity().one_rank_per_slot();
    if (!charge_preparation(meter, problem) && alone) return fall_back_to_block(problem);
    const SlotUse use = alone ? SlotUse::one_rank : SlotUse::shared;
    return placement_at(problem.allocation(), Multisection(problem, options).run(meter), use);
}

Placement place_multisection(const Problem& problem, Meter& meter, const MultisectionOptions& options) {
    Placement placement = place_multisection_without_repair(problem, meter, options);
    return problem.capacity().one_rank_per_slot() ? placement
                                                  : shared::fit_or_throw(problem, std::move(placement));
}

MapperEntry multisection_mapper() {
    return mapper_entry<place_multisection>({.name = "multisection",
                                             .summary = "splits the ranks along the machine, level by level",
                                             .source = "Pellegrini, Roman 1996; Karypis, Kumar 1998",
                                             .needs = "graph, distances",
                                             .occupancy = Occupancy::both});
}

}  // namespace topoloom::multilevel
