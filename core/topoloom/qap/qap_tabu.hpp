// SPDX-License-Identifier: BSD-3-Clause
// Resumable robust tabu search on a dense QAP.
#pragma once

#include <memory>
#include <span>

#include "topoloom/base/rng.hpp"
#include "topoloom/qap/qap.hpp"

namespace topoloom::qap {

/// Always performs the best exchange that is not tabu; an exchange is tabu while both items return to locations that
/// they left lately, unless it leads to the best value so far (Taillard, Parallel Computing 17, 1991). How long an item
/// may not return is redrawn each time, mostly short and rarely long: 8 * order * u^3 iterations for u drawn from
/// [0, 1), as in Taillard's later version; shorter if there are many twins, whose exchanges are left out. One iteration
/// looks at all order^2 / 2 exchanges.
class QapTabu {
   public:
    virtual ~QapTabu() = default;

    /// Restarts from an assignment. Costs about as much as order / 4 iterations.
    virtual void start(Permutation p, Rng rng) = 0;
    /// Runs this many more iterations.
    virtual void run(std::uint64_t iterations) = 0;
    /// Steepest descent by at most this many exchanges; returns true at a local optimum.
    virtual bool descend(std::uint64_t exchanges) = 0;

    /// The best assignment since start(), and its normalized value.
    [[nodiscard]] const Permutation& best() const { return best_; }
    [[nodiscard]] std::int64_t best_value() const { return best_value_; }
    /// Iterations since start(), and since best() was found.
    [[nodiscard]] std::uint64_t iterations() const { return now_; }
    [[nodiscard]] std::uint64_t since_best() const { return now_ - best_at_; }

   protected:
    Permutation best_;
    std::int64_t best_value_ = 0;
    std::uint64_t now_ = 0;
    std::uint64_t best_at_ = 0;
};

/// Read-only data that searches on one problem share.
class QapContext {
   public:
    explicit QapContext(const Qap& qap);
    ~QapContext();

    [[nodiscard]] const NormalizedQap& form() const { return form_; }
    [[nodiscard]] std::span<const std::uint32_t> item_class() const;
    [[nodiscard]] std::span<const std::uint32_t> location_class() const;
    [[nodiscard]] std::unique_ptr<QapTabu> search() const;
    /// Memory in bytes of each search, and of this context.
    [[nodiscard]] static double bytes(std::size_t order) { return 40.0 * static_cast<double>(order * order); }

   private:
    struct Tables;
    NormalizedQap form_;
    std::unique_ptr<const Tables> tables_;
};

}  // namespace topoloom::qap
