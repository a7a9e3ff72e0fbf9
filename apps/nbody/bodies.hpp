// SPDX-License-Identifier: BSD-3-Clause
// Bodies that attract each other: initial state, accelerations, leapfrog steps and conserved sums.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace nbody {

using Vector = std::array<double, 3>;

constexpr double time_step = 0.01;
// Softening bounds the acceleration of close pairs, so that steps of this length conserve energy.
constexpr double softening = 0.1;

/// Hashes a key to a random number in (-1, 1) by SplitMix64 (Steele, Lea, Flood 2014).
inline double draw(std::uint64_t key) {
    key = (key + 1) * 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
    return (static_cast<double>((key ^ (key >> 31)) >> 11) + 0.5) * 0x1p-52 - 1;
}

/// Consecutive bodies of the system, in a cube, with a total mass of about 1 in the system.
struct Bodies {
    Bodies(std::int64_t first, std::int64_t count, std::int64_t total) {
        for (auto i = static_cast<std::uint64_t>(first); i < static_cast<std::uint64_t>(first + count); ++i) {
            masses.push_back((1 + 0.5 * draw(7 * i)) / static_cast<double>(total));
            positions.push_back({draw(7 * i + 1), draw(7 * i + 2), draw(7 * i + 3)});
            velocities.push_back({0.5 * draw(7 * i + 4), 0.5 * draw(7 * i + 5), 0.5 * draw(7 * i + 6)});
        }
        accelerations.resize(positions.size());
    }
    /// First half of a leapfrog step: half a step of velocities, a step of positions.
    void drift() {
        kick();
        for (std::size_t i = 0; i < positions.size(); ++i)
            for (std::size_t a = 0; a < 3; ++a) positions[i][a] += time_step * velocities[i][a];
        accelerations.assign(positions.size(), {});
    }
    /// Second half: half a step of velocities, with the accelerations at the new positions.
    void kick() {
        for (std::size_t i = 0; i < positions.size(); ++i)
            for (std::size_t a = 0; a < 3; ++a) velocities[i][a] += 0.5 * time_step * accelerations[i][a];
    }

    std::vector<double> masses;
    std::vector<Vector> positions, velocities, accelerations;
};

/// Adds the attraction of all sources. A body does not attract itself, because its distance is zero.
inline void add_accelerations(Bodies& bodies, std::span<const Vector> sources,
                              std::span<const double> masses) {
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
        const auto [x, y, z] = bodies.positions[i];
        Vector sum{};
        for (std::size_t j = 0; j < sources.size(); ++j) {
            const Vector apart{sources[j][0] - x, sources[j][1] - y, sources[j][2] - z};
            const double square =
                softening * softening + apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
            const double strength = masses[j] / (square * std::sqrt(square));
            for (std::size_t a = 0; a < 3; ++a) sum[a] += strength * apart[a];
        }
        for (std::size_t a = 0; a < 3; ++a) bodies.accelerations[i][a] += sum[a];
    }
}

/// What all bodies conserve together.
struct Sums {
    Vector momentum{};
    double kinetic = 0, potential = 0;
};

/// Computes the part that some bodies contribute to the sums, given the positions of all.
inline Sums compute_sums(const Bodies& bodies, std::span<const Vector> sources,
                         std::span<const double> masses) {
    Sums sums;
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
        for (std::size_t a = 0; a < 3; ++a) {
            sums.momentum[a] += bodies.masses[i] * bodies.velocities[i][a];
            sums.kinetic += 0.5 * bodies.masses[i] * bodies.velocities[i][a] * bodies.velocities[i][a];
        }
        for (std::size_t j = 0; j < sources.size(); ++j) {
            double square = softening * softening;
            for (std::size_t a = 0; a < 3; ++a) {
                const double apart = sources[j][a] - bodies.positions[i][a];
                square += apart * apart;
            }
            // Each pair is counted twice. The constant energy of a body with itself does not matter.
            sums.potential -= 0.5 * bodies.masses[i] * masses[j] / std::sqrt(square);
        }
    }
    return sums;
}

/// Computes the positions of all bodies after some steps, on one rank.
inline std::vector<Vector> run_serially(std::int64_t total, int steps) {
    Bodies bodies(0, total, total);
    add_accelerations(bodies, bodies.positions, bodies.masses);
    for (int step = 0; step < steps; ++step) {
        bodies.drift();
        add_accelerations(bodies, bodies.positions, bodies.masses);
        bodies.kick();
    }
    return bodies.positions;
}

}  // namespace nbody
