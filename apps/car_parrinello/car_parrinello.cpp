// SPDX-License-Identifier: BSD-3-Clause
// The communication of Car-Parrinello molecular dynamics with plane waves (Kumar 2005, ch. 7). Objects are planes of
// states. `car_parrinello --help` lists the options. In each step:
//
//      I          transform the states to real space: transpose planes of each state
//      II         sum the density of each plane over states
//      III to V   compute the potential from the density, in reciprocal and real space
//      VI         multicast the potential of each plane to that plane of all states
//      VII        multiply, and transform back: forces on the states
//      VIII       orthonormalize the states
//
// States must be orthonormal and equal those of a serial run, and the density must integrate to their number.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fourier.hpp"
#include "options.hpp"
#include "orthonormalize.hpp"
#include "point_formulas.hpp"
#include "serial_reference.hpp"

namespace car_parrinello {
namespace {

/// Ranks with a plane of any state, and the owner of this plane of the density, which is the root.
struct PlaneGroup {
    MPI_Comm comm = MPI_COMM_NULL;
    int root = 0;
};

class Simulation {
   public:
    Simulation(const Options& options, int rank, int ranks)
        : options_(options),
          rank_(rank),
          n_(options.planes),
          states_(options.states, n_, ranks, options.mapping == "states" ? Mapping::states : Mapping::planes),
          whole_planes_(options.states, n_, ranks, Mapping::whole_planes),
          density_(1, n_, ranks, Mapping::whole_planes),
          state_fourier_(MPI_COMM_WORLD, states_, options.bucket),
          density_fourier_(MPI_COMM_WORLD, density_, 1) {
        create_groups();
        for (int state = 0; state < options.states; ++state)
            for (const int plane : states_.owned(rank, state)) {
                Plane& values = psi_[{state, plane}];
                for_each_element([&](int y, int z, std::size_t) {
                    values.push_back(get_initial_value(state, plane, y, z, n_));
                });
            }
        orthonormalize();
    }
    ~Simulation() {
        for (PlaneGroup& group : groups_)
            if (group.comm != MPI_COMM_NULL) MPI_Comm_free(&group.comm);
    }
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    void run_step() {
        Planes real = state_fourier_.to_real(psi_);  // I
        const Planes density = sum_density(real);    // II
        integrate_density(density);
        const Planes potential = compute_potential(density);                  // III to V
        multiply_by_potential(potential, real);                               // VI
        const Planes forces = state_fourier_.to_reciprocal(std::move(real));  // VII
        for (auto& [key, plane] : psi_) {
            const Plane& force = forces.at(key);
            for_each_element([&](int y, int z, std::size_t at) {
                plane[at] = descend(plane[at], force[at], key.second, y, z, n_);
            });
        }
        orthonormalize();  // VIII
    }

    /// Checks orthonormality, the density and the states. Prints the verdict, and returns whether all are right.
    [[nodiscard]] bool check() const {
        const Planes planes = redistribute(MPI_COMM_WORLD, states_, whole_planes_, psi_);
        const std::vector<Complex> overlaps = compute_overlaps(MPI_COMM_WORLD, whole_planes_, planes);
        double overlap_error = 0;
        std::size_t at = 0;
        for (int i = 0; i < options_.states; ++i)
            for (int j = 0; j <= i; ++j)
                overlap_error = std::max(overlap_error, std::abs(overlaps[at++] - (i == j ? 1.0 : 0.0)));
        const bool is_serial = options_.check == "serial";
        const double farthest = is_serial ? compare_with_serial_run() : 0;
        const bool is_right =
            overlap_error <= 1e-10 && density_error_ <= 1e-10 * options_.states && farthest <= 1e-9;
        if (rank_ == 0) {
            std::printf("%s: %d states of %d^3 points, overlaps %.1e from orthonormal, density %.1e from %d",
                        is_right ? "right" : "WRONG", options_.states, n_, overlap_error, density_error_,
                        options_.states);
            if (is_serial) std::printf(", states %.1e from serial", farthest);
            std::printf("\n");
        }
        return is_right;
    }

   private:
    template <class Use>
    void for_each_element(const Use& use) const {
        std::size_t at = 0;
        for (int a = 0; a < n_; ++a)
            for (int b = 0; b < n_; ++b) use(a, b, at++);
    }
    PlaneGroup& get_group(int plane) { return groups_[static_cast<std::size_t>(plane)]; }

    void create_groups() {
        MPI_Group world = MPI_GROUP_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        groups_.resize(static_cast<std::size_t>(n_));
        for (int plane = 0; plane < n_; ++plane) {
            const int root = density_.owner(0, plane);
            std::set<int> members{root};
            for (int state = 0; state < options_.states; ++state) members.insert(states_.owner(state, plane));
            const std::vector<int> list(members.begin(), members.end());
            MPI_Group group = MPI_GROUP_NULL;
            MPI_Group_incl(world, static_cast<int>(list.size()), list.data(), &group);
            MPI_Comm_create(MPI_COMM_WORLD, group, &get_group(plane).comm);
            get_group(plane).root = static_cast<int>(std::ranges::find(list, root) - list.begin());
            MPI_Group_free(&group);
        }
        MPI_Group_free(&world);
    }

