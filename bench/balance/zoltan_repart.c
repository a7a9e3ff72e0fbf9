/* SPDX-License-Identifier: BSD-3-Clause */
/* Repartitions tasks from standard input by Zoltan, see repartitions.py: prints the owner of each task. */
#include <mpi.h>
#include <stdio.h>
#include <zoltan.h>

#include "repart.h"

static struct repart given;

static int count_tasks(void* data, int* error) {
    (void)data;
    *error = ZOLTAN_OK;
    return (int)given.tasks;
}

static void list_tasks(void* data, int globals, int locals, ZOLTAN_ID_PTR global, ZOLTAN_ID_PTR local,
                       int weights, float* load, int* error) {
    (void)data, (void)globals, (void)locals, (void)weights;
    for (long i = 0; i < given.tasks; ++i) {
        global[i] = local[i] = (ZOLTAN_ID_TYPE)i;
        load[i] = (float)given.load[i];
    }
    *error = ZOLTAN_OK;
}

static void count_edges(void* data, int globals, int locals, int objects, ZOLTAN_ID_PTR global,
                        ZOLTAN_ID_PTR local, int* degree, int* error) {
    (void)data, (void)globals, (void)locals, (void)local;
    for (int i = 0; i < objects; ++i) degree[i] = (int)(given.first[global[i] + 1] - given.first[global[i]]);
    *error = ZOLTAN_OK;
}

static void list_edges(void* data, int globals, int locals, int objects, ZOLTAN_ID_PTR global,
                       ZOLTAN_ID_PTR local, int* degree, ZOLTAN_ID_PTR peer, int* process, int weights,
                       float* bytes, int* error) {
    (void)data, (void)globals, (void)locals, (void)local, (void)degree, (void)weights;
    long next = 0;
    for (int i = 0; i < objects; ++i) {
        for (long e = given.first[global[i]]; e < given.first[global[i] + 1]; ++e, ++next) {
            peer[next] = (ZOLTAN_ID_TYPE)given.peer[e];
            process[next] = 0;
            bytes[next] = (float)given.bytes[e];
        }
    }
    *error = ZOLTAN_OK;
}

static void list_owners(void* data, int globals, int locals, int objects, ZOLTAN_ID_PTR global,
                        ZOLTAN_ID_PTR local, int* part, int* error) {
    (void)data, (void)globals, (void)locals, (void)local;
    for (int i = 0; i < objects; ++i) part[i] = (int)given.owner[global[i]];
    *error = ZOLTAN_OK;
}

static void list_task_bytes(void* data, int globals, int locals, int objects, ZOLTAN_ID_PTR global,
                            ZOLTAN_ID_PTR local, int* size, int* error) {
    (void)data, (void)globals, (void)locals, (void)local;
    for (int i = 0; i < objects; ++i) size[i] = (int)given.size[global[i]];
    *error = ZOLTAN_OK;
}

static void set_parameter(struct Zoltan_Struct* zoltan, const char* name, const char* format, double value) {
    char text[64];
    snprintf(text, sizeof text, format, value);
    Zoltan_Set_Param(zoltan, name, text);
}

int main(int argc, char** argv) {
    float version;
    MPI_Init(&argc, &argv);
    Zoltan_Initialize(argc, argv, &version);
    given = read_repart();
    struct Zoltan_Struct* zoltan = Zoltan_Create(MPI_COMM_WORLD);
    Zoltan_Set_Param(zoltan, "DEBUG_LEVEL", "0");
    Zoltan_Set_Param(zoltan, "LB_METHOD", "GRAPH");
    Zoltan_Set_Param(zoltan, "GRAPH_PACKAGE", "PHG");
    Zoltan_Set_Param(zoltan, "LB_APPROACH", "REPARTITION");
    Zoltan_Set_Param(zoltan, "RETURN_LISTS", "PARTS");
    Zoltan_Set_Param(zoltan, "OBJ_WEIGHT_DIM", "1");
    Zoltan_Set_Param(zoltan, "EDGE_WEIGHT_DIM", "1");
    Zoltan_Set_Param(zoltan, "CHECK_GRAPH", "0");
    set_parameter(zoltan, "NUM_GLOBAL_PARTS", "%.0f", (double)given.parts);
    set_parameter(zoltan, "PHG_REPART_MULTIPLIER", "%.0f", (double)given.periods);
    set_parameter(zoltan, "IMBALANCE_TOL", "%.4f", 1 + given.tolerance);
    set_parameter(zoltan, "SEED", "%.0f", (double)given.seed);
    Zoltan_Set_Num_Obj_Fn(zoltan, count_tasks, NULL);
    Zoltan_Set_Obj_List_Fn(zoltan, list_tasks, NULL);
    Zoltan_Set_Num_Edges_Multi_Fn(zoltan, count_edges, NULL);
    Zoltan_Set_Edge_List_Multi_Fn(zoltan, list_edges, NULL);
    Zoltan_Set_Part_Multi_Fn(zoltan, list_owners, NULL);
    Zoltan_Set_Obj_Size_Multi_Fn(zoltan, list_task_bytes, NULL);
    int changes, globals, locals, imported, exported, *from, *from_part, *to, *part;
    ZOLTAN_ID_PTR import_global, import_local, global, local;
    if (Zoltan_LB_Partition(zoltan, &changes, &globals, &locals, &imported, &import_global, &import_local,
                            &from, &from_part, &exported, &global, &local, &to, &part) != ZOLTAN_OK)
        return 1;
    for (int i = 0; i < exported; ++i) given.owner[global[i]] = part[i];
    for (long i = 0; i < given.tasks; ++i) printf("%ld\n", given.owner[i]);
    MPI_Finalize();
    return 0;
}
