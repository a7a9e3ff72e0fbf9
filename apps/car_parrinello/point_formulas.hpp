// SPDX-License-Identifier: BSD-3-Clause
// Formulas at single points: initial states, potential, and a step of steepest descent.
#pragma once

#include <cmath>
#include <cstdint>

#include "plane_distribution.hpp"

namespace car_parrinello {

/// Hashes a key to a random number in (-1, 1) by SplitMix64 (Steele, Lea, Flood 2014).
inline double draw(std::uint64_t key) {
    key = (key + 1) * 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
    return (static_cast<double>((key ^ (key >> 31)) >> 11) + 0.5) * 0x1p-52 - 1;
}

/// Random coefficients of smooth, linearly independent states.
inline Complex get_initial_value(int state, int x, int y, int z, int n) {
    const auto size = static_cast<std::uint64_t>(n);
    const std::uint64_t key =
        ((static_cast<std::uint64_t>(state) * size + static_cast<std::uint64_t>(x)) * size +
         static_cast<std::uint64_t>(y)) *
            size +
        static_cast<std::uint64_t>(z);
    const double decay = 1 + get_square(x, y, z, n);
    return Complex(draw(2 * key), draw(2 * key + 1)) / decay;
}

/// Factor between density and electrostatic potential at a reciprocal point.
inline double get_coulomb(int x, int y, int z, int n) {
    const double square = get_square(x, y, z, n);
    return square > 0 ? 4 * std::acos(-1.0) / square : 0;
}

/// Electrostatic, exchange and external potential at a real point. The last one attracts to a point of the cell.
inline double get_potential(double electrostatic, double density, int x, int y, int z, int n) {
    const double pi = std::acos(-1.0), angle = 2 * pi / n;
    const double external = -std::cos(angle * x) - std::cos(angle * (y - 1)) - std::cos(angle * (z - 2));
    return 0.01 * (electrostatic - std::cbrt(3 / pi * density)) + external;
}

/// Moves a coefficient against its gradient, with a preconditioner for the kinetic energy.
inline Complex descend(Complex value, Complex force, int x, int y, int z, int n) {
    const double kinetic = 0.5 * get_square(x, y, z, n);
    return value - 0.1 / (1 + kinetic) * (kinetic * value + force);
}

}  // namespace car_parrinello
