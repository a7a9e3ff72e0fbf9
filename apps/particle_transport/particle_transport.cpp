// SPDX-License-Identifier: BSD-3-Clause
// Monte Carlo transport of particles through a rod. Particles fly forward or backward until they are scattered or
// absorbed. All particles of the beam that enters the rod are born on rank 0. In each step, ranks rebalance
// particles, then each particle flies to its next collision.
//
//     particle_transport [PARTICLES] [BIRTHS] [METHOD] [ALBEDO] [LENGTH]
//
// PARTICLES in total, born in equal parts in the first BIRTHS steps. METHOD is a balancer of one round, `none`, or
// `ring`: each rank sends a quarter of its particles to each neighbor, independent of loads. ALBEDO is the fraction of
// collisions that scatter, half of them backward; LENGTH is the length of the rod in mean free paths. The transmitted,
// reflected and absorbed fractions are compared with the exact solution. These fractions do not depend on the number of
// ranks or the method.
#include <mpi.h>

#include <topoloom_balance.h>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Particle {
    std::uint64_t id, events;
    double at, direction;
};

/// Hashes a key to a random number by SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t hash_key(std::uint64_t key) {
    key += 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
    return key ^ (key >> 31);
}
double draw_uniform(std::uint64_t key) { return (static_cast<double>(hash_key(key) >> 11) + 0.5) * 0x1p-53; }

struct Rod {
    double albedo = 0.8, length = 3;

    /// Exact transmitted and reflected fractions of the beam, from the two transport equations.
    [[nodiscard]] std::array<double, 2> exact_fractions() const {
        const double leaves = 1 - albedo / 2, turns = albedo / 2, k = std::sqrt(1 - albedo);
        if (k == 0) return {1 / (1 + length / 2), length / 2 / (1 + length / 2)};
        const double below = k * std::cosh(k * length) + leaves * std::sinh(k * length);
        return {k / below, turns * std::sinh(k * length) / below};
    }
};

/// Numbers of particles that have ended, and a checksum of their final positions.
struct Tally {
    std::uint64_t transmitted = 0, reflected = 0, absorbed = 0, histories = 0;
    [[nodiscard]] std::uint64_t total() const { return transmitted + reflected + absorbed; }
};

/// Moves a particle to its next collision. Returns false if the particle left the rod or was absorbed.
bool fly_to_collision(const Rod& rod, Particle& particle, Tally& tally) {
    const std::uint64_t key = hash_key(particle.id) + 3 * particle.events++;
    particle.at -= particle.direction * std::log(draw_uniform(key));
    const bool leaves = particle.at < 0 || particle.at > rod.length;
    const bool ends_here = leaves || draw_uniform(key + 1) >= rod.albedo;
    if (!ends_here) {
        particle.direction = draw_uniform(key + 2) < 0.5 ? 1 : -1;
        return true;
    }
    ++(!leaves ? tally.absorbed : particle.at < 0 ? tally.reflected : tally.transmitted);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &particle.at, sizeof bits);
    tally.histories += hash_key(particle.id ^ hash_key(bits));
    return false;
}

struct Options {
    std::int64_t particles = 20000, births = 20;
    std::string method = "ring";
    Rod rod;
};

class Run {
   public:
    Run(const Options& options, int own, int ranks) : options_(options), own_(own), ranks_(ranks) {
        balance_options_.method = options_.method.c_str();
        balance_options_.reserve_capacity = 1;
    }

