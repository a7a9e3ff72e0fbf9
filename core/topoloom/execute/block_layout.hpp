// SPDX-License-Identifier: BSD-3-Clause
// Locations of a collective's blocks in the input and output buffers of a rank.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topoloom/execute/rank_program.hpp"
#include "topoloom/schedule/collective.hpp"

namespace topoloom {

/// Counts and displacements by peer rank, in units, as in MPI_Alltoallv.
struct BlockCounts {
    std::vector<std::int64_t> units;
    std::vector<std::int64_t> offsets;

    [[nodiscard]] bool empty() const { return units.empty(); }
};

/// Where the blocks of a collective are in buffers laid out as in MPI, in units:
///   bcast: input and output are the same memory.
///   reduce, allreduce, scan: the blocks are pieces of one vector.
///   others: one block per rank, contiguous unless counts and offsets are passed.
class BlockLayout {
   public:
    /// in_place: the input is in the output buffer, where the result will be: a rank's own block for gather
    /// and allgather, its contribution for reductions. For scatter, the root's own block stays in the input.
    /// Not supported for alltoall and reduce_scatter, whose results would overwrite data not yet sent.
    BlockLayout(Collective collective, Rank rank, bool in_place = false);
    /// Blocks of different sizes. Uses all entries of `input` if the rank has a block for every rank, as in
    /// scatter and reduce_scatter; otherwise only the rank's own entry. Uses all entries of `output` if the
    /// rank receives a block from every rank; otherwise only its own entry. Sizes of blocks that a rank
    /// neither sends nor receives are unknown, so only direct schedules work.
    BlockLayout(Collective collective, Rank rank, BlockCounts input, BlockCounts output,
                bool in_place = false);

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] Rank rank() const { return rank_; }
    /// The same layout for a rank without a result, such as a non-root in a gather.
    [[nodiscard]] BlockLayout without_result() const;
    /// Throws Error for a block of unknown size.
    [[nodiscard]] std::int64_t units(std::uint64_t block) const;
    /// The location of a block, or of the rank's contribution, before the first round; and of the result,
    /// after the last round.
    [[nodiscard]] std::optional<Location> initial_location(std::uint64_t block) const;
    [[nodiscard]] std::optional<Location> final_location(std::uint64_t block) const;
    /// Calls visit(block) for each block that has a final location on this rank.
    template <class Visit>
    void for_each_final_block(const Visit& visit) const {
        const std::uint64_t ranks = collective_.ranks();
        if (collective_.is_personalized()) {
            for (std::uint64_t origin = 0; origin < ranks; ++origin) {
                const std::uint64_t block = origin * ranks + rank_.value;
                if (final_location(block)) visit(block);
            }
            return;
        }
        for (std::uint64_t block = 0; block < collective_.block_count(); ++block)
            if (final_location(block)) visit(block);
    }

   private:
    [[nodiscard]] Location location_in_input(std::uint64_t index) const;
    [[nodiscard]] Location location_in_output(std::uint64_t index) const;
    [[nodiscard]] std::int64_t offset_before(std::uint64_t block) const {
        return collective_.bytes_of(0, block).value;
    }

    Collective collective_;
    Rank rank_;
    BlockCounts input_, output_;
    bool in_place_;
    bool has_result_ = true;
};

}  // namespace topoloom
