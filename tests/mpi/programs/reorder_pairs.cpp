// SPDX-License-Identifier: BSD-3-Clause
// Compiles reorder_pairs.c as C++: checks that the header is valid C++.
#include "reorder_pairs.c"
