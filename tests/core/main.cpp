// SPDX-License-Identifier: BSD-3-Clause
// Both macros are needed: the precompiled header has already included doctest.h without them.
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest.h>
