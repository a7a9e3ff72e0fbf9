// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/execute/program_builder.hpp"

#include <algorithm>
#include <optional>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Extends the last operation if the new one is contiguous with it.
void append_operation(std::vector<LocalOperation>& list, const LocalOperation& work) {
    if (work.units == 0 || work.from == work.to) return;
    if (!list.empty()) {
        LocalOperation& last = list.back();
        if (last.combines == work.combines && last.from.after(last.units) == work.from &&
            last.to.after(last.units) == work.to) {
            last.units += work.units;
            return;
        }
    }
    list.push_back(work);
}

template <class T>
IndexRange append_slice(std::vector<T>& all, std::vector<T>& list) {
    const auto begin = static_cast<std::uint32_t>(all.size());
    all.insert(all.end(), list.begin(), list.end());
    list.clear();
    return {begin, static_cast<std::uint32_t>(all.size())};
}

bool is_scan(Operation operation) { return operation == Operation::scan || operation == Operation::exscan; }

}  // namespace

ProgramBuilder::ProgramBuilder(const BlockLayout& layout, bool in_rank_order)
    : layout_(layout),
      in_rank_order_(in_rank_order),
      signals_(layout.collective().operation() == Operation::barrier) {
    if (!is_scan(layout.collective().operation())) return;
    // A scan has two sums: block 0 is the total of the ranks combined so far; the prefix covers only the
    // lower ranks among them.
    const bool with_own = layout.collective().operation() == Operation::scan;
    const Location share = *layout.initial_location(0);
    const Location prefix{ProgramBuffer::output, 0};
    BlockState total{share};
    if (share == prefix) {
        total.area = scratch_.allocate(layout.units(0));
        total.at = scratch_.location(total.area);
        append_operation(before_, {false, share, total.at, layout.units(0)});  // sent in round 0
    } else if (with_own) {
        append_operation(meanwhile_, {false, share, prefix, layout.units(0)});
    }
    set_location(0, total);
    has_prefix_ = with_own;
}

ProgramBuilder::BlockState& ProgramBuilder::state_of(std::uint64_t block) {
    const auto [at, is_new] = states_.try_emplace(block);
    if (is_new) {
        const std::optional<Location> first = layout_.initial_location(block);
        if (first) at->second.at = *first;
        at->second.gone = !first;
    }
    if (at->second.gone)
        fail("rank ", layout_.rank().value, " must send block ", block, " but does not have it");
    return at->second;
}

void ProgramBuilder::set_location(std::uint64_t block, const BlockState& where) {
    if (where.area != Scratch::none) scratch_.retain(where.area);
    const auto [at, is_new] = states_.try_emplace(block, where);
    if (is_new) return;
    if (at->second.area != Scratch::none) scratch_.release(at->second.area);
    at->second = where;
}

std::int64_t ProgramBuilder::units_of(std::span<const std::uint64_t> blocks) const {
    std::int64_t sum = 0;
    for (const std::uint64_t block : blocks) sum += layout_.units(block);
    return sum;
}

/// Blocks that are not reduced are copied to their final locations while the first messages are in flight.
void ProgramBuilder::begin_round() {
    scratch_.free_released();
    if (has_begun_ || layout_.collective().reduces()) return;
    has_begun_ = true;
    layout_.for_each_final_block([&](std::uint64_t block) {
        const std::optional<Location> first = layout_.initial_location(block);
        if (!first || *first == layout_.final_location(block)) return;
        append_operation(meanwhile_, {false, *first, *layout_.final_location(block), layout_.units(block)});
        moving_to_final_.push_back(block);
    });
}

void ProgramBuilder::send(Rank to, std::span<const std::uint64_t> blocks) {
    struct Run {
        Location at;
        std::int64_t units;
    };
    std::vector<Run> runs;
    for (const std::uint64_t block : blocks) {
        const std::int64_t units = layout_.units(block);
        sent_.push_back(block);
        if (units == 0) continue;
        const Location at = state_of(block).at;
        if (!runs.empty() && runs.back().at.after(runs.back().units) == at) {
            runs.back().units += units;
        } else {
            runs.push_back({at, units});
        }
    }
    if (runs.empty()) {
        if (!signals_) return;
        runs.push_back({{}, 0});
    }
    if (runs.size() == 1) return sends_.push_back({to, runs[0].at, runs[0].units});
    Location end = scratch_.location(scratch_.allocate(units_of(blocks)));
    sends_.push_back({to, end, units_of(blocks)});
    for (const Run& run : runs) {
        append_operation(before_, {false, run.at, end, run.units});
        end = end.after(run.units);
    }
}

