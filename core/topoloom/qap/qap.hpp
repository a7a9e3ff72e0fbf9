// SPDX-License-Identifier: BSD-3-Clause
// Dense quadratic assignment problems: small placement problems, and instances of QAPLIB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace topoloom::qap {

/// An assignment: item i is at location p[i]; every location has one item.
using Permutation = std::vector<std::uint32_t>;

/// The problem: minimize the sum over i, j of a(i, j) * b(p[i], p[j]) plus the sum over i of linear(i, p[i])
/// (Koopmans, Beckmann, Econometrica 25, 1957). Matrices can be asymmetric, with nonzero diagonals. All
/// values are exact.
class Qap {
   public:
    /// Matrices are row-major; `linear` may be empty. Throws Error unless all matrices are order x order with
    /// order >= 1, or if a value can exceed 2^60.
    Qap(std::size_t order, std::vector<std::int64_t> a, std::vector<std::int64_t> b,
        std::vector<std::int64_t> linear = {});

    [[nodiscard]] std::size_t order() const { return order_; }
    [[nodiscard]] std::int64_t a(std::size_t i, std::size_t j) const { return a_[i * order_ + j]; }
    [[nodiscard]] std::int64_t b(std::size_t x, std::size_t y) const { return b_[x * order_ + y]; }
    /// Linear cost of item i at location x, in addition to a(i, i) * b(x, x).
    [[nodiscard]] std::int64_t linear(std::size_t i, std::size_t x) const {
        return linear_.empty() ? 0 : linear_[i * order_ + x];
    }
    [[nodiscard]] std::span<const std::int64_t> a() const { return a_; }
    [[nodiscard]] std::span<const std::int64_t> b() const { return b_; }
    [[nodiscard]] std::span<const std::int64_t> linear() const { return linear_; }

    /// O(order^2).
    [[nodiscard]] std::int64_t value(std::span<const std::uint32_t> p) const;

   private:
    std::size_t order_;
    std::vector<std::int64_t> a_;
    std::vector<std::int64_t> b_;
    std::vector<std::int64_t> linear_;  // empty: nothing
};

/// Throws Error unless p contains each of 0 .. order-1 exactly once.
void require_permutation(std::span<const std::uint32_t> p, std::size_t order);

/// A Qap normalized for search. If one matrix is symmetric, the other matrix is replaced by the sum of itself
/// and its transpose, so that only pairs i < j count. Common factors are removed: value = factor * normalized
/// value.
struct NormalizedQap {
    explicit NormalizedQap(const Qap& qap);

    std::size_t order;
    bool symmetric;                    // the sum runs over i < j only
    std::int64_t factor = 1;           // common factor of the value
    std::vector<std::int64_t> a, b;    // zero diagonals
    std::vector<std::int64_t> linear;  // [item][location], including the diagonals; may be empty
    std::int64_t max_delta;            // upper bound on the change of the value by an exchange
    /// Upper bound on differences of values and on their intermediate results.
    std::int64_t magnitude;
};

/// Returns the twin class of each index. Twins are indices whose exchange does not change the value for any
/// other matrix. The class of i is its smallest twin; rows of twins in `linear` are equal. O(order^2).
[[nodiscard]] std::vector<std::uint32_t> twin_classes(std::size_t order, std::span<const std::int64_t> matrix,
                                                      std::span<const std::int64_t> linear = {});

}  // namespace topoloom::qap
