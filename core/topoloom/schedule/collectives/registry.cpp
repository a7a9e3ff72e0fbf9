// SPDX-License-Identifier: BSD-3-Clause
// The table of schedules. To add a schedule, add its file and a line here.
#include "topoloom/schedule/collectives/registry.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/collectives/bine_butterfly.hpp"
#include "topoloom/schedule/collectives/bine_tree.hpp"
#include "topoloom/schedule/collectives/binomial.hpp"
#include "topoloom/schedule/collectives/bruck.hpp"
#include "topoloom/schedule/collectives/chain.hpp"
#include "topoloom/schedule/collectives/combining_hypercube.hpp"
#include "topoloom/schedule/collectives/combining_mesh.hpp"
#include "topoloom/schedule/collectives/direct.hpp"
#include "topoloom/schedule/collectives/disjoint_trees.hpp"
#include "topoloom/schedule/collectives/dissemination.hpp"
#include "topoloom/schedule/collectives/halving.hpp"
#include "topoloom/schedule/collectives/halving_reduce.hpp"
#include "topoloom/schedule/collectives/linear.hpp"
#include "topoloom/schedule/collectives/many_to_many_direct.hpp"
#include "topoloom/schedule/collectives/neighbor_exchange.hpp"
#include "topoloom/schedule/collectives/recursive_doubling.hpp"
#include "topoloom/schedule/collectives/relay.hpp"
#include "topoloom/schedule/collectives/ring.hpp"
#include "topoloom/schedule/collectives/scan.hpp"
#include "topoloom/schedule/collectives/scatter_allgather.hpp"
#include "topoloom/schedule/collectives/shapes/near_cube.hpp"
#include "topoloom/schedule/collectives/two_trees.hpp"
#include "topoloom/schedule/schedule_adapter.hpp"

