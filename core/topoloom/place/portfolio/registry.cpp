// SPDX-License-Identifier: BSD-3-Clause
// The table of mappers. To add a mapper, add its file, and its factory to this table.
#include "topoloom/place/mapper.hpp"

namespace topoloom {

// Each factory is defined in its mapper's file.
namespace portfolio {
MapperEntry auto_mapper();
}  // namespace portfolio
namespace simple {
MapperEntry block_mapper();
MapperEntry round_robin_mapper();
MapperEntry folded_mapper();
MapperEntry random_mapper();
MapperEntry hashed_mapper();
MapperEntry hilbert_mapper();
MapperEntry morton_mapper();
MapperEntry peano_mapper();
MapperEntry snake_mapper();
MapperEntry affinity_mapper();
}  // namespace simple
namespace greedy {
MapperEntry gge_mapper();
MapperEntry mahd_mapper();
MapperEntry emahd_mapper();
MapperEntry mht_mapper();
}  // namespace greedy
namespace local {
MapperEntry previous_mapper();
MapperEntry swap_mapper();
MapperEntry rotate_mapper();
MapperEntry anneal_mapper();
MapperEntry tabu_mapper();
MapperEntry resettle_mapper();
}  // namespace local
namespace grid {
MapperEntry box_mapper();
MapperEntry fold_mapper();
MapperEntry tile_mapper();
}  // namespace grid
namespace structure {
MapperEntry structure_mapper();
MapperEntry bricks_mapper();
}  // namespace structure
namespace multilevel {
MapperEntry multisection_mapper();
MapperEntry refine_mapper();
}  // namespace multilevel
namespace dense {
MapperEntry grasp_mapper();
MapperEntry hybrid_mapper();
MapperEntry exact_mapper();
}  // namespace dense
namespace links {
MapperEntry local_opt_mapper();
MapperEntry congestion_mapper();
}  // namespace links

const std::vector<MapperEntry>& mappers() {
    static const std::vector<MapperEntry> table{
        portfolio::auto_mapper(),      simple::block_mapper(),
        local::previous_mapper(),      simple::round_robin_mapper(),
        simple::folded_mapper(),       simple::random_mapper(),
        simple::hashed_mapper(),       grid::box_mapper(),
        grid::fold_mapper(),           simple::hilbert_mapper(),
        simple::morton_mapper(),       simple::peano_mapper(),
        simple::snake_mapper(),        simple::affinity_mapper(),
        structure::structure_mapper(), grid::tile_mapper(),
        structure::bricks_mapper(),    greedy::gge_mapper(),
        greedy::mahd_mapper(),         greedy::emahd_mapper(),
        greedy::mht_mapper(),          multilevel::multisection_mapper(),
        dense::grasp_mapper(),         dense::hybrid_mapper(),
        dense::exact_mapper(),         local::swap_mapper(),
        local::rotate_mapper(),        local::anneal_mapper(),
        local::tabu_mapper(),          links::local_opt_mapper(),
        links::congestion_mapper(),    multilevel::refine_mapper(),
        local::resettle_mapper(),
    };
    return table;
}

}  // namespace topoloom
