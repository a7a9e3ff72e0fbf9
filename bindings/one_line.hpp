// SPDX-License-Identifier: BSD-3-Clause
// Errors about arguments of wrong types, on one line.
#pragma once

#include <nanobind/nanobind.h>

namespace topoloom::python {

/// Has all functions and methods of the module say in one line what they were called with and what they take; nanobind
/// uses a line for each of their forms. To be called once everything is bound.
void tell_wrong_arguments_in_one_line(nanobind::module_& m);

}  // namespace topoloom::python