void ProgramBuilder::receive(Rank from, std::span<const std::uint64_t> blocks, Transfer transfer) {
    if (signals_ || units_of(blocks) > 0)
        received_.push_back({from, {blocks.begin(), blocks.end()}, transfer});
}

bool ProgramBuilder::fits_final_location(std::span<const std::uint64_t> blocks) const {
    std::optional<Location> end;
    for (const std::uint64_t block : blocks) {
        const std::int64_t units = layout_.units(block);
        if (units == 0) continue;
        const std::optional<Location> last = layout_.final_location(block);
        if (!last || (end && *end != *last)) return false;
        end = last->after(units);
    }
    return end.has_value();
}

/// Chooses the location of a received message.
Location ProgramBuilder::receive_location(const ReceivedMessage& message, Scratch::Area& area) {
    const std::int64_t units = units_of(message.blocks);
    Location at;
    area = Scratch::none;
    if (units > 0 && fits_final_location(message.blocks) && is_final_location_free(message)) {
        const auto first = std::ranges::find_if(
            message.blocks, [&](std::uint64_t block) { return layout_.units(block) > 0; });
        at = *layout_.final_location(*first);
    } else if (units > 0) {
        area = scratch_.allocate(units);
        at = scratch_.location(area);
    }
    receives_.push_back({message.from, at, units});
    return at;
}

/// Whether the message may be received at the final location. A contribution may be only if the rank's own
/// one is still in the input; else it would overwrite a sum.
bool ProgramBuilder::is_final_location_free(const ReceivedMessage& message) {
    if (message.transfer != Transfer::combine) return true;
    return !is_from_below(message.from) && std::ranges::all_of(message.blocks, [&](std::uint64_t block) {
        return layout_.units(block) == 0 || state_of(block).at.memory == ProgramBuffer::input;
    });
}

void ProgramBuilder::store_blocks(const ReceivedMessage& message) {
    Scratch::Area area;
    Location at = receive_location(message, area);
    for (const std::uint64_t block : message.blocks) {
        const std::int64_t units = layout_.units(block);
        if (units == 0) continue;
        const std::optional<Location> last = layout_.final_location(block);
        if (last) append_operation(after_, {false, at, *last, units});
        set_location(block, last ? BlockState{*last} : BlockState{at, area});
        at = at.after(units);
    }
}

void ProgramBuilder::reduce_shares(const ReceivedMessage& message) {
    Scratch::Area area;
    Location at = receive_location(message, area);
    for (const std::uint64_t block : message.blocks) {
        const std::int64_t units = layout_.units(block);
        if (units == 0) continue;
        const bool own_is_input = state_of(block).at.memory == ProgramBuffer::input;
        const bool own_is_left = !is_from_below(message.from);
        if (own_is_left && (own_is_input || in_rank_order_)) {
            append_operation(after_, {true, state_of(block).at, at, units});
            set_location(block, {at, area});
        } else {
            if (own_is_input) make_writable(block);
            append_operation(after_, {true, at, state_of(block).at, units});
        }
        at = at.after(units);
    }
}

/// Copies the rank's contribution from the input to a writable location.
void ProgramBuilder::make_writable(std::uint64_t block) {
    const std::optional<Location> last = layout_.final_location(block);
    const std::int64_t units = layout_.units(block);
    const Location input = state_of(block).at;
    if (last) {
        set_location(block, {*last});
    } else {
        const Scratch::Area area = scratch_.allocate(units);
        set_location(block, {scratch_.location(area), area});
    }
    append_operation(after_, {false, input, state_of(block).at, units});
}

