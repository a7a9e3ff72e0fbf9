// SPDX-License-Identifier: BSD-3-Clause
// A host may call itself "n1" while a file says "n1.cluster", or vice versa.
#ifndef TOPOLOOM_HOST_NAMES_H
#define TOPOLOOM_HOST_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/// Index of the host called `name`, or of the only one that equals it up to a missing domain; -1 = none, or ambiguous.
/// The `count` hosts are sorted by name; each has `size` bytes and begins with a pointer to its name. O(log count).
int find_host(const void* hosts, int count, size_t size, const char* name);

/// No host calls itself by its IP address.
bool is_ip_address(const char* host);

#endif
