// SPDX-License-Identifier: BSD-3-Clause
// The same from C++: checks that the header is valid C++.
#include "reorder_pairs.c"
