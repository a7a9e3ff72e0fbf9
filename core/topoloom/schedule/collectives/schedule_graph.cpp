// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/collectives/schedule_graph.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// The largest n with n (n - 1) <= 2^31.
constexpr std::size_t max_direct_ranks = 46'341;

}  // namespace

CommGraph pattern(const AnySchedule& schedule, std::optional<Bytes> each, int threads) {
    const std::size_t ranks = schedule.collective().ranks();
    if (schedule.sends_to_all() && ranks > max_direct_ranks) {
        fail(operation_name(schedule.collective().operation()), ": all of ", ranks,
             " ranks to all are more than 2^31 messages; use at most ", max_direct_ranks, " ranks");
    }
    const auto emit = [&](Rank from, const auto& add) {
        each_total(schedule, from, [&](Rank to, Bytes bytes, std::int64_t messages) {
            add(Edge{to, each ? *each * messages : bytes, messages});
        });
    };
    return CommGraph::from_rows(ranks, emit, {}, threads);
}

CommGraph phase(const AnySchedule& schedule, std::uint64_t round, int threads) {
    const auto emit = [&](Rank from, const auto& add) {
        schedule.sends(from, round, [&](Rank to, Bytes bytes) { add(Edge{to, bytes}); });
    };
    return CommGraph::from_rows(schedule.collective().ranks(), emit, {}, threads);
}

}  // namespace topoloom
