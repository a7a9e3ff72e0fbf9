// SPDX-License-Identifier: BSD-3-Clause
// Collectives along all lines of a process-grid axis concurrently, axis after axis.
#pragma once

#include <utility>
#include <vector>

#include "topoloom/base/extents.hpp"
#include "topoloom/schedule/check_schedule.hpp"

namespace topoloom {

/// Ranks are the cells of a grid, row-major with the last axis the fastest. Every line along an axis runs a
/// separate collective with the same schedule; an axis begins when the previous axis has ended. Provides the
/// functions of Schedule except collective(). binomial_time() and pipelined_time() of grid_times.hpp predict
/// its time with one rank per node. Source: C. Karlsson, Optimizing Multi-dimensional MPI Communications on
/// Multi-core Architectures, 2012, ch. 5.
template <Schedule Line>
class GridLines {
   public:
    /// `lines`: for every axis, the schedule that each line along it runs.
    explicit GridLines(std::vector<Line> lines) : lines_(std::move(lines)) {
        for (const Line& line : lines_) {
            extents_.push_back(static_cast<std::uint32_t>(line.collective().ranks()));
            first_round_.push_back(rounds_);
            rounds_ += line.rounds();
        }
        strides_ = row_major_strides(extents_);
    }

    [[nodiscard]] const Extents& extents() const { return extents_; }
    [[nodiscard]] std::size_t ranks() const { return cell_count(extents_); }
    [[nodiscard]] const Line& line(std::size_t axis) const { return lines_[axis]; }
    [[nodiscard]] std::uint32_t stride(std::size_t axis) const { return strides_[axis]; }
    [[nodiscard]] std::uint64_t first_round(std::size_t axis) const { return first_round_[axis]; }
    [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        const std::size_t axis = axis_of(round);
        return lines_[axis].transfer(round - first_round_[axis]);
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t axis = axis_of(round);
        const Rank at = position(rank, axis);
        lines_[axis].sends(at, round - first_round_[axis],
                           [&](Rank to, Bytes bytes) { visit(rank_on_line_of(rank, at, to, axis), bytes); });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t axis = axis_of(round);
        const Rank at = position(rank, axis);
        lines_[axis].receives(at, round - first_round_[axis], [&](Rank from, Bytes bytes) {
            visit(rank_on_line_of(rank, at, from, axis), bytes);
        });
    }
    /// Calls visit(block) for blocks of the line's collective.
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const std::size_t axis = axis_of(round);
        lines_[axis].blocks(position(from, axis), position(to, axis), round - first_round_[axis], visit);
    }
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        const std::size_t axis = axis_of(round);
        lines_[axis].busiest_senders(round - first_round_[axis],
                                     [&](Rank at) { visit(rank_on_line_of(Rank{0}, Rank{0}, at, axis)); });
    }
    /// The position of a rank on its line.
    [[nodiscard]] Rank position(Rank rank, std::size_t axis) const {
        return Rank{rank.value / strides_[axis] % extents_[axis]};
    }
    /// The rank at a position of the same line.
    [[nodiscard]] Rank rank_on_line_of(Rank rank, Rank from, Rank to, std::size_t axis) const {
        return Rank{rank.value - from.value * strides_[axis] + to.value * strides_[axis]};
    }

   private:
    [[nodiscard]] std::size_t axis_of(std::uint64_t round) const {
        std::size_t axis = lines_.size() - 1;
        while (first_round_[axis] > round) --axis;
        return axis;
    }

    std::vector<Line> lines_;
    Extents extents_, strides_;
    std::vector<std::uint64_t> first_round_;
    std::uint64_t rounds_ = 0;
};

/// One line of a grid as a schedule, built from the messages of the grid.
template <Schedule Line>
class LineOfGrid {
   public:
    LineOfGrid(const GridLines<Line>& grid, std::size_t axis, Rank begin)
        : grid_(&grid), axis_(axis), begin_(begin) {}

    [[nodiscard]] const Collective& collective() const { return grid_->line(axis_).collective(); }
    [[nodiscard]] std::uint64_t rounds() const { return grid_->line(axis_).rounds(); }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const { return grid_->transfer(grid_round(round)); }
    template <class Visit>
    void sends(Rank at, std::uint64_t round, const Visit& visit) const {
        grid_->sends(rank(at), grid_round(round), [&](Rank to, Bytes bytes) { visit(line_rank(to), bytes); });
    }
    template <class Visit>
    void receives(Rank at, std::uint64_t round, const Visit& visit) const {
        grid_->receives(rank(at), grid_round(round),
                        [&](Rank from, Bytes bytes) { visit(line_rank(from), bytes); });
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        grid_->blocks(rank(from), rank(to), grid_round(round), visit);
    }
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        grid_->line(axis_).busiest_senders(round, visit);
    }

   private:
    [[nodiscard]] std::uint64_t grid_round(std::uint64_t round) const {
        return grid_->first_round(axis_) + round;
    }
    [[nodiscard]] Rank rank(Rank at) const { return grid_->rank_on_line_of(begin_, Rank{0}, at, axis_); }
    /// Returns no_index as rank if the message leaves the line.
    [[nodiscard]] Rank line_rank(Rank rank) const {
        const Rank at = grid_->position(rank, axis_);
        return this->rank(at) == rank ? at : Rank{collective().ranks()};
    }

    const GridLines<Line>* grid_;
    std::size_t axis_;
    Rank begin_;
};

/// Runs check_schedule() on every line.
template <Schedule Line>
void check_lines(const GridLines<Line>& grid) {
    for (std::size_t axis = 0; axis < grid.extents().size(); ++axis) {
        for (const Rank begin : ids<Rank>(grid.ranks())) {
            if (grid.position(begin, axis) == Rank{0}) check_schedule(LineOfGrid(grid, axis, begin));
        }
    }
}

}  // namespace topoloom
