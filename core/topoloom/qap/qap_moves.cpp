// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/qap_moves.hpp"

#include <algorithm>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

namespace {

template <class Word>
Int16Pair narrow(Word first, Word second) {
    return {static_cast<std::int16_t>(first), static_cast<std::int16_t>(second)};
}

/// Sets difference[k] = one[k] - other[k], or that of the elements at index[k].
template <class Word>
void set_differences(const Word* one, const Word* other, std::span<const std::uint32_t> index,
                     std::vector<Word>& difference) {
    for (std::size_t k = 0; k < index.size(); ++k) difference[k] = one[index[k]] - other[index[k]];
    if (!index.empty()) return;
    for (std::size_t k = 0; k < difference.size(); ++k) difference[k] = one[k] - other[k];
}

}  // namespace

template <class T>
QapMoves<T>::QapMoves(const QapTables<T>& tables)
    : tables_(tables),
      order_(tables.order),
      until_by_item_(order_ * order_),
      until_by_location_(order_ * order_),
      candidates_(order_ + 1) {
    constexpr std::size_t lanes = vector_lanes<T>;
    std::size_t size = 0;
    for (std::size_t i = 0; i < order_; ++i) {
        offset_.push_back(size);
        size += (i + lanes - 1) / lanes * lanes;
    }
    offset_.push_back(size);
    delta_.resize(size);
    row_minimum_.assign(order_ * lanes, nothing);
    for (std::vector<Word>* v :
         {&x_, &y_, &x_at_, &sum_a_, &sum_b_, &near_r_, &near_s_, &with_r_, &with_s_, &here_})
        v->resize(tables.stride);
    if (!tables.symmetric) {
        for (std::vector<Word>* v : {&xt_, &yt_, &xt_at_}) v->resize(tables.stride);
    }
    if (tables.use_int16) {
        x_pairs_.resize(tables.stride);
        y_pairs_.resize(tables.stride);
    }
}

template <class T>
void QapMoves<T>::start(std::span<const std::uint32_t> p) {
    p_.assign(p.begin(), p.end());
    location_class_.clear();
    for (const std::uint32_t x : p) location_class_.push_back(tables_.location_class[x]);
    tabu_.clear();
    std::fill(until_by_item_.begin(), until_by_item_.end(), Time{0});
    std::fill(until_by_location_.begin(), until_by_location_.end(), Time{0});
    // cost[i * stride + x]: cost of item i at location x.
    const std::size_t stride = tables_.stride;
    std::vector<Word> cost(order_ * stride);
    for (std::size_t i = 0; i < order_; ++i) {
        for (std::size_t k = 0; k < order_; ++k) {
            x_at_[p_[k]] = tables_.a.column(i)[k];
            if (!tables_.symmetric) xt_at_[p_[k]] = tables_.a.row(i)[k];
        }
        tables_.b.weighted_sum(x_at_.data(), xt_at_.data(), cost.data() + i * stride, scratch_);
    }
    for (std::size_t i = 0; i < order_; ++i) {
        here_[i] = cost[i * stride + p_[i]];
        for (std::size_t j = 0; j < i; ++j) {
            const Word there = cost[i * stride + p_[j]] + cost[j * stride + p_[i]];
            at(i, j) =
                static_cast<T>(there - here_[i] - here_[j] + pair_correction(i, j) + linear_change(i, j));
            if (tables_.has_twins && are_twins(i, j)) at(i, j) = nothing;
        }
    }
    for (std::vector<Word>* v : {&x_, &y_, &xt_, &yt_, &x_at_, &xt_at_})
        std::fill(v->begin(), v->end(), Word{0});
    update_all();
}

template <class T>
T QapMoves<T>::delta(std::size_t i, std::size_t j) const {
    const T marked = at(i, j);
    return marked == nothing ? T{0} : marked < tabu_mark / 2 ? marked : marked - tabu_mark;
}