namespace topoloom {

namespace {

using enum Operation;

Collective make_collective(const Call& call, std::uint64_t pieces = 1, Cut cut = Cut::even) {
    return call.demand ? Collective(call.operation, call.demand)
                       : Collective(call.operation, call.ranks, call.bytes, call.root, pieces, cut);
}

/// Constructs the collective for schedules that support blocks of different sizes.
Collective make_block_collective(const Call& call) {
    return make_collective(call, call.in_all ? call.ranks : 1);
}

/// Converts a call for schedules that require blocks of equal size.
Call require_equal_blocks(Call call, std::string_view name) {
    if (!call.in_all) return call;
    const auto ranks = static_cast<std::int64_t>(std::max<std::size_t>(call.ranks, 1));
    if (call.bytes.value % ranks != 0)
        fail("schedule '", name, "' requires equal blocks; ", call.bytes.value,
             " bytes are not divisible by ", ranks);
    call.bytes = Bytes{call.bytes.value / ranks};
    call.in_all = false;
    return call;
}

/// A schedule without options.
template <class S, auto... arguments>
AnySchedule make_without_options(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return S(make_collective(require_equal_blocks(call, name)), arguments...);
}

/// A schedule without options that supports blocks of different sizes.
template <class S>
AnySchedule make_uneven(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return S(make_block_collective(call));
}

struct SeatOptions {
    std::string seats;
    void visit(auto& field) {
        field("seats", seats,
              "seats of ranks 0, 1, ..., such as 0-2:4-6:8/16: 16 seats, of which all others are empty");
    }
};

/// Direct messages between seats.
template <DirectOrder order>
AnySchedule make_direct(const Call& call, std::string_view name, const OptionValues& values) {
    const std::string text = read_options<SeatOptions>(name, values).seats;
    if (text.empty()) return Direct<order>(make_block_collective(call));
    auto seats = std::make_shared<const Seats>(text);
    if (seats->ranks() != call.ranks)
        fail("schedule '", name, "(seats=", text, ")' is for ", seats->ranks(), " ranks, not for ",
             call.ranks);
    return Direct<order>(make_block_collective(call), std::move(seats));
}

constexpr std::string_view radix_help =
    "base of the distances; a rank sends up to radix - 1 messages per round";

struct RadixOptions {
    std::uint32_t radix = 2;
    void visit(auto& field) { field("radix", radix, {2, 1U << 30}, radix_help); }
};

/// A schedule with a radix option.
template <class S>
AnySchedule make_with_radix(const Call& call, std::string_view name, const OptionValues& values) {
    return S(make_block_collective(call), read_options<RadixOptions>(name, values).radix);
}

AnySchedule make_bine(const Call& call, std::string_view name, const OptionValues& values) {
    if (call.operation == allgather || call.operation == reduce_scatter)
        return make_uneven<BineButterfly>(call, name, values);
    if (call.operation != allreduce) return make_without_options<BineTree>(call, name, values);
    (void)read_options<NoOptions>(name, values);
    return BineButterfly(make_collective(call, BineButterfly::pieces(call.ranks)));
}

struct SegmentOptions {
    std::uint32_t segment = 8192;
    void visit(auto& field) {
        field("segment", segment, {1, 1U << 30}, "bytes per segment of a bcast or reduction");
    }
};

/// Cuts the data into segments of this number of bytes.
Collective make_segmented_collective(const Call& call, std::uint32_t segment) {
    const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(call.bytes.value, 1));
    const std::uint64_t per_segment = std::max<std::uint64_t>(segment / call.unit_bytes, 1);
    return make_collective(call, (units + per_segment - 1) / per_segment);
}

AnySchedule make_chain(const Call& call, std::string_view name, const OptionValues& values) {
    const auto options = read_options<SegmentOptions>(name, values);
    if (call.operation != bcast && call.operation != reduce) return Chain(make_collective(call));
    return Chain(make_segmented_collective(call, options.segment));
}

AnySchedule make_two_trees(const Call& call, std::string_view name, const OptionValues& values) {
    return TwoTrees(make_segmented_collective(call, read_options<SegmentOptions>(name, values).segment));
}

struct DisjointTreesOptions {
    Extents grid;
    std::uint32_t lines = 0;
    std::uint32_t segment = 65536;
    void visit(auto& field) {
        field("grid", grid, "extents of the grid of ranks, the last axis fastest; default: nearly a cube");
        field("lines", lines, Choices{"closed", "open"},
              "closed: rings with two trees per axis, except axes of two ranks; open: lines with one tree "
              "per axis");
        field("segment", segment, {1, 1U << 30},
              "maximum bytes per piece; all trees have equally many pieces");
    }
};

AnySchedule make_disjoint_trees(const Call& call, std::string_view name, const OptionValues& values) {
    const auto options = read_options<DisjointTreesOptions>(name, values);
    const Extents grid =
        options.grid.empty() ? near_cube_factors(static_cast<std::uint32_t>(call.ranks)) : options.grid;
    if (cell_count(grid) != call.ranks)
        fail("schedule '", name, "(grid=", format_extents(grid), ")' is for ", cell_count(grid),
             " ranks, not for ", call.ranks);
    const GridTrees trees(grid, options.lines == 0, call.root.value);
    const Collective in_segments = make_segmented_collective(call, options.segment);
    const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(call.bytes.value, 1));
    const std::uint64_t trees_count = std::max<std::size_t>(trees.count(), 1);
    const std::uint64_t of_tree = (in_segments.pieces() + trees_count - 1) / trees_count;
    return DisjointTrees(make_collective(call, std::min(units, of_tree * trees_count)), trees);
}

struct ScatterOptions {
    std::uint32_t gather = 0;
    std::uint32_t cut = 0;
    void visit(auto& field) {
        field("gather", gather, Choices{"ring", "doubling"},
              "algorithm of the allgather; doubling requires a power of two of ranks");
        field("cut", cut, Choices{"even", "rounded-up"},
              "sizes of the pieces; even: they differ by at most one byte; rounded-up: all are equal except "
              "the last ones");
    }
};

