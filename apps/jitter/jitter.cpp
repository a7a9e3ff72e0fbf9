// SPDX-License-Identifier: BSD-3-Clause
// Steps of equal work on ranks that the operating system delays at random (Kumar 2005, ch. 7). With a blocking all-reduce
// per step, a delay of any rank delays all. An asynchronous all-reduce absorbs delays. A send that waits for its receiver
// passes them on ("stretched"). `jitter --help` lists the options. Work and delays are slept, so that ranks can share
// cores. Every sum and every message is checked.
#include <mpi.h>

#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "options.hpp"

namespace jitter {
namespace {

constexpr double slice = 1e-3;  // seconds of work between two polls

/// Hashes a key to a random number by SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t hash_key(std::uint64_t key) {
    key = (key + 1) * 0x9e3779b97f4a7c15U;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
    return key ^ (key >> 31);
}
std::uint64_t hash_step(int seed, int rank, int step) {
    return hash_key(hash_key(hash_key(static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(rank)) +
                    static_cast<std::uint64_t>(step));
}

/// The term of a rank in the sum of a step.
std::int64_t get_term(int rank, int step) {
    return static_cast<std::int64_t>(hash_step(0, rank, step) >> 32);
}

void sleep_for(double seconds) {
    if (seconds > 0) usleep(static_cast<useconds_t>(1e6 * seconds + 0.5));
}

/// The communication of a step, until it is waited for.
struct Exchange {
    std::int64_t own = 0, sum = 0;
    MPI_Request reduction = MPI_REQUEST_NULL;
    std::vector<char> sent;
    std::vector<std::vector<char>> received;
    std::vector<MPI_Request> sends, receives;
};

class NoisyRun {
   public:
    NoisyRun(const Options& options, int rank, int ranks)
        : options_(options),
          rank_(rank),
          ranks_(ranks),
          exchanges_(static_cast<std::size_t>(options.is_asynchronous ? options.lag + 1 : 1)) {
        const auto messages = static_cast<std::size_t>(options.messages);
        for (Exchange& exchange : exchanges_) {
            exchange.sends.assign(messages, MPI_REQUEST_NULL);
            exchange.receives.assign(messages, MPI_REQUEST_NULL);
            exchange.received.resize(messages);
        }
    }

    /// Runs all steps. Returns the seconds of each step on this rank.
    std::vector<double> run() {
        const int lag = options_.is_asynchronous ? options_.lag : 0;
        std::vector<double> seconds;
        for (int step = 0; step < options_.steps; ++step) {
            const double begin = MPI_Wtime();
            run_step(step);
            if (step >= lag) finish(step - lag);
            seconds.push_back(MPI_Wtime() - begin);
        }
        for (int step = std::max(0, options_.steps - lag); step < options_.steps; ++step) finish(step);
        return seconds;
    }
    [[nodiscard]] long long wrong_results() const { return wrong_results_; }
    [[nodiscard]] long long delays() const { return delays_; }

   private:
    Exchange& get_exchange(int step) {
        return exchanges_[static_cast<std::size_t>(step) % exchanges_.size()];
    }

    void run_step(int step) {
        Exchange& exchange = get_exchange(step);
        for (int i = 0; i < options_.messages; ++i) {
            const auto at = static_cast<std::size_t>(i);
            exchange.received[at].assign(static_cast<std::size_t>(options_.bytes), 0);
            MPI_Irecv(exchange.received[at].data(), options_.bytes, MPI_CHAR,
                      (rank_ + ranks_ - i - 1) % ranks_, 0, MPI_COMM_WORLD, &exchange.receives[at]);
        }
        work(options_.work / 2, step);
        send_messages(exchange, step);
        work(options_.work / 2, step);
        const double drawn = static_cast<double>(hash_step(options_.seed + 1, rank_, step) >> 11) * 0x1p-53;
        if (drawn < options_.probability) {
            ++delays_;
            sleep_for(options_.noise);
        }
        exchange.own = get_term(rank_, step);
        if (options_.is_asynchronous)
            MPI_Iallreduce(&exchange.own, &exchange.sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD,
                           &exchange.reduction);
        else
            MPI_Allreduce(&exchange.own, &exchange.sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    }

    /// Works for some seconds, and polls, because many MPIs make progress only in calls.
    void work(double seconds, int step) {
        for (; seconds > 0; seconds -= slice) {
            sleep_for(std::min(seconds, slice));
            int done = 0;
            for (int i = 1; i <= std::min<int>(step, static_cast<int>(exchanges_.size()) - 1); ++i)
                MPI_Test(&get_exchange(step - i).reduction, &done, MPI_STATUS_IGNORE);
        }
    }

    void send_messages(Exchange& exchange, int step) {
        exchange.sent.assign(static_cast<std::size_t>(options_.bytes),
                             static_cast<char>(get_term(rank_, step)));
        for (int i = 0; i < options_.messages; ++i) {
            MPI_Request& request = exchange.sends[static_cast<std::size_t>(i)];
            if (options_.stretch == "any" && last_send_ != nullptr) MPI_Wait(last_send_, MPI_STATUS_IGNORE);
            if (options_.stretch == "same" && step > 0)
                MPI_Wait(&get_exchange(step - 1).sends[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE);
            MPI_Issend(exchange.sent.data(), options_.bytes, MPI_CHAR, (rank_ + i + 1) % ranks_, 0,
                       MPI_COMM_WORLD, &request);
            last_send_ = &request;
        }
    }

    /// Waits for the communication of a step, and checks the sum and the messages.
    void finish(int step) {
        Exchange& exchange = get_exchange(step);
        MPI_Wait(&exchange.reduction, MPI_STATUS_IGNORE);
        MPI_Waitall(options_.messages, exchange.receives.data(), MPI_STATUSES_IGNORE);
        MPI_Waitall(options_.messages, exchange.sends.data(), MPI_STATUSES_IGNORE);
        std::int64_t expected = 0;
        for (int rank = 0; rank < ranks_; ++rank) expected += get_term(rank, step);
        wrong_results_ += exchange.sum != expected;
        for (int i = 0; i < options_.messages; ++i) {
            const auto filling = static_cast<char>(get_term((rank_ + ranks_ - i - 1) % ranks_, step));
            wrong_results_ += std::ranges::any_of(exchange.received[static_cast<std::size_t>(i)],
                                                  [&](char byte) { return byte != filling; });
        }
    }

    Options options_;
    int rank_, ranks_;
    std::vector<Exchange> exchanges_;  // of the latest steps
    MPI_Request* last_send_ = nullptr;
    long long wrong_results_ = 0, delays_ = 0;
};

/// Prints the result: the mean time of a step on the slowest rank, and the longest step, averaged over ranks. Returns
/// whether the result is right.
bool print_result(const Options& options, const NoisyRun& run, const std::vector<double>& seconds,
                  double total, int rank, int ranks) {
    const long long own[2] = {run.wrong_results(), run.delays()};
    long long counts[2] = {0, 0};
    double slowest = 0;
    std::vector<double> sums(seconds.size());
    MPI_Allreduce(own, counts, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&total, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(seconds.data(), sums.data(), options.steps, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0) return counts[0] == 0;
    std::printf("%s: %d ranks, %d steps, %lld delays, %lld wrong sums and messages\n",
                counts[0] == 0 ? "right" : "WRONG", ranks, options.steps, counts[1], counts[0]);
    std::printf("step: mean %.4g ms, maximum %.4g ms\n", 1e3 * slowest / options.steps,
                1e3 * *std::ranges::max_element(sums) / ranks);
    std::printf("time: %.4g s\n", slowest / options.steps);
    return counts[0] == 0;
}

int run(const Options& options, int rank, int ranks) {
    NoisyRun noisy(options, rank, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const std::vector<double> seconds = noisy.run();
    return print_result(options, noisy, seconds, MPI_Wtime() - begin, rank, ranks) ? 0 : 1;
}

}  // namespace
}  // namespace jitter

int main(int argc, char** argv) {
    return apps::run_program<jitter::Options>(argc, argv, "jitter", jitter::usage, jitter::run);
}
