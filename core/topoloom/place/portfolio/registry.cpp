// SPDX-License-Identifier: BSD-3-Clause
// The table of mappers: adding one is a file and its name here.
#include "topoloom/place/mapper.hpp"

namespace topoloom {

// Each is defined in the file of the mapper.
MapperEntry auto_mapper();
MapperEntry block_mapper();
MapperEntry previous_mapper();
MapperEntry round_robin_mapper();
MapperEntry folded_mapper();
MapperEntry random_mapper();
MapperEntry hashed_mapper();
MapperEntry box_mapper();
MapperEntry fold_mapper();
MapperEntry hilbert_mapper();
MapperEntry morton_mapper();
MapperEntry peano_mapper();
MapperEntry snake_mapper();
MapperEntry structure_mapper();
MapperEntry tile_mapper();
MapperEntry bricks_mapper();
MapperEntry gge_mapper();
MapperEntry mahd_mapper();
MapperEntry emahd_mapper();
MapperEntry multisection_mapper();
MapperEntry grasp_mapper();
MapperEntry hybrid_mapper();
MapperEntry exact_mapper();
MapperEntry swap_mapper();
MapperEntry rotate_mapper();
MapperEntry anneal_mapper();
MapperEntry tabu_mapper();
MapperEntry local_opt_mapper();
MapperEntry congestion_mapper();
MapperEntry refine_mapper();
MapperEntry resettle_mapper();

const std::vector<MapperEntry>& mappers() {
    static const std::vector<MapperEntry> table{
        auto_mapper(),     block_mapper(),  previous_mapper(),  round_robin_mapper(), folded_mapper(),
        random_mapper(),   hashed_mapper(), box_mapper(),       fold_mapper(),        hilbert_mapper(),
        morton_mapper(),   peano_mapper(),  snake_mapper(),     structure_mapper(),   tile_mapper(),
        bricks_mapper(),   gge_mapper(),    mahd_mapper(),      emahd_mapper(),       multisection_mapper(),
        grasp_mapper(),    hybrid_mapper(), exact_mapper(),     swap_mapper(),        rotate_mapper(),
        anneal_mapper(),   tabu_mapper(),   local_opt_mapper(), congestion_mapper(),  refine_mapper(),
        resettle_mapper(),
    };
    return table;
}

}  // namespace topoloom
