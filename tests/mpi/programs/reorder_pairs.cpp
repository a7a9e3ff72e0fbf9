// SPDX-License-Identifier: BSD-3-Clause
// The same from C++: whether the header is C++, too.
#include "reorder_pairs.c"
