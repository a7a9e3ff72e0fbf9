// SPDX-License-Identifier: BSD-3-Clause
// Schedules are objects for Python, not the variant that they are in C++.
#pragma once

#include <nanobind/nanobind.h>

#include "topoloom/schedule/collectives/schedules.hpp"

NB_MAKE_OPAQUE(topoloom::AnySchedule)
