// SPDX-License-Identifier: BSD-3-Clause
// The table of mappers: adding one is a file and a line here.
#include "topoloom/place/mapper.hpp"
#include "topoloom/place/portfolio/mappers.hpp"

namespace topoloom {

namespace {

template <auto function>
Construct construct_plain(std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return function;
}

template <class Options, auto function>
Construct construct_with(std::string_view name, const OptionValues& values) {
    return [options = read_options<Options>(name, values)](const Problem& problem, Meter& meter) {
        return function(problem, meter, options);
    };
}

template <auto function>
Improve improve_plain(std::string_view name, const OptionValues& values) {
    (void)read_options<NoOptions>(name, values);
    return function;
}

template <class Options, auto function>
Improve improve_with(std::string_view name, const OptionValues& values) {
    return [options = read_options<Options>(name, values)](const Problem& problem, Placement start,
                                                           Meter& meter) {
        return function(problem, std::move(start), meter, options);
    };
}

}  // namespace

const std::vector<MapperEntry>& mappers() {
    static const std::vector<MapperEntry> table{
        {"auto", "tries what suits the problem and keeps the best", "", "graph, distances", Serves::both,
         construct_with<AutoOptions, place_auto>, nullptr, list_options<AutoOptions>, Minimizes::objective},
        {"block", "rank i on slot i: what launchers do by default", "", "nothing", Serves::both,
         construct_plain<place_block>},
        {"previous", "where the ranks were before; the others beside their partners", "", "earlier placement",
         Serves::both, construct_plain<place_previous>},
        {"round-robin",
         "rank i on node i mod n: ranks dealt to the nodes like cards; shared slots: on slot i mod n", "",
         "nodes", Serves::both, construct_plain<place_round_robin>},
        {"folded", "like round-robin, but every other round runs backwards", "Karlsson 2012, ch. 4", "nodes",
         Serves::alone, construct_plain<place_folded>},
        {"random", "a random permutation of the slots", "", "seed", Serves::both,
         construct_plain<place_random>},
        {"hashed", "ranks of a grid dealt to shared slots by a hash of their coordinates",
         "Bhatele, Kale 2008", "grid of ranks, shared slots", Serves::shared,
         construct_with<GridOptions, place_hashed>, nullptr, list_options<GridOptions>},
        {"box", "the ranks' grid in equal boxes of least surface, box i on slot i", "Bhatele, Kale 2008",
         "grid of ranks, shared slots", Serves::shared, construct_with<GridOptions, place_box>, nullptr,
         list_options<GridOptions>},
        {"fold", "the ranks' grid in boxes folded onto routers, nodes and cores for the fewest hop-bytes",
         "Bhatele, Kale 2008; Ma, Tao 1987", "grid of ranks, coordinates", Serves::both,
         construct_with<FoldOptions, place_fold>, nullptr, list_options<FoldOptions>},
        {"hilbert", "ranks in order along a Hilbert curve through the nodes",
         "Skilling 2004; Sudheer 2012, sec. 5.5", "coordinates", Serves::both,
         construct_with<CurveOptions, place_curve<Curve::hilbert>>, nullptr, list_options<CurveOptions>},
        {"morton", "along a Morton curve: by the interleaved bits of the coordinates", "Morton 1966",
         "coordinates", Serves::both, construct_with<CurveOptions, place_curve<Curve::morton>>, nullptr,
         list_options<CurveOptions>},
        {"peano", "along a Peano curve, which suits extents of powers of three", "Peano 1890", "coordinates",
         Serves::both, construct_with<CurveOptions, place_curve<Curve::peano>>, nullptr,
         list_options<CurveOptions>},
        {"snake", "row by row, every other row backwards", "", "coordinates", Serves::both,
         construct_with<CurveOptions, place_curve<Curve::snake>>, nullptr, list_options<CurveOptions>},
        {"structure",
         "recognizes grids, rings, hypercubes, groups and trees; fits boxes and foldings to the machine",
         "Bhatele, Kale 2008; Hammack, Imrich 2009", "graph, distances", Serves::alone,
         construct_plain<place_structure>},
        {"tile", "a compact piece of the ranks' grid for every node: tiles, boxes, strips or halves of it",
         "Karlsson 2012, ch. 5; Hunold et al. 2020", "grid of ranks, nodes", Serves::alone,
         construct_with<GridOptions, place_tile>, nullptr, list_options<GridOptions>},
        {"bricks",
         "patches of molecular dynamics by bisection of space, computes in the brick between theirs",
         "Bhatele, Kale 2008", "patches and computes, distances", Serves::both,
         construct_with<BricksOptions, place_bricks>, nullptr, list_options<BricksOptions>},
        {"gge", "greedy graph embedding: beside the most recently placed partner", "Sudheer 2012, sec. 6.2",
         "graph, distances", Serves::alone, construct_plain<place_gge>},
        {"mahd", "minimum average hop distance to all placed partners", "Sudheer 2012, ch. 6, alg. 1",
         "graph, distances", Serves::alone, construct_with<MahdOptions, place_mahd>, nullptr,
         list_options<MahdOptions>},
        {"emahd", "mahd from every possible first rank, the best of them", "Sudheer 2012, sec. 6.2",
         "graph, distances, time", Serves::alone, construct_with<EmahdOptions, place_emahd>, nullptr,
         list_options<EmahdOptions>},
        {"multisection", "splits the ranks along the machine, level by level",
         "Pellegrini, Roman 1996; Karypis, Kumar 1998", "graph, distances", Serves::both,
         construct_with<MultisectionOptions, place_multisection>, nullptr, list_options<MultisectionOptions>},
        {"grasp", "randomized greedy starts, each improved by the best exchanges; the best of them",
         "Li, Pardalos, Resende 1994", "graph, distances, memory for slots^2", Serves::alone,
         construct_with<GraspOptions, place_grasp>, nullptr, list_options<GraspOptions>},
        {"hybrid", "grasp between parts of ranks and slots, then inside each of them",
         "Sudheer 2012, sec. 6.2.3", "graph, distances", Serves::alone,
         construct_with<HybridOptions, place_hybrid>, nullptr, list_options<HybridOptions>},
        {"exact", "branch and bound: the best placement there is, proven, for about 20 slots",
         "Hahn, Grant 1998", "graph, distances, memory for slots^4, time", Serves::alone,
         construct_plain<place_exact>, nullptr, list_options<NoOptions>, Minimizes::objective},
        {"swap", "exchanges pairs of ranks, and ranks with free slots, until none helps",
         "Brandfass, Alrutz, Gerhold 2013", "graph, distances", Serves::alone, nullptr,
         improve_with<SwapOptions, improve_by_swaps>, list_options<SwapOptions>},
        {"rotate",
         "moves chains of a few ranks, each to the slot of the next or to a free one, until none helps",
         "Glover 1996", "graph, distances", Serves::alone, nullptr,
         improve_with<RotateOptions, improve_by_rotations>, list_options<RotateOptions>,
         Minimizes::objective},
        {"anneal",
         "simulated annealing: moves ranks beside their partners, less and less often for the worse",
         "Connolly 1990", "graph, distances, time", Serves::alone, nullptr,
         improve_with<AnnealOptions, improve_by_annealing>, list_options<AnnealOptions>},
        {"tabu",
         "always the best exchange that undoes no late one, even if it makes things worse for a while",
         "Taillard 1991; Benlic, Hao 2015", "graph, distances", Serves::alone, nullptr,
         improve_with<TabuOptions, improve_by_tabu>, list_options<TabuOptions>},
        {"local-opt", "exchanges that take traffic off the busiest links, until none helps",
         "Sudheer 2012, ch. 7", "graph, routes", Serves::alone, nullptr, improve_plain<improve_by_local_opt>,
         list_options<NoOptions>, Minimizes::links},
        {"congestion", "simulated annealing that flattens the loads of links, between two local-opts",
         "Sudheer 2012, ch. 7; Connolly 1990", "graph, routes, time", Serves::alone, nullptr,
         improve_with<CongestionOptions, improve_congestion>, list_options<CongestionOptions>,
         Minimizes::links},
        {"refine", "moves ranks between shared slots on many scales; for more ranks than slots",
         "Walshaw 2004; Sanders, Schulz 2012", "graph, distances, shared slots", Serves::shared, nullptr,
         improve_with<RefineOptions, refine_shared>, list_options<RefineOptions>},
        {"resettle", "exchanges that pay for what they move from where it was", "",
         "graph, distances, earlier placement", Serves::alone, nullptr, improve_plain<improve_by_resettling>},
    };
    return table;
}

}  // namespace topoloom
