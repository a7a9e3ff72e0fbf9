// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/qap_moves.hpp"

#include <algorithm>

#include "topoloom/qap/qap_kernel.hpp"

namespace topoloom::qap {

namespace {

template <class T>
std::vector<T> padded_rows(std::span<const std::int64_t> m, std::size_t n, std::size_t stride,
                           bool transpose) {
    std::vector<T> rows(n * stride);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            rows[i * stride + j] = static_cast<T>(transpose ? m[j * n + i] : m[i * n + j]);
    }
    return rows;
}

std::vector<std::int64_t> transpose_matrix(std::span<const std::int64_t> m, std::size_t n) {
    std::vector<std::int64_t> t(m.size());
    for (std::size_t k = 0; k < m.size(); ++k) t[k % n * n + k / n] = m[k];
    return t;
}

}  // namespace

template <class T>
QapTables<T>::QapTables(const NormalizedQap& form)
    : order(form.order),
      stride(pad_to_lanes(form.order)),
      symmetric(form.symmetric),
      has_linear(!form.linear.empty()),
      item_class(twin_classes(form.order, form.a, form.linear)),
      location_class(twin_classes(form.order, form.b, transpose_matrix(form.linear, form.order))),
      a_(padded_rows<T>(form.a, order, stride, false)),
      b_(padded_rows<T>(form.b, order, stride, false)),
      linear_(form.linear.begin(), form.linear.end()) {
    if (!symmetric) {
        at_ = padded_rows<T>(form.a, order, stride, true);
        bt_ = padded_rows<T>(form.b, order, stride, true);
    }
}

template <class T>
QapMoves<T>::QapMoves(const QapTables<T>& tables)
    : tables_(tables),
      order_(tables.order),
      until_by_item_(order_ * order_),
      until_by_location_(order_ * order_) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < order_; ++i) {
        offset_.push_back(size);
        size += QapTables<T>::pad_to_lanes(i);
    }
    offset_.push_back(size);
    delta_.resize(size);
    tabu_until_.resize(size);
    for (std::vector<T>* v :
         {&x_, &y_, &x_at_, &sum_a_, &sum_b_, &near_r_, &near_s_, &with_r_, &with_s_, &here_})
        v->resize(tables.stride);
    if (!tables.symmetric) {
        xt_.resize(tables.stride);
        yt_.resize(tables.stride);
    }
}

template <class T>
void QapMoves<T>::start(std::span<const std::uint32_t> p) {
    p_.assign(p.begin(), p.end());
    location_class_.clear();
    for (const std::uint32_t x : p) location_class_.push_back(tables_.location_class[x]);
    std::fill(tabu_until_.begin(), tabu_until_.end(), never);
    std::fill(until_by_item_.begin(), until_by_item_.end(), T{0});
    std::fill(until_by_location_.begin(), until_by_location_.end(), T{0});
    for (std::size_t i = 0; i < order_; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const bool twins =
                tables_.item_class[i] == tables_.item_class[j] || location_class_[i] == location_class_[j];
            tabu_until(i)[j] = twins ? never : T{0};
        }
    }
    // cost[i * stride + x]: cost of item i at location x (rows of a by columns of b, then columns of a by
    // rows of b).
    const std::size_t stride = tables_.stride;
    std::vector<T> cost(order_ * stride);
    std::vector<T> factor(stride);
    const auto add_costs = [&](const auto& a_row, const T* b_rows) {
        for (std::size_t i = 0; i < order_; ++i) {
            for (std::size_t k = 0; k < order_; ++k) factor[p_[k]] = a_row(i)[k];
            weighted_row_sum(b_rows, order_, stride, factor.data(), sum_a_.data());
            for (std::size_t x = 0; x < order_; ++x) cost[i * stride + x] += sum_a_[x];
        }
    };
    add_costs([&](std::size_t i) { return tables_.a(i); }, tables_.b_column(0));
    if (!tables_.symmetric) add_costs([&](std::size_t i) { return tables_.a_column(i); }, tables_.b(0));
    for (std::size_t i = 0; i < order_; ++i) {
        here_[i] = cost[i * stride + p_[i]];
        for (std::size_t j = 0; j < i; ++j) {
            const T there = cost[i * stride + p_[j]] + cost[j * stride + p_[i]];
            row(i)[j] = there - here_[i] - here_[j] + pair_correction(i, j) + linear_change(i, j);
        }
    }
    for (std::vector<T>* v : {&x_, &y_, &xt_, &yt_, &x_at_}) std::fill(v->begin(), v->end(), T{0});
    find_minima(0);
}

