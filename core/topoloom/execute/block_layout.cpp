// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/execute/block_layout.hpp"

#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

using enum Operation;

/// Whether the operation's blocks are pieces of one vector.
bool is_in_one_vector(Operation operation) {
    switch (operation) {
        case bcast:
        case reduce:
        case allreduce:
        case scan:
        case exscan:
        case barrier:
            return true;
        default:
            return false;
    }
}

}  // namespace

BlockLayout::BlockLayout(Collective collective, Rank rank, bool in_place)
    : BlockLayout(std::move(collective), rank, {}, {}, in_place) {}

BlockLayout::BlockLayout(Collective collective, Rank rank, BlockCounts input, BlockCounts output,
                         bool in_place)
    : collective_(std::move(collective)),
      rank_(rank),
      input_(std::move(input)),
      output_(std::move(output)),
      in_place_(in_place) {
    if (in_place && (collective_.is_personalized() || collective_.operation() == reduce_scatter))
        fail(operation_name(collective_.operation()),
             ": in place, the result would overwrite the input; use separate buffers");
}

BlockLayout BlockLayout::without_result() const {
    BlockLayout layout = *this;
    layout.has_result_ = false;
    return layout;
}

std::int64_t BlockLayout::units(std::uint64_t block) const {
    if (collective_.is_personalized()) {
        const std::uint64_t origin = block / collective_.ranks(), target = block % collective_.ranks();
        if (input_.empty() && output_.empty()) return collective_.bytes_of(block).value;
        if (origin == rank_.value) return input_.units[target];
        if (target == rank_.value) return output_.units[origin];
        fail("rank ", rank_.value, " does not know the size of the block from rank ", origin, " for rank ",
             target);
    }
    if (input_.empty() && output_.empty()) return collective_.bytes_of(block).value;
    const BlockCounts& known = input_.units.size() == collective_.ranks() ? input_ : output_;
    if (known.units.size() == collective_.ranks()) return known.units[block];
    if (block != rank_.value)
        fail("rank ", rank_.value, " does not know the size of the block of rank ", block);
    return (input_.empty() ? output_ : input_).units[0];
}

Location BlockLayout::location_in_input(std::uint64_t index) const {
    return {ProgramBuffer::input, input_.empty() ? offset_before(index) : input_.offsets[index]};
}

Location BlockLayout::location_in_output(std::uint64_t index) const {
    return {ProgramBuffer::output, output_.empty() ? offset_before(index) : output_.offsets[index]};
}

std::optional<Location> BlockLayout::initial_location(std::uint64_t block) const {
    const Operation operation = collective_.operation();
    if (!collective_.has_initially(rank_, block)) return std::nullopt;
    if (operation == bcast) return Location{ProgramBuffer::output, offset_before(block)};
    if (is_in_one_vector(operation))
        return Location{in_place_ ? ProgramBuffer::output : ProgramBuffer::input, offset_before(block)};
    if (operation == scatter || operation == reduce_scatter) return location_in_input(block);
    if (collective_.is_personalized()) return location_in_input(block % collective_.ranks());
    return in_place_ ? location_in_output(block) : Location{ProgramBuffer::input, 0};
}

std::optional<Location> BlockLayout::final_location(std::uint64_t block) const {
    const Operation operation = collective_.operation();
    if (!has_result_ || !collective_.has_finally(rank_, block)) return std::nullopt;
    if (is_in_one_vector(operation)) return Location{ProgramBuffer::output, offset_before(block)};
    if (operation == scatter && in_place_) return initial_location(block);
    if (operation == scatter || operation == reduce_scatter) return Location{ProgramBuffer::output, 0};
    return location_in_output(collective_.is_personalized() ? block / collective_.ranks() : block);
}

}  // namespace topoloom
