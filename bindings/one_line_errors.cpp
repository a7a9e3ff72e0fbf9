// SPDX-License-Identifier: BSD-3-Clause
#include "one_line_errors.hpp"

#include <dlfcn.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "call_python.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom::python {

namespace nb = nanobind;

namespace {

/// The first fields of nanobind's function objects, whose definition is private. wrap_function() checks them.
struct NanobindFunction {
    PyObject_VAR_HEAD vectorcallfunc call;
};

constexpr std::string_view marker = "(): incompatible function arguments.";

/// nanobind's original call functions, by kind of Python function.
std::array<vectorcallfunc, 8> original_calls{};

bool is_initialized(nb::handle object) { return !nb::type_check(object.type()) || nb::inst_ready(object); }

std::string format_argument(PyObject* argument) {
    constexpr std::size_t longest = 40;
    const bool is_value = argument == Py_None || PyBool_Check(argument) || PyLong_Check(argument) ||
                          PyFloat_Check(argument) || PyUnicode_Check(argument);
    if (is_value) {
        if (const nb::object text = nb::steal(PyObject_Repr(argument))) {
            const std::string whole = nb::str(text).c_str();
            if (whole.size() <= longest) return whole;
        }
        PyErr_Clear();  // integers with too many digits have no repr
    }
    const std::string type = nb::str(nb::handle(argument).type().attr("__name__")).c_str();
    return is_initialized(argument) ? type : type + " that was never initialized";
}

/// Extracts the signatures `1. name(...) -> ...` from nanobind's text.
std::string list_signatures(std::string_view text) {
    std::string forms;
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
        std::string_view line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
        const std::size_t dot = line.find(". ");
        if (!line.starts_with("    ") || dot == std::string_view::npos) continue;
        line.remove_prefix(dot + 2);
        forms.append(forms.empty() ? "" : " or ").append(line.substr(0, line.rfind(" -> ")));
    }
    return forms;
}

/// Asks the Python package to explain the invalid argument; empty if it cannot.
std::string explain_invalid_argument(nb::handle function, std::size_t own, PyObject* const* args,
                                     std::size_t count, PyObject* names) {
    nb::list given;
    nb::dict named;
    for (std::size_t i = own; i < count; ++i) given.append(nb::handle(args[i]));
    const Py_ssize_t keywords = names == nullptr ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < keywords; ++i)
        named[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(args[count + static_cast<std::size_t>(i)]);
    try {
        return nb::cast<std::string>(
            call_python("topoloom.support.call_errors", "describe_call_error", function, given, named));
    } catch (const std::exception&) {
        return {};  // the explanation failed, for example on text that is not Unicode
    }
}

std::string format_in_one_line(nb::handle function, std::string_view text, PyObject* const* args,
                               std::size_t count, PyObject* names) {
    const std::string forms = list_signatures(text);
    const bool has_self = forms.find("(self") != std::string::npos;
    std::string given;
    const bool self_is_fine =
        has_self && count > 0 && (is_initialized(args[0]) || text.starts_with("__init__"));
    if (self_is_fine || !has_self) {
        std::string line = explain_invalid_argument(function, has_self ? 1 : 0, args, count, names);
        if (!line.empty()) return line;
    }
    for (std::size_t i = self_is_fine ? 1 : 0; i < count; ++i)
        given.append(given.empty() ? "" : ", ").append(format_argument(args[i]));
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < named; ++i) {
        const std::string name = nb::str(nb::handle(PyTuple_GetItem(names, i))).c_str();
        given.append(given.empty() ? "" : ", ").append(name).append("=");
        given.append(format_argument(args[count + static_cast<std::size_t>(i)]));
    }
    return std::string(text.substr(0, text.find(marker))) + "() does not take (" + given + "); it is " +
           forms;
}

void shorten_error(PyObject* function, PyObject* const* args, std::size_t count, PyObject* names) {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    try {
        const std::string text = nb::str(nb::handle(value)).c_str();
        if (text.find(marker) != std::string::npos) {
            const std::string line = format_in_one_line(function, text, args, count, names);
            Py_XDECREF(std::exchange(
                value, PyUnicode_FromStringAndSize(line.data(), static_cast<Py_ssize_t>(line.size()))));
        }
    } catch (...) {
        PyErr_Clear();
    }
    PyErr_Restore(type, value, trace);
}

/// Python stores flags in the higher bits of an argument count.
constexpr std::size_t most_arguments = 0xFFFF;

template <std::size_t kind>
PyObject* call_with_short_errors(PyObject* self, PyObject* const* args, std::size_t flagged_count,
                                 PyObject* names) {
    PyObject* const result = original_calls[kind](self, args, flagged_count, names);
    if (result == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0)
        shorten_error(self, args, flagged_count & most_arguments, names);
    return result;
}

template <std::size_t... kinds>
constexpr std::array<vectorcallfunc, sizeof...(kinds)> calls(std::index_sequence<kinds...> /*kinds*/) {
    return {&call_with_short_errors<kinds>...};
}

/// PyVectorcall_Function(), which all versions of Python export, but the headers of the stable ABI lack.
vectorcallfunc get_vectorcall(PyObject* function) {
    static auto* const get =
        reinterpret_cast<vectorcallfunc (*)(PyObject*)>(dlsym(RTLD_DEFAULT, "PyVectorcall_Function"));
    return get == nullptr ? nullptr : get(function);
}

void wrap_function(nb::handle function) {
    auto* const bound = reinterpret_cast<NanobindFunction*>(function.ptr());
    const vectorcallfunc original = get_vectorcall(function.ptr());
    if (original == nullptr || bound->call != original) return;
    constexpr auto ours = calls(std::make_index_sequence<original_calls.size()>());
    for (std::size_t kind = 0; kind < original_calls.size(); ++kind) {
        if (original == ours[kind]) return;
        if (original_calls[kind] == nullptr) original_calls[kind] = original;
        if (original_calls[kind] != original) continue;
        bound->call = ours[kind];
        return;
    }
}

bool is_bound(nb::handle object) {
    const std::string type = nb::str(object.type().attr("__name__")).c_str();
    return type == "nb_func" || type == "nb_method";
}

void wrap_all_functions(nb::handle names) {
    for (const nb::handle object : names.attr("values")()) {
        if (is_bound(object)) {
            wrap_function(object);
        } else if (PyObject_TypeCheck(object.ptr(), &PyProperty_Type) != 0) {
            const nb::object setter = object.attr("fset");
            if (is_bound(setter)) wrap_function(setter);
        }
    }
}

}  // namespace

void raise_error_in_one_line(const std::exception_ptr& thrown, void* type) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        std::string line;
        for (const char letter : std::string_view(error.what()))
            line += letter == '\n' ? "\\n" : letter == '\r' ? "\\r" : std::string(1, letter);
        PyErr_SetString(static_cast<PyObject*>(type), line.c_str());
    }
}

void shorten_argument_errors(nb::module_& m) {
    wrap_all_functions(m.attr("__dict__"));
    for (const nb::handle object : m.attr("__dict__").attr("values")()) {
        if (PyType_Check(object.ptr())) wrap_all_functions(object.attr("__dict__"));
    }
}

}  // namespace topoloom::python
