// SPDX-License-Identifier: BSD-3-Clause
// Smooth particle-mesh Ewald: the reciprocal part of the energy and forces of charges in a periodic box.
//
// Essmann et al., J. Chem. Phys. 103(19), 1995, with B-splines of order 4. A cell of the grid is a cube with edges of
// length 1. As in NAMD, each rank spreads the charges whose cells it has, and sends what falls on columns of others.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "distributed_fft.hpp"

namespace fft3d {

constexpr int spline_order = 4;
constexpr double ewald_coefficient = 0.3;

struct Charge {
    int number = 0;
    std::array<double, 3> position{}, force{};
    double charge = 0;
};

/// Draws a number in [0, 1) from a counter (SplitMix64).
inline double draw(std::uint64_t counter) {
    std::uint64_t value = (counter + 1) * 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return static_cast<double>((value ^ value >> 31) >> 11) * 0x1p-53;
}

/// Charge `number`; charges 2i and 2i + 1 are opposite, so that the box is neutral.
inline Charge make_charge(int number, const Extents& grid) {
    Charge made;
    made.number = number;
    const auto base = 4 * static_cast<std::uint64_t>(number);
    for (std::size_t axis = 0; axis < 3; ++axis) made.position[axis] = grid[axis] * draw(base + axis);
    made.charge = number % 2 == 0 ? 0.5 + draw(base + 3) : -0.5 - draw(base - 1);
    return made;
}

/// Cardinal B-spline on [0, order].
inline double evaluate_spline(int order, double x) {
    if (order == 2) return std::max(0.0, 1 - std::abs(x - 1));
    return (x * evaluate_spline(order - 1, x) + (order - x) * evaluate_spline(order - 1, x - 1)) /
           (order - 1);
}

/// Points of an axis at which a charge has weights.
struct Weights {
    std::array<int, spline_order> point;
    std::array<double, spline_order> value, slope;

    Weights(double position, int points) {
        const double cell = std::floor(position);
        for (int i = 0; i < spline_order; ++i) {
            const double x = position - cell + i;
            const auto at = static_cast<std::size_t>(i);
            point[at] = ((static_cast<int>(cell) - i) % points + points) % points;
            value[at] = evaluate_spline(spline_order, x);
            slope[at] = evaluate_spline(spline_order - 1, x) - evaluate_spline(spline_order - 1, x - 1);
        }
    }
};

/// Calls use(x, y, z, weight, slopes) for the points at which a charge has weights.
template <typename Use>
void for_each_point(const Charge& charge, const Extents& grid, const Use& use) {
    const Weights x(charge.position[0], grid[0]), y(charge.position[1], grid[1]),
        z(charge.position[2], grid[2]);
    for (std::size_t i = 0; i < spline_order; ++i)
        for (std::size_t j = 0; j < spline_order; ++j)
            for (std::size_t k = 0; k < spline_order; ++k)
                use(x.point[i], y.point[j], z.point[k], x.value[i] * y.value[j] * z.value[k],
                    std::array{x.slope[i] * y.value[j] * z.value[k], x.value[i] * y.slope[j] * z.value[k],
                               x.value[i] * y.value[j] * z.slope[k]});
}

/// Factor of a wave vector: the transform of a screened charge, corrected for the splines.
class Influence {
   public:
    explicit Influence(const Extents& grid) : grid_(grid) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (int m = 0; m < grid[axis]; ++m) {
                Complex sum = 0;
                for (int k = 0; k < spline_order - 1; ++k)
                    sum += evaluate_spline(spline_order, k + 1) *
                           std::polar(1.0, 2 * std::numbers::pi * m * k / grid[axis]);
                correction_[axis].push_back(1 / std::norm(sum));
            }
    }
    [[nodiscard]] double operator()(int x, int y, int z) const {
        const std::array<int, 3> at{x, y, z};
        double square = 0, correction = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double wave = 2 * at[axis] > grid_[axis] ? at[axis] - grid_[axis] : at[axis];
            square += wave * wave / grid_[axis] / grid_[axis];
            correction *= correction_[axis][static_cast<std::size_t>(at[axis])];
        }
        if (square == 0) return 0;
        constexpr double pi = std::numbers::pi;
        const double volume = 1.0 * grid_[0] * grid_[1] * grid_[2];
        return std::exp(-square * pi * pi / ewald_coefficient / ewald_coefficient) * correction /
               (pi * volume * square);
    }

   private:
    Extents grid_;
    std::array<std::vector<double>, 3> correction_;
};

