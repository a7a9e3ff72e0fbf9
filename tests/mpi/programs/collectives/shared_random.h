// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that are equal on all ranks.
#include <stdint.h>

static uint64_t chance;

static uint64_t draw(uint64_t below) {  // splitmix64
    uint64_t z = (chance += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
}
