// SPDX-License-Identifier: BSD-3-Clause
// Times decisions of one rank from the loads of all ranks: `decide_alone METHOD RANKS REPEATS` prints the
// minimum milliseconds of CPU time.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <topoloom_balancers.h>

static double read_cpu_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const size_t ranks = strtoul(argv[2], NULL, 10);
    int64_t* loads = malloc(ranks * sizeof *loads);
    unsigned seed = 1;
    for (size_t i = 0; i < ranks; ++i) {
        seed = seed * 1664525U + 1013904223U;
        loads[i] = 20 + (seed >> 8) % 9;
    }
    char error[256] = "";
    topoloom_balancer* balancer = NULL;
    int failed = topoloom_balancer_make(argv[1], NULL, ranks, NULL, &balancer, error, sizeof error);
    double least = 1e30;
    for (int i = atoi(argv[3]); !failed && i > 0; --i) {
        topoloom_own_plan plan = {0};
        const double begin = read_cpu_milliseconds();
        failed = topoloom_balancer_own_plan(balancer, ranks, loads, (uint32_t)(ranks / 2), &plan, error,
                                            sizeof error);
        const double spent = read_cpu_milliseconds() - begin;
        if (spent < least) least = spent;
        topoloom_own_plan_free(&plan);
    }
    if (failed)
        fprintf(stderr, "decide_alone: %s\n", error);
    else
        printf("%.3f\n", least);
    topoloom_balancer_free(balancer);
    free(loads);
    return failed;
}
