// SPDX-License-Identifier: BSD-3-Clause
// Converts array arguments and checks every number.
#include "arrays.hpp"

#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom::python {

namespace {

using Untyped = nb::ndarray<nb::ro, nb::device::cpu>;

/// An argument as an array of numbers in native byte order, or the problem that prevented the conversion.
struct ImportedArray {
    nb::object array;
    std::string problem;
};

std::string format_axes(std::size_t axes) { return std::to_string(axes) + (axes == 1 ? " axis" : " axes"); }

std::string name_of_type(nb::handle object) { return nb::type_name(object.type()).c_str(); }

/// Explains why NumPy chose the dtype object: names the first element that is not a 64-bit number.
std::string describe_unconvertible_element(nb::handle array) {
    if (nb::cast<std::size_t>(array.attr("ndim")) == 0) {
        const nb::object item = array.attr("item")();
        if (PyLong_Check(item.ptr())) return " does not fit 64 bits";
        return " must be an array or a list of numbers, not " + name_of_type(item);
    }
    std::size_t at = 0;
    for (const nb::handle item : nb::iter(array.attr("flat"))) {
        const std::string place = "[" + std::to_string(at++) + "]";
        if (!PyLong_Check(item.ptr())) return place + " is of type " + name_of_type(item) + ", not a number";
        int overflow = 0;
        PyLong_AsLongLongAndOverflow(item.ptr(), &overflow);
        if (overflow != 0) return place + " does not fit 64 bits";
    }
    return " must be an array or a list of numbers";
}

ImportedArray import_array(nb::handle given) {
    if (PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr()))
        return {{}, " must be an array or a list of numbers, not " + name_of_type(given)};
    nb::object array = nb::module_::import_("numpy").attr("asarray")(given);
    const nb::object dtype = array.attr("dtype");
    const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
    if (kind == "O") return {{}, describe_unconvertible_element(array)};
    if (kind == "b") return {{}, " must hold numbers, not booleans"};
    if (kind != "i" && kind != "u" && kind != "f")
        return {{}, " must hold numbers, not " + nb::cast<std::string>(dtype.attr("name"))};
    const auto size = nb::cast<std::size_t>(dtype.attr("itemsize"));
    const bool odd_float = kind == "f" && size != 4 && size != 8;
    const nb::object wanted = odd_float ? nb::object(nb::str("f8")) : dtype.attr("newbyteorder")("=");
    array = nb::module_::import_("numpy").attr("require")(array, wanted, nb::make_tuple("C", "A"));
    return {array, {}};
}

template <class T>
std::string format_number(T number) {
    std::ostringstream text;
    if constexpr (std::is_floating_point_v<T>) {
        text.precision(15);
    }
    text << +number;
    return text.str();
}

/// Explains why T cannot represent the number; empty if T can.
template <class T, class S>
std::optional<std::string> explain_misfit(S number) {
    if constexpr (std::is_floating_point_v<S>) {
        if (!std::isfinite(number)) return "; it must be finite";
        if constexpr (std::is_integral_v<T>) {
            if (number != std::floor(number)) return ", not an integer; scale such numbers, and round them";
            const auto below = static_cast<S>(std::numeric_limits<T>::min());
            const S above = std::ldexp(S{1}, std::numeric_limits<T>::digits);
            if (number >= below && number < above) return {};
        } else {
            return {};
        }
    } else if constexpr (std::is_integral_v<T>) {
        if (std::in_range<T>(number)) return {};
    } else {
        return {};
    }
    return std::string("; it must be ") + format_number(std::numeric_limits<T>::min()) + " to " +
           format_number(std::numeric_limits<T>::max());
}

}  // namespace

template <class T, std::size_t axes>
template <class S>
void ArrayArgument<T, axes>::convert(std::span<const S> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::optional<std::string> why = explain_misfit<T>(numbers[i]);
        if (!why) continue;
        std::string place;
        if (!is_single_) place = "[" + std::to_string(axes == 1 ? i : i / shape_[axes - 1]);
        if (axes > 1) place += ", " + std::to_string(i % shape_[axes - 1]);
        if (!is_single_) place += "]";
        problem_ = place + " is " + format_number(numbers[i]) + *why;
        return;
    }
    if constexpr (std::is_same_v<S, T>) {
        values_ = numbers;
    } else {
        own_ = std::make_shared<std::vector<T>>(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) (*own_)[i] = static_cast<T>(numbers[i]);
        values_ = *own_;
    }
}

template <class T, std::size_t axes>
void ArrayArgument<T, axes>::convert_from_python(nb::handle given) noexcept {
    try {
        ImportedArray import_result = import_array(given);
        if (!import_result.problem.empty()) {
            problem_ = std::move(import_result.problem);
            wrong_type_ = true;
            return;
        }
        owner_ = std::move(import_result.array);
        const auto array = nb::cast<Untyped>(owner_);
        is_single_ = axes == 1 && array.ndim() == 0;
        if (!is_single_ && array.ndim() != axes) {
            problem_ = " has " + format_axes(array.ndim()) + "; give an array of " + format_axes(axes);
            return;
        }
        for (std::size_t axis = 0; axis < axes; ++axis) shape_[axis] = is_single_ ? 1 : array.shape(axis);
        const auto as = [&]<class S>(S) {
            convert(std::span(static_cast<const S*>(array.data()), is_single_ ? 1 : array.size()));
        };
        const nb::dlpack::dtype type = array.dtype();
        const bool is_float = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
        const bool is_signed = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int);
        switch (type.bits) {
            case 8:
                is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
                break;
            case 16:
                is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
                break;
            case 32:
                is_float ? as(float{}) : is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
                break;
            default:
                is_float ? as(double{}) : is_signed ? as(std::int64_t{}) : as(std::uint64_t{});
        }
    } catch (nb::python_error&) {
        problem_ = " must be an array or a list of numbers, all rows of one length";
        wrong_type_ = true;
    } catch (const std::exception&) {
        problem_ = " cannot be read as an array";
        wrong_type_ = true;
    }
}

template <class T, std::size_t axes>
std::span<const T> ArrayArgument<T, axes>::values(const char* name) const {
    if (wrong_type_) throw nb::type_error((name + problem_).c_str());
    if (!problem_.empty()) fail(name, problem_);
    return values_;
}

template class ArrayArgument<std::uint32_t>;
template class ArrayArgument<std::uint64_t>;
template class ArrayArgument<std::int64_t>;
template class ArrayArgument<double>;
template class ArrayArgument<std::int64_t, 2>;
template class ArrayArgument<double, 2>;
template class ArrayArgument<std::uint32_t, 2>;

}  // namespace topoloom::python
