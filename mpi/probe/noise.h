// SPDX-License-Identifier: BSD-3-Clause
// Measures system noise: the time that the system takes from a computing rank.
#ifndef TOPOLOOM_PROBE_NOISE_H
#define TOPOLOOM_PROBE_NOISE_H

#include "rounds.h"

/// Times equal quanta of work; adds the minimum, median, mean and maximum to the results, in seconds.
void measure_noise(struct probe* probe, int quanta);

#endif
