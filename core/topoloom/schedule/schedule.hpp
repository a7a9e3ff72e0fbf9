// SPDX-License-Identifier: BSD-3-Clause
// The Schedule concept: a collective as lazily enumerated rounds of messages.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "topoloom/schedule/collective.hpp"

namespace topoloom {

/// The effect of a message on its blocks. All messages of a round have the same; they carry what their senders had
/// before the round.
///   copy     the sender keeps them; the receiver had none of them, or no more than a share
///   move     the sender has them no more
///   combine  the receiver adds the sender's share to its own: the sum of disjoint sets of ranks
enum class Transfer { copy, move, combine };

/// The copies that a rank makes to combine blocks into the messages of a round.
struct Copies {
    Bytes bytes;
    std::uint64_t blocks = 0;
};

/// Every function is O(1) or O(what it visits), allocates nothing, and throws nothing.
///   rounds()                          0 for one rank
///   sends(rank, round, visit)         calls visit(peer, bytes) for each message that the rank sends in that round: at most
///                                     one to a peer, none to itself
///   receives(rank, round, visit)      the same of those that it receives
///   blocks(from, to, round, visit)    calls visit(block) for each block of that message, whose bytes are theirs
///   busiest_senders(round, visit)             calls visit(rank) for some ranks, one at least; whatever messages cost, so long as
///                                     longer ones cost no less, the costliest to send in that round are those of one of
///                                     them; of combined many-to-many and disjoint trees among more than 1,024 ranks a sample
/// Where that is quicker than to go through the rounds, totals(rank, visit) calls visit(peer, bytes, messages) for what the
/// rank sends in all of them, in parts that add up to it.
/// Where few ranks send in a round, senders(round, visit) calls visit(rank) for all that do, each once.
/// A round begins when the messages of the round before have arrived. Where instead they are sent close behind these along
/// the same route, and arrive a gap after them, is_pipelined(round) is true. Where all wait in a barrier after a round,
/// has_barrier(round) is.
/// sends_to_all() is true if every rank sends to every other rank.
/// Where ranks combine blocks, copies(rank, round) returns the Copies. Where a rank sends the same data to several,
/// staged_bytes(rank, round) returns how much of them it has to bring into its network card's memory before it sends from there,
/// and nothing of a round that is sent from main memory.
template <class S>
concept Schedule = requires(const S& s, Rank rank, std::uint64_t round, void (*message)(Rank, Bytes),
                            void (*block)(std::uint64_t), void (*who)(Rank)) {
    { s.collective() } -> std::convertible_to<const Collective&>;
    { s.rounds() } -> std::convertible_to<std::uint64_t>;
    { s.transfer(round) } -> std::same_as<Transfer>;
    s.sends(rank, round, message);
    s.receives(rank, round, message);
    s.blocks(rank, rank, round, block);
    s.busiest_senders(round, who);
};

/// Whether every rank sends to every other rank.
template <Schedule S>
[[nodiscard]] bool sends_to_all(const S& schedule) {
    if constexpr (requires { schedule.sends_to_all(); }) {
        return schedule.sends_to_all();
    } else {
        return false;
    }
}

/// Whether the messages of a round follow those of the round before after a gap, without a latency.
template <Schedule S>
[[nodiscard]] bool is_pipelined(const S& schedule, std::uint64_t round) {
    if constexpr (requires { schedule.is_pipelined(round); }) {
        return schedule.is_pipelined(round);
    } else {
        return false;
    }
}

/// Whether a round ends with a barrier.
template <Schedule S>
[[nodiscard]] bool has_barrier(const S& schedule, std::uint64_t round) {
    if constexpr (requires { schedule.has_barrier(round); }) {
        return schedule.has_barrier(round);
    } else {
        return false;
    }
}

/// The copies that a rank makes to combine blocks in a round.
template <Schedule S>
[[nodiscard]] Copies copies(const S& schedule, Rank rank, std::uint64_t round) {
    if constexpr (requires { schedule.copies(rank, round); }) {
        return schedule.copies(rank, round);
    } else {
        return {};
    }
}

/// Bytes that a rank stages in NIC memory for a round; none if it sends from main memory.
template <Schedule S>
[[nodiscard]] std::optional<Bytes> staged_bytes(const S& schedule, Rank rank, std::uint64_t round) {
    if constexpr (requires { schedule.staged_bytes(rank, round); }) {
        return schedule.staged_bytes(rank, round);
    } else {
        return std::nullopt;
    }
}

/// Calls visit(peer, bytes, messages) for the sends of a rank in all rounds; a peer may occur several times.
template <Schedule S, class Visit>
void each_total(const S& schedule, Rank rank, const Visit& visit) {
    if constexpr (requires { schedule.totals(rank, visit); }) {
        schedule.totals(rank, visit);
    } else {
        const std::uint64_t rounds = schedule.rounds();
        for (std::uint64_t round = 0; round < rounds; ++round)
            schedule.sends(rank, round, [&](Rank to, Bytes bytes) { visit(to, bytes, std::int64_t{1}); });
    }
}

/// Calls visit(rank) for a superset of the ranks that send in a round.
template <Schedule S, class Visit>
void each_sender(const S& schedule, std::uint64_t round, const Visit& visit) {
    if constexpr (requires { schedule.senders(round, visit); }) {
        schedule.senders(round, visit);
    } else {
        for (const Rank rank : ids<Rank>(schedule.collective().ranks())) visit(rank);
    }
}

}  // namespace topoloom