/// Computes the deltas of exchanges that share an item with the exchange of r and s, minus the amounts that
/// the following update of all exchanges adds.
template <class T>
void QapMoves<T>::update_symmetric(std::uint32_t r, std::uint32_t s) {
    const std::uint32_t pr = p_[r];
    const std::uint32_t ps = p_[s];
    const T *ar = tables_.a(r), *as = tables_.a(s), *br = tables_.b(pr), *bs = tables_.b(ps);
    for (std::size_t k = 0; k < order_; ++k) {
        near_r_[k] = br[p_[k]];
        near_s_[k] = bs[p_[k]];
    }
    T both = 0;
    for (std::size_t k = 0; k < order_; ++k) {
        x_[k] = ar[k] - as[k];
        y_[k] = near_r_[k] - near_s_[k];
        both += ar[k] * near_s_[k] - as[k] * near_r_[k];  // the terms k = r and k = s cancel
    }
    x_[r] = x_[s] = y_[r] = y_[s] = 0;
    for (std::size_t k = 0; k < order_; ++k) x_at_[p_[k]] = x_[k];
    weighted_row_sum(tables_.a(0), order_, tables_.stride, y_.data(), sum_a_.data());
    weighted_row_sum(tables_.b(0), order_, tables_.stride, x_at_.data(), sum_b_.data());

    const T of_move = delta(r, s);
    copy_exchanges(r, with_r_);
    copy_exchanges(s, with_s_);
    // The difference between the two cyclic shifts of u, r and s. One of them moves u to pr, r to ps and s to
    // pu.
    const T fixed = both + tables_.linear(r, ps) - tables_.linear(s, pr);
    const T ars = ar[s];
    const T brs = br[ps];
    for (std::size_t u = 0; u < order_; ++u) sum_a_[u] -= sum_b_[p_[u]];
    if (tables_.has_linear) {
        for (std::size_t u = 0; u < order_; ++u) {
            sum_a_[u] += tables_.linear(u, pr) - tables_.linear(u, ps) + tables_.linear(s, p_[u]) -
                         tables_.linear(r, p_[u]);
        }
    }
    for (std::size_t u = 0; u < order_; ++u) {
        const T bur = near_r_[u];
        const T bus = near_s_[u];
        const T difference =
            sum_a_[u] + fixed + ar[u] * (brs - bus - bus) + as[u] * (bur + bur - brs) + ars * (bus - bur);
        const T sum = with_r_[u] + with_s_[u] + of_move;
        const T less = of_move + x_[u] * y_[u];
        with_s_[u] = (sum + difference) / 2 - less;
        with_r_[u] = (sum - difference) / 2 - less;
    }
    with_r_[s] = with_s_[r] = -of_move;
    store_exchanges(r, with_r_);
    store_exchanges(s, with_s_);
}

template <class T>
void QapMoves<T>::copy_exchanges(std::uint32_t r, std::vector<T>& with) const {
    std::copy_n(row(r), r, with.data());
    with[r] = 0;
    for (std::size_t u = r + 1; u < order_; ++u) with[u] = delta_[offset_[u] + r];
}

template <class T>
void QapMoves<T>::store_exchanges(std::uint32_t r, const std::vector<T>& with) {
    std::copy_n(with.data(), r, row(r));
    for (std::size_t u = r + 1; u < order_; ++u) delta_[offset_[u] + r] = with[u];
}

/// The asymmetric case: uses the costs of r and s at all locations, and the costs of all items at the new
/// locations of r and s.
template <class T>
void QapMoves<T>::update_asymmetric(std::uint32_t r, std::uint32_t s) {
    const T of_move = delta(r, s);
    for (std::size_t k = 0; k < order_; ++k) {
        const std::uint32_t z = p_[k];
        const bool other = k != r && k != s;
        x_[k] = other ? tables_.a(r)[k] - tables_.a(s)[k] : T{0};
        y_[k] = other ? tables_.b(p_[r])[z] - tables_.b(p_[s])[z] : T{0};
        xt_[k] = other ? tables_.a_column(r)[k] - tables_.a_column(s)[k] : T{0};
        yt_[k] = other ? tables_.b_column(p_[r])[z] - tables_.b_column(p_[s])[z] : T{0};
        here_[k] -= x_[k] * y_[k] + xt_[k] * yt_[k];
    }
    std::swap(p_[r], p_[s]);
    compute_exchanges(r, with_r_);
    compute_exchanges(s, with_s_);
    for (std::size_t u = 0; u < order_; ++u) {
        const T update = x_[u] * y_[u] + xt_[u] * yt_[u];
        with_r_[u] -= update;
        with_s_[u] -= update;
    }
    with_r_[s] = with_s_[r] = -of_move;
    store_exchanges(r, with_r_);
    store_exchanges(s, with_s_);
    std::swap(p_[r], p_[s]);
}