AnySchedule make_scatter_allgather(const Call& call, std::string_view name, const OptionValues& values) {
    const auto options = read_options<ScatterOptions>(name, values);
    const auto spread = static_cast<PieceExchange>(options.gather);
    if (!ScatterAllgather::supports_rank_count(call.ranks, spread))
        fail("schedule '", name, "(gather=doubling)' is for powers of two of ranks, not for ", call.ranks);
    return ScatterAllgather(make_collective(call, call.ranks, options.cut == 0 ? Cut::even : Cut::rounded_up),
                            spread);
}

AnySchedule make_ring(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return Ring(call.operation == allreduce ? make_collective(call, call.ranks)
                                            : make_block_collective(call));
}

constexpr std::string_view fold_help =
    "ranks outside the hypercube if not all ranks fit: the last ranks, or the even or odd ranks among the "
    "first";

struct DoublingOptions {
    std::uint32_t fold = 0;
    std::uint32_t radix = 2;
    void visit(auto& field) {
        field("fold", fold, Choices{"last", "even", "odd"}, fold_help);
        field("radix", radix, {2, 1U << 30}, radix_help);
    }
};

AnySchedule make_recursive_doubling(const Call& call, std::string_view name, const OptionValues& values) {
    if (call.operation == scan || call.operation == exscan)
        return make_without_options<ScanDoubling>(call, name, values);
    const auto options = read_options<DoublingOptions>(name, values);
    return RecursiveDoubling(make_block_collective(call), static_cast<ExtraRanks>(options.fold),
                             options.radix);
}

struct HalvingOptions {
    std::uint32_t fold = 0;
    std::uint32_t order = 0;
    std::uint32_t cut = 0;
    void visit(auto& field) {
        field("fold", fold, Choices{"last", "even", "odd"}, fold_help);
        field("order", order, Choices{"far", "near"}, "partners of the first step, not for reduce_scatter");
        field("cut", cut, Choices{"even", "last"},
              "sizes of the pieces, not for reduce_scatter; even: they differ by at most one byte; last: the "
              "last piece has the remainder");
    }
};

AnySchedule make_halving(const Call& call, std::string_view name, const OptionValues& values) {
    const auto options = read_options<HalvingOptions>(name, values);
    const auto fold = static_cast<ExtraRanks>(options.fold);
    const auto order = static_cast<HalvingOrder>(options.order);
    if (call.operation == reduce_scatter) {
        if (options.order != 0 || options.cut != 0)
            fail("schedule '", name, "': a reduce_scatter has no choice of order and cut; leave them out");
        return Halving(make_block_collective(call), fold);
    }
    const auto whole =
        make_collective(call, Halving::pieces(call.ranks), options.cut == 0 ? Cut::even : Cut::last);
    if (call.operation == reduce) return HalvingReduce(whole, fold, order);
    return Halving(whole, fold, order);
}

struct RelayOptions {
    std::uint32_t k = 8;
    std::uint32_t barrier = 0;
    void visit(auto& field) {
        field(
            "k", k, {1, 1U << 30},
            "ranks around each stop; by default at most 8: k-shift takes up to the number of ranks, k-prefix "
            "a power of two that divides it");
        field("barrier", barrier, Choices{"message", "stop"},
              "all ranks enter a barrier after each message or after each stop");
    }
};

template <RelayOrder order>
AnySchedule make_relay(const Call& call, std::string_view name, const OptionValues& values) {
    const auto options = read_options<RelayOptions>(name, values);
    const std::size_t k = largest_hop(order, call.ranks, options.k);
    if (values.contains("k") && k != options.k)
        fail("schedule '", name, "(k=", options.k, ")' is not for ", call.ranks, " ranks: k must be ",
             order == RelayOrder::prefix ? "a power of two that divides them" : "at most their number",
             "; below ", options.k, ", ", k, " is the largest");
    return Relay<order>(make_collective(require_equal_blocks(call, name)), k, options.barrier == 1);
}

