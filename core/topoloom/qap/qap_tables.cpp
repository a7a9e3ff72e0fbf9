// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/qap_tables.hpp"

#include <algorithm>
#include <type_traits>

namespace topoloom::qap {

namespace {

std::vector<std::int64_t> transpose_matrix(std::span<const std::int64_t> m, std::size_t n) {
    std::vector<std::int64_t> t(m.size());
    for (std::size_t k = 0; k < m.size(); ++k) t[k % n * n + k / n] = m[k];
    return t;
}

template <class Word>
std::vector<Word> pad_rows(std::span<const std::int64_t> m, std::size_t n, std::size_t stride) {
    std::vector<Word> rows(n * stride);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) rows[i * stride + j] = static_cast<Word>(m[i * n + j]);
    }
    return rows;
}

std::vector<Int16Pair> pair_up(std::span<const std::int64_t> m, std::size_t n, std::size_t stride,
                               bool is_symmetric) {
    const auto entry = [&](std::size_t i, std::size_t j) {
        return i < n && j < n ? static_cast<std::int16_t>(m[i * n + j]) : std::int16_t{0};
    };
    std::vector<Int16Pair> pairs;
    for (std::size_t k = 0; k < (is_symmetric ? (n + 1) / 2 : n); ++k) {
        for (std::size_t u = 0; u < stride; ++u) {
            pairs.push_back(is_symmetric ? Int16Pair{entry(2 * k, u), entry(2 * k + 1, u)}
                                         : Int16Pair{entry(k, u), entry(u, k)});
        }
    }
    return pairs;
}

/// Whether the differences of any two differences of entries, or of an entry and 0, fit in 16 bits.
bool differences_fit_int16(std::span<const std::int64_t> m) {
    const auto range = std::ranges::minmax(m);
    return std::max<std::int64_t>(range.max, 0) - std::min<std::int64_t>(range.min, 0) < (1 << 14);
}

bool has_repeated_class(std::span<const std::uint32_t> classes) {
    for (std::uint32_t i = 0; i < classes.size(); ++i) {
        if (classes[i] != i) return true;
    }
    return false;
}

template <class T>
std::size_t pad_to_vectors(std::size_t n) {
    return (n + vector_lanes<T> - 1) / vector_lanes<T> * vector_lanes<T>;
}

}  // namespace

template <class T>
PaddedMatrix<T>::PaddedMatrix(std::span<const std::int64_t> matrix, std::size_t order, bool is_symmetric,
                              bool use_int16)
    : order_(order), stride_(pad_to_vectors<T>(order)), rows_(pad_rows<Word>(matrix, order, stride_)) {
    if (!is_symmetric) columns_ = pad_rows<Word>(transpose_matrix(matrix, order), order, stride_);
    if (use_int16) pairs_ = pair_up(matrix, order, stride_, is_symmetric);
}

template <class T>
void PaddedMatrix<T>::weighted_sum(const Word* factor, const Word* column_factor, Word* sum,
                                   Scratch& scratch) const {
    if constexpr (std::is_same_v<T, std::int32_t>) {
        if (!pairs_.empty()) return weighted_sum_int16(factor, column_factor, sum, scratch);
    }
    weighted_row_sum(rows_.data(), order_, stride_, factor, sum);
    if (columns_.empty()) return;
    scratch.sum.resize(stride_);
    weighted_row_sum(columns_.data(), order_, stride_, column_factor, scratch.sum.data());
    for (std::size_t k = 0; k < order_; ++k) sum[k] += scratch.sum[k];
}

template <class T>
void PaddedMatrix<T>::weighted_sum_int16(const Word* factor, const Word* column_factor, std::uint32_t* sum,
                                         Scratch& scratch) const {
    const std::size_t rows = pairs_.size() / stride_;
    scratch.factors.resize(rows);
    if (columns_.empty()) {
        // The stride is even, and factor[order_] is multiplied with a row of zeros.
        for (std::size_t k = 0; k < rows; ++k)
            scratch.factors[k] = {static_cast<std::int16_t>(factor[2 * k]),
                                  static_cast<std::int16_t>(factor[2 * k + 1])};
    } else {
        for (std::size_t k = 0; k < rows; ++k)
            scratch.factors[k] = {static_cast<std::int16_t>(factor[k]),
                                  static_cast<std::int16_t>(column_factor[k])};
    }
    weighted_row_sum_int16(pairs_.data(), rows, stride_, scratch.factors.data(), sum);
}

template <class T>
QapTables<T>::QapTables(const NormalizedQap& form)
    : order(form.order),
      stride(pad_to_vectors<T>(form.order)),
      symmetric(form.symmetric),
      has_linear(!form.linear.empty()),
      use_int16(std::is_same_v<T, std::int32_t> && has_int16_kernels() && differences_fit_int16(form.a) &&
                differences_fit_int16(form.b)),
      item_class(twin_classes(form.order, form.a, form.linear)),
      location_class(twin_classes(form.order, form.b, transpose_matrix(form.linear, form.order))),
      has_twins(has_repeated_class(item_class) || has_repeated_class(location_class)),
      a(form.a, order, symmetric, use_int16),
      b(form.b, order, symmetric, use_int16) {
    for (const std::int64_t cost : form.linear) linear_.push_back(static_cast<Word>(cost));
}

template class PaddedMatrix<std::int32_t>;
template class PaddedMatrix<std::int64_t>;
template class PaddedMatrix<double>;
template class QapTables<std::int32_t>;
template class QapTables<std::int64_t>;
template class QapTables<double>;

}  // namespace topoloom::qap
