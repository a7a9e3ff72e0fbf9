// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/distributed/decide.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "topoloom/balance/distributed/line_positions.hpp"
#include "topoloom/balance/distributed/sum_of_all.hpp"
#include "topoloom/balance/distributed/tree_scan.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

// GCC 12 destroys temporary arguments of awaited calls twice; therefore all such arguments are named
// variables.

constexpr TreeTopics sum_topics{Topic::sums_up, Topic::sums_down};
constexpr TreeTopics next_topics{Topic::next_up, Topic::next_down};

/// Payload of the scan around a position of the merged line: position and owner of the first sender, key of
/// the first receiver, and position of the last sender. -1 stands for none.
constexpr std::size_t next_sender = 0, next_owner = 1, next_receiver = 2, last_sender = 3;

Payload add_next(const Payload& left, const Payload& right) {
    const Payload& first = left[next_sender] >= 0 ? left : right;
    return {first[next_sender], first[next_owner],
            left[next_receiver] >= 0 ? left[next_receiver] : right[next_receiver],
            right[last_sender] >= 0 ? right[last_sender] : left[last_sender]};
}

/// If a rank is not at its target, sends its element to the rank that holds the element's position before the
/// merge.
Coroutine<LineElement> send_to_position(PeerChannel& channel, std::uint32_t rank, std::uint32_t elements,
                                        ElementPosition own) {
    if (own.has_position && own.place != rank) channel.send(own.place, Topic::line_up, own.element.payload());
    if (rank < elements && (!own.has_position || own.place != rank)) {
        const Payload got = co_await channel.receive(std::nullopt, Topic::line_up);
        co_return LineElement::of(got);
    }
    co_return own.element;
}

/// Runs a bitonic merge network. Missing elements after the last count as infinite and stay there.
Coroutine<LineElement> merge_elements(PeerChannel& channel, std::uint32_t rank, std::uint32_t elements,
                                      LineElement own) {
    for (std::uint32_t half = std::bit_ceil(elements) / 2; half > 0; half /= 2) {
        const std::uint32_t other = rank ^ half;
        if (other >= elements) continue;
        channel.send(other, Topic::merge, own.payload());
        const Payload got = co_await channel.receive(other, Topic::merge);
        const LineElement others = LineElement::of(got);
        own = rank < other ? std::min(own, others) : std::max(own, others);
    }
    co_return own;
}

/// A position of the merged line, within the segment that ends with the next sender.
struct SenderSegment {
    std::uint32_t sender;
    std::uint32_t away;    // distance to the sender
    std::uint32_t length;  // number of positions before the sender
};

/// Gathers the receivers that a sender serves, along a binomial tree; the sender gets the complete list.
Coroutine<Payload> gather_receivers(PeerChannel& channel, SenderSegment segment, Payload served) {
    const auto [sender, away, length] = segment;
    for (std::uint32_t step = 1; away + step <= length && (away & step) == 0; step *= 2) {
        const Payload got = co_await channel.receive(sender - away - step, Topic::gather);
        served.insert(served.end(), got.begin(), got.end());
    }
    if (away == 0) co_return served;
    const std::uint32_t lowest_bit = away & (~away + 1);
    channel.send(sender - away + lowest_bit, Topic::gather, std::move(served));
    co_return Payload();
}

/// Finds the partners of an element's owner. Returns the owner's sender, or -1, and the number of tasks
/// received from it; then pairs of a receiver and a number of tasks.
Coroutine<Payload> find_partners(PeerChannel& channel, std::uint32_t rank, std::uint32_t elements,
                                 LineElement own, std::int64_t all_sent) {
    const bool gives = own.is_receiver == 0;
    Payload own_payload(4, -1);
    if (gives) {
        own_payload[next_sender] = own_payload[last_sender] = rank;
        own_payload[next_owner] = own.owner;
    } else {
        own_payload[next_receiver] = own.key;
    }
    const ScanOperator addition{Payload(4, -1), add_next};
    const ScanResult around = co_await tree_scan(channel, rank, elements, next_topics, own_payload, addition);
    const std::int64_t until = around.after[next_receiver];
    const std::int64_t lacks = gives ? (until >= 0 ? until : all_sent) - own.key : own.tasks;
    const auto begin = static_cast<std::uint32_t>(std::max<std::int64_t>(around.before[last_sender], 0));
    // Complete the gather that others wait for first; otherwise senders would wait for each other in a chain.
    if (around.after[next_sender] >= 0) {
        const auto sender = static_cast<std::uint32_t>(around.after[next_sender]);
        Payload served;
        if (lacks > 0) served = Payload{own.owner, lacks};
        const SenderSegment segment{sender, sender - rank, sender - (gives ? rank : begin)};
        static_cast<void>(co_await gather_receivers(channel, segment, std::move(served)));
    }
    Payload found{lacks > 0 ? around.after[next_owner] : -1, lacks};
    if (gives) {
        const SenderSegment segment{rank, 0, rank - begin};
        const Payload none;
        const Payload served = co_await gather_receivers(channel, segment, none);
        found.insert(found.end(), served.begin(), served.end());
    }
    co_return found;
}

OwnPlan parse_own_plan(const Payload& payload) {
    OwnPlan plan;
    if (payload[0] >= 0) plan.from = RankTasks{static_cast<std::uint32_t>(payload[0]), payload[1]};
    for (std::size_t i = 2; i < payload.size(); i += 2)
        plan.to.push_back({static_cast<std::uint32_t>(payload[i]), payload[i + 1]});
    std::ranges::sort(plan.to, {}, &RankTasks::rank);
    return plan;
}

}  // namespace

Coroutine<OwnPlan> decide(PeerChannel& channel, std::uint32_t rank, std::uint32_t ranks, std::int64_t load) {
    const std::int64_t sum = co_await sum_of_all(channel, rank, ranks, load);
    if (sum < 0) fail("a rank has a negative number of tasks");
    if (sum >= too_large) fail("the loads of all ranks add up to 2^62 or more");
    const Payload kind = summarize_load(sum, ranks, load);
    const ScanOperator addition{Payload(kind.size()), add_summaries};
    const ScanResult around = co_await tree_scan(channel, rank, ranks, sum_topics, kind, addition);
    const PrefixSums prefix_sums = compute_prefix_sums(sum, ranks, around, kind);
    const ElementPosition own_position = find_position(prefix_sums, rank, load);
    Payload own_result;
    LineElement own = co_await send_to_position(channel, rank, prefix_sums.elements, own_position);
    if (rank < prefix_sums.elements) {
        own = co_await merge_elements(channel, rank, prefix_sums.elements, own);
        own_result = co_await find_partners(channel, rank, prefix_sums.elements, own, prefix_sums.all_sent);
        const auto owner = static_cast<std::uint32_t>(own.owner);
        if (owner != rank) channel.send(owner, Topic::result, std::exchange(own_result, {}));
    }
    if (own_position.has_position && own_result.empty())
        own_result = co_await channel.receive(std::nullopt, Topic::result);
    co_return own_result.empty() ? OwnPlan{} : parse_own_plan(own_result);
}

}  // namespace topoloom