template <class T>
T QapMoves<T>::min_any() const {
    T least = min_free();
    for (const TabuExchange& tabu : tabu_) least = std::min<T>(least, at(tabu.i, tabu.j) - tabu_mark);
    return least;
}

template <class T>
typename QapMoves<T>::Move QapMoves<T>::find_free(std::uint32_t from) {
    return find(from, min_free());
}

template <class T>
typename QapMoves<T>::Move QapMoves<T>::find_any(std::uint32_t from) {
    const T least = min_any();
    const auto steps_to = [&](const Move& move) {
        return (move.i < from ? move.i + order_ - from : move.i - from) * order_ + move.j;
    };
    Move first{no_index, 0, least};
    if (min_free() == least) first = find(from, least);
    for (const TabuExchange& tabu : tabu_) {
        const Move move{tabu.i, tabu.j, at(tabu.i, tabu.j) - tabu_mark};
        if (move.delta == least && (first.i == no_index || steps_to(move) < steps_to(first))) first = move;
    }
    return first;
}

template <class T>
typename QapMoves<T>::Move QapMoves<T>::find(std::uint32_t from, T value) {
    const std::size_t i = find_row(triangle(), from, value);
    std::size_t j = 0;
    while (delta_[offset_[i] + j] != value) ++j;
    return {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), value};
}

template <class T>
void QapMoves<T>::forbid(std::uint32_t i, std::uint32_t x, Time until) {
    const std::uint32_t item = tables_.item_class[i];
    const std::uint32_t location = tables_.location_class[x];
    until_by_item_[item * order_ + location] = until;
    Time* by_location = until_by_location_.data() + location * order_;
    by_location[i] = until;
    if (!tables_.has_twins) return;
    for (std::uint32_t u = 0; u < order_; ++u) {
        if (tables_.item_class[u] == item) by_location[u] = until;
    }
}

/// Removes the exchanges of r and s from the list, as well as those whose tenure has ended.
template <class T>
void QapMoves<T>::end_tenures(std::uint32_t r, std::uint32_t s, Time now) {
    const auto ends = [&](const TabuExchange& tabu) {
        if (tabu.until > now && tabu.i != r && tabu.i != s && tabu.j != r && tabu.j != s) return false;
        at(tabu.i, tabu.j) -= tabu_mark;
        return true;
    };
    std::erase_if(tabu_, ends);
}

/// Lists and marks the tabu exchanges of r, except that with one other item.
template <class T>
void QapMoves<T>::list_tabu_exchanges(std::uint32_t r, std::uint32_t except, Time now) {
    const Time* by_item = until_by_item_.data() + tables_.item_class[r] * order_;
    const Time* by_location = until_by_location_.data() + location_class_[r] * order_;
    const std::size_t count = find_greater(by_location, order_, now, candidates_.data());
    for (const std::uint32_t u : std::span(candidates_).first(count)) {
        const Time until = std::min(by_location[u], by_item[location_class_[u]]);
        if (until <= now || u == r || u == except || are_twins(r, u)) continue;
        tabu_.push_back({std::max(r, u), std::min(r, u), until});
        at(r, u) = static_cast<T>(static_cast<Word>(at(r, u)) + static_cast<Word>(tabu_mark));
    }
}

template <class T>
void QapMoves<T>::exchange(std::uint32_t i, std::uint32_t j, Time now) {
    end_tenures(i, j, now);
    if (tables_.symmetric) {
        update_symmetric(i, j);
    } else {
        update_asymmetric(i, j);
    }
    std::swap(p_[i], p_[j]);
    std::swap(location_class_[i], location_class_[j]);
    store_exchanges(i, with_r_);
    store_exchanges(j, with_s_);
    list_tabu_exchanges(i, i, now);
    list_tabu_exchanges(j, i, now);
    update_all();
}

