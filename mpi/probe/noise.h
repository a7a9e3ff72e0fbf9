// SPDX-License-Identifier: BSD-3-Clause
// Measures system noise: time during which a computing rank is interrupted.
#ifndef TOPOLOOM_PROBE_NOISE_H
#define TOPOLOOM_PROBE_NOISE_H

#include "rounds.h"

/// Times equal quanta of work, and adds the minimum, median, mean and maximum in seconds to the results.
void measure_noise(struct probe* probe, int quanta);

#endif
