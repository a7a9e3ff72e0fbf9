// SPDX-License-Identifier: BSD-3-Clause
// One rank's cube of cells with a layer of ghosts, a Jacobi step on it, and the exact solution.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace halo3d {

/// Cells are 1..n along each axis, ghosts 0 and n + 1; the last axis is contiguous.
class Field {
   public:
    explicit Field(int cells)
        : cells_(cells),
          stride_(static_cast<std::size_t>(cells) + 2),
          now_(stride_ * stride_ * stride_),
          next_(now_) {}

    [[nodiscard]] double& at(int x, int y, int z) { return now_[index(x, y, z)]; }

    /// Replaces each cell by the mean of its six neighbors.
    void step() {
        for (int x = 1; x <= cells_; ++x) {
            for (int y = 1; y <= cells_; ++y) {
                for (int z = 1; z <= cells_; ++z) {
                    next_[index(x, y, z)] = (at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) +
                                             at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1)) /
                                            6.0;
                }
            }
        }
        now_.swap(next_);
    }

    /// Calls `visit(cell)` for each cell of the plane `axis` = `layer`, in the same order on both sides of a
    /// face.
    template <class Visit>
    void plane(int axis, int layer, Visit visit) {
        for (int a = 1; a <= cells_; ++a) {
            for (int b = 1; b <= cells_; ++b) {
                if (axis == 0) visit(at(layer, a, b));
                if (axis == 1) visit(at(a, layer, b));
                if (axis == 2) visit(at(a, b, layer));
            }
        }
    }

   private:
    [[nodiscard]] std::size_t index(int x, int y, int z) const {
        return (static_cast<std::size_t>(x) * stride_ + static_cast<std::size_t>(y)) * stride_ +
               static_cast<std::size_t>(z);
    }

    int cells_;
    std::size_t stride_;
    std::vector<double> now_, next_;
};

/// A discrete eigenfunction of the domain: a Jacobi step multiplies it by a factor, since
/// cos(t-a) + cos(t+a) = 2 cos(a) cos(t). So the exact value of every cell is known after any number of steps.
class Wave {
   public:
    Wave(std::array<int, 3> global_cells, bool periodic) : periodic_(periodic) {
        const double pi = std::acos(-1.0);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            angle_[axis] = periodic ? 2 * pi / global_cells[axis] : pi / (global_cells[axis] + 1);
            factor_ += std::cos(angle_[axis]) / 3;
        }
    }

    /// Value at the start; global cells count from 0.
    [[nodiscard]] double start(std::array<int, 3> cell) const {
        double value = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double t = angle_[axis];
            // Shifted, so that a wrong neighbor is detected even where the wave is symmetric.
            value *= periodic_ ? std::cos(t * cell[axis] + 0.3) : std::sin(t * (cell[axis] + 1));
        }
        return value;
    }

    [[nodiscard]] double after(std::array<int, 3> cell, int steps) const {
        return start(cell) * std::pow(factor_, steps);
    }

   private:
    bool periodic_;
    std::array<double, 3> angle_{};
    double factor_ = 0;
};

}  // namespace halo3d
