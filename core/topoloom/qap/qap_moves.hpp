// SPDX-License-Identifier: BSD-3-Clause
// Value changes (deltas) of all exchanges in an assignment, updated after each move: the inner loop of robust
// tabu search.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "topoloom/qap/qap.hpp"
#include "topoloom/qap/qap_kernel.hpp"

namespace topoloom::qap {

/// Matrices of a NormalizedQap, shared by all searches. Rows are padded with zeros to whole vectors.
template <class T>
class QapTables {
   public:
    static constexpr std::size_t lanes = 32 / sizeof(T);

    explicit QapTables(const NormalizedQap& form);

    [[nodiscard]] static std::size_t pad_to_lanes(std::size_t n) { return (n + lanes - 1) / lanes * lanes; }
    [[nodiscard]] const T* a(std::size_t i) const { return a_.data() + i * stride; }
    [[nodiscard]] const T* b(std::size_t x) const { return b_.data() + x * stride; }
    [[nodiscard]] const T* a_column(std::size_t i) const {
        return (symmetric ? a_ : at_).data() + i * stride;
    }
    [[nodiscard]] const T* b_column(std::size_t x) const {
        return (symmetric ? b_ : bt_).data() + x * stride;
    }
    /// Linear cost of item i at location x.
    [[nodiscard]] T linear(std::size_t i, std::size_t x) const {
        return has_linear ? linear_[i * order + x] : T{0};
    }

    std::size_t order;
    std::size_t stride;
    bool symmetric;
    bool has_linear;                                        // anything but 0
    std::vector<std::uint32_t> item_class, location_class;  // twins

   private:
    std::vector<T> a_, b_, at_, bt_, linear_;
};

/// An assignment with the delta and the end of the tabu tenure of each exchange. Updates follow Taillard
/// (Parallel Computing 17, 1991): O(1) for exchanges that share no item with the move. Other exchanges need
/// sums over all items. One sum suffices for two exchanges: for symmetric matrices, the values of an
/// assignment and of its two cyclic shifts of three items add up to the values of the three exchanges. T is
/// std::int32_t, double (exact up to 2^53) or std::int64_t, the cheapest type that can represent the
/// magnitude. Memory: order^2 values.
template <class T>
class QapMoves {
   public:
    static constexpr T never = std::numeric_limits<T>::max();  // value of tabu_until for exchanges of twins
    static constexpr T nothing = std::numeric_limits<T>::max();

    struct Move {
        std::uint32_t i, j;  // i > j
        T delta;
    };

    explicit QapMoves(const QapTables<T>& tables);

    /// Sets the assignment, computes all deltas, and clears the tabu state of all exchanges except those of
    /// twins. O(order^3), vectorized.
    void start(std::span<const std::uint32_t> p);

    [[nodiscard]] const Permutation& assignment() const { return p_; }
    [[nodiscard]] T delta(std::size_t i, std::size_t j) const { return i > j ? row(i)[j] : row(j)[i]; }

    /// Performs an exchange, updates all deltas, and finds two minima: over the exchanges that are not tabu
    /// at `now`, and over all exchanges except those of twins.
    void exchange(std::uint32_t i, std::uint32_t j, T now);
    /// Recomputes both minima without a move.
    void find_minima(T now);
    [[nodiscard]] T min_free() const { return min_free_; }
    [[nodiscard]] T min_any() const { return min_any_; }

    /// Both search cyclically from row `from`. find_free() finds the first exchange with value min_free()
    /// that is not tabu; find_any() finds the first exchange with value min_any().
    [[nodiscard]] Move find_free(std::uint32_t from, T now) { return find(from, min_free_, now); }
    [[nodiscard]] Move find_any(std::uint32_t from) { return find(from, min_any_, never / 2); }

    /// Makes all exchanges tabu that move item i, or a twin of i, to location x or a twin of x. An exchange
    /// of two items is tabu until the earlier of their two ends.
    void forbid(std::uint32_t i, std::uint32_t x, T until);

   private:
    [[nodiscard]] T* row(std::size_t i) { return delta_.data() + offset_[i]; }
    [[nodiscard]] const T* row(std::size_t i) const { return delta_.data() + offset_[i]; }
    [[nodiscard]] T* tabu_until(std::size_t i) { return tabu_until_.data() + offset_[i]; }
    [[nodiscard]] const T* tabu_until(std::size_t i) const { return tabu_until_.data() + offset_[i]; }

    [[nodiscard]] ExchangeTriangle<T> triangle() {
        return {order_, offset_.data(), delta_.data(), tabu_until_.data()};
    }
    void update_symmetric(std::uint32_t r, std::uint32_t s);
    void copy_exchanges(std::uint32_t r, std::vector<T>& with) const;
    void store_exchanges(std::uint32_t r, const std::vector<T>& with);
    void update_asymmetric(std::uint32_t r, std::uint32_t s);
    void compute_exchanges(std::uint32_t v, std::vector<T>& with);
    [[nodiscard]] T pair_correction(std::size_t i, std::size_t j) const;
    [[nodiscard]] T linear_change(std::size_t i, std::size_t j) const;
    void refresh_tabu(std::uint32_t r);
    [[nodiscard]] Move find(std::uint32_t from, T value, T now);

    const QapTables<T>& tables_;
    std::size_t order_;
    Permutation p_;
    std::vector<std::size_t> offset_;  // start of row i, which contains the exchanges with j < i
    std::vector<T> delta_, tabu_until_;
    std::vector<T> until_by_item_, until_by_location_;  // by item and location class, and transposed
    std::vector<std::uint32_t> location_class_;         // location class of each item's location
    std::vector<T> x_, y_, xt_, yt_, x_at_, sum_a_, sum_b_;
    std::vector<T> here_;  // current cost of each item; only if asymmetric
    std::vector<T> near_r_, near_s_, with_r_,
        with_s_;  // [item]: distances to r and s, exchanges with r and s
    T min_free_ = nothing;
    T min_any_ = nothing;
};

extern template class QapTables<std::int32_t>;
extern template class QapTables<std::int64_t>;
extern template class QapTables<double>;
extern template class QapMoves<std::int32_t>;
extern template class QapMoves<std::int64_t>;
extern template class QapMoves<double>;

/// Calls use(T{}) with the cheapest exact type for the problem.
template <class Use>
decltype(auto) with_qap_type(const NormalizedQap& form, Use&& use) {
    if (form.magnitude < (std::int64_t{1} << 30)) return use(std::int32_t{});
    if (form.magnitude < (std::int64_t{1} << 52)) return use(double{});
    return use(std::int64_t{});
}

}  // namespace topoloom::qap
