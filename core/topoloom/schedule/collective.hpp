// SPDX-License-Identifier: BSD-3-Clause
// Collectives: which blocks of data ranks have before the first round and after the last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/schedule/demand.hpp"

namespace topoloom {

/// As in MPI. All-to-all is personalized: each pair has its own block. Many-to-many is a sparse all-to-all between the
/// pairs of the demand; its multicast is likewise a sparse all-gather.
enum class Operation {
    broadcast,
    reduce,
    scatter,
    gather,
    all_gather,
    all_reduce,
    reduce_scatter,
    all_to_all,
    barrier,
    many_to_many,
    many_to_many_multicast,
    scan,
    exscan,
};

/// As on the command line: all-gather.
[[nodiscard]] std::string_view operation_name(Operation operation);
/// Throws Error that lists all operations if the name is unknown.
[[nodiscard]] Operation parse_operation(std::string_view name);

[[nodiscard]] constexpr bool is_many_to_many(Operation operation) {
    return operation == Operation::many_to_many || operation == Operation::many_to_many_multicast;
}

/// How bytes are cut into pieces if they do not divide evenly.
enum class Cut : std::uint8_t {
    even,        ///< the first pieces have one byte more
    last,        ///< the last piece has the rest, too
    rounded_up,  ///< one piece has less, and those after it are empty: all ranks have these from the start
};

/// Data in numbered blocks.
///   broadcast, reduce, all-reduce     `bytes` in all, cut in `pieces`: block b is a piece
///   scatter, gather, all-gather       `bytes` per rank: block b goes to or comes from rank b
///   reduce-scatter                    `bytes` per rank: block b is summed up on rank b
///   the last two in a piece per rank  `bytes` in all, cut evenly
///   scan, exscan                      one block, to which all ranks add: rank r needs the shares of ranks 0 .. r, or r - 1,
///                                     and distinguishes those that come from below
///   all-to-all                        `bytes` per pair: block o * ranks + t goes from rank o to rank t
///   many-to-many                      the same of the pairs of a demand, and its bytes
///   many-to-many-multicast            block b goes from rank b to all who want it; others may have it as well
///   barrier                           one block without bytes, to which all ranks add, some of them twice
class Collective {
   public:
    /// Throws Error for no ranks or 2^31 and more, bytes < 0, more than 2^62 bytes on one rank, bytes in a barrier, a root
    /// that is not a rank, and pieces where there is nothing to cut, none of them, or more than 2^31.
    Collective(Operation operation, std::size_t ranks, Bytes bytes, Rank root = Rank{0},
               std::uint64_t pieces = 1, Cut cut = Cut::even);
    /// Many-to-many or its multicast. Throws Error for another operation.
    Collective(Operation operation, std::shared_ptr<const Demand> demand);

    [[nodiscard]] Operation operation() const { return operation_; }
    [[nodiscard]] std::size_t ranks() const { return ranks_; }
    [[nodiscard]] Bytes bytes() const { return bytes_; }
    [[nodiscard]] Rank root() const { return root_; }
    [[nodiscard]] std::uint64_t pieces() const { return pieces_; }
    /// Null unless it is a many-to-many.
    [[nodiscard]] const Demand* demand() const { return demand_.get(); }

    /// Whether ranks contribute to the same block.
    [[nodiscard]] bool reduces() const;
    /// Whether ranks may end with more blocks than the collective promises.
    [[nodiscard]] bool allows_extra_blocks() const {
        return reduces() || operation_ == Operation::many_to_many_multicast;
    }
    /// Whether there is a block for every pair of ranks.
    [[nodiscard]] bool is_personalized() const {
        return operation_ == Operation::all_to_all || operation_ == Operation::many_to_many;
    }
    /// Whether data go from the one rank to the other, where all have data of their own.
    [[nodiscard]] bool wants(Rank origin, Rank target) const {
        return demand_ == nullptr || demand_->wants(origin, target);
    }
    [[nodiscard]] std::uint64_t block_count() const;
    /// Number of ranks whose contributions the promised block includes; always the first ones.
    [[nodiscard]] std::size_t promised_shares(Rank rank) const {
        return operation_ == Operation::scan     ? rank.value + std::size_t{1}
               : operation_ == Operation::exscan ? rank.value
                                                 : ranks_;
    }
    /// Bytes of `count` blocks, beginning with `first`.
    [[nodiscard]] Bytes bytes_of(std::uint64_t first, std::uint64_t count = 1) const {
        if (demand_ != nullptr) return demanded_bytes(first, count);
        if (pieces_ == 1) return bytes_ * static_cast<std::int64_t>(count);
        return piece_begin(first + count) - piece_begin(first);
    }
    /// Whether a piece has no bytes, so that it is not sent.
    [[nodiscard]] bool is_empty(std::uint64_t block) const {
        return cut_ == Cut::rounded_up && bytes_of(block).value == 0;
    }
    /// Whether the rank has the block, or its share of it, before the first round; and the whole block after the last.
    [[nodiscard]] bool has_initially(Rank rank, std::uint64_t block) const;
    [[nodiscard]] bool has_finally(Rank rank, std::uint64_t block) const;

    /// Ranks are counted from the root on: position 0 is the root.
    [[nodiscard]] std::uint32_t position(Rank rank) const {
        return shifted(rank, ranks_ - root_.value).value;
    }
    [[nodiscard]] Rank at(std::size_t position) const { return shifted(root_, position); }
    /// The rank `by` further, wrapping at the end; by < 2^32.
    [[nodiscard]] Rank shifted(Rank rank, std::size_t by) const {
        const std::size_t to = rank.value + by;
        return Rank{to < ranks_ ? to : to < 2 * ranks_ ? to - ranks_ : to % ranks_};
    }

   private:
    [[nodiscard]] Bytes demanded_bytes(std::uint64_t first, std::uint64_t count) const;
    [[nodiscard]] Bytes piece_begin(std::uint64_t piece) const {
        const auto count = static_cast<std::int64_t>(pieces_);
        const auto at = static_cast<std::int64_t>(piece);
        const std::int64_t least = bytes_.value / count, rest = bytes_.value % count;
        switch (cut_) {
            case Cut::even:
                return Bytes{least * at + (at < rest ? at : rest)};
            case Cut::last:
                return Bytes{at == count ? bytes_.value : least * at};
            default:
                return std::min(bytes_, Bytes{(least + (rest > 0 ? 1 : 0)) * at});
        }
    }

    Operation operation_;
    std::size_t ranks_;
    Bytes bytes_;
    Rank root_;
    std::uint64_t pieces_;
    Cut cut_ = Cut::even;
    std::shared_ptr<const Demand> demand_;
};

}  // namespace topoloom
