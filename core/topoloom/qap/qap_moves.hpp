// SPDX-License-Identifier: BSD-3-Clause
// Value changes (deltas) of all exchanges in an assignment, updated after each move: the inner loop of robust
// tabu search.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "topoloom/qap/qap.hpp"
#include "topoloom/qap/qap_tables.hpp"

namespace topoloom::qap {

/// An assignment with the deltas of all exchanges, and the list of those that are tabu. Updates follow
/// Taillard (Parallel Computing 17, 1991): O(1) for exchanges that share no item with the move. Other
/// exchanges need sums over all items. One sum suffices for two exchanges: for symmetric matrices, the values
/// of an assignment and of its two cyclic shifts of three items add up to the values of the three exchanges.
/// Few exchanges are tabu at a time, so these are marked in the matrix of deltas, which is all that an
/// iteration reads. Memory: order^2 values.
template <class T>
class QapMoves {
   public:
    using Time = std::uint32_t;  // iterations
    static constexpr T nothing = std::numeric_limits<T>::max();

    struct Move {
        std::uint32_t i, j;  // i > j
        T delta;
    };

    explicit QapMoves(const QapTables<T>& tables);

    /// Sets the assignment, computes all deltas, and ends all tabu tenures. O(order^3), vectorized.
    void start(std::span<const std::uint32_t> p);

    [[nodiscard]] const Permutation& assignment() const { return p_; }
    /// The change of the value if i and j exchange their locations.
    [[nodiscard]] T delta(std::size_t i, std::size_t j) const;

    /// Makes all exchanges tabu that move item i, or a twin of i, to location x or a twin of x. An exchange
    /// of two items is tabu until the earlier of their two ends. To be called for both items of a move and
    /// their old locations, before the move.
    void forbid(std::uint32_t i, std::uint32_t x, Time until);
    /// Performs an exchange, updates all deltas, and ends tabu tenures at `now`.
    void exchange(std::uint32_t i, std::uint32_t j, Time now);

    /// Minimum over the exchanges that are not tabu; nothing if there is none. Exchanges of twins, which
    /// change nothing, do not count.
    [[nodiscard]] T min_free() const { return min_delta_ < tabu_mark / 2 ? min_delta_ : nothing; }
    /// Minimum over all exchanges, tabu or not.
    [[nodiscard]] T min_any() const;

    /// Find the first exchange with the minimum, cyclically from row `from`.
    [[nodiscard]] Move find_free(std::uint32_t from);
    [[nodiscard]] Move find_any(std::uint32_t from);

   private:
    using Word = WrappingType<T>;
    /// Added to the deltas of tabu exchanges: exceeds all deltas by far, and the sums are exact.
    static constexpr T tabu_mark = [] {
        if constexpr (std::is_integral_v<T>)
            return T{nothing / 2 + 1};
        else
            return T{0x1p52};
    }();

    struct TabuExchange {
        std::uint32_t i, j;  // i > j
        Time until;
    };

    [[nodiscard]] T& at(std::size_t i, std::size_t j) {
        return i > j ? delta_[offset_[i] + j] : delta_[offset_[j] + i];
    }
    [[nodiscard]] const T& at(std::size_t i, std::size_t j) const {
        return i > j ? delta_[offset_[i] + j] : delta_[offset_[j] + i];
    }
    [[nodiscard]] bool are_twins(std::size_t i, std::size_t j) const {
        return tables_.item_class[i] == tables_.item_class[j] || location_class_[i] == location_class_[j];
    }
    [[nodiscard]] ExchangeTriangle<T> triangle() {
        return {order_, offset_.data(), delta_.data(), row_minimum_.data()};
    }
    void end_tenures(std::uint32_t r, std::uint32_t s, Time now);
    void list_tabu_exchanges(std::uint32_t r, std::uint32_t except, Time now);
    void update_symmetric(std::uint32_t r, std::uint32_t s);
    void update_asymmetric(std::uint32_t r, std::uint32_t s);
    void copy_exchanges(std::uint32_t r, std::vector<Word>& with) const;
    void store_exchanges(std::uint32_t r, const std::vector<Word>& with);
    void compute_exchanges(std::uint32_t v, std::vector<Word>& with);
    [[nodiscard]] Word pair_correction(std::size_t i, std::size_t j) const;
    [[nodiscard]] Word linear_change(std::size_t i, std::size_t j) const;
    void update_all();
    [[nodiscard]] Move find(std::uint32_t from, T value);

    const QapTables<T>& tables_;
    std::size_t order_;
    Permutation p_;
    std::vector<std::size_t> offset_;  // start of row i, which contains the exchanges with j < i
    std::vector<T> delta_;             // plus tabu_mark if tabu; nothing for twins and padding
    std::vector<T> row_minimum_;
    T min_delta_ = nothing;
    std::vector<TabuExchange> tabu_;
    std::vector<Time> until_by_item_;            // [item class * order + location class]
    std::vector<Time> until_by_location_;        // [location class * order + item]
    std::vector<std::uint32_t> candidates_;      // buffer of list_tabu_exchanges()
    std::vector<std::uint32_t> location_class_;  // location class of each item's location
    std::vector<Word> x_, y_, xt_, yt_, x_at_, xt_at_, sum_a_, sum_b_;
    std::vector<Word> here_;  // current cost of each item; only if asymmetric
    std::vector<Word> near_r_, near_s_, with_r_,
        with_s_;  // [item]: distances to r and s, exchanges with r and s
    std::vector<Int16Pair> x_pairs_, y_pairs_;
    typename PaddedMatrix<T>::Scratch scratch_;
};

extern template class QapMoves<std::int32_t>;
extern template class QapMoves<std::int64_t>;
extern template class QapMoves<double>;

}  // namespace topoloom::qap
