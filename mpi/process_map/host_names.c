// SPDX-License-Identifier: BSD-3-Clause
#include "host_names.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static const char* get_host_name_at(const void* hosts, int index, size_t size) {
    return *(const char* const*)((const char*)hosts + (size_t)index * size);
}

static int lower_bound(const void* hosts, int count, size_t size, const char* name) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (strcmp(get_host_name_at(hosts, middle, size), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int find_exact_name(const void* hosts, int count, size_t size, const char* name) {
    const int at = lower_bound(hosts, count, size, name);
    return at < count && strcmp(get_host_name_at(hosts, at, size), name) == 0 ? at : -1;
}

int find_host(const void* hosts, int count, size_t size, const char* name) {
    char other[512];
    const int at = find_exact_name(hosts, count, size, name);
    if (at >= 0 || is_ip_address(name) || strlen(name) + 2 > sizeof other) return at;
    const size_t short_length = strcspn(name, ".");
    if (name[short_length] == '.') {
        snprintf(other, sizeof other, "%.*s", (int)short_length, name);
        return find_exact_name(hosts, count, size, other);
    }
    const size_t length = (size_t)snprintf(other, sizeof other, "%s.", name);
    const int first = lower_bound(hosts, count, size, other);
    const bool matches = first < count && strncmp(get_host_name_at(hosts, first, size), other, length) == 0;
    const bool next_matches =
        first + 1 < count && strncmp(get_host_name_at(hosts, first + 1, size), other, length) == 0;
    return matches && !next_matches ? first : -1;
}

bool is_ip_address(const char* host) {
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}
