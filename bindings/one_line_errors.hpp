// SPDX-License-Identifier: BSD-3-Clause
// Puts error messages on one line.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace topoloom::python {

/// Raises a core Error as a Python exception of type `type`; line ends that its message quotes appear as \n.
void raise_error_in_one_line(const std::exception_ptr& thrown, void* type);

/// Shortens the TypeErrors of all functions and methods to one line with the arguments and all signatures;
/// nanobind prints a line per overload. Call it after all bindings are added.
void shorten_argument_errors(nanobind::module_& m);

}  // namespace topoloom::python
