// SPDX-License-Identifier: BSD-3-Clause
// Monte Carlo transport of particles through a rod, in which they fly forward or backward, are scattered, or absorbed. A beam
// enters at rank 0 alone, and ranks hand particles over after each step, in which a particle flies to its next collision.
//
//     particle_transport [PARTICLES] [BIRTHS] [METHOD] [ALBEDO] [LENGTH]
//
// PARTICLES in all, which are born in equal parts in the first BIRTHS steps. METHOD is a balancer of one round, `none`, or
// `ring`: each rank hands a quarter of its particles to either neighbor, whatever these have. ALBEDO is the part of collisions
// that scatters, forward as often as backward, LENGTH that of the rod in mean free paths. How many are transmitted,
// reflected and absorbed is held beside the exact solution, and is the same whatever the number of ranks and the method.
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

/// A random number for each key: SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t key) {
    key += 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
    return key ^ (key >> 31);
}
double uniform(std::uint64_t key) { return (static_cast<double>(mixed(key) >> 11) + 0.5) * 0x1p-53; }

struct Rod {
    double albedo = 0.8, length = 3;

    /// Parts of the beam that leave at the far end and at the near one, from the two equations of transport.
    [[nodiscard]] std::array<double, 2> exact() const {
        const double leaves = 1 - albedo / 2, turns = albedo / 2, k = std::sqrt(1 - albedo);
        if (k == 0) return {1 / (1 + length / 2), length / 2 / (1 + length / 2)};
        const double below = k * std::cosh(k * length) + leaves * std::sinh(k * length);
        return {k / below, turns * std::sinh(k * length) / below};
    }
};

/// Particles that have ended, and a sum over them that shows where each did.
struct Ends {
    std::uint64_t transmitted = 0, reflected = 0, absorbed = 0, histories = 0;
    [[nodiscard]] std::uint64_t all() const { return transmitted + reflected + absorbed; }
};

/// To the next collision; false: it has ended.
bool fly(const Rod& rod, Particle& particle, Ends& ends) {
    const std::uint64_t key = mixed(particle.id) + 3 * particle.events++;
    particle.at -= particle.direction * std::log(uniform(key));
    const bool leaves = particle.at < 0 || particle.at > rod.length;
    const bool ends_here = leaves || uniform(key + 1) >= rod.albedo;
    if (!ends_here) {
        particle.direction = uniform(key + 2) < 0.5 ? 1 : -1;
        return true;
    }
    ++(!leaves ? ends.absorbed : particle.at < 0 ? ends.reflected : ends.transmitted);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &particle.at, sizeof bits);
    ends.histories += mixed(particle.id ^ mixed(bits));
    return false;
}

struct Asked {
    std::int64_t particles = 20000, births = 20;
    std::string method = "ring";
    Rod rod;
};

class Run {
   public:
    Run(const Asked& asked, int own, int ranks) : asked_(asked), own_(own), ranks_(ranks) {
        options_.method = asked_.method.c_str();
        options_.reserve_capacity = 1;
    }

    /// False: no particle is left anywhere.
    bool step(std::int64_t number) {
        if (own_ == 0 && number < asked_.births)
            for (std::int64_t i = asked_.particles * number / asked_.births;
                 i < asked_.particles * (number + 1) / asked_.births; ++i)
                particles_.push_back({static_cast<std::uint64_t>(i), 0, 0, 1});
        std::size_t flown = 0;
        std::vector<Particle> next;
        const auto fly_until = [&](std::size_t end) {
            for (; flown < end; ++flown)
                if (fly(asked_.rod, particles_[flown], ends_)) next.push_back(particles_[flown]);
        };
        if (asked_.method != "none") hand_over(fly_until);
        const auto load = static_cast<std::int64_t>(particles_.size());
        fly_until(particles_.size());
        particles_ = std::move(next);
        std::array<std::int64_t, 2> sums{load, static_cast<std::int64_t>(particles_.size())};
        std::int64_t most = 0;
        MPI_Allreduce(&load, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        busiest_ += most;
        flights_ += sums[0];
        return sums[1] > 0 || number + 1 < asked_.births;
    }

    /// Prints what came of the beam, and returns whether it is as it should be.
    bool report(std::int64_t steps) const {
        Ends all;
        MPI_Allreduce(&ends_, &all, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        std::int64_t moved = 0;
        MPI_Reduce(&moved_, &moved, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        const auto particles = static_cast<double>(asked_.particles);
        const std::array<double, 2> exact = asked_.rod.exact(),
                                    found{static_cast<double>(all.transmitted) / particles,
                                          static_cast<double>(all.reflected) / particles};
        bool is_right = all.all() == static_cast<std::uint64_t>(asked_.particles);
        for (std::size_t i = 0; i < 2; ++i)  // five standard deviations of a count
            is_right &= std::fabs(found[i] - exact[i]) <=
                        5 * std::sqrt(exact[i] * (1 - exact[i]) / particles) + 1 / particles;
        if (own_ == 0) {
            std::printf(
                "%s: transmitted %.4f of %.4f, reflected %.4f of %.4f; %lld ended, histories %016llx\n",
                is_right ? "right" : "WRONG", found[0], exact[0], found[1], exact[1],
                static_cast<long long>(all.all()), static_cast<unsigned long long>(all.histories));
            std::printf(
                "%lld steps: the busiest rank has %.3f of the mean, %lld of %lld flights after a move\n",
                static_cast<long long>(steps),
                static_cast<double>(busiest_) * ranks_ / static_cast<double>(flights_),
                static_cast<long long>(moved), static_cast<long long>(flights_));
        }
        return is_right;
    }

   private:
    /// As the source balances: a fixed part goes to both neighbors on a ring.
    topoloom_plan* diffuse() const {
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

    /// Those that stay fly while others travel.
    template <class Fly>
    void hand_over(const Fly& fly_until) {
        topoloom_plan* plan = nullptr;
        const auto count = static_cast<long long>(particles_.size());
        if (asked_.method == "ring")
            plan = diffuse();
        else
            topoloom_balance(MPI_COMM_WORLD, count, &options_, &plan);
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

    Asked asked_;
    int own_, ranks_;
    topoloom_balance_options options_{};
    std::vector<Particle> particles_;
    Ends ends_;
    std::int64_t busiest_ = 0, flights_ = 0, moved_ = 0;
};

/// 0 where the text is not a number from 1 to 10^9.
std::int64_t whole(const char* text) {
    char* end = nullptr;
    const long long number = std::strtoll(text, &end, 10);  // at the limit where it overflows
    return *end == '\0' && number >= 1 && number <= 1'000'000'000 ? number : 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int own = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Asked asked;
    if (argc > 1) asked.particles = whole(argv[1]);
    if (argc > 2) asked.births = whole(argv[2]);
    if (argc > 3) asked.method = argv[3];
    if (argc > 4) asked.rod.albedo = std::atof(argv[4]);
    if (argc > 5) asked.rod.length = std::atof(argv[5]);
    if (asked.particles < 1 || asked.births < 1 || !(asked.rod.albedo >= 0 && asked.rod.albedo <= 1) ||
        !(asked.rod.length > 0 && asked.rod.length <= 100)) {
        if (own == 0)
            std::fprintf(
                stderr,
                "particle_transport: PARTICLES and BIRTHS from 1 to 10^9, METHOD, ALBEDO from 0 to 1, "
                "LENGTH up to 100\n");
        MPI_Finalize();
        return 2;
    }
    Run run(asked, own, ranks);
    std::int64_t steps = 1;
    while (run.step(steps - 1)) ++steps;
    const bool is_right = run.report(steps);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
