// SPDX-License-Identifier: BSD-3-Clause
// The table of schedules: adding one is a file and a line here.
#include "topoloom/schedule/collectives/registry.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

using enum Operation;

Collective promise(const Call& call, std::uint64_t pieces = 1) {
    return call.demand ? Collective(call.operation, call.demand)
                       : Collective(call.operation, call.ranks, call.bytes, call.root, pieces);
}

/// A schedule that has nothing to choose.
template <class S, auto... arguments>
AnySchedule plain(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return S(promise(call), arguments...);
}

struct ChainOptions {
    std::uint32_t segment = 8192;
    void visit(auto& field) {
        field("segment", segment, {1, 1U << 30}, "bytes of a segment of a broadcast or a reduction");
    }
};

AnySchedule chain(const Call& call, std::string_view name, const OptionValues& values) {
    const auto options = read_options<ChainOptions>(name, values);
    if (call.operation != broadcast && call.operation != reduce) return Chain(promise(call));
    const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(call.bytes.value, 1));
    return Chain(promise(call, (bytes + options.segment - 1) / options.segment));
}

AnySchedule scatter_all_gather(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return ScatterAllGather(promise(call, call.ranks));
}

AnySchedule ring(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return Ring(promise(call, call.operation == all_reduce ? call.ranks : 1));
}

AnySchedule halving(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return Halving(promise(call, call.operation == all_reduce ? Halving::pieces(call.ranks) : 1));
}

struct RelayOptions {
    std::uint32_t k = 8;
    std::uint32_t barrier = 0;
    void visit(auto& field) {
        field("k", k, {1, 1U << 30}, "ranks round every stop; fewer where that has to be");
        field("barrier", barrier, Choices{"message", "stop"}, "what ranks wait after");
    }
};

template <RelayOrder order>
AnySchedule relay(const Call& call, std::string_view name, const OptionValues& values) {
    const auto options = read_options<RelayOptions>(name, values);
    return Relay<order>(promise(call), options.k, options.barrier == 1);
}

struct DirectDimensions {
    std::uint32_t direct = 3;
    void visit(auto& field) {
        field("direct", direct, Range{0, 30}, "dimensions in which ranks send to all others at once");
    }
};

AnySchedule hypercube_direct(const Call& call, std::string_view name, const OptionValues& values) {
    return CombiningHypercube(promise(call), read_options<DirectDimensions>(name, values).direct);
}

}  // namespace

