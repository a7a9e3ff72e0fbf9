// SPDX-License-Identifier: BSD-3-Clause
// Hosts may call themselves "n1" where a file says "n1.cluster", or the other way around.
#ifndef TOPOLOOM_HOST_NAMES_H
#define TOPOLOOM_HOST_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/// Index of the host that is called `name`, or differs only in that one of the two lacks its domain; -1 = there
/// is none, or several may be meant. Each of the `count` hosts is `size` bytes, which begin with a pointer to its
/// name; they are sorted by name. O(log count).
int find_host(const void* hosts, int count, size_t size, const char* name);

/// Whether it is an IP address, not a name: no host calls itself by its address.
bool is_ip_address(const char* host);

#endif
