// SPDX-License-Identifier: BSD-3-Clause
// Declares one function per file; each adds the bindings of its file to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace topoloom::python {

void bind_axes(nanobind::module_& m);
void bind_balance(nanobind::module_& m);
void bind_bound(nanobind::module_& m);
void bind_c_mapper(nanobind::module_& m);
void bind_evaluator(nanobind::module_& m);
void bind_experts(nanobind::module_& m);
void bind_fat_trees(nanobind::module_& m);
void bind_machine(nanobind::module_& m);
void bind_machine_text(nanobind::module_& m);
void bind_metric(nanobind::module_& m);
void bind_switch_loads(nanobind::module_& m);
void bind_network_model(nanobind::module_& m);
void bind_network_programs(nanobind::module_& m);
void bind_pattern(nanobind::module_& m);
void bind_place(nanobind::module_& m);
void bind_process_grid(nanobind::module_& m);
void bind_qap(nanobind::module_& m);
void bind_rank_program(nanobind::module_& m);
void bind_ring_bus(nanobind::module_& m);
void bind_schedule(nanobind::module_& m);
void bind_message_combining(nanobind::module_& m);
void bind_tree_and_grid_orders(nanobind::module_& m);
void bind_strategy(nanobind::module_& m);
void bind_objectives(nanobind::module_& m);
void bind_wiring(nanobind::module_& m);

}  // namespace topoloom::python
