// SPDX-License-Identifier: BSD-3-Clause
// Parallel radix sort of uniform 64-bit keys, in four passes over digits of 16 bits: radix_sort --help.
//
// In each pass, ranks sum their histograms of 65,536 buckets, map consecutive buckets to ranks, and send keys to the
// ranks of their buckets (Kumar 2005, chapter 7). The switch is how keys are sent. Under SimGrid, only messages take
// simulated time.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "key_exchange.hpp"
#include "options.hpp"

namespace radix_sort {
namespace {

constexpr int digit_bits = 16, key_bits = 64;
constexpr std::size_t bucket_count = std::size_t{1} << digit_bits;
using Histogram = std::vector<std::uint32_t>;

std::size_t get_bucket(Key key, int shift) { return key >> shift & (bucket_count - 1); }

Histogram count_digits(const std::vector<Key>& keys, int shift) {
    Histogram counts(bucket_count);
    for (const Key key : keys) ++counts[get_bucket(key, shift)];
    return counts;
}

/// Sorts keys by a digit; keys with equal digits stay in order.
std::vector<Key> sort_by_digit(const std::vector<Key>& keys, int shift, const Histogram& counts) {
    std::vector<std::size_t> next(bucket_count);
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
    std::vector<Key> sorted(keys.size());
    for (const Key key : keys) sorted[next[get_bucket(key, shift)]++] = key;
    return sorted;
}

/// Counts this rank's keys for each rank. The rank of a bucket follows from the position of its middle among all keys.
std::vector<int> count_keys_for_ranks(const Histogram& own, const Histogram& all, int ranks) {
    const auto total = std::max(std::uint64_t{1}, std::reduce(all.begin(), all.end(), std::uint64_t{0}));
    std::vector<int> counts(static_cast<std::size_t>(ranks));
    std::uint64_t before = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        // The middle of an empty last bucket is behind the last rank.
        const std::uint64_t middle = std::min(before + all[bucket] / 2, total - 1);
        counts[middle * static_cast<std::uint64_t>(ranks) / total] += static_cast<int>(own[bucket]);
        before += all[bucket];
    }
    return counts;
}

/// Number, sum and hash of all keys; these do not depend on their order.
using Fingerprint = std::array<std::uint64_t, 3>;

Fingerprint compute_fingerprint(const std::vector<Key>& keys) {
    Fingerprint own{keys.size(), 0, 0};
    for (const Key key : keys) {
        own[1] += key;
        // A hash: bits that two keys exchange change no sum of keys.
        const Key mixed = (key ^ key >> 29) * 0xbf58476d1ce4e5b9u;
        own[2] += mixed ^ mixed >> 32;
    }
    Fingerprint all{};
    MPI_Allreduce(own.data(), all.data(), 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/// Whether the keys of all ranks, in the order of ranks, are sorted. Collective.
bool are_sorted(const std::vector<Key>& keys, int ranks) {
    struct Ends {
        std::uint64_t is_sorted, count, first, last;
    };
    const Ends own{std::ranges::is_sorted(keys) ? 1u : 0u, keys.size(), keys.empty() ? 0 : keys.front(),
                   keys.empty() ? 0 : keys.back()};
    std::vector<Ends> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&own, 4, MPI_UINT64_T, all.data(), 4, MPI_UINT64_T, MPI_COMM_WORLD);
    Key last = 0;
    for (const Ends& ends : all) {
        if (ends.is_sorted == 0) return false;
        if (ends.count == 0) continue;
        if (ends.first < last) return false;
        last = ends.last;
    }
    return true;
}

struct Times {
    double all = 0, exchange = 0;
};

/// Sorts the keys of all ranks; returns this rank's share. Collective.
std::vector<Key> sort(std::vector<Key> keys, int ranks, Exchange& exchange, Times& times) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int shift = 0; shift < key_bits; shift += digit_bits) {
        const Histogram own = count_digits(keys, shift);
        Histogram all(bucket_count);
        MPI_Allreduce(own.data(), all.data(), static_cast<int>(bucket_count), MPI_UINT32_T, MPI_SUM,
                      MPI_COMM_WORLD);
        const std::vector<Key> sorted = sort_by_digit(keys, shift, own);
        const double before = MPI_Wtime();
        keys = exchange.run(sorted, count_keys_for_ranks(own, all, ranks));
        times.exchange += MPI_Wtime() - before;
        keys = sort_by_digit(keys, shift, count_digits(keys, shift));
    }
    times.all = MPI_Wtime() - begin;
    return keys;
}

std::unique_ptr<Exchange> make_exchange(const Options& options, int rank, int ranks) {
    const auto keys = static_cast<std::size_t>(options.keys);
    if (options.exchange == "combined")
        return std::make_unique<CombinedExchange>(topoloom::Combining::mesh, keys);
    if (options.exchange == "sparse")
        return std::make_unique<SparseExchange>(static_cast<std::size_t>(ranks));
    if (options.exchange == "streams")
        return std::make_unique<StreamExchange>(rank, static_cast<std::size_t>(ranks), options.dimensions);
    return std::make_unique<AlltoallvExchange>();
}

/// Makes, sorts and checks keys. Returns the exit status. Collective.
int run(const Options& options, int rank, int ranks) {
    std::seed_seq seeds{options.seed, rank};
    std::mt19937_64 draw(seeds);
    std::vector<Key> keys(static_cast<std::size_t>(options.keys));
    std::ranges::generate(keys, draw);
    const Fingerprint before = compute_fingerprint(keys);
    Times times;
    keys = sort(std::move(keys), ranks, *make_exchange(options, rank, ranks), times);
    const bool is_permutation = compute_fingerprint(keys) == before, is_sorted = are_sorted(keys, ranks);
    std::array<double, 2> slowest{times.all, times.exchange};
    MPI_Allreduce(MPI_IN_PLACE, slowest.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%s: %lld keys, %s, %s\ntime: %.4g s\nexchange: %.4g s\n",
                    is_sorted && is_permutation ? "right" : "WRONG", static_cast<long long>(before[0]),
                    is_sorted ? "sorted" : "not sorted",
                    is_permutation ? "a permutation of the input" : "not a permutation of the input",
                    slowest[0], slowest[1]);
    return is_sorted && is_permutation ? 0 : 1;
}

}  // namespace
}  // namespace radix_sort

int main(int argc, char** argv) {
    return apps::run_program<radix_sort::Options>(argc, argv, "radix_sort", radix_sort::usage,
                                                  radix_sort::run);
}