    /// Runs one step. Returns false if no particles are left on any rank.
    bool run_step(std::int64_t step) {
        if (own_ == 0 && step < options_.births)
            for (std::int64_t i = options_.particles * step / options_.births;
                 i < options_.particles * (step + 1) / options_.births; ++i)
                particles_.push_back({static_cast<std::uint64_t>(i), 0, 0, 1});
        std::size_t flown = 0;
        std::vector<Particle> next;
        const auto fly_until = [&](std::size_t end) {
            for (; flown < end; ++flown)
                if (fly_to_collision(options_.rod, particles_[flown], tally_))
                    next.push_back(particles_[flown]);
        };
        if (options_.method != "none") balance_particles(fly_until);
        const auto load = static_cast<std::int64_t>(particles_.size());
        fly_until(particles_.size());
        particles_ = std::move(next);
        std::array<std::int64_t, 2> sums{load, static_cast<std::int64_t>(particles_.size())};
        std::int64_t most = 0;
        MPI_Allreduce(&load, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        busiest_ += most;
        flights_ += sums[0];
        return sums[1] > 0 || step + 1 < options_.births;
    }

    /// Prints the fractions, and returns whether they are correct. `seconds` is the time of all steps on this rank.
    bool print_result(std::int64_t steps, double seconds) const {
        double slowest = 0;
        MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        Tally all;
        MPI_Allreduce(&tally_, &all, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        std::int64_t moved = 0;
        MPI_Reduce(&moved_, &moved, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        const auto particles = static_cast<double>(options_.particles);
        const std::array<double, 2> exact = options_.rod.exact_fractions(),
                                    found{static_cast<double>(all.transmitted) / particles,
                                          static_cast<double>(all.reflected) / particles};
        bool is_right = all.total() == static_cast<std::uint64_t>(options_.particles);
        for (std::size_t i = 0; i < 2; ++i)  // the tolerance is five standard deviations of a count
            is_right &= std::fabs(found[i] - exact[i]) <=
                        5 * std::sqrt(exact[i] * (1 - exact[i]) / particles) + 1 / particles;
        if (own_ == 0) {
            std::printf(
                "%s: transmitted %.4f of %.4f, reflected %.4f of %.4f; %lld ended, histories %016llx\n",
                is_right ? "right" : "WRONG", found[0], exact[0], found[1], exact[1],
                static_cast<long long>(all.total()), static_cast<unsigned long long>(all.histories));
            std::printf(
                "%lld steps: the busiest rank has %.3f of the mean, %lld of %lld flights after a move\n",
                static_cast<long long>(steps),
                static_cast<double>(busiest_) * ranks_ / static_cast<double>(flights_),
                static_cast<long long>(moved), static_cast<long long>(flights_));
            std::printf("time: %.4g s\n", slowest / static_cast<double>(steps));
        }
        return is_right;
    }

   private:
    /// Creates a plan that sends a quarter of the particles to each of the two neighbors on a ring.
    topoloom_plan* make_ring_plan() const {
        const auto count = static_cast<long long>(particles_.size());
        std::vector<int> to{(own_ + ranks_ - 1) % ranks_, (own_ + 1) % ranks_};
        if (ranks_ == 2) to.pop_back();
        if (ranks_ == 1 || count < 4) to.clear();
        const std::vector<long long> tasks(to.size(), count / 4);
        topoloom_plan* plan = nullptr;
        topoloom_plan_create(MPI_COMM_WORLD, count, static_cast<int>(to.size()), to.data(), tasks.data(),
                             nullptr, &plan);
        return plan;
    }

    /// Rebalances particles, and moves those that stay while others are in flight.
    template <class Fly>
    void balance_particles(const Fly& fly_until) {
        topoloom_plan* plan = nullptr;
        const auto count = static_cast<long long>(particles_.size());
        if (options_.method == "ring")
            plan = make_ring_plan();
        else
            topoloom_balance(MPI_COMM_WORLD, count, &balance_options_, &plan);
        moved_ += plan->after - plan->kept;
        long long held = plan->before + plan->after - plan->kept;
        particles_.resize(static_cast<std::size_t>(held));
        topoloom_exchange_request request = nullptr;
        topoloom_exchange_start(plan, particles_.data(), sizeof(Particle), held, &request);
        fly_until(static_cast<std::size_t>(plan->kept));
        topoloom_exchange_finish(&request, &held);
        particles_.resize(static_cast<std::size_t>(held));
        topoloom_plan_free(&plan);
    }

    Options options_;
    int own_, ranks_;
    topoloom_balance_options balance_options_{};
    std::vector<Particle> particles_;
    Tally tally_;
    std::int64_t busiest_ = 0, flights_ = 0, moved_ = 0;
};

/// Parses a number from 1 to 10^9. Returns 0 for invalid text.
std::int64_t parse_count_or_zero(const char* text) {
    char* end = nullptr;
    const long long number = std::strtoll(text, &end, 10);
    return *end == '\0' && number >= 1 && number <= 1'000'000'000 ? number : 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int own = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Options options;
    if (argc > 1) options.particles = parse_count_or_zero(argv[1]);
    if (argc > 2) options.births = parse_count_or_zero(argv[2]);
    if (argc > 3) options.method = argv[3];
    if (argc > 4) options.rod.albedo = std::atof(argv[4]);
    if (argc > 5) options.rod.length = std::atof(argv[5]);
    if (options.particles < 1 || options.births < 1 ||
        !(options.rod.albedo >= 0 && options.rod.albedo <= 1) ||
        !(options.rod.length > 0 && options.rod.length <= 100)) {
        if (own == 0)
            std::fprintf(
                stderr,
                "particle_transport: PARTICLES and BIRTHS from 1 to 10^9, METHOD, ALBEDO from 0 to 1, "
                "LENGTH up to 100\n");
        MPI_Finalize();
        return 2;
    }
    Run run(options, own, ranks);
    std::int64_t steps = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    while (run.run_step(steps - 1)) ++steps;
    const bool is_right = run.print_result(steps, MPI_Wtime() - begin);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
