// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/execute/block_layout.hpp"

#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

using enum Operation;

/// Whether the blocks are pieces of one vector.
bool cuts_vector(Operation operation) {
    switch (operation) {
        case broadcast:
        case reduce:
        case all_reduce:
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
    if (in_place && (collective_.personalised() || collective_.operation() == reduce_scatter))
        fail(operation_name(collective_.operation()), ": the result cannot lie on top of the input");
}

BlockLayout BlockLayout::without_result() const {
    BlockLayout layout = *this;
    layout.has_result_ = false;
    return layout;
}

std::int64_t BlockLayout::units(std::uint64_t block) const {
    if (collective_.personalised()) {
        const std::uint64_t origin = block / collective_.ranks(), target = block % collective_.ranks();
        if (input_.empty() && output_.empty()) return collective_.bytes_of(block).value;
        if (origin == rank_.value) return input_.units[target];
        if (target == rank_.value) return output_.units[origin];
        fail("rank ", rank_.value, " does not know how long the data of rank ", origin, " for rank ", target,
             " are");
    }
    if (input_.empty() && output_.empty()) return collective_.bytes_of(block).value;
    const BlockCounts& known = input_.units.size() == collective_.ranks() ? input_ : output_;
    if (known.units.size() == collective_.ranks()) return known.units[block];
    if (block != rank_.value)
        fail("rank ", rank_.value, " does not know how long the data of rank ", block, " are");
    return (input_.empty() ? output_ : input_).units[0];
}

Place BlockLayout::in_input(std::uint64_t index) const {
    return {Memory::input, input_.empty() ? before(index) : input_.offsets[index]};
}

Place BlockLayout::in_output(std::uint64_t index) const {
    return {Memory::output, output_.empty() ? before(index) : output_.offsets[index]};
}

std::optional<Place> BlockLayout::first(std::uint64_t block) const {
    const Operation operation = collective_.operation();
    if (!collective_.has_at_first(rank_, block)) return std::nullopt;
    if (operation == broadcast) return Place{Memory::output, before(block)};
    if (cuts_vector(operation)) return Place{in_place_ ? Memory::output : Memory::input, before(block)};
    if (operation == scatter || operation == reduce_scatter) return in_input(block);
    if (collective_.personalised()) return in_input(block % collective_.ranks());
    return in_place_ ? in_output(block) : Place{Memory::input, 0};
}

std::optional<Place> BlockLayout::last(std::uint64_t block) const {
    const Operation operation = collective_.operation();
    if (!has_result_ || !collective_.has_at_last(rank_, block)) return std::nullopt;
    if (cuts_vector(operation)) return Place{Memory::output, before(block)};
    if (operation == scatter && in_place_) return first(block);
    if (operation == scatter || operation == reduce_scatter) return Place{Memory::output, 0};
    return in_output(collective_.personalised() ? block / collective_.ranks() : block);
}

}  // namespace topoloom
