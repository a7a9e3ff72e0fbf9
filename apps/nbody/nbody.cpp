// SPDX-License-Identifier: BSD-3-Clause
// Direct gravity of N bodies: in each leapfrog step, ranks all-gather the positions of all bodies, and each rank computes
// the accelerations of its own (Karlsson 2012, algorithm 6.14). `nbody --help` lists the options. Momentum and energy
// must be conserved, and positions must equal those of a serial run.
#include <mpi.h>

#include <topoloom_mpi.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "allgather.hpp"
#include "bodies.hpp"
#include "options.hpp"

namespace nbody {
namespace {

/// Duplicates MPI_COMM_WORLD in the chosen order. Returns MPI_COMM_NULL after an error, which is printed.
MPI_Comm create_ordered_comm(const std::string& order) {
    MPI_Comm comm = MPI_COMM_NULL;
    if (order == "world") {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        return comm;
    }
    const std::string options = "order=" + order;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (topoloom_comm_order(MPI_COMM_WORLD, order == "remap" ? nullptr : options.c_str(), &comm) !=
        MPI_SUCCESS)
        comm = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return comm;
}

/// Takes simulated time for the attraction between some pairs of bodies, because SimGrid does not measure it.
void simulate_pairs([[maybe_unused]] std::size_t pairs) {
#ifdef SMPI_H
    static const double ns =
        std::getenv("NS_PER_PAIR") != nullptr ? std::atof(std::getenv("NS_PER_PAIR")) : 0;
    if (ns > 0) smpi_execute(1e-9 * ns * static_cast<double>(pairs));
#endif
}

class Simulation {
   public:
    Simulation(MPI_Comm comm, const Options& options)
        : comm_(comm),
          options_(options),
          rank_(get_rank(comm)),
          total_(std::int64_t{options.bodies} * get_size(comm)),
          bodies_(std::int64_t{options.bodies} * rank_, options.bodies, total_),
          masses_(static_cast<std::size_t>(total_)),
          gather_(comm, options.gather, options.bodies) {
        MPI_Allgather(bodies_.masses.data(), options.bodies, MPI_DOUBLE, masses_.data(), options.bodies,
                      MPI_DOUBLE, comm);
        accelerate(gather_);
        before_ = sum_over_ranks();
    }

    /// Runs all steps, and returns whether the result is right.
    bool run() {
        Gather gather(comm_, options_.gather, options_.bodies);  // its time excludes the initial gather
        MPI_Barrier(comm_);
        const double begin = MPI_Wtime();
        for (int step = 0; step < options_.steps; ++step) {
            bodies_.drift();
            accelerate(gather);
            bodies_.kick();
        }
        double seconds[2] = {MPI_Wtime() - begin, gather.seconds()}, slowest[2] = {0, 0};
        MPI_Reduce(seconds, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, comm_);
        const bool is_right = check();
        if (rank_ == 0)
            std::printf("time: %.4g s\ncommunication: %.4g s\n", slowest[0] / options_.steps,
                        slowest[1] / options_.steps);
        return is_right;
    }

   private:
    static int get_rank(MPI_Comm comm) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        return rank;
    }
    static int get_size(MPI_Comm comm) {
        int size = 1;
        MPI_Comm_size(comm, &size);
        return size;
    }
    void accelerate(Gather& gather) {
        gather.gather(bodies_.positions, [&](std::size_t first, std::span<const Vector> positions) {
            add_accelerations(bodies_, positions, std::span(masses_).subspan(first, positions.size()));
            simulate_pairs(bodies_.positions.size() * positions.size());
        });
    }
    /// Positions of all bodies, by MPI_Allgather, so that a fault of the tested algorithm cannot hide itself.
    [[nodiscard]] std::vector<Vector> gather_positions() const {
        std::vector<Vector> all(masses_.size());
        MPI_Allgather(bodies_.positions.data(), 3 * options_.bodies, MPI_DOUBLE, all.data(),
                      3 * options_.bodies, MPI_DOUBLE, comm_);
        return all;
    }
    [[nodiscard]] Sums sum_over_ranks() const {
        const Sums own = compute_sums(bodies_, gather_positions(), masses_);
        Sums all;
        MPI_Allreduce(&own, &all, 5, MPI_DOUBLE, MPI_SUM, comm_);
        return all;
    }
    /// Checks conservation and positions; prints the verdict.
    [[nodiscard]] bool check() const {
        const Sums after = sum_over_ranks();
        double momentum = 0;
        for (std::size_t a = 0; a < 3; ++a)
            momentum = std::max(momentum, std::fabs(after.momentum[a] - before_.momentum[a]));
        const double energy =
            std::fabs(after.kinetic + after.potential - before_.kinetic - before_.potential) /
            (before_.kinetic - before_.potential);
        const std::vector<Vector> all = gather_positions();
        const bool is_serial = options_.check == "serial";
        double farthest = 0;
        if (rank_ == 0 && is_serial) {
            const std::vector<Vector> serial = run_serially(total_, options_.steps);
            for (std::size_t i = 0; i < all.size(); ++i)
                for (std::size_t a = 0; a < 3; ++a)
                    farthest = std::max(farthest, std::fabs(all[i][a] - serial[i][a]));
        }
        MPI_Bcast(&farthest, 1, MPI_DOUBLE, 0, comm_);
        const bool is_right = farthest <= 1e-9 && momentum <= 1e-12 && energy <= 1e-3;
        if (rank_ == 0) {
            std::printf("%s: %lld bodies, %d steps, momentum changed by %.1e, energy by %.1e",
                        is_right ? "right" : "WRONG", static_cast<long long>(total_), options_.steps,
                        momentum, energy);
            if (is_serial) std::printf(", positions %.1e from serial", farthest);
            std::printf("\n");
        }
        return is_right;
    }

    MPI_Comm comm_;
    Options options_;
    int rank_;
    std::int64_t total_;
    Bodies bodies_;
    std::vector<double> masses_;
    Gather gather_;
    Sums before_;
};

int run(const Options& options, int /*rank*/, int /*ranks*/) {
    MPI_Comm comm = create_ordered_comm(options.order);
    if (comm == MPI_COMM_NULL) return 2;
    const bool is_right = Simulation(comm, options).run();
    MPI_Comm_free(&comm);
    return is_right ? 0 : 1;
}

}  // namespace
}  // namespace nbody

int main(int argc, char** argv) {
    return apps::run_program<nbody::Options>(argc, argv, "nbody", nbody::usage, nbody::run);
}
