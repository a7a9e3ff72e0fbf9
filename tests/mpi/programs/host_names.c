// SPDX-License-Identifier: BSD-3-Clause
// Prints the plan's host and the machine file's node that match a name: host_names PLAN MACHINE
// NAME.
#include "process_map.h"
#include "reorder.h"

int main(int count, char** words) {
    struct bindings bindings;
    struct machine_file machine;
    char why[512] = "";
    if (count != 4 || !read_bindings(words[1], &bindings, why, sizeof why) ||
        !read_machine_file(words[2], &machine, why, sizeof why)) {
        puts(why);
        return 1;
    }
    const int host = find_bindings_host(&bindings, words[3]);
    printf("%s %d\n", host < 0 ? "-" : bindings.hosts[host], (int)find_node_of_host(&machine, words[3]));
    free_machine_file(&machine);
    free_bindings(&bindings);
    return 0;
}