void ProgramBuilder::reduce_prefix(const ReceivedMessage& message, bool needs_total) {
    const std::int64_t units = layout_.units(0);
    const Scratch::Area area = scratch_.allocate(units);
    const Location at = scratch_.location(area);
    receives_.push_back({message.from, at, units});
    if (message.from > layout_.rank()) {
        if (!needs_total) return;
        append_operation(after_, {true, state_of(0).at, at, units});
        return set_location(0, {at, area});
    }
    append_operation(after_, {has_prefix_, at, {ProgramBuffer::output, 0}, units});
    has_prefix_ = true;
    if (!needs_total) return;
    if (state_of(0).at.memory == ProgramBuffer::input) {
        const Scratch::Area sum = scratch_.allocate(units);
        append_operation(after_, {false, state_of(0).at, scratch_.location(sum), units});
        set_location(0, {scratch_.location(sum), sum});
    }
    append_operation(after_, {true, at, state_of(0).at, units});
}

void ProgramBuilder::end_round(Transfer transfer, bool sends_again) {
    if (transfer == Transfer::move) {
        for (const std::uint64_t block : sent_)
            if (layout_.units(block) > 0) set_location(block, {{}, Scratch::none, true});
    }
    sent_.clear();
    use_final_locations();
    if (in_rank_order_) sort_by_nearness();
    for (const ReceivedMessage& message : received_) {
        if (is_scan(layout_.collective().operation())) {
            reduce_prefix(message, sends_again);
        } else if (transfer == Transfer::combine) {
            reduce_shares(message);
        } else {
            store_blocks(message);
        }
    }
    received_.clear();
    close_round();
}

/// From now on, the blocks that `meanwhile` has copied are sent from their final locations.
void ProgramBuilder::use_final_locations() {
    for (const std::uint64_t block : moving_to_final_) {
        const auto at = states_.find(block);
        if (at == states_.end() || !at->second.gone) set_location(block, {*layout_.final_location(block)});
    }
    moving_to_final_.clear();
}

bool ProgramBuilder::is_from_below(Rank from) const { return in_rank_order_ && from < layout_.rank(); }

/// Sorts received messages: those of lower ranks first, then those of higher ranks, in both cases nearest
/// first. Each contribution then extends the reduced range at one end.
void ProgramBuilder::sort_by_nearness() {
    std::ranges::sort(received_, [&](const ReceivedMessage& a, const ReceivedMessage& b) {
        const bool a_below = is_from_below(a.from), b_below = is_from_below(b.from);
        if (a_below != b_below) return a_below;
        return a_below ? a.from > b.from : a.from < b.from;
    });
}

/// Adds the round to the program, unless this rank does nothing in it.
void ProgramBuilder::close_round() {
    if (before_.empty() && receives_.empty() && sends_.empty() && meanwhile_.empty() && after_.empty())
        return;
    ProgramRound round;
    round.before = append_slice(program_.operations, before_);
    round.receives = append_slice(program_.messages, receives_);
    round.sends = append_slice(program_.messages, sends_);
    round.meanwhile = append_slice(program_.operations, meanwhile_);
    round.after = append_slice(program_.operations, after_);
    program_.rounds.push_back(round);
}

void ProgramBuilder::add_barrier() {
    const std::size_t ranks = layout_.collective().ranks();
    for (std::size_t step = 1; step < ranks; step *= 2) {
        receives_.push_back({layout_.collective().rank_at_distance(layout_.rank(), ranks - step), {}, 0});
        sends_.push_back({layout_.collective().rank_at_distance(layout_.rank(), step), {}, 0});
        close_round();
    }
}

RankProgram ProgramBuilder::finish() {
    begin_round();  // also needed for a single rank, whose schedule has no rounds
    use_final_locations();
    close_round();
    if (program_.rounds.empty()) program_.rounds.emplace_back();
    if (!is_scan(layout_.collective().operation())) {
        layout_.for_each_final_block([&](std::uint64_t block) {
            if (layout_.units(block) == 0) return;
            append_operation(
                after_, {false, state_of(block).at, *layout_.final_location(block), layout_.units(block)});
        });
    }
    // The last round's operations `after` are at the end of the list, so new ones extend them.
    program_.rounds.back().after.end = append_slice(program_.operations, after_).end;
    program_.scratch_units = scratch_.units();
    return std::move(program_);
}

}  // namespace topoloom
