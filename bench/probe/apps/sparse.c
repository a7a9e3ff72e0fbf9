// SPDX-License-Identifier: BSD-3-Clause
// Every rank repeatedly sends messages of different sizes to a few random ranks, as in graph and particle
// codes.
// Usage: sparse BYTES TIMES FILE, where FILE has a line `SOURCE TARGET TIMES_AS_LONG` per message.
#include "app.h"

int main(int argc, char** argv) {
    struct app app = begin(&argc, &argv);
    const int bytes = atoi(argv[1]), times = atoi(argv[2]);
    int longest = 64, source, target, longer, count = 0;  // maximum factor of BYTES
    start(&app, (size_t)longest * (size_t)bytes);
    int (*messages)[3] = malloc(sizeof *messages * most_requests);
    FILE* file = fopen(argv[3], "r");
    if (file == NULL || messages == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    while (fscanf(file, "%d %d %d", &source, &target, &longer) == 3) {
        if ((source != app.rank && target != app.rank) || count == most_requests) continue;
        messages[count][0] = source, messages[count][1] = target, messages[count++][2] = longer * bytes;
    }
    fclose(file);
    for (int i = 0; i < times; ++i) {
        for (int m = 0; m < count; ++m)
            if (messages[m][1] == app.rank) receive(&app, messages[m][0], messages[m][2]);
        for (int m = 0; m < count; ++m)
            if (messages[m][0] == app.rank) send(&app, messages[m][1], messages[m][2]);
        wait_for_all(&app);
    }
    free(messages);
    return end(&app);
}
