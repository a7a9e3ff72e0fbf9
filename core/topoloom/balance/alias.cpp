// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/alias.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/target_loads.hpp"

namespace topoloom {

namespace {

/// Ranks with a surplus and ranks with a deficit. Two copies of the last sender follow it, so that the next
/// sender can be read before checking whether it exists.
struct SendersAndReceivers {
    BigVector<std::uint32_t> sender, receiver;
    std::size_t senders = 0;
    std::size_t receivers = 0;
};

/// Splits ranks by the sign of their excess. Uses no branches, because half of them would be mispredicted.
template <class ExcessOf, class RankAt>
SendersAndReceivers split_by_excess(std::size_t ranks, const ExcessOf& excess_of, const RankAt& rank_at) {
    SendersAndReceivers ranks_by_excess{BigVector<std::uint32_t>(ranks + 2),
                                        BigVector<std::uint32_t>(ranks + 1)};
    std::size_t senders = 0, receivers = 0;
    for (std::uint32_t i = 0; i < ranks; ++i) {
        const std::uint32_t rank = rank_at(i);
        const std::int64_t excess = excess_of(rank);
        ranks_by_excess.sender[senders] = rank;
        ranks_by_excess.receiver[receivers] = rank;
        senders += excess > 0 ? 1 : 0;
        receivers += excess < 0 ? 1 : 0;
    }
    if (senders > 0)
        ranks_by_excess.sender[senders] = ranks_by_excess.sender[senders + 1] =
            ranks_by_excess.sender[senders - 1];
    ranks_by_excess.senders = senders;
    ranks_by_excess.receivers = receivers;
    return ranks_by_excess;
}

/// Runs the alias method. The lowest `phantoms` ranks have a phantom task and send it before their other
/// tasks. If `sends_at_target`, a rank whose surplus is used up still serves the next receiver, as in the
/// printed method. `only`: list only moves from and to this rank. The next sender is selected without
/// branches.
template <class ExcessOf>
Plan fill_deficits(const ExcessOf& excess_of, const SendersAndReceivers& ranks_by_excess,
                   std::size_t phantoms, bool sends_at_target, std::optional<Rank> only) {
    Plan plan;
    if (ranks_by_excess.senders == 0 || ranks_by_excess.receivers == 0) return plan;
    if (!only) plan.reserve(ranks_by_excess.senders + ranks_by_excess.receivers);
    // Deficits of senders that sent too much.
    BigVector<std::int64_t> deficits(ranks_by_excess.senders + 1);
    const std::int64_t least = sends_at_target ? 0 : 1;
    const auto phantom_of = [&](std::uint32_t rank) -> std::int64_t { return rank < phantoms ? 1 : 0; };
    std::size_t sender = 0;
    std::uint32_t from = ranks_by_excess.sender[0];
    std::int64_t left = excess_of(from);
    std::int64_t phantom = phantom_of(from);
    std::size_t begin = 0;  // first move of this sender
    // Prefetch the next sender.
    std::uint32_t then = ranks_by_excess.sender[1];
    std::int64_t then_left = excess_of(then);
    const auto send_tasks = [&](std::uint32_t to, std::int64_t tasks) {
        if (!only || only->value == from || only->value == to) {
            plan.push_back({Rank{from}, Rank{to}, tasks - phantom});
            if (tasks <= phantom) plan.pop_back();
        }
        left -= tasks;
        const bool next = left < least;
        deficits[sender] = -left;
        sender += next ? 1 : 0;
        const std::int64_t mask = -static_cast<std::int64_t>(next);
        from = (from & ~static_cast<std::uint32_t>(mask)) | (then & static_cast<std::uint32_t>(mask));
        left = (left & ~mask) | (then_left & mask);
        phantom = (from < phantoms ? 1 : 0) & mask;
        begin = next ? plan.size() : begin;
        then = ranks_by_excess.sender[sender + 1];
        then_left = excess_of(then);
    };
    for (std::size_t i = 0; i < ranks_by_excess.receivers; ++i) {
        const std::uint32_t to = ranks_by_excess.receiver[i];
        send_tasks(to, -excess_of(to));
    }
    // Moves of this sender may go to receivers and to former senders.
    const auto both = static_cast<std::ptrdiff_t>(begin);
    const std::uint32_t sends_to_both = from;
    for (std::size_t i = 0; i < sender; ++i) send_tasks(ranks_by_excess.sender[i], deficits[i]);
    const auto end = std::find_if(plan.begin() + both, plan.end(),
                                  [&](const TaskMove& move) { return move.from.value != sends_to_both; });
    std::ranges::sort(plan.begin() + both, end, {}, &TaskMove::to);
    return plan;
}

template <class RankAt>
Plan alias_in_order(std::span<const std::int64_t> loads, Remainder remainder, const RankAt& rank_at,
                    std::optional<Rank> only = std::nullopt) {
    const EvenLoad even = compute_even_load(loads);
    const bool exact = remainder == Remainder::exact && even.ranks_at_ceiling > 0;
    const std::vector<std::uint8_t> extras = exact ? target_extras(loads) : std::vector<std::uint8_t>{};
    const std::size_t phantoms =
        exact || even.ranks_at_ceiling == 0 ? 0 : loads.size() - even.ranks_at_ceiling;
    const auto excess_of = [&](std::uint32_t i) {
        return loads[i] + (i < phantoms ? 1 : 0) - (exact ? even.floor + extras[i] : even.ceiling);
    };
    return fill_deficits(excess_of, split_by_excess(loads.size(), excess_of, rank_at), phantoms,
                         remainder == Remainder::phantoms, only);
}

struct AliasOptions {
    Remainder remainder = Remainder::phantoms;
    void visit(auto& field) {
        field("remainder", remainder, Choices{"phantoms", "exact"},
              "final loads if the mean is not an integer; k is its ceiling; phantoms: k-2 to k; exact: k-1 "
              "or k, and ranks stop sending at their target");
    }
};

Plan run_alias(const BalanceProblem& problem, const AliasOptions& options) {
    return alias_in_order(problem.loads, options.remainder, [](std::uint32_t i) { return i; }, problem.only);
}

}  // namespace

Plan alias_plan(std::span<const std::int64_t> loads, Remainder remainder,
                std::span<const std::uint32_t> order) {
    return make_plan(alias_in_order(loads, remainder, [&](std::uint32_t i) { return order[i]; }));
}

Balancer alias_balancer() {
    return balancer<run_alias>({.name = "alias",
                                .summary = "each receiver gets all its missing tasks from a single sender",
                                .source = "Sudheer 2012, ch. 5"});
}

}  // namespace topoloom
