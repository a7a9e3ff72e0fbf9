// SPDX-License-Identifier: BSD-3-Clause
// The Schedule concept: a collective as lazily enumerated rounds of messages.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "topoloom/schedule/collective.hpp"

namespace topoloom {

/// The effect of a message on its blocks. All messages of a round have the same effect and carry the data
/// that their senders had before the round.
///   copy     the sender keeps the blocks; the receiver had none of them, or at most a contribution
///   move     the sender gives up the blocks
///   combine  the receiver adds the sender's contributions to its own; the contributing ranks are disjoint
enum class Transfer { copy, move, combine };

/// The copies that a rank makes to combine blocks into the messages of a round.
struct Copies {
    Bytes bytes;
    std::uint64_t blocks = 0;

    friend bool operator==(const Copies&, const Copies&) = default;
};

/// Every function is O(1) or O(visited items), allocates nothing and throws nothing.
///   rounds() number of rounds; 0 for one rank
///   sends(rank, round, visit)       calls visit(peer, bytes) for each message that the rank sends in the
///                                   round: at most one per peer, none to itself
///   receives(rank, round, visit)    calls visit(peer, bytes) for each message that the rank receives in the
///                                   round
///   blocks(from, to, round, visit)  calls visit(block) for each block of this message; their bytes add up to
///                                   its bytes
///   busiest_senders(round, visit)   calls visit(rank) for at least one rank. If costs increase with message
///                                   size, the costliest sends of the round are those of a visited rank.
///                                   Combined many-to-many and disjoint trees with more than 1,024 ranks
///                                   visit a sample
/// Optional functions:
///   totals(rank, visit)             calls visit(peer, bytes, messages) for the sends of a rank in all
///                                   rounds, possibly in several parts; provided if faster than visiting all
///                                   rounds
///   senders(round, visit)           calls visit(rank) once for each sender of a round; provided if few ranks
///                                   send
///   is_pipelined(round)             whether messages follow those of the previous round on the same route
///                                   after a gap. A round otherwise begins when the messages of the previous
///                                   round have arrived
///   has_barrier(round)              whether all ranks wait in a barrier after the round
///   sends_to_all()                  whether every rank sends to every other rank
///   copies(rank, round)             the copies that a rank makes to combine blocks
///   staged_bytes(rank, round)       bytes that a rank copies to NIC memory before it sends them from there
///                                   to several ranks; nullopt for a round that sends from main memory
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

/// Whether the messages of a round follow those of the previous round after a gap, without a latency.
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

/// Bytes that a rank stages in NIC memory for a round; nullopt if it sends from main memory.
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