    /// Sums the densities of all states on the owners of the density's planes.
    Planes sum_density(const Planes& real) {
        Planes sums;
        for (int z = 0; z < n_; ++z) {
            if (get_group(z).comm == MPI_COMM_NULL) continue;
            std::vector<double> own(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_)),
                all(own.size());
            for (const auto& [key, plane] : real)
                if (key.second == z)
                    for (std::size_t i = 0; i < plane.size(); ++i) own[i] += std::norm(plane[i]);
            MPI_Reduce(own.data(), all.data(), n_ * n_, MPI_DOUBLE, MPI_SUM, get_group(z).root,
                       get_group(z).comm);
            if (density_.owner(0, z) == rank_) sums[{0, z}].assign(all.begin(), all.end());
        }
        return sums;
    }

    void integrate_density(const Planes& density) {
        double integral = 0;
        for (const auto& [key, plane] : density)
            for (const Complex& value : plane) integral += value.real() / n_ / n_ / n_;
        MPI_Allreduce(MPI_IN_PLACE, &integral, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        density_error_ = std::max(density_error_, std::fabs(integral - options_.states));
    }

    [[nodiscard]] Planes compute_potential(const Planes& density) const {
        Planes reciprocal = density_fourier_.to_reciprocal(density);
        for (auto& [key, plane] : reciprocal)
            for_each_element(
                [&](int y, int z, std::size_t at) { plane[at] *= get_coulomb(key.second, y, z, n_); });
        Planes potential = density_fourier_.to_real(std::move(reciprocal));
        for (auto& [key, plane] : potential)
            for_each_element([&](int x, int y, std::size_t at) {
                plane[at] = get_potential(plane[at].real(), density.at(key)[at].real(), x, y, key.second, n_);
            });
        return potential;
    }

    void multiply_by_potential(const Planes& potential, Planes& real) {
        for (int z = 0; z < n_; ++z) {
            if (get_group(z).comm == MPI_COMM_NULL) continue;
            std::vector<double> values(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_));
            if (density_.owner(0, z) == rank_)
                std::ranges::transform(potential.at({0, z}), values.begin(),
                                       [](Complex v) { return v.real(); });
            MPI_Bcast(values.data(), n_ * n_, MPI_DOUBLE, get_group(z).root, get_group(z).comm);
            for (auto& [key, plane] : real)
                if (key.second == z)
                    for (std::size_t i = 0; i < plane.size(); ++i) plane[i] *= values[i];
        }
    }

    void orthonormalize() {
        Planes planes = redistribute(MPI_COMM_WORLD, states_, whole_planes_, psi_);
        std::vector<Complex> overlaps = compute_overlaps(MPI_COMM_WORLD, whole_planes_, planes);
        decompose(options_.states, overlaps);
        substitute(whole_planes_, overlaps, planes);
        psi_ = redistribute(MPI_COMM_WORLD, whole_planes_, states_, planes);
    }

    /// Returns the largest difference from the states of a run on rank 0.
    [[nodiscard]] double compare_with_serial_run() const {
        const std::size_t size = static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_);
        std::optional<SerialStates> serial;
        if (rank_ == 0) serial.emplace(options_.states, n_);
        for (int step = 0; serial && step < options_.steps; ++step) serial->run_step();
        double farthest = 0;
        for (int state = 0; state < options_.states; ++state) {
            Plane cube = serial ? serial->cube(state) : Plane(size * static_cast<std::size_t>(n_));
            MPI_Bcast(cube.data(), static_cast<int>(2 * cube.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
            for (const int x : states_.owned(rank_, state))
                for (std::size_t i = 0; i < size; ++i)
                    farthest = std::max(farthest, std::abs(psi_.at({state, x})[i] -
                                                           cube[static_cast<std::size_t>(x) * size + i]));
        }
        MPI_Allreduce(MPI_IN_PLACE, &farthest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return farthest;
    }

    Options options_;
    int rank_, n_;
    Layout states_, whole_planes_, density_;  // whole_planes_: all states of a plane have one owner
    Fourier state_fourier_, density_fourier_;
    std::vector<PlaneGroup> groups_;
    Planes psi_;
    double density_error_ = 0;
};

int run(const Options& options, int rank, int ranks) {
    Simulation simulation(options, rank, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int step = 0; step < options.steps; ++step) simulation.run_step();
    const double seconds = MPI_Wtime() - begin;
    double slowest = 0;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    const bool is_right = simulation.check();
    if (rank == 0) std::printf("time: %.4g s\n", slowest / options.steps);
    return is_right ? 0 : 1;
}

}  // namespace
}  // namespace car_parrinello

int main(int argc, char** argv) {
    return apps::run_program<car_parrinello::Options>(argc, argv, "car_parrinello", car_parrinello::usage,
                                                      car_parrinello::run);
}
