// SPDX-License-Identifier: BSD-3-Clause
// How arrays cross between NumPy and the core: in without a copy where types fit, out as read-only views.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom::python {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

/// What callers may give: an array, or a list or tuple of numbers.
template <class T>
using Sequence = std::variant<Array<T>, std::vector<T>>;

using Ids = Sequence<std::uint32_t>;
using Integers = Sequence<std::int64_t>;
using Numbers = Sequence<double>;

/// What NumPy sees of an id or a quantity: the one number that it holds.
template <class T>
struct Plain {
    using type = T;
};
template <class Kind>
struct Plain<Id<Kind>> {
    using type = std::uint32_t;
};
template <class Unit, class Number>
struct Plain<Quantity<Unit, Number>> {
    using type = Number;
};

/// The elements as ids or quantities.
template <class T, class Number>
[[nodiscard]] std::span<const T> elements(const Sequence<Number>& sequence) {
    static_assert(sizeof(T) == sizeof(Number));
    return std::visit(
        [](const auto& values) {
            return std::span<const T>(reinterpret_cast<const T*>(values.data()), values.size());
        },
        sequence);
}

template <class T, class Number>
[[nodiscard]] std::vector<T> copy_of(const Sequence<Number>& sequence) {
    const std::span<const T> all = elements<T>(sequence);
    return {all.begin(), all.end()};
}

/// A view that keeps `owner` alive.
template <class T>
[[nodiscard]] auto view(std::span<const T> values, nb::handle owner) {
    using Number = typename Plain<T>::type;
    return View<Number>(reinterpret_cast<const Number*>(values.data()), {values.size()}, owner);
}

}  // namespace topoloom::python
