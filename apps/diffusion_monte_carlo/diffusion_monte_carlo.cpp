// SPDX-License-Identifier: BSD-3-Clause
// Diffusion Monte Carlo: walkers branch and die, and ranks rebalance walkers before each step.
// `diffusion_monte_carlo harmonic|hydrogen [WALKERS] [STEPS] [METHOD] [BYTES] [MACHINE]`, with WALKERS in total and
// BYTES per walker. METHOD is a balancer, `none`, or `swap`, which sorts the ranks by load and sends a
// message for each walker. With MACHINE, rank i runs on slot i. The energy is bitwise equal for any number of
// ranks and any balancer. It is compared with the exact energy.
#include <mpi.h>

#include <topoloom_balance.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "walkers.hpp"

namespace {

constexpr std::size_t walkers_per_test = 64;  // number of walkers advanced between two tests of the exchange
// With fewer walkers, population control biases the energy; with fewer steps, the initial positions do.
constexpr std::int64_t min_walkers = 200, min_steps = 100;
constexpr char usage[] = "harmonic or hydrogen, WALKERS from 1, STEPS from 4, METHOD, BYTES from 32, MACHINE";

struct Options {
    System system = harmonic;
    std::int64_t walkers = 2000, steps = 400;
    std::string method = "sweep";
    int bytes = 672;
    const char* machine = nullptr;
};

struct RankInfo {
    int own = 0, all = 1;
};

/// Baseline: sorts ranks by load, and sends single walkers from the most loaded to the least loaded rank.
void balance_by_swaps(Walkers& walkers, int bytes, RankInfo ranks) {
    const auto count = static_cast<long long>(walkers.count());
    std::vector<std::pair<long long, int>> list(
        static_cast<std::size_t>(ranks.all));  // pairs of surplus walkers and rank
    std::vector<long long> loads(list.size());
    MPI_Allgather(&count, 1, MPI_LONG_LONG, loads.data(), 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    const long long sum = std::reduce(loads.begin(), loads.end());
    for (int i = 0; i < ranks.all; ++i)
        list[static_cast<std::size_t>(i)] = {loads[static_cast<std::size_t>(i)], i};
    std::sort(list.rbegin(), list.rend());
    for (int i = 0; i < ranks.all; ++i)
        list[static_cast<std::size_t>(i)].first -= sum / ranks.all + (i < sum % ranks.all ? 1 : 0);
    std::size_t here = walkers.count();
    for (std::size_t from = 0, to = list.size() - 1; from < to;) {
        if (list[from].first <= 0 && ++from) continue;
        if (list[to].first >= 0 && to--) continue;
        --list[from].first;
        ++list[to].first;
        if (list[from].second == ranks.own)
            MPI_Send(walkers.data_at(--here), bytes, MPI_BYTE, list[to].second, 0, MPI_COMM_WORLD);
        if (list[to].second != ranks.own) continue;
        walkers.resize(std::max(++here, walkers.count()));
        MPI_Recv(walkers.data_at(here - 1), bytes, MPI_BYTE, list[from].second, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    walkers.resize(here);
}

/// The elapsed time, and the CPU time of this process, in seconds.
struct ElapsedTime {
    double wall = 0, processor = 0;
    static ElapsedTime now() {
        timespec used{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        return {MPI_Wtime(), static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec)};
    }
    void add_since(const ElapsedTime& begin, double sign = 1) {
        const ElapsedTime end = now();
        wall += sign * (end.wall - begin.wall);
        processor += sign * (end.processor - begin.processor);
    }
};

double compute_median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

class Run {
   public:
    Run(const Options& options, RankInfo ranks)
        : options_(options),
          ranks_(ranks),
          walkers_(static_cast<std::size_t>(options.bytes)),
          trial_(options.system.energy) {
        balance_options_.method = options.method.c_str();
        balance_options_.machine = options.machine;
        balance_options_.slot = ranks.own;
        balance_options_.reserve_capacity = 1;
        for (std::int64_t i = options.walkers * ranks.own / ranks.all;
             i < options.walkers * (ranks.own + 1) / ranks.all; ++i) {
            RandomStream draw(static_cast<std::uint64_t>(i), 0);
            walkers_.add({hash_key(static_cast<std::uint64_t>(i)),
                          {draw.draw_normal(), draw.draw_normal(), draw.draw_normal()}});
        }
    }

    void run_step(std::int64_t step) {
        Walkers next(static_cast<std::size_t>(options_.bytes));
        Sums own;
        const auto advance_all = [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                advance_walker(options_.system, walkers_, i, static_cast<std::uint64_t>(step), trial_, next,
                               own);
        };
        const ElapsedTime begin = ElapsedTime::now();
        balancing_ = {};
        if (options_.method == "swap") balance_by_swaps(walkers_, options_.bytes, ranks_);
        const bool exchanges = options_.method != "swap" && options_.method != "none";
        const std::size_t advanced = exchanges ? balance_walkers(advance_all) : 0;
        balancing_.add_since(begin);
        advance_all(advanced, walkers_.count());
        walkers_ = std::move(next);
        control_population(own, step);
        ElapsedTime all;
        all.add_since(begin);
        balancings_.push_back(balancing_.wall);
        steps_.push_back(all.wall);
        processor_[0] += balancing_.processor;
        processor_[1] += all.processor;
    }

    /// Prints the energy, and returns whether it is correct.
    bool print_result() const {
        double processor[2] = {0, 0};
        const double own[2] = {std::reduce(balancings_.begin(), balancings_.end()),
                               std::reduce(steps_.begin(), steps_.end())};
        double seconds[2] = {0, 0};  // of balancing, of all steps
        std::vector<double> slowest(balancings_.size());
        MPI_Reduce(own, seconds, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(balancings_.data(), slowest.data(), static_cast<int>(slowest.size()), MPI_DOUBLE, MPI_MAX,
                   0, MPI_COMM_WORLD);
        MPI_Reduce(processor_, processor, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        const double energy = energy_ / static_cast<double>(measured_);
        const double error = std::fabs(energy - options_.system.energy) / std::fabs(options_.system.energy);
        // Skip the energy check if the run ends before equilibration.
        const bool is_checked = options_.walkers >= min_walkers && options_.steps >= min_steps;
        const bool is_right = corrupt_ == 0 && (!is_checked || error < 0.03);
        const char* good = is_checked ? "right" : "too few walkers or steps to judge";
        if (ranks_.own == 0) {
            std::printf("%s: energy %.17g, known %g; walkers %lld, ids %016llx\n", is_right ? good : "WRONG",
                        energy, options_.system.energy, total_, ids_);
            std::printf("balancing: %.3f us per step; median %.1f of %.1f us, processor time %.2f %%\n",
                        1e6 * seconds[0] / static_cast<double>(options_.steps), 1e6 * compute_median(slowest),
                        1e6 * compute_median(steps_), 100 * processor[0] / processor[1]);
            std::printf("time: %.4g s\n", seconds[1] / static_cast<double>(options_.steps));
        }
        return is_right;
    }

   private:
    /// Rebalances walkers, and advances those that stay while others are in flight. Returns the number that stayed.
    template <class Advance>
    std::size_t balance_walkers(const Advance& advance_all) {
        topoloom_plan* plan = nullptr;
        topoloom_balance(MPI_COMM_WORLD, static_cast<long long>(walkers_.count()), &balance_options_, &plan);
        long long held = plan->before + plan->after - plan->kept;  // reserved capacity
        walkers_.resize(static_cast<std::size_t>(held));
        topoloom_exchange_request request = nullptr;
        topoloom_exchange_start(plan, walkers_.data_at(0), options_.bytes, held, &request);
        const auto kept = static_cast<std::size_t>(plan->kept);
        // MPI makes progress only in these tests.
        int done = 0;
        for (std::size_t first = 0; first < kept;) {
            const std::size_t end = done != 0 ? kept : std::min(kept, first + walkers_per_test);
            const ElapsedTime begin = ElapsedTime::now();
            advance_all(std::exchange(first, end), end);
            balancing_.add_since(begin, -1);
            if (done == 0) topoloom_exchange_test(request, &done);
        }
        topoloom_exchange_finish(&request, &held);
        walkers_.resize(static_cast<std::size_t>(held));
        topoloom_plan_free(&plan);
        return kept;
    }

    /// Sets the trial energy to the mean, corrected to bring the number of walkers back to its initial value.
    void control_population(const Sums& own, std::int64_t step) {
        Sums all;
        MPI_Allreduce(&own, &all, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        total_ = static_cast<long long>(all.walkers);
        ids_ = all.ids;
        corrupt_ += all.corrupt;
        if (total_ == 0) return;
        const double mean = static_cast<double>(static_cast<std::int64_t>(all.energy)) * 0x1p-30 /
                            static_cast<double>(total_);
        smoothed_ = step == 1 ? mean : 0.95 * smoothed_ + 0.05 * mean;
        trial_ = smoothed_ - std::log(static_cast<double>(total_) / static_cast<double>(options_.walkers));
        if (step <= options_.steps / 4) return;  // equilibration
        energy_ += mean;
        ++measured_;
    }

    Options options_;
    RankInfo ranks_;
    Walkers walkers_;
    topoloom_balance_options balance_options_{};
    double trial_, smoothed_ = 0, energy_ = 0, processor_[2] = {0, 0};  // CPU seconds: balancing, all
    ElapsedTime balancing_;                                             // time of balancing in this step
    std::vector<double> balancings_, steps_;
    long long measured_ = 0, total_ = 0;
    unsigned long long corrupt_ = 0, ids_ = 0;
};

/// Parses the command line. Returns false if it is invalid.
bool read_options(int argc, char** argv, Options& options) {
    const std::string system = argc > 1 ? argv[1] : "harmonic";
    if (system == "hydrogen") options.system = hydrogen;
    if (argc > 2) options.walkers = std::atoll(argv[2]);
    if (argc > 3) options.steps = std::atoll(argv[3]);
    if (argc > 4) options.method = argv[4];
    if (argc > 5) options.bytes = std::atoi(argv[5]);
    if (argc > 6) options.machine = argv[6];
    return (system == "harmonic" || system == "hydrogen") && options.walkers > 0 && options.steps > 3 &&
           options.bytes >= static_cast<int>(sizeof(Walker));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    RankInfo ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.all);
    Options options;
    if (!read_options(argc, argv, options)) {
        if (ranks.own == 0) std::fprintf(stderr, "diffusion_monte_carlo: %s\n", usage);
        MPI_Finalize();
        return 2;
    }
    Run run(options, ranks);
    for (std::int64_t step = 1; step <= options.steps; ++step) run.run_step(step);
    const bool is_right = run.print_result();
    MPI_Finalize();
    return is_right ? 0 : 1;
}
