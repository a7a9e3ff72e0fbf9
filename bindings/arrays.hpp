// SPDX-License-Identifier: BSD-3-Clause
// Passes arrays between NumPy and the core. Arguments are checked, and copied only if types differ; results
// are read-only views.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom::python {

namespace nb = nanobind;

template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

/// An argument that is an array, list or tuple of numbers with `axes` axes; with one axis it may be a single
/// number. Numbers are converted to T only if that neither truncates, wraps nor rounds them. values() reports
/// errors with the argument's name.
template <class T, std::size_t axes = 1>
class ArrayArgument {
   public:
    /// Converts the argument. Type casters must not throw, so values() reports the errors.
    void convert_from_python(nb::handle given) noexcept;

    /// The converted numbers. Throws Error or TypeError, naming the argument, if they are invalid.
    [[nodiscard]] std::span<const T> values(const char* name) const;
    /// The extent along an axis. Requires a valid argument.
    [[nodiscard]] std::size_t size(std::size_t axis = 0) const { return shape_[axis]; }
    [[nodiscard]] bool is_single() const { return is_single_; }

   private:
    template <class S>
    void convert(std::span<const S> numbers);

    std::span<const T> values_;
    std::size_t shape_[axes]{};
    bool is_single_ = false;
    nb::object owner_;                       // the array that owns values_ if no conversion was needed
    std::shared_ptr<std::vector<T>> own_{};  // converted values
    std::string problem_;
    bool wrong_type_ = false;
};

extern template class ArrayArgument<std::uint32_t>;
extern template class ArrayArgument<std::uint64_t>;
extern template class ArrayArgument<std::int64_t>;
extern template class ArrayArgument<double>;
extern template class ArrayArgument<std::int64_t, 2>;
extern template class ArrayArgument<double, 2>;
extern template class ArrayArgument<std::uint32_t, 2>;

using Ids = ArrayArgument<std::uint32_t>;
using Integers = ArrayArgument<std::int64_t>;
using Numbers = ArrayArgument<double>;

/// The NumPy number type that stores an id or a quantity.
template <class T>
struct NumpyNumber {
    using type = T;
};
template <class Kind>
struct NumpyNumber<Id<Kind>> {
    using type = std::uint32_t;
};
template <class Unit, class Number>
struct NumpyNumber<Quantity<Unit, Number>> {
    using type = Number;
};

/// The elements of a one-dimensional array, read as ids or quantities.
template <class T, class Number>
[[nodiscard]] std::span<const T> elements(const ArrayArgument<Number>& given, const char* name) {
    static_assert(sizeof(T) == sizeof(Number));
    const std::span<const Number> values = given.values(name);
    if (given.is_single()) throw nb::type_error((std::string(name) + " is one number; give a list").c_str());
    return {reinterpret_cast<const T*>(values.data()), values.size()};
}

template <class T, class Number>
[[nodiscard]] std::vector<T> copy_elements(const ArrayArgument<Number>& given, const char* name) {
    const std::span<const T> all = elements<T>(given, name);
    return {all.begin(), all.end()};
}

/// A NumPy view of `values` that keeps their `owner` alive.
template <class T>
[[nodiscard]] auto view(std::span<const T> values, nb::handle owner) {
    using Number = typename NumpyNumber<T>::type;
    return View<Number>(reinterpret_cast<const Number*>(values.data()), {values.size()}, owner);
}

/// A NumPy array that owns its numbers: two-dimensional if rows > 0, else one-dimensional.
template <class Numbers>
[[nodiscard]] nb::object new_array(Numbers&& values, std::size_t rows = 0) {
    using Kept = std::remove_cvref_t<Numbers>;
    using Number = typename Kept::value_type;
    static_assert(!std::is_lvalue_reference_v<Numbers>);
    auto* const kept = new Kept(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); });
    if (rows == 0)
        return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
    const std::size_t columns = kept->size() / rows;
    return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<2>>(kept->data(), {rows, columns}, owner));
}

}  // namespace topoloom::python

namespace nanobind::detail {

template <class T, std::size_t axes>
struct type_caster<topoloom::python::ArrayArgument<T, axes>> {
    using Arrays = topoloom::python::ArrayArgument<T, axes>;
    static constexpr auto number = const_name<std::is_floating_point_v<T>>("float", "int");
    static constexpr auto sequence = const_name<axes == 1>(
        const_name("collections.abc.Sequence[") + number + const_name("]"),
        const_name("collections.abc.Sequence[collections.abc.Sequence[") + number + const_name("]]"));
    NB_TYPE_CASTER(Arrays, const_name("numpy.typing.NDArray[numpy.integer] | "
                                      "numpy.typing.NDArray[numpy.floating] | ") +
                               sequence)

    bool from_python(handle given, std::uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
        if (given.is_none()) return false;
        value.convert_from_python(given);
        return true;
    }
};

}  // namespace nanobind::detail
