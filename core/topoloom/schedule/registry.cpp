// SPDX-License-Identifier: BSD-3-Clause
// The table of schedules: adding one is a file and a line here.
#include "topoloom/schedule/registry.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

using enum Operation;

Collective collective_of(const Call& call) {
    return call.demand ? Collective(call.operation, call.demand)
                       : Collective(call.operation, call.ranks, call.bytes, call.root);
}

/// A schedule that has nothing to choose.
template <class S, auto... arguments>
AnySchedule plain(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return S(collective_of(call), arguments...);
}

struct DirectDimensions {
    std::uint32_t direct = 3;
    void visit(auto& field) {
        field("direct", direct, Range{0, 30}, "dimensions in which ranks send to all others at once");
    }
};

AnySchedule hypercube_direct(const Call& call, std::string_view name, const OptionValues& values) {
    return Hypercube(collective_of(call), read_options<DirectDimensions>(name, values).direct);
}

}  // namespace

const std::vector<ScheduleEntry>& schedules() {
    static const std::vector<ScheduleEntry> table{
        {"binomial",
         {broadcast, reduce, scatter, gather},
         "along a binomial tree",
         "Thakur et al. 2005",
         "ceil(log2 P) (alpha + m beta); scatter and gather ceil(log2 P) alpha + (P - 1) m beta",
         plain<Binomial>},
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
         plain<Hypercube>},
        {"hypercube-direct",
         {all_gather, many_to_many_multicast},
         "the same, but with messages to all others in the last dimensions",
         "Kumar 2005, sec. 3.2",
         "(log2 P - d) alpha + (P/2^d - 1) m (beta + gamma) + (2^d - 1) (alpha + P/2^d m beta)",
         hypercube_direct,
         "",
         [](std::size_t) { return true; },
         list_options<DirectDimensions>},
        {"direct",
         {many_to_many, many_to_many_multicast},
         "a message for everyone who wants one",
         "",
         "degree (alpha + m beta)",
         plain<Direct>},
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
        if (!entry.applies(call.ranks))
            fail("schedule '", named.name, "' is for ", entry.ranks, ", not for ", call.ranks);
        return entry.make(call, named.name, named.options);
    }
    throw Error(unknown_name(std::string(operation_name(call.operation)) + " schedule", named.name, names));
}

}  // namespace topoloom