/// Adds what the move changes to all deltas. The deltas of exchanges with r and s have been set to the new
/// values minus that.
template <class T>
void QapMoves<T>::update_all() {
    if constexpr (std::is_same_v<T, std::int32_t>) {
        if (tables_.use_int16) {
            for (std::size_t k = 0; k < order_; ++k) {
                x_pairs_[k] = narrow(x_[k], tables_.symmetric ? Word{0} : xt_[k]);
                y_pairs_[k] = narrow(y_[k], tables_.symmetric ? Word{0} : yt_[k]);
            }
            min_delta_ = update_exchanges_int16(triangle(), x_pairs_.data(), y_pairs_.data());
            return;
        }
    }
    const bool two = !tables_.symmetric;
    min_delta_ = update_exchanges<T>(triangle(), x_.data(), y_.data(), two ? xt_.data() : nullptr,
                                     two ? yt_.data() : nullptr);
}

template <class T>
void QapMoves<T>::update_symmetric(std::uint32_t r, std::uint32_t s) {
    const std::uint32_t pr = p_[r];
    const std::uint32_t ps = p_[s];
    const SymmetricMove<Word> move{order_,           p_.data(),      tables_.a.row(r),
                                   tables_.a.row(s), near_r_.data(), near_s_.data(),
                                   x_.data(),        y_.data(),      x_at_.data()};
    const Word both = compute_factors(move, tables_.b.row(pr), tables_.b.row(ps), r, s);
    tables_.a.weighted_sum(y_.data(), nullptr, sum_a_.data(), scratch_);
    tables_.b.weighted_sum(x_at_.data(), nullptr, sum_b_.data(), scratch_);
    for (std::size_t u = 0; u < order_; ++u) sum_a_[u] -= sum_b_[p_[u]];
    if (tables_.has_linear) {
        for (std::size_t u = 0; u < order_; ++u) {
            sum_a_[u] += tables_.linear(u, pr) - tables_.linear(u, ps) + tables_.linear(s, p_[u]) -
                         tables_.linear(r, p_[u]);
        }
    }
    const auto of_move = static_cast<Word>(delta(r, s));
    copy_exchanges(r, with_r_);
    copy_exchanges(s, with_s_);
    // The difference between the two cyclic shifts of u, r and s. One of them moves u to pr, r to ps and s to
    // pu.
    const Word fixed = both + tables_.linear(r, ps) - tables_.linear(s, pr);
    update_exchanges_of_move<T>(move, sum_a_.data(), fixed, tables_.a.row(r)[s], tables_.b.row(pr)[ps],
                                of_move, with_r_.data(), with_s_.data());
    with_r_[s] = with_s_[r] = Word{0} - of_move;
}

template <class T>
void QapMoves<T>::copy_exchanges(std::uint32_t r, std::vector<Word>& with) const {
    std::copy_n(delta_.data() + offset_[r], r, with.data());
    with[r] = 0;
    for (std::size_t u = r + 1; u < order_; ++u) with[u] = static_cast<Word>(delta_[offset_[u] + r]);
    if (!tables_.has_twins) return;
    for (std::size_t u = 0; u < order_; ++u) {
        if (are_twins(r, u)) with[u] = 0;
    }
}

template <class T>
void QapMoves<T>::store_exchanges(std::uint32_t r, const std::vector<Word>& with) {
    for (std::size_t u = 0; u < r; ++u) delta_[offset_[r] + u] = static_cast<T>(with[u]);
    for (std::size_t u = r + 1; u < order_; ++u) delta_[offset_[u] + r] = static_cast<T>(with[u]);
    if (!tables_.has_twins) return;
    for (std::size_t u = 0; u < order_; ++u) {
        if (u == r || !are_twins(r, u)) continue;
        Word update = x_[u] * y_[u];
        if (!tables_.symmetric) update += xt_[u] * yt_[u];
        at(r, u) = static_cast<T>(static_cast<Word>(nothing) - update);
    }
}

