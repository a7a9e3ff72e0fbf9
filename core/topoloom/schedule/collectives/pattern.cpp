// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/collectives/pattern.hpp"

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// The largest n with n (n - 1) <= 2^31.
constexpr std::size_t max_direct_ranks = 46'341;

template <class S>
constexpr bool sends_to_all = false;
template <DirectOrder order>
constexpr bool sends_to_all<Direct<order>> = true;

}  // namespace

CommGraph pattern(const AnySchedule& schedule, std::optional<Bytes> each, int threads) {
    return with_schedule(schedule, [&]<class S>(const S& s) {
        const std::size_t ranks = s.collective().ranks();
        if (sends_to_all<S> && ranks > max_direct_ranks) {
            fail(operation_name(s.collective().operation()), ": all of ", ranks,
                 " ranks to all are more than 2^31 messages; use at most ", max_direct_ranks, " ranks");
        }
        const auto emit = [&](Rank from, const auto& add) {
            each_total(s, from, [&](Rank to, Bytes bytes, std::int64_t messages) {
                add(Edge{to, each ? *each * messages : bytes, messages});
            });
        };
        return CommGraph::from_rows(ranks, emit, {}, threads);
    });
}

CommGraph phase(const AnySchedule& schedule, std::uint64_t round, int threads) {
    return with_schedule(schedule, [&](const auto& s) {
        const auto emit = [&](Rank from, const auto& add) {
            s.sends(from, round, [&](Rank to, Bytes bytes) { add(Edge{to, bytes}); });
        };
        return CommGraph::from_rows(s.collective().ranks(), emit, {}, threads);
    });
}

}  // namespace topoloom
