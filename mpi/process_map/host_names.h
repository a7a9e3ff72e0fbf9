// SPDX-License-Identifier: BSD-3-Clause
// Compares host names: a host may report "n1" if a file contains "n1.cluster", or vice versa.
#ifndef TOPOLOOM_HOST_NAMES_H
#define TOPOLOOM_HOST_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/// Returns the index of the host `name`, or of the only host that differs by a missing domain; -1 = none or ambiguous.
/// The array has `count` elements of `size` bytes, which begin with a pointer to the name and are sorted by name. O(log
/// count).
int find_host(const void* hosts, int count, size_t size, const char* name);

/// Whether the text is an IP address. Hosts never report an IP address as their name.
bool is_ip_address(const char* host);

#endif