struct DirectDimensions {
    std::uint32_t direct = 3;
    void visit(auto& field) {
        field("direct", direct, Range{0, 30},
              "number of last dimensions in which ranks send directly to all others");
    }
};

AnySchedule make_hypercube_direct(const Call& call, std::string_view name, const OptionValues& values) {
    return CombiningHypercube(make_collective(require_equal_blocks(call, name)),
                              read_options<DirectDimensions>(name, values).direct);
}

}  // namespace

const std::vector<ScheduleEntry>& schedules() {
    static const std::vector<ScheduleEntry> table{
        {.name = "binomial",
         .operations = {bcast, reduce, scatter, gather},
         .summary = "data moves along a binomial tree",
         .source = "Thakur et al. 2005",
         .cost = "ceil(log2 P) (alpha + m beta); scatter, gather: ceil(log2 P) alpha + (P - 1) m beta",
         .make = make_with_radix<Binomial>,
         .options = list_options<RadixOptions>},
        {.name = "chain",
         .operations = {bcast, reduce, scatter, gather},
         .summary = "segments move from rank to rank in a pipeline",
         .source = "Karlsson 2012, eq. 5.2",
         .cost = "(P - 2 + m / s) (alpha + s beta); scatter, gather: (P - 1) (alpha + m beta)",
         .make = make_chain,
         .options = list_options<SegmentOptions>},
        {.name = "two-trees",
         .operations = {bcast, reduce},
         .summary =
             "segments alternate between two binary trees; an inner rank of one tree is a leaf of the other",
         .source = "Sanders, Speck, Träff 2009",
         .cost = "(2 (log2 P - 1) + m / s) (alpha + s beta)",
         .make = make_two_trees,
         .options = list_options<SegmentOptions>},
        {.name = "disjoint-trees",
         .operations = {bcast, reduce},
         .summary = "pieces alternate between spanning trees of a grid of ranks, link-disjoint on a torus of "
                    "this shape",
         .source = "Edmonds 1973",
         .cost = "(H - 1 + m / (T s)) (alpha + s beta)",
         .make = make_disjoint_trees,
         .options = list_options<DisjointTreesOptions>},
        {.name = "linear",
         .operations = {bcast, reduce, scatter, gather},
         .summary = "direct messages between the root and all other ranks, in one round",
         .cost = "(P - 1) (alpha + m beta)",
         .make = make_without_options<Linear>},
        {.name = "scatter-allgather",
         .operations = {bcast, reduce},
         .summary =
             "pieces are scattered along a tree, then gathered around a ring; a reduction does the reverse",
         .source = "Barnett et al. 1994; Thakur et al. 2005",
         .cost = "(ceil(log2 P) + P - 1) alpha + 2 (P - 1) / P m beta",
         .make = make_scatter_allgather,
         .options = list_options<ScatterOptions>},
        {.name = "ring",
         .operations = {allgather, reduce_scatter, allreduce},
         .summary = "each rank sends one block per round to the next rank",
         .source = "Patarasuk, Yuan 2009",
         .cost = "(P - 1) (alpha + m beta); allreduce: 2 (P - 1) (alpha + m / P beta)",
         .make = make_ring},
        {.name = "recursive-doubling",
         .operations = {allgather, allreduce, scan, exscan},
         .summary = "exchanges over distances 1, 2, 4, ..., the dimensions of a hypercube",
         .source = "Thakur et al. 2005; Kumar 2005, eq. 3.11",
         .cost = "log2 P alpha + (P - 1) m beta; allreduce, scan, exscan: log2 P (alpha + m beta)",
         .make = make_recursive_doubling,
         .options = list_options<DoublingOptions>},
        {.name = "halving",
         .operations = {reduce_scatter, allreduce, reduce},
         .summary = "recursive halving; then an allreduce gathers by doubling, and a reduction along a tree "
                    "(Rabenseifner)",
         .source = "Rabenseifner 2004",
         .cost = "log2 P alpha + (P - 1) m beta; allreduce, reduce: 2 log2 P alpha + 2 (P - 1) / P m beta",
         .make = make_halving,
         .options = list_options<HalvingOptions>},
        {.name = "bruck",
         .operations = {allgather, alltoall},
         .summary = "exchanges at doubling distances, in ceil(log2 P) rounds for any P",
         .source = "Bruck et al. 1997",
         .cost =
             "ceil(log2 P) alpha + (P - 1) m beta; alltoall: ceil(log2 P) (alpha + P / 2 m (beta + gamma))",
         .make = make_with_radix<Bruck>,
         .options = list_options<RadixOptions>},
        {.name = "bine",
         .operations = {bcast, reduce, scatter, gather, allgather, reduce_scatter, allreduce},
         .summary = "trees or exchanges over ring distances 1, 1, 3, 5, 11, ..., a third below powers of two",
         .source = "De Sensi et al. 2025",
         .cost = "ceil(log2 P) (alpha + m beta); scatter, gather: ceil(log2 P) alpha + (P - 1) m beta; "
                 "allgather, reduce_scatter: log2 P alpha + (P - 1) m beta; allreduce: 2 log2 P alpha + 2 "
                 "(P - 1) / P m beta",
         .make = make_bine},
        {.name = "bine-doubling",
         .operations = {allreduce},
         .summary = "exchanges of the whole vector with the partners of bine",
         .source = "De Sensi et al. 2025",
         .cost = "log2 P (alpha + m beta)",
         .make = make_without_options<BineButterfly>},
        {.name = "neighbor-exchange",
         .operations = {allgather},
         .summary = "neighbors of a ring exchange two blocks per round",
         .source = "Chen et al. 2005",
         .cost = "P / 2 alpha + (P - 1) m beta",
         .make = make_without_options<NeighborExchange>,
         .ranks = "even numbers of ranks",
         .supports_rank_count = NeighborExchange::supports_rank_count},
        {.name = "dissemination",
         .operations = {barrier},
         .summary = "in round j each rank signals the rank at distance 2^j",
         .source = "Hensgen et al. 1988",
         .cost = "ceil(log2 P) alpha",
         .make = make_with_radix<Dissemination>,
         .options = list_options<RadixOptions>},
        {.name = "cyclic",
         .operations = {alltoall, allgather, reduce_scatter},
         .summary = "in round i each rank sends directly to the rank at distance i",
         .source = "Kumar 2005, eq. 4.2",
         .cost =
             "(P - 1) (alpha + m beta); from NIC memory, allgather: (P - 1) (alpha + m beta_em) + m delta",
         .make = make_direct<DirectOrder::cyclic>,
         .options = list_options<SeatOptions>},
        {.name = "pairwise",
         .operations = {alltoall, allgather, reduce_scatter},
         .summary = "in round i rank r exchanges data directly with rank r xor i (prefix send)",
         .source = "Kumar 2005, eq. 4.1",
         .cost = "(2^ceil(log2 P) - 1) (alpha + m beta); from NIC memory, allgather: (2^ceil(log2 P) - 1) "
                 "(alpha + m beta_em) + m delta",
         .make = make_direct<DirectOrder::pairwise>,
         .options = list_options<SeatOptions>},
        {.name = "at-once",
         .operations = {alltoall, allgather, reduce_scatter},
         .summary = "each rank sends directly to all other ranks, in one round",
         .source = "Kumar 2005, eq. 3.1",
         .cost =
             "(P - 1) (alpha + m beta); from NIC memory, allgather: (P - 1) (alpha + m beta_em) + m delta",
         .make = make_uneven<Direct<DirectOrder::at_once>>},
        {.name = "k-prefix",
         .operations = {allgather},
         .summary =
             "blocks move in hops of k ranks; each stop r forwards them to ranks r xor 1, ..., r xor (k - 1)",
         .source = "Kumar 2005, eq. 4.5",
         .cost = "(P - 1) (alpha + m beta); from NIC memory: (P - 1) (alpha + m beta_em) + P / k m delta",
         .make = make_relay<RelayOrder::prefix>,
         .options = list_options<RelayOptions>},
        {.name = "k-shift",
         .operations = {allgather},
         .summary = "blocks move in hops of k ranks; each stop forwards them to the nearest k - 1 ranks",
         .source = "Kumar 2005, eq. 4.6",
         .cost = "(P - 1) (alpha + m beta); from NIC memory: (P - 1) (alpha + m beta_em) + P / k m delta",
         .make = make_relay<RelayOrder::shift>,
         .options = list_options<RelayOptions>},
        {.name = "mesh",
         .operations = {alltoall, allgather, many_to_many, many_to_many_multicast},
         .summary = "messages are combined along the rows, then the columns, of a virtual square",
         .source = "Kumar 2005, sec. 3.1",
         .cost = "alltoall 2 (sqrt(P) - 1) (alpha + sqrt(P) m beta); allgather 2 (sqrt(P) - 1) alpha + (P "
                 "- 1) m beta",
         .make = make_without_options<CombiningMesh, 2>},
        {.name = "grid",
         .operations = {alltoall, allgather, many_to_many, many_to_many_multicast},
         .summary = "messages are combined along the three axes of a virtual cube",
         .source = "Kumar 2005, sec. 3.1",
         .cost = "alltoall 3 (cbrt(P) - 1) (alpha + P^(2/3) m beta); allgather 3 (cbrt(P) - 1) alpha + (P "
                 "- 1) m beta",
         .make = make_without_options<CombiningMesh, 3>},
        {.name = "hypercube",
         .operations = {alltoall, many_to_many, many_to_many_multicast},
         .summary = "messages are combined in one exchange along every dimension of a virtual hypercube",
         .source = "Kumar 2005, sec. 3.1",
         .cost = "alltoall log2 P (alpha + P/2 m (beta + gamma))",
         .make = make_without_options<CombiningHypercube>},
        {.name = "hypercube-direct",
         .operations = {allgather, many_to_many_multicast},
         .summary = "as hypercube, but with direct messages to all others in the last dimensions",
         .source = "Kumar 2005, sec. 3.2",
         .cost = "(log2 P - d) alpha + (P/2^d - 1) m (beta + gamma) + (2^d - 1) (alpha + P/2^d m beta); from "
                 "NIC memory: (log2 P - d) alpha + (P/2^d - 1) m (beta + gamma) + (2^d - 1) (alpha + P/2^d m "
                 "beta_em) + P/2^d m delta",
         .make = make_hypercube_direct,
         .options = list_options<DirectDimensions>},
        {.name = "direct",
         .operations = {many_to_many, many_to_many_multicast},
         .summary = "one direct message to every rank with a demand",
         .cost = "degree (alpha + m beta)",
         .make = make_without_options<ManyToManyDirect>},
    };
    return table;
}

bool ScheduleEntry::supports(Operation operation) const {
    return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

AnySchedule make_schedule(const Call& call, std::string_view text) {
    const NamedOptions named = read_named_options("schedule", text);
    require_rank_count(call.operation, call.ranks);
    if (call.in_all && call.operation != allgather && call.operation != reduce_scatter)
        fail(operation_name(call.operation),
             ": only an allgather or a reduce_scatter accepts a total number of bytes");
    std::vector<std::string> names;
    for (const ScheduleEntry& entry : schedules()) {
        if (!entry.supports(call.operation)) continue;
        if (entry.name != named.name) {
            names.emplace_back(entry.name);
            continue;
        }
        if (!entry.supports_ranks(call.ranks))
            fail("schedule '", named.name, "' is for ", entry.ranks, ", not for ", call.ranks);
        return entry.make(call, named.name, named.options);
    }
    throw Error(
        unknown_name_message(std::string(operation_name(call.operation)) + " schedule", named.name, names));
}

}  // namespace topoloom