/// Computes the deltas of all exchanges with v in the current assignment. All entries of here_ except that of
/// v must be valid.
template <class T>
void QapMoves<T>::compute_exchanges(std::uint32_t v, std::vector<T>& with) {
    const std::size_t stride = tables_.stride;
    const std::uint32_t x = p_[v];
    const auto add_up = [&](const T* matrix, const auto& factor, std::vector<T>& sum) {
        for (std::uint32_t k = 0; k < order_; ++k) factor(k);
        weighted_row_sum(matrix, order_, stride, x_at_.data(), near_r_.data());
        for (std::size_t k = 0; k < order_; ++k) sum[k] += near_r_[k];
    };
    std::fill(sum_a_.begin(), sum_a_.end(), T{0});  // cost of every item at x
    std::fill(sum_b_.begin(), sum_b_.end(), T{0});  // cost of v at every location
    add_up(tables_.a_column(0), [&](std::uint32_t k) { x_at_[k] = tables_.b(x)[p_[k]]; }, sum_a_);
    add_up(tables_.a(0), [&](std::uint32_t k) { x_at_[k] = tables_.b_column(x)[p_[k]]; }, sum_a_);
    add_up(tables_.b_column(0), [&](std::uint32_t k) { x_at_[p_[k]] = tables_.a(v)[k]; }, sum_b_);
    add_up(tables_.b(0), [&](std::uint32_t k) { x_at_[p_[k]] = tables_.a_column(v)[k]; }, sum_b_);
    here_[v] = sum_b_[x];
    for (std::size_t u = 0; u < order_; ++u) {
        const std::uint32_t y = p_[u];
        with[u] = sum_a_[u] + sum_b_[y] - here_[u] - here_[v] + pair_correction(u, v) + linear_change(u, v);
    }
}

/// The correction for the pair i, j in an exchange delta. The cost of an item at its new location assumes
/// that the other item is still there, at distance 0. The costs at the current locations count the pair
/// twice.
template <class T>
T QapMoves<T>::pair_correction(std::size_t i, std::size_t j) const {
    const T there = tables_.b(p_[i])[p_[j]];
    if (tables_.symmetric) return 2 * tables_.a(i)[j] * there;
    return (tables_.a(i)[j] + tables_.a(j)[i]) * (there + tables_.b(p_[j])[p_[i]]);
}

template <class T>
T QapMoves<T>::linear_change(std::size_t i, std::size_t j) const {
    if (!tables_.has_linear) return 0;
    return tables_.linear(i, p_[j]) - tables_.linear(i, p_[i]) + tables_.linear(j, p_[i]) -
           tables_.linear(j, p_[j]);
}

template <class T>
void QapMoves<T>::refresh_tabu(std::uint32_t r) {
    const std::uint32_t item = tables_.item_class[r];
    const std::uint32_t here = location_class_[r];
    const T* by_item = until_by_item_.data() + item * order_;
    const T* by_location = until_by_location_.data() + here * order_;
    const std::uint32_t* items = tables_.item_class.data();
    const auto until = [&](std::size_t u) {
        const std::uint32_t there = location_class_[u];
        return items[u] == item || there == here ? never : std::min(by_item[there], by_location[items[u]]);
    };
    T* of_r = tabu_until(r);
    for (std::size_t u = 0; u < r; ++u) of_r[u] = until(u);
    for (std::size_t u = r + 1; u < order_; ++u) tabu_until_[offset_[u] + r] = until(u);
}

template <class T>
void QapMoves<T>::forbid(std::uint32_t i, std::uint32_t x, T until) {
    const std::uint32_t item = tables_.item_class[i];
    const std::uint32_t location = tables_.location_class[x];
    until_by_item_[item * order_ + location] = until;
    until_by_location_[location * order_ + item] = until;
}

template <class T>
void QapMoves<T>::exchange(std::uint32_t i, std::uint32_t j, T now) {
    if (tables_.symmetric) {
        update_symmetric(i, j);
    } else {
        update_asymmetric(i, j);
    }
    std::swap(p_[i], p_[j]);
    std::swap(location_class_[i], location_class_[j]);
    refresh_tabu(i);
    refresh_tabu(j);
    find_minima(now);
    std::fill(x_.begin(), x_.end(), T{0});
}

template <class T>
void QapMoves<T>::find_minima(T now) {
    const bool two = !tables_.symmetric;
    const Minima<T> least = update_and_find_minima<T>(
        triangle(), x_.data(), y_.data(), two ? xt_.data() : nullptr, two ? yt_.data() : nullptr, now);
    min_free_ = least.free;
    min_any_ = least.any;
}

template <class T>
typename QapMoves<T>::Move QapMoves<T>::find(std::uint32_t from, T value, T now) {
    std::size_t i = from;
    const std::size_t at = find_exchange<T>(triangle(), i, value, now);
    return {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(at - offset_[i]), value};
}

template class QapTables<std::int32_t>;
template class QapTables<std::int64_t>;
template class QapTables<double>;
template class QapMoves<std::int32_t>;
template class QapMoves<std::int64_t>;
template class QapMoves<double>;

}  // namespace topoloom::qap