/// Uses the costs of r and s at all locations, and the costs of all items at the new locations of r and s.
template <class T>
void QapMoves<T>::update_asymmetric(std::uint32_t r, std::uint32_t s) {
    const auto of_move = static_cast<Word>(delta(r, s));
    const PaddedMatrix<T>& a = tables_.a;
    const PaddedMatrix<T>& b = tables_.b;
    set_differences(a.row(r), a.row(s), {}, x_);
    set_differences(a.column(r), a.column(s), {}, xt_);
    set_differences(b.row(p_[r]), b.row(p_[s]), p_, y_);
    set_differences(b.column(p_[r]), b.column(p_[s]), p_, yt_);
    for (std::vector<Word>* v : {&x_, &y_, &xt_, &yt_}) (*v)[r] = (*v)[s] = 0;
    for (std::size_t k = 0; k < order_; ++k) here_[k] -= x_[k] * y_[k] + xt_[k] * yt_[k];
    std::swap(p_[r], p_[s]);
    compute_exchanges(r, with_r_);
    compute_exchanges(s, with_s_);
    for (std::size_t u = 0; u < order_; ++u) {
        const Word update = x_[u] * y_[u] + xt_[u] * yt_[u];
        with_r_[u] -= update;
        with_s_[u] -= update;
    }
    with_r_[s] = with_s_[r] = Word{0} - of_move;
    std::swap(p_[r], p_[s]);
}

/// Computes the deltas of all exchanges with v in the current assignment. All entries of here_ except that of
/// v must be valid.
template <class T>
void QapMoves<T>::compute_exchanges(std::uint32_t v, std::vector<Word>& with) {
    const std::uint32_t x = p_[v];
    const Word* a_row = tables_.a.row(v);
    const Word* a_column = tables_.a.column(v);
    const Word* b_row = tables_.b.row(x);
    const Word* b_column = tables_.b.column(x);
    for (std::size_t k = 0; k < order_; ++k) {
        near_r_[k] = b_column[p_[k]];
        near_s_[k] = b_row[p_[k]];
        x_at_[p_[k]] = a_column[k];
        xt_at_[p_[k]] = a_row[k];
    }
    tables_.a.weighted_sum(near_r_.data(), near_s_.data(), sum_a_.data(), scratch_);  // of every item at x
    tables_.b.weighted_sum(x_at_.data(), xt_at_.data(), sum_b_.data(), scratch_);  // of v at every location
    here_[v] = sum_b_[x];
    for (std::size_t u = 0; u < order_; ++u) {
        const Word pair = (a_row[u] + a_column[u]) * (near_r_[u] + near_s_[u]);
        with[u] = sum_a_[u] + sum_b_[p_[u]] - here_[u] - here_[v] + pair;
    }
    if (!tables_.has_linear) return;
    for (std::size_t u = 0; u < order_; ++u) with[u] += linear_change(u, v);
}

/// The correction for the pair i, j in an exchange delta. The cost of an item at its new location assumes
/// that the other item is still there, at distance 0. The costs at the current locations count the pair
/// twice.
template <class T>
typename QapMoves<T>::Word QapMoves<T>::pair_correction(std::size_t i, std::size_t j) const {
    const Word there = tables_.b.row(p_[i])[p_[j]];
    if (tables_.symmetric) return 2 * tables_.a.row(i)[j] * there;
    return (tables_.a.row(i)[j] + tables_.a.row(j)[i]) * (there + tables_.b.row(p_[j])[p_[i]]);
}

template <class T>
typename QapMoves<T>::Word QapMoves<T>::linear_change(std::size_t i, std::size_t j) const {
    if (!tables_.has_linear) return 0;
    return tables_.linear(i, p_[j]) - tables_.linear(i, p_[i]) + tables_.linear(j, p_[i]) -
           tables_.linear(j, p_[j]);
}

template class QapMoves<std::int32_t>;
template class QapMoves<std::int64_t>;
template class QapMoves<double>;

}  // namespace topoloom::qap
