// SPDX-License-Identifier: BSD-3-Clause
// Blocks pass as waves from a corner of a grid of ranks to the opposite one, as in discrete-ordinates sweeps.
// Usage: sweep BYTES BLOCKS
#include "app.h"

int main(int argc, char** argv) {
    struct app app = begin(&argc, &argv);
    const int bytes = atoi(argv[1]), blocks = atoi(argv[2]);
    start(&app, (size_t)bytes);
    for (int block = 0; block < blocks; ++block) {
        receive(&app, neighbor(&app, -1, 0), bytes);
        receive(&app, neighbor(&app, 0, -1), bytes);
        wait_for_all(&app);  // including the sends of the previous block
        send(&app, neighbor(&app, 1, 0), bytes);
        send(&app, neighbor(&app, 0, 1), bytes);
    }
    wait_for_all(&app);
    return end(&app);
}
