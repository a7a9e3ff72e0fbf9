// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/qap_solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "topoloom/base/parallel.hpp"
#include "topoloom/qap/qap_pool.hpp"
#include "topoloom/qap/qap_tabu.hpp"

namespace topoloom::qap {

namespace {
constexpr std::size_t pool_size = 15;
/// A full pool is replaced after it has rejected this number of consecutive offers, times its size.
constexpr std::size_t failures_per_member = 3;
/// Maximum iterations without improvement, per search, as multiples of the order. If few entries dominate a
/// matrix, children of good parents converge quickly; nearly random matrices need long searches. Tuned on
/// QAPLIB.
constexpr std::array<std::uint64_t, qap_searches> stall_limit{10, 20, 20, 30, 30, 50, 100, 200};
constexpr std::array<std::uint64_t, qap_searches> stall_limit_if_dominated{2, 2, 3, 3, 3, 4, 4, 5};
constexpr double dominated = 2;  // minimum flow dominance for stall_limit_if_dominated
/// Number of abandoned pools whose best members initialize the next pool.
constexpr std::size_t champions_per_pool = 5;
/// Limits of work per search and round. The first rounds are short to respect small budgets.
constexpr std::uint64_t min_work_per_round = std::uint64_t{1} << 12;
constexpr std::uint64_t max_work_per_round = std::uint64_t{1} << 21;

/// Returns the ratio of the standard deviation of the entries to their mean (Vollmann, Buffa, Management
/// Science 12, 1966).
double flow_dominance(std::span<const std::int64_t> matrix) {
    double sum = 0;
    double squares = 0;
    for (const std::int64_t entry : matrix) {
        const auto v = static_cast<double>(entry);
        sum += v;
        squares += v * v;
    }
    const auto count = static_cast<double>(matrix.size());
    const double mean = sum / count;
    return mean > 0 ? std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean : 0;
}

class MemeticSearch {
   public:
    MemeticSearch(const Qap& qap, std::span<const std::uint32_t> start, const QapSolveOptions& options)
        : qap_(qap),
          options_(options),
          context_(qap),
          rng_(options.seed, 1),
          pool_(context_.item_class(), context_.location_class(), pool_size,
                std::max<std::size_t>(1, qap.order() / 50)) {
        best_.assignment =
            start.empty() ? random_assignment(qap.order(), rng_) : Permutation(start.begin(), start.end());
        best_.value = qap.value(best_.assignment);
        home_ = start.empty() ? Permutation{} : best_.assignment;
        const bool short_ones = std::max(flow_dominance(qap.a()), flow_dominance(qap.b())) >= dominated;
        for (std::size_t k = 0; k < qap_searches; ++k) {
            Search& search = searches_[k];
            search.tabu = context_.search();
            search.stall_limit = (short_ones ? stall_limit_if_dominated : stall_limit)[k] * qap.order();
            search.next = k == 0 ? best_.assignment : draw_start();
        }
    }

    QapResult run(Meter& meter) {
        const std::uint64_t pairs = qap_.order() * (qap_.order() - 1) / 2;
        // Work of an iteration, including work outside the loops over pairs.
        const std::uint64_t cost = pairs + 16 * qap_.order();
        std::uint64_t left = options_.iterations;
        std::uint64_t work = min_work_per_round;
        meter.spend(0);
        while (!meter.is_exhausted() && left > 0 && best_.value > options_.target) {
            const std::uint64_t iterations = std::min(work / cost, left / qap_searches) + 1;
            work = std::min(2 * work, max_work_per_round);
            for (Search& search : searches_) search.stream = ++streams_;
            parallel_for(qap_searches, options_.threads,
                         [&](std::size_t k, int) { searches_[k].run_iterations(options_.seed, iterations); });
            for (Search& search : searches_) collect_result(search);
            if (failures_ > failures_per_member * pool_size) restart_pool();
            left -= std::min(left, iterations * qap_searches);
            meter.spend(iterations * qap_searches * pairs);
        }
        return best_;
    }

   private:
    struct Search {
        std::unique_ptr<QapTabu> tabu;
        std::uint64_t stall_limit;  // iterations without improvement until the search ends
        Permutation next;           // start of the next search; empty to continue the current one
        std::uint64_t stream = 0;

        void run_iterations(std::uint64_t seed, std::uint64_t iterations) {
            if (!next.empty()) tabu->start(std::move(next), Rng(seed, stream));
            next.clear();
            tabu->run(iterations);
        }
    };

    /// Returns the start of a search that does not start from a child of the pool.
    [[nodiscard]] Permutation draw_start() {
        return home_.empty() ? random_assignment(qap_.order(), rng_)
                             : perturb(home_, 2 + qap_.order() / 4, rng_);
    }

    void collect_result(Search& search) {
        const QapTabu& tabu = *search.tabu;
        const std::int64_t value = tabu.best_value() * context_.form().factor;
        if (value < best_.value) {
            best_ = {tabu.best(), value};
            if (!home_.empty()) home_ = tabu.best();
        }
        if (tabu.iterations_since_best() < search.stall_limit) return;
        const bool taken = pool_.offer({tabu.best(), tabu.best_value()});
        if (pool_.is_full()) failures_ = taken ? 0 : failures_ + 1;
        search.next = pool_.is_full() ? pool_.make_child(rng_) : draw_start();
    }

    /// Discards a stagnant pool, and also all searches that started from it, because they would restore it.
    void restart_pool() {
        champions_.push_back(pool_.members().front());
        pool_.clear();
        failures_ = 0;
        for (Search& search : searches_) search.next = draw_start();
        if (champions_.size() < champions_per_pool) return;
        for (QapPool::Member& champion : champions_) pool_.offer(std::move(champion));
        champions_.clear();
    }

    const Qap& qap_;
    const QapSolveOptions& options_;
    QapContext context_;
    Rng rng_;
    QapPool pool_;
    std::array<Search, qap_searches> searches_;
    QapResult best_;
    Permutation home_;  // best assignment found near the given start; empty if no start is given
    std::uint64_t streams_ = 1;
    std::vector<QapPool::Member> champions_;  // best members of abandoned pools
    std::size_t failures_ = 0;
};

}  // namespace

QapResult solve_qap(const Qap& qap, std::span<const std::uint32_t> start, Meter& meter,
                    const QapSolveOptions& options) {
    if (!start.empty()) require_permutation(start, qap.order());
    if (qap.order() == 1) return {{0}, qap.value(Permutation{0})};
    return MemeticSearch(qap, start, options).run(meter);
}

}  // namespace topoloom::qap
