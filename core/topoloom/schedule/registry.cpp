// SPDX-License-Identifier: BSD-3-Clause
// The table of schedules: adding one is a file and a line here.
#include "topoloom/schedule/registry.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

using enum Operation;

/// A schedule that has nothing to choose.
template <class S>
AnySchedule plain(const Call& call, std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return S(Collective(call.operation, call.ranks, call.bytes, call.root));
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
