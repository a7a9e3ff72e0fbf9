// SPDX-License-Identifier: BSD-3-Clause
// Arranges any number of ranks as a mesh of two or three axes; the last plane may have holes.
#pragma once

#include <array>
#include <cstdint>

#include "topoloom/base/divisor.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/schedule/demand.hpp"

namespace topoloom {

/// Rows of ranks run along x, rows form planes along y, and planes are stacked along z. A mesh of two axes
/// uses x and z, with one row per plane. Only the last plane may have holes, at its end, unless it is the
/// only one. Data travel along x, then y, then z:
///
///     12 13            Rank 12 has data for column 2, which is a hole in its row. Rank 12 sends them to row
///      8  9 10 11      (its own column) mod (full rows) = 0 of column 2: to rank 2.
///      4  5  6  7
///      0  1  2  3
///
/// In general, a cell with coordinate c along an axis sends the data for a hole to the cell on the hole's line
/// along z with z = c mod (planes - 1). Source: Kumar 2005, sec. 3.1.3, with the sender's coordinate as in its
/// example. The formula of the source uses the target's coordinate, which would load one rank with all data.
class VirtualMesh {
   public:
    using Cell = std::array<std::uint32_t, 3>;

    /// The smallest square or cube that has room for the ranks, without empty planes.
    VirtualMesh(std::size_t ranks, int axes);

    [[nodiscard]] std::uint32_t extent(int axis) const { return extent_[static_cast<std::size_t>(axis)]; }
    /// Number of axes with more than one cell.
    [[nodiscard]] std::uint64_t rounds() const {
        return extent_[0] == 1 ? 0 : extent_[2] == 1 ? 1 : extent_[1] == 1 ? 2 : 3;
    }
    [[nodiscard]] int axis(std::uint64_t round) const {
        return round == 0 ? 0 : round == 1 && extent_[1] > 1 ? 1 : 2;
    }
    [[nodiscard]] Rank rank(const Cell& cell) const {
        return Rank{cell[0] + extent_[0] * (cell[1] + extent_[1] * cell[2])};
    }
    [[nodiscard]] Cell cell(Rank rank) const {
        const std::uint32_t row = by_row_.quotient(rank.value);
        const std::uint32_t z = by_plane_.quotient(row);
        return {rank.value - row * extent_[0], row - z * extent_[1], z};
    }
    [[nodiscard]] bool has(const Cell& cell) const {
        return cell[2] + 1 < extent_[2] || cell[1] < full_rows_ || (cell[1] == full_rows_ && cell[0] < rest_);
    }

    /// The number of cells whose data a cell may forward in phase `axis`: those whose data it has gathered in
    /// earlier phases. O(1).
    [[nodiscard]] std::uint64_t origin_count(const Cell& cell, int axis) const;
    /// Calls visit(origin) for each of these cells.
    template <class Visit>
    void each_origin(const Cell& cell, int axis, const Visit& visit) const {
        if (axis == 0) return visit(cell);
        if (axis == 1) return each_sender(cell, 0, visit);
        each_sender(cell, 1, [&](const Cell& sender) { each_sender(sender, 0, visit); });
    }
    /// The cells whose data are sent through a cell in phase `axis`: those with the same coordinates up to
    /// this axis. O(1).
    [[nodiscard]] std::uint64_t target_count(const Cell& cell, int axis) const {
        const std::uint64_t full = extent_[2] - 1;
        if (axis == 0) return full * extent_[1] + full_rows_ + (cell[0] < rest_ ? 1 : 0);
        return axis == 1 ? full + (has({cell[0], cell[1], extent_[2] - 1}) ? 1 : 0) : 1;
    }
    [[nodiscard]] EveryNth targets(const Cell& cell, int axis) const {
        if (axis == 0) return {cell[0], extent_[0]};
        const std::size_t row = std::size_t{cell[1]} * extent_[0];
        const std::size_t plane = std::size_t{extent_[0]} * extent_[1];
        return axis == 1 ? EveryNth{row + cell[0], plane}
                         : EveryNth{plane * cell[2] + row + cell[0], plane * extent_[2]};
    }

    /// Calls visit(receiver, cell) for each receiver of a cell in phase `axis`, with the cell that the
    /// receiver represents. Begins with the cell's neighbor, so that cells do not all send to the same
    /// receiver first.
    template <class Visit>
    void each_receiver(const Cell& cell, int axis, const Visit& visit) const {
        const auto along = static_cast<std::size_t>(axis);
        const std::uint32_t replacement = extent_[2] > 1 ? cell[along] % (extent_[2] - 1) : 0;
        Cell line = cell;
        for (std::uint32_t step = 1; step < extent_[along]; ++step) {
            line[along] = (cell[along] + step) % extent_[along];
            if (has(line)) {
                visit(line, line);
            } else if (axis < 2) {
                visit(Cell{line[0], line[1], replacement}, line);
            }
        }
    }
    /// Calls visit(sender) for each cell that sends to this cell in phase `axis`, and for this cell.
    template <class Visit>
    void each_sender(const Cell& cell, int axis, const Visit& visit) const {
        const auto along = static_cast<std::size_t>(axis);
        Cell at = cell;
        for (at[along] = 0; at[along] < extent_[along] && has(at); ++at[along]) visit(at);
        at = {cell[0], cell[1], extent_[2] - 1};
        if (axis == 2 || has(at)) return;
        for (at[along] = cell[2]; at[along] < extent_[along] && has(at); at[along] += extent_[2] - 1)
            visit(at);
    }
    /// Visits cells that include a busiest sender of each phase.
    template <class Visit>
    void each_busiest_cell(const Visit& visit) const {
        for (const std::uint32_t x : {0U, extent_[0] - 1}) {
            for (const std::uint32_t y : {0U, full_rows_, extent_[1] - 1}) {
                if (has({x, y, 0})) visit(Cell{x, y, 0});
            }
        }
    }

   private:
    /// How many integers in 0 .. below-1 are congruent to a plane's number modulo (planes - 1).
    [[nodiscard]] std::uint32_t replaced_hole_count(std::uint32_t below, std::uint32_t z) const {
        return below > z ? (below - z - 1) / (extent_[2] - 1) + 1 : 0;
    }

    Cell extent_{1, 1, 1};
    std::uint32_t full_rows_ = 1;  // full rows of the last plane
    std::uint32_t rest_ = 0;       // cells in the row after the full rows
    Divisor by_row_;
    Divisor by_plane_;
};

}  // namespace topoloom