const std::vector<ScheduleEntry>& schedules() {
    static const std::vector<ScheduleEntry> table{
        {"binomial",
         {broadcast, reduce, scatter, gather},
         "along a binomial tree",
         "Thakur et al. 2005",
         "ceil(log2 P) (alpha + m beta); scatter, gather: ceil(log2 P) alpha + (P - 1) m beta",
         plain<Binomial>},
        {"chain",
         {broadcast, reduce, scatter, gather},
         "from rank to rank, segment after segment",
         "Karlsson 2012, eq. 5.2",
         "(P - 2 + m / s) (alpha + s beta); scatter, gather: (P - 1) (alpha + m beta)",
         chain,
         {},
         {},
         list_options<ChainOptions>},
        {"scatter-all-gather",
         {broadcast, reduce},
         "in pieces: scattered along a tree, then round a ring; a reduction backwards",
         "Barnett et al. 1994; Thakur et al. 2005",
         "(ceil(log2 P) + P - 1) alpha + 2 (P - 1) / P m beta",
         scatter_all_gather},
        {"ring",
         {all_gather, reduce_scatter, all_reduce},
         "one block per round to the next rank",
         "Patarasuk, Yuan 2009",
         "(P - 1) (alpha + m beta); all-reduce: 2 (P - 1) (alpha + m / P beta)",
         ring},
        {"recursive-doubling",
         {all_gather, all_reduce},
         "exchanges over distances 1, 2, 4, ...: a hypercube",
         "Thakur et al. 2005; Kumar 2005, eq. 3.11",
         "log2 P alpha + (P - 1) m beta; all-reduce: log2 P (alpha + m beta)",
         plain<RecursiveDoubling>},
        {"halving",
         {reduce_scatter, all_reduce},
         "recursive halving; an all-reduce gathers again by doubling (Rabenseifner)",
         "Rabenseifner 2004",
         "log2 P alpha + (P - 1) m beta; all-reduce: 2 log2 P alpha + 2 (P - 1) / P m beta",
         halving},
        {"bruck",
         {all_gather, all_to_all},
         "ceil(log2 P) rounds for any P",
         "Bruck et al. 1997",
         "ceil(log2 P) alpha + (P - 1) m beta; all-to-all: ceil(log2 P) (alpha + P / 2 m (beta + gamma))",
         plain<Bruck>},
        {"neighbor-exchange",
         {all_gather},
         "two blocks per round between neighbors of a ring",
         "Chen et al. 2005",
         "P / 2 alpha + (P - 1) m beta",
         plain<NeighborExchange>,
         "even numbers of ranks",
         NeighborExchange::applies},
        {"dissemination",
         {barrier},
         "in round j word to the rank 2^j further",
         "Hensgen et al. 1988",
         "ceil(log2 P) alpha",
         plain<Dissemination>},
        {"cyclic",
         {all_to_all, all_gather, reduce_scatter},
         "in round i straight to the rank i further",
         "Kumar 2005, eq. 4.2",
         "(P - 1) (alpha + m beta)",
         plain<Direct<DirectOrder::cyclic>>},
        {"pairwise",
         {all_to_all, all_gather, reduce_scatter},
         "in round i straight to and from rank r xor i: prefix send",
         "Kumar 2005, eq. 4.1",
         "(2^ceil(log2 P) - 1) (alpha + m beta)",
         plain<Direct<DirectOrder::pairwise>>},
        {"at-once",
         {all_to_all, all_gather, reduce_scatter},
         "straight to all ranks, without waiting between",
         "Kumar 2005, eq. 3.1",
         "(P - 1) (alpha + m beta)",
         plain<Direct<DirectOrder::at_once>>},
        {"k-prefix",
         {all_gather},
         "blocks travel in hops of k ranks, round every stop to the ranks r xor 1, ..., k - 1",
         "Kumar 2005, eq. 4.5",
         "(P - 1) (alpha + m beta); out of the card's memory: (P - 1) (alpha + m beta_em) + P / k m delta",
         relay<RelayOrder::prefix>,
         {},
         {},
         list_options<RelayOptions>},
        {"k-shift",
         {all_gather},
         "blocks travel in hops of k ranks, round every stop to the nearest k - 1",
         "Kumar 2005, eq. 4.6",
         "(P - 1) (alpha + m beta); out of the card's memory: (P - 1) (alpha + m beta_em) + P / k m delta",
         relay<RelayOrder::shift>,
         {},
         {},
         list_options<RelayOptions>},
        {"mesh",
         {all_to_all, all_gather, many_to_many, many_to_many_multicast},
         "messages combined along rows, then columns, of a virtual square",
         "Kumar 2005, sec. 3.1",
         "all-to-all 2 (sqrt(P) - 1) (alpha + sqrt(P) m beta); all-gather 2 (sqrt(P) - 1) alpha + (P - 1) m "
         "beta",
         plain<CombiningMesh, 2>},
        {"grid",
         {all_to_all, all_gather, many_to_many, many_to_many_multicast},
         "messages combined along the three axes of a virtual cube",
         "Kumar 2005, sec. 3.1",
         "all-to-all 3 (cbrt(P) - 1) (alpha + P^(2/3) m beta); all-gather 3 (cbrt(P) - 1) alpha + (P - 1) m "
         "beta",
         plain<CombiningMesh, 3>},
        {"hypercube",
         {all_to_all, many_to_many, many_to_many_multicast},
         "messages combined in an exchange along every dimension of a virtual hypercube",
         "Kumar 2005, sec. 3.1",
         "all-to-all log2 P (alpha + P/2 m (beta + gamma))",
         plain<CombiningHypercube>},
        {"hypercube-direct",
         {all_gather, many_to_many_multicast},
         "the same, but with messages to all others in the last dimensions",
         "Kumar 2005, sec. 3.2",
         "(log2 P - d) alpha + (P/2^d - 1) m (beta + gamma) + (2^d - 1) (alpha + P/2^d m beta)",
         hypercube_direct,
         "",
         {},
         list_options<DirectDimensions>},
        {"direct",
         {many_to_many, many_to_many_multicast},
         "a message for everyone who wants one",
         "",
         "degree (alpha + m beta)",
         plain<ManyToManyDirect>},
    };
    return table;
}

bool ScheduleEntry::does(Operation operation) const {
    return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

AnySchedule make_schedule(const Call& call, std::string_view text) {
    const NamedOptions named = read_named_options("schedule", text);
    std::vector<std::string> names;
    for (const ScheduleEntry& entry : schedules()) {
        if (!entry.does(call.operation)) continue;
        if (entry.name != named.name) {
            names.emplace_back(entry.name);
            continue;
        }
        if (!entry.is_for(call.ranks))
            fail("schedule '", named.name, "' is for ", entry.ranks, ", not for ", call.ranks);
        return entry.make(call, named.name, named.options);
    }
    throw Error(unknown_name(std::string(operation_name(call.operation)) + " schedule", named.name, names));
}

}  // namespace topoloom
