// SPDX-License-Identifier: BSD-3-Clause
// Errors on one line.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace topoloom::python {

/// Raises an Error of the core as the exception type `type`, line ends that it quotes written as \n.
void tell_error_in_one_line(const std::exception_ptr& thrown, void* type);

/// Has all functions and methods of the module say in one line what they were called with and what they take; nanobind
/// uses a line for each of their forms. To be called once everything is bound.
void tell_wrong_arguments_in_one_line(nanobind::module_& m);

}  // namespace topoloom::python