/// Columns of points along z: those of this rank, then those of other ranks on which its charges have weights.
class Columns {
   public:
    Columns(const Decomposition& d, MPI_Comm comm)
        : grid_(d.grid), comm_(comm), numbers_(static_cast<std::size_t>(grid_[0] * grid_[1]), -1) {
        int rank = 0, ranks = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        const Range x = d.x_before(rank), y = d.y_before(rank);
        for (int i = x.first; i < x.end(); ++i)
            for (int j = y.first; j < y.end(); ++j) add(i, j);
        own_ = count_;
        std::vector<std::vector<int>> ghosts(static_cast<std::size_t>(ranks));
        const int reach = x.count > 0 && y.count > 0 ? spline_order - 1 : 0;
        for (int i = x.first - reach; i < x.end(); ++i)
            for (int j = y.first - reach; j < y.end(); ++j) {
                const int there =
                    (i + reach * grid_[0]) % grid_[0] * grid_[1] + (j + reach * grid_[1]) % grid_[1];
                if (numbers_[static_cast<std::size_t>(there)] >= 0) continue;
                add(there / grid_[1], there % grid_[1]);
                ghosts[find_owner(d, ranks, there)].push_back(there);
            }
        exchange_lists(ghosts);
        values_.resize(count_ * static_cast<std::size_t>(grid_[2]));
    }
    [[nodiscard]] double& at(int x, int y, int z) {
        const int column = numbers_[static_cast<std::size_t>(x * grid_[1] + y)];
        return values_[static_cast<std::size_t>(column * grid_[2] + z)];
    }
    [[nodiscard]] std::span<double> own() {
        return {values_.data(), own_ * static_cast<std::size_t>(grid_[2])};
    }
    void clear() { std::ranges::fill(values_, 0.0); }
    /// Adds the values of ghost columns to the columns of their owners.
    void add_ghosts() {
        exchange(ghosts_, lent_, [](double& own, double arrived) { own += arrived; });
    }
    /// Sets ghost columns to the values of their owners.
    void fetch_ghosts() {
        exchange(lent_, ghosts_, [](double& own, double arrived) { own = arrived; });
    }

   private:
    struct Peer {
        int rank;
        std::vector<int> columns;
    };

    void add(int x, int y) {
        numbers_[static_cast<std::size_t>(x * grid_[1] + y)] = static_cast<int>(count_++);
    }
    [[nodiscard]] std::size_t find_owner(const Decomposition& d, int ranks, int column) const {
        const auto contains = [](const Range& range, int at) {
            return at >= range.first && at < range.end();
        };
        for (int rank = 0; rank < ranks; ++rank)
            if (contains(d.x_before(rank), column / grid_[1]) &&
                contains(d.y_before(rank), column % grid_[1]))
                return static_cast<std::size_t>(rank);
        return 0;
    }
    /// Tells owners which of their columns are ghost columns of this rank.
    void exchange_lists(const std::vector<std::vector<int>>& ghosts) {
        std::vector<int> out_counts, in_counts(ghosts.size());
        for (const auto& columns : ghosts) out_counts.push_back(static_cast<int>(columns.size()));
        MPI_Alltoall(out_counts.data(), 1, MPI_INT, in_counts.data(), 1, MPI_INT, comm_);
        std::vector<MPI_Request> requests;
        for (std::size_t rank = 0; rank < ghosts.size(); ++rank) {
            const int peer = static_cast<int>(rank);
            if (in_counts[rank] > 0)
                lent_.push_back({peer, std::vector<int>(static_cast<std::size_t>(in_counts[rank]))});
            if (out_counts[rank] > 0) ghosts_.push_back({peer, ghosts[rank]});
        }
        for (Peer& peer : lent_)
            MPI_Irecv(peer.columns.data(), static_cast<int>(peer.columns.size()), MPI_INT, peer.rank, 0,
                      comm_, &requests.emplace_back());
        for (const Peer& peer : ghosts_)
            MPI_Isend(peer.columns.data(), static_cast<int>(peer.columns.size()), MPI_INT, peer.rank, 0,
                      comm_, &requests.emplace_back());
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
    template <typename Store>
    void exchange(const std::vector<Peer>& to, const std::vector<Peer>& from, const Store& store) {
        const auto depth = static_cast<std::size_t>(grid_[2]);
        std::vector<std::vector<double>> out, in;
        std::vector<MPI_Request> requests(to.size() + from.size());
        MPI_Request* request = requests.data();
        for (const Peer& peer : from) {
            std::vector<double>& buffer = in.emplace_back(depth * peer.columns.size());
            MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, peer.rank, 1, comm_,
                      request++);
        }
        for (const Peer& peer : to) {
            std::vector<double>& buffer = out.emplace_back();
            for (const int column : peer.columns) {
                const double* const first = &at(column / grid_[1], column % grid_[1], 0);
                buffer.insert(buffer.end(), first, first + depth);
            }
            MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, peer.rank, 1, comm_,
                      request++);
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        for (std::size_t i = 0; i < from.size(); ++i) {
            const double* arrived = in[i].data();
            for (const int column : from[i].columns) {
                double* own = &at(column / grid_[1], column % grid_[1], 0);
                for (std::size_t z = 0; z < depth; ++z) store(*own++, *arrived++);
            }
        }
    }

