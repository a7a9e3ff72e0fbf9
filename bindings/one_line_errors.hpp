// SPDX-License-Identifier: BSD-3-Clause
// Error messages on one line.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace topoloom::python {

/// Raises an Error of the core as an exception of type `type`, with quoted line ends as \n.
void raise_error_in_one_line(const std::exception_ptr& thrown, void* type);

/// Makes TypeErrors of all functions and methods one line with the arguments and the signatures, instead of nanobind's line
/// per overload. Call it after all bindings.
void shorten_argument_errors(nanobind::module_& m);

}  // namespace topoloom::python
