// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/distributed/decide.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "topoloom/balance/distributed/places.hpp"
#include "topoloom/balance/distributed/sum_of_all.hpp"
#include "topoloom/balance/distributed/tree_scan.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

// GCC 12 destroys temporary arguments of awaited calls twice; therefore they have names here.

constexpr TreeTopics sum_topics{Topic::sums_up, Topic::sums_down};
constexpr TreeTopics next_topics{Topic::next_up, Topic::next_down};

/// Payload of the scan around a position of the merged line: position and owner of the first sender, key of
/// the first receiver, position of the last sender; -1: none.
constexpr std::size_t next_giver = 0, next_owner = 1, next_receiver = 2, last_giver = 3;

Payload add_next(const Payload& left, const Payload& right) {
    const Payload& first = left[next_giver] >= 0 ? left : right;
    return {first[next_giver], first[next_owner],
            left[next_receiver] >= 0 ? left[next_receiver] : right[next_receiver],
            right[last_giver] >= 0 ? right[last_giver] : left[last_giver]};
}

/// Sends the element of each rank that is not at its target to its position before the merge.
Coroutine<Element> line_up(PeerChannel& channel, std::uint32_t rank, std::uint32_t elements, Placed own) {
    if (own.is_placed && own.place != rank) channel.send(own.place, Topic::line_up, own.element.payload());
    if (rank < elements && (!own.is_placed || own.place != rank)) {
        const Payload got = co_await channel.receive(std::nullopt, Topic::line_up);
        co_return Element::of(got);
    }
    co_return own.element;
}

/// Runs a bitonic merge network. Missing elements after the last count as infinite and stay there.
Coroutine<Element> merge(PeerChannel& channel, std::uint32_t rank, std::uint32_t elements, Element own) {
    for (std::uint32_t half = std::bit_ceil(elements) / 2; half > 0; half /= 2) {
        const std::uint32_t other = rank ^ half;
        if (other >= elements) continue;
        channel.send(other, Topic::merge, own.payload());
        const Payload got = co_await channel.receive(other, Topic::merge);
        const Element others = Element::of(got);
        own = rank < other ? std::min(own, others) : std::max(own, others);
    }
    co_return own;
}

/// A position in a segment of the merged line that ends with a sender.
struct Stretch {
    std::uint32_t giver;
    std::uint32_t away;    // distance to the sender
    std::uint32_t length;  // number of positions before the sender
};

/// Gathers served receivers at the sender along a binomial tree; returns the complete list there.
Coroutine<Payload> gather(PeerChannel& channel, Stretch stretch, Payload served) {
    const auto [giver, away, length] = stretch;
    for (std::uint32_t step = 1; away + step <= length && (away & step) == 0; step *= 2) {
        const Payload got = co_await channel.receive(giver - away - step, Topic::gather);
        served.insert(served.end(), got.begin(), got.end());
    }
    if (away == 0) co_return served;
    const std::uint32_t lowest_bit = away & (~away + 1);
    channel.send(giver - away + lowest_bit, Topic::gather, std::move(served));
    co_return Payload();
}

/// Finds the partners of an element's owner. Payload: its sender, or -1, and the tasks received; then pairs
/// of receivers and tasks.
Coroutine<Payload> find_partners(PeerChannel& channel, std::uint32_t rank, std::uint32_t elements,
                                 Element own, std::int64_t all_given) {
    const bool gives = own.is_receiver == 0;
    Payload seen(4, -1);
    if (gives) {
        seen[next_giver] = seen[last_giver] = rank;
        seen[next_owner] = own.owner;
    } else {
        seen[next_receiver] = own.key;
    }
    const ScanOperator addition{Payload(4, -1), add_next};
    const ScanResult around = co_await tree_scan(channel, rank, elements, next_topics, seen, addition);
    const std::int64_t until = around.after[next_receiver];
    const std::int64_t lacks = gives ? (until >= 0 ? until : all_given) - own.key : own.tasks;
    const auto begin = static_cast<std::uint32_t>(std::max<std::int64_t>(around.before[last_giver], 0));
    // Serve the waiting gather first; otherwise senders would wait for each other in a chain.
    if (around.after[next_giver] >= 0) {
        const auto giver = static_cast<std::uint32_t>(around.after[next_giver]);
        Payload served;
        if (lacks > 0) served = Payload{own.owner, lacks};
        const Stretch stretch{giver, giver - rank, giver - (gives ? rank : begin)};
        static_cast<void>(co_await gather(channel, stretch, std::move(served)));
    }
    Payload learns{lacks > 0 ? around.after[next_owner] : -1, lacks};
    if (gives) {
        const Stretch stretch{rank, 0, rank - begin};
        const Payload none;
        const Payload served = co_await gather(channel, stretch, none);
        learns.insert(learns.end(), served.begin(), served.end());
    }
    co_return learns;
}

OwnPlan plan_of(const Payload& payload) {
    OwnPlan plan;
    if (payload[0] >= 0) plan.from = Share{static_cast<std::uint32_t>(payload[0]), payload[1]};
    for (std::size_t i = 2; i < payload.size(); i += 2)
        plan.to.push_back({static_cast<std::uint32_t>(payload[i]), payload[i + 1]});
    std::ranges::sort(plan.to, {}, &Share::rank);
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
    const Lines lines = lines_of(sum, ranks, around, kind);
    const Placed placed = place_of(lines, rank, load);
    Payload learned;
    Element own = co_await line_up(channel, rank, lines.elements, placed);
    if (rank < lines.elements) {
        own = co_await merge(channel, rank, lines.elements, own);
        learned = co_await find_partners(channel, rank, lines.elements, own, lines.all_given);
        const auto owner = static_cast<std::uint32_t>(own.owner);
        if (owner != rank) channel.send(owner, Topic::result, std::exchange(learned, {}));
    }
    if (placed.is_placed && learned.empty()) learned = co_await channel.receive(std::nullopt, Topic::result);
    co_return learned.empty() ? OwnPlan{} : plan_of(learned);
}

}  // namespace topoloom