    Extents grid_;
    MPI_Comm comm_;
    std::vector<int> numbers_;  // of columns, by x * NY + y; -1: not on this rank
    std::size_t count_ = 0, own_ = 0;
    std::vector<Peer> ghosts_, lent_;
    std::vector<double> values_;
};

/// The charges of this rank, and its part of the sum over wave vectors.
class Pme {
   public:
    Pme(const Options& options, const Decomposition& d, MPI_Comm comm, DistributedFft& fft)
        : grid_(options.grid), influence_(options.grid), columns_(d, comm), fft_(fft) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        y_ = d.y_after(rank), z_ = d.z_after(rank);
        const Range x = d.x_before(rank), y = d.y_before(rank);
        const auto contains = [](const Range& range, double at) {
            return at >= range.first && at < range.end();
        };
        for (int i = 0; i < options.charges; ++i)
            if (const Charge charge = make_charge(i, grid_);
                contains(x, charge.position[0]) && contains(y, charge.position[1]))
                charges_.push_back(charge);
    }
    [[nodiscard]] std::vector<Charge>& charges() { return charges_; }

    /// Computes the forces on this rank's charges. Returns its part of the energy.
    double run_step() {
        columns_.clear();
        for (const Charge& charge : charges_)
            for_each_point(charge, grid_, [&](int x, int y, int z, double weight, const auto&) {
                columns_.at(x, y, z) += charge.charge * weight;
            });
        columns_.add_ghosts();
        std::ranges::copy(columns_.own(), fft_.before().begin());
        fft_.transform_forward();
        double energy = 0;
        Complex* value = fft_.after().data();
        for (int y = y_.first; y < y_.end(); ++y)
            for (int z = z_.first; z < z_.end(); ++z)
                for (int x = 0; x < grid_[0]; ++x, ++value) {
                    const double factor = influence_(x, y, z);
                    energy += factor * std::norm(*value) / 2;
                    *value *= factor;
                }
        fft_.transform_backward();
        std::ranges::transform(fft_.before(), columns_.own().begin(),
                               [](const Complex& c) { return c.real(); });
        columns_.fetch_ghosts();
        for (Charge& charge : charges_) {
            charge.force = {};
            for_each_point(charge, grid_, [&](int x, int y, int z, double, const auto& slopes) {
                for (std::size_t axis = 0; axis < 3; ++axis)
                    charge.force[axis] -= charge.charge * slopes[axis] * columns_.at(x, y, z);
            });
        }
        return energy;
    }

   private:
    Extents grid_;
    Influence influence_;
    Columns columns_;
    DistributedFft& fft_;
    std::vector<Charge> charges_;
    Range y_, z_;
};

}  // namespace fft3d
