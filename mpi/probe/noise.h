// SPDX-License-Identifier: BSD-3-Clause
// What the system takes away from a rank that computes.
#ifndef TOPOLOOM_PROBE_NOISE_H
#define TOPOLOOM_PROBE_NOISE_H

#include "rounds.h"

/// Times equal pieces of work; keeps the shortest, the median, the mean and the longest, in seconds.
void measure_noise(struct probe* probe, int quanta);

#endif
