// SPDX-License-Identifier: BSD-3-Clause
// Resumable robust tabu search on a dense QAP.
#pragma once

#include <memory>
#include <span>

#include "topoloom/base/rng.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom::qap {

/// Robust tabu search: each iteration evaluates all order^2 / 2 exchanges and performs the best that is not
/// tabu. An exchange is tabu if it returns both items to locations that they left recently, unless it leads
/// to the best value so far (Taillard, Parallel Computing 17, 1991). The tabu tenure is drawn for each move:
/// 8 * order * u^3 iterations for u drawn from [0, 1), as in Taillard's later version. Tenures are shorter if
/// there are many twins, whose exchanges are omitted.
class QapTabu {
   public:
    virtual ~QapTabu() = default;

    /// Restarts from an assignment. Takes about as long as order / 4 iterations.
    virtual void start(Permutation p, Rng rng) = 0;
    /// Runs this many more iterations.
    virtual void run(std::uint64_t iterations) = 0;
    /// Performs steepest descent by at most this many exchanges. Returns true at a local optimum.
    virtual bool descend(std::uint64_t exchanges) = 0;

    /// The best assignment since start(), and its normalized value.
    [[nodiscard]] const Permutation& best() const { return best_; }
    [[nodiscard]] std::int64_t best_value() const { return best_value_; }
    /// Iterations since start(), and since best() was found.
    [[nodiscard]] std::uint64_t iterations() const { return now_; }
    [[nodiscard]] std::uint64_t iterations_since_best() const { return now_ - best_at_; }

   protected:
    Permutation best_;
    std::int64_t best_value_ = 0;
    std::uint64_t now_ = 0;
    std::uint64_t best_at_ = 0;
};

/// Read-only data shared by the searches on one problem.
class QapContext {
   public:
    explicit QapContext(const Qap& qap);
    ~QapContext();

    [[nodiscard]] const NormalizedQap& form() const { return form_; }
    [[nodiscard]] std::span<const std::uint32_t> item_class() const;
    [[nodiscard]] std::span<const std::uint32_t> location_class() const;
    [[nodiscard]] std::unique_ptr<QapTabu> search() const;
    /// Returns the memory in bytes of each search, and of the context.
    [[nodiscard]] static double bytes(std::size_t order) { return 40.0 * static_cast<double>(order * order); }

   private:
    struct Tables;
    NormalizedQap form_;
    std::unique_ptr<const Tables> tables_;
};

}  // namespace topoloom::qap
