// SPDX-License-Identifier: BSD-3-Clause
// Lennard-Jones atoms in a periodic box of patches, and a serial reference run.
#ifndef ATOMS_HPP
#define ATOMS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using Vector = std::array<double, 3>;
struct Atom {
    Vector position, velocity;
};

constexpr double cutoff = 2.5, width = 3.3, time_step = 0.002;  // all values are in Lennard-Jones units
constexpr int exchange_every = 10;  // number of steps, in which atoms move at most (width - cutoff) / 2

struct Box {
    std::array<int, 3> cells{3, 3, 3};
    int side = 3;  // initial number of atoms along each axis of a patch
    [[nodiscard]] int patch_count() const { return cells[0] * cells[1] * cells[2]; }
    [[nodiscard]] std::array<int, 3> patch_position(int patch) const {
        return {patch / (cells[1] * cells[2]), patch / cells[2] % cells[1], patch % cells[2]};
    }
    /// Returns the patch at an offset, and the periodic shift of its positions.
    [[nodiscard]] std::pair<int, Vector> neighbor(int patch, const std::array<int, 3>& offset) const {
        std::array<int, 3> at = patch_position(patch);
        Vector shift{};
        for (std::size_t a = 0; a < 3; ++a) {
            const int there = at[a] + offset[a], n = cells[a];
            at[a] = (there + n) % n;
            shift[a] = (there - at[a]) * width;
        }
        return {(at[0] * cells[1] + at[1]) * cells[2] + at[2], shift};
    }
    [[nodiscard]] std::vector<Atom> initial_atoms(int patch) const {
        std::vector<Atom> atoms;
        const std::array<int, 3> at = patch_position(patch);
        std::uint64_t drawn = 1000003ULL * static_cast<std::uint64_t>(patch) + 1;
        for (int i = 0; i < side * side * side; ++i) {
            const std::array<int, 3> spot{i / (side * side), i / side % side, i % side};
            Atom atom{};
            for (std::size_t a = 0; a < 3; ++a) {
                drawn = drawn * 6364136223846793005ULL + 1442695040888963407ULL;
                atom.position[a] = (at[a] + (spot[a] + 0.5) / side) * width;
                atom.velocity[a] = 3 * (static_cast<double>(drawn >> 11) / 0x1p53 - 0.5);
            }
            atoms.push_back(atom);
        }
        return atoms;
    }
};

/// Adds the force on an atom at distance vector `apart` from another. Returns the pair's energy, which is 0 beyond the
/// cutoff.
inline double add_force(const Vector& apart, Vector& force) {
    const double square = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
    if (square >= cutoff * cutoff) return 0;
    const double sixth = 1 / (square * square * square), at_cutoff = std::pow(cutoff, -6);
    const double pull = 24 * sixth * (2 * sixth - 1) / square;
    for (std::size_t a = 0; a < 3; ++a) force[a] += pull * apart[a];
    return 4 * (sixth * (sixth - 1) - at_cutoff * (at_cutoff - 1));
}

inline void update_velocities(std::vector<Atom>& atoms, const std::vector<Vector>& forces) {
    for (std::size_t i = 0; i < atoms.size(); ++i)
        for (std::size_t a = 0; a < 3; ++a) atoms[i].velocity[a] += time_step / 2 * forces[i][a];
}
inline void update_positions(std::vector<Atom>& atoms) {
    for (Atom& atom : atoms)
        for (std::size_t a = 0; a < 3; ++a) atom.position[a] += time_step * atom.velocity[a];
}
inline double kinetic_energy(const std::vector<Atom>& atoms) {
    double sum = 0;
    for (const Atom& atom : atoms)
        for (const double v : atom.velocity) sum += v * v / 2;
    return sum;
}

/// Runs all steps serially over all pairs of atoms. Returns the energy after each step.
inline std::vector<double> compute_serial_energies(const Box& box, int steps) {
    std::vector<Atom> atoms;
    for (int patch = 0; patch < box.patch_count(); ++patch)
        for (const Atom& atom : box.initial_atoms(patch)) atoms.push_back(atom);
    std::vector<Vector> forces;
    std::vector<double> energies;
    for (int step = 0; step <= steps; ++step) {
        if (step > 0) {
            update_velocities(atoms, forces);
            update_positions(atoms);
        }
        forces.assign(atoms.size(), {});
        double potential = 0;
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                Vector apart, force{};
                for (std::size_t a = 0; a < 3; ++a) {
                    const double length = box.cells[a] * width,
                                 plain = atoms[i].position[a] - atoms[j].position[a];
                    apart[a] = plain - length * std::nearbyint(plain / length);
                }
                potential += add_force(apart, force);
                for (std::size_t a = 0; a < 3; ++a) {
                    forces[i][a] += force[a];
                    forces[j][a] -= force[a];
                }
            }
        }
        if (step > 0) update_velocities(atoms, forces);
        energies.push_back(potential + kinetic_energy(atoms));
    }
    return energies;
}

#endif
