// SPDX-License-Identifier: BSD-3-Clause
// Walkers of diffusion Monte Carlo. A step of a walker gives the same result on every rank.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

struct Walker {
    std::uint64_t id;
    double at[3];
};

/// Hashes a key to a random number by SplitMix64 (Steele, Lea, Flood 2014).
inline std::uint64_t hash_key(std::uint64_t key) {
    key += 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
    return key ^ (key >> 31);
}

/// Random numbers for one walker in one step.
class RandomStream {
   public:
    RandomStream(std::uint64_t id, std::uint64_t step) : key_(hash_key(id ^ hash_key(step))) {}
    double draw_uniform() { return (static_cast<double>(hash_key(key_ += 2) >> 11) + 0.5) * 0x1p-53; }
    double draw_normal() {
        const double radius = std::sqrt(-2 * std::log(draw_uniform()));
        return radius * std::cos(2 * std::numbers::pi * draw_uniform());
    }

   private:
    std::uint64_t key_;
};

/// A system and its trial wave function: exp(-a r^2 / 2) for a particle in a harmonic well, exp(-a r) for an electron
/// around a proton.
struct System {
    bool is_hydrogen;
    double a, energy, step;  // atomic units; `energy` is the exact energy of the system

    [[nodiscard]] double local_energy(double r) const {
        return is_hydrogen ? -a * a / 2 + (a - 1) / r : 1.5 * a + 0.5 * (1 - a * a) * r * r;
    }
    [[nodiscard]] double drift_factor(double r) const {
        return is_hydrogen ? -a / r : -a;
    }  // factor of the position
};
inline constexpr System harmonic{false, 0.8, 1.5, 0.02};
inline constexpr System hydrogen{true, 0.9, -0.5, 0.005};

inline double radius(const Walker& walker) {
    return std::sqrt(walker.at[0] * walker.at[0] + walker.at[1] * walker.at[1] + walker.at[2] * walker.at[2]);
}

/// An array of walkers of equal size. In each walker, padding bytes derived from its id follow its position.
class Walkers {
   public:
    explicit Walkers(std::size_t bytes) : bytes_(bytes) {}

    [[nodiscard]] std::size_t count() const { return data_.size() / bytes_; }
    void resize(std::size_t count) { data_.resize(count * bytes_); }
    [[nodiscard]] char* data_at(std::size_t i) { return data_.data() + i * bytes_; }
    [[nodiscard]] Walker get(std::size_t i) const {
        Walker walker;
        std::memcpy(&walker, data_.data() + i * bytes_, sizeof walker);
        return walker;
    }
    void add(const Walker& walker) {
        data_.resize(data_.size() + bytes_, static_cast<char>(walker.id));
        std::memcpy(data_.data() + data_.size() - bytes_, &walker, sizeof walker);
    }
    /// Whether the padding of walker i is intact.
    [[nodiscard]] bool is_intact(std::size_t i) const {
        return bytes_ == sizeof(Walker) || data_[(i + 1) * bytes_ - 1] == static_cast<char>(get(i).id);
    }

   private:
    std::size_t bytes_;
    std::vector<char> data_;
};

/// Sums over walkers, independent of their order: energies are integers in units of 2^-30.
struct Sums {
    std::uint64_t walkers = 0, energy = 0, corrupt = 0, ids = 0;  // the energy is stored in two's complement
};

/// Moves walker i of `walkers` by drift and diffusion, then lets it die or branch. Appends the survivors to `next`.
inline void advance_walker(const System& system, const Walkers& walkers, std::size_t i, std::uint64_t step,
                           double trial, Walkers& next, Sums& sums) {
    Walker walker = walkers.get(i);
    if (!walkers.is_intact(i)) ++sums.corrupt;
    RandomStream draw(walker.id, step);
    const double before = radius(walker);
    const double drift = 1 + system.step * system.drift_factor(before);
    for (double& x : walker.at) x = drift * x + std::sqrt(system.step) * draw.draw_normal();
    const double energy = system.local_energy(radius(walker));
    const double mean = (energy + system.local_energy(before)) / 2;
    const double weight = std::exp(-system.step * (mean - trial));
    const int copies = static_cast<int>(std::fmin(weight + draw.draw_uniform(), 3));
    const std::uint64_t parent = walker.id;
    for (int copy = 0; copy < copies; ++copy) {
        if (copy > 0) walker.id = hash_key(parent ^ hash_key(4 * step + static_cast<std::uint64_t>(copy)));
        next.add(walker);
        ++sums.walkers;
        sums.energy +=
            static_cast<std::uint64_t>(std::llround(std::fmax(std::fmin(energy, 1e3), -1e3) * 0x1p30));
        sums.ids += hash_key(walker.id);
    }
}
