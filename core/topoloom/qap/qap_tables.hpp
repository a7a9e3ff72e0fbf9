// SPDX-License-Identifier: BSD-3-Clause
// Matrices of a dense QAP in the layouts of the search kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/qap/qap.hpp"
#include "topoloom/qap/qap_kernel.hpp"
#include "topoloom/qap/qap_kernel_int16.hpp"

namespace topoloom::qap {

/// A square matrix whose rows, and columns if it is not symmetric, are padded with zeros to whole vectors.
template <class T>
class PaddedMatrix {
   public:
    using Word = WrappingType<T>;

    PaddedMatrix(std::span<const std::int64_t> matrix, std::size_t order, bool is_symmetric, bool use_int16);

    [[nodiscard]] const Word* row(std::size_t i) const { return rows_.data() + i * stride_; }
    [[nodiscard]] const Word* column(std::size_t i) const {
        return (columns_.empty() ? rows_ : columns_).data() + i * stride_;
    }

    /// Buffers of weighted_sum().
    struct Scratch {
        std::vector<Int16Pair> factors;
        std::vector<Word> sum;
    };

    /// Computes sum[u] = sum over k of factor[k] * row(k)[u], plus column_factor[k] * column(k)[u] if the
    /// matrix is not symmetric. `sum` and the factors have stride elements.
    void weighted_sum(const Word* factor, const Word* column_factor, Word* sum, Scratch& scratch) const;

   private:
    void weighted_sum_int16(const Word* factor, const Word* column_factor, std::uint32_t* sum,
                            Scratch& scratch) const;

    std::size_t order_;
    std::size_t stride_;
    std::vector<Word> rows_, columns_;
    /// Each row of pairs has two consecutive rows, or a column and a row if the matrix is not symmetric.
    std::vector<Int16Pair> pairs_;
};

/// Matrices of a NormalizedQap, shared by all searches. T is std::int32_t, double or std::int64_t: see
/// with_qap_type().
template <class T>
class QapTables {
   public:
    using Word = WrappingType<T>;

    explicit QapTables(const NormalizedQap& form);

    /// Linear cost of item i at location x.
    [[nodiscard]] Word linear(std::size_t i, std::size_t x) const {
        return has_linear ? linear_[i * order + x] : Word{0};
    }

    std::size_t order;
    std::size_t stride;
    bool symmetric;
    bool has_linear;                                        // anything but 0
    bool use_int16;                                         // differences of entries fit in 16 bits
    std::vector<std::uint32_t> item_class, location_class;  // twins
    bool has_twins;
    PaddedMatrix<T> a, b;

   private:
    std::vector<Word> linear_;
};

/// Calls use(T{}) with the cheapest type that represents all deltas exactly. Integers can be half as large as
/// their type allows, because QapMoves marks tabu exchanges in their deltas.
template <class Use>
decltype(auto) with_qap_type(const NormalizedQap& form, Use&& use) {
    if (form.max_delta < (std::int64_t{1} << 29)) return use(std::int32_t{});
    if (form.magnitude < (std::int64_t{1} << 52)) return use(double{});
    return use(std::int64_t{});
}

extern template class QapTables<std::int32_t>;
extern template class QapTables<std::int64_t>;
extern template class QapTables<double>;

}  // namespace topoloom::qap
