// SPDX-License-Identifier: BSD-3-Clause
// One rank's cube of cells with a layer of ghosts, a Jacobi step on it, and the exact solution.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace halo3d {

/// A cube of n^3 cells. Cells have indices 1..n along each axis, ghosts 0 and n + 1; the last axis is contiguous.
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

    /// Calls `visit(cell)` for each cell of layer `layer` along `axis`, in the same order on both ranks of a face.
    template <class Visit>
    void for_each_in_layer(int axis, int layer, Visit visit) {
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

/// A discrete eigenfunction of the domain: a Jacobi step multiplies it by a factor, because cos(t-a) + cos(t+a) = 2
/// cos(a) cos(t). The exact value of every cell is thus known after any number of steps.
class Wave {
   public:
    Wave(std::array<int, 3> global_cells, bool periodic) : periodic_(periodic) {
        const double pi = std::acos(-1.0);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            angle_[axis] = periodic ? 2 * pi / global_cells[axis] : pi / (global_cells[axis] + 1);
            factor_ += std::cos(angle_[axis]) / 3;
        }
    }

    /// Initial value of a cell; indices in the global grid start from 0.
    [[nodiscard]] double initial_value(std::array<int, 3> cell) const {
        double value = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double t = angle_[axis];
            // The phase 0.3 breaks the symmetry of the wave, so that a wrong neighbor is detected.
            value *= periodic_ ? std::cos(t * cell[axis] + 0.3) : std::sin(t * (cell[axis] + 1));
        }
        return value;
    }

    [[nodiscard]] double value_after(std::array<int, 3> cell, int steps) const {
        return initial_value(cell) * std::pow(factor_, steps);
    }

   private:
    bool periodic_;
    std::array<double, 3> angle_{};
    double factor_ = 0;
};

}  // namespace halo3d
