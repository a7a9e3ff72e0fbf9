// SPDX-License-Identifier: BSD-3-Clause
// Machines of every topology, including unusual shapes, for tests of laws that hold on all machines.
#pragma once

#include <doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../base/sanitized.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/text/machine_text.hpp"

/// A connected random graph: a random tree of bidirectional links and some further links.
inline std::string random_graph(std::uint32_t nodes, std::uint32_t switches, std::uint64_t seed) {
    topoloom::Rng rng(seed);
    const std::uint32_t vertices = nodes + switches;
    std::vector<std::vector<char>> is_joined(vertices, std::vector<char>(vertices, 0));
    std::string text = "graph:" + std::to_string(nodes) + "+" + std::to_string(switches) + ":";
    bool first = true;
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
        if (a == b || is_joined[a][b]) return;
        is_joined[a][b] = is_joined[b][a] = 1;
        text += (first ? "" : ",") + std::to_string(a) + "-" + std::to_string(b);
        first = false;
    };
    for (std::uint32_t v = 1; v < vertices; ++v) join(v, rng.below(v));
    for (std::uint32_t i = 0; i < vertices; ++i) join(rng.below(vertices), rng.below(vertices));
    return text;
}

/// Two leaves and three spines; the forwarding tables of the leaves never use one of the spines.
inline std::string two_leaves_text() {
    return "graph:4+5:0-4,1-4,2-5,3-5,4-6,4-7,4-8,5-6,5-7,5-8,forward=no,table=4:debc,table=5:2cde,"
           "table=7:2a2b,table=8:2a2b";
}

/// A ring whose forwarding tables always lead clockwise.
inline std::string clockwise_ring_text() {
    return "graph:5:0-1,1-2,2-3,3-4,4-0,table=0:-4a,table=1:b-3b,table=2:2b-2b,table=3:3b-b,table=4:4a-";
}

/// Texts of machines of every topology; under a sanitizer every third one.
inline std::vector<std::string> machine_texts() {
    std::vector<std::string> texts{
        "torus:1",
        "torus:2",
        "torus:3",
        "torus:4",
        "torus:9",
        "torus:1x1",
        "torus:2x2",
        "torus:4x3",
        "torus:5x1x2",
        "torus:2x3x4",
        "torus:4x4x4",
        "torus:3x2x1x4",
        "torus:2x2x2x2x2",
        "torus:2x1x3x2x2x2",
        "torus:4x5,wrap=10",
        "torus:4x4x3,wrap=011",
        "torus:5x4,wrap=00",
        "torus:4x3,nodes=2",
        "torus:3x3x2,nodes=3",
        "torus:4x3,nodes=2,hosts=free",
        "torus:3x3,nodes=3,cards=2,bandwidth=9.4GB/s,bandwidth.host=25GB/s,latency.host=300ns",
        "torus:3x4,cards=1",
        "torus:4x5x3,order=2:0:1",
        "torus:6,ties=split",
        "torus:4x4,ties=split",
        "torus:2x6x4,ties=split,order=2:1:0,nodes=2",
        "torus:6x4x2,ties=simgrid",
        "torus:4x3,bandwidth.y=half",
        "torus:4x3,bandwidth=9.4GB/s,bandwidth.x+=half,latency.y-=2us",
        "mesh:1",
        "mesh:7",
        "mesh:4x4",
        "mesh:2x3x4",
        "mesh:3x1x4x2,nodes=2,order=3:1:0:2",
        "torus:2x1x2x1x2x1x2x1x3",
        "mesh:1x2x1x2x1x2x1x2x1x3",
        "torus:2x2x1x1x1x1x1x1x1x4,ties=split,nodes=2",
        "torus:2x2x1x1x1x1x1x1x3,nodes=2,hosts=free",
        "tree:1",
        "tree:5",
        "tree:1:4",
        "tree:3:1",
        "tree:4:1:3",
        "tree:2:2:2:2:2",
        "tree:4:8:2,distance=1:10:100",
        "tree:5:3:1:2,distance=0:3:3:7",
        "tree:3:3,bandwidth=2GB/s:500MB/s,latency=1us",
        "fattree:1",
        "fattree:5",
        "fattree:1:4",
        "fattree:4:1:3",
        "fattree:2:2:2:2",
        "fattree:3:3:3",
        "fattree:4:3:2,up=1:2:2,routing=s-mod-k",
        "fattree:2:5,up=4:2,routing=random",
        "fattree:3:4:2,up=2:3:1,parallel=1:2:3",
        "fattree:2:3:3,up=1:2:4,parallel=2:1:2,routing=random",
        "fattree:2:3:4,up=2:1:3,parallel=3:2:2,routing=simgrid",
        "fattree:3:3,bandwidth=2GB/s:500MB/s,latency=1us",
        "hyperx:1",
        "hyperx:5",
        "hyperx:2x1x2",
        "hyperx:3x4",
        "hyperx:4x1x3,nodes=2",
        "hyperx:2x3x5,order=2:0:1,nodes=3",
        "hyperx:4x2x4",
        "hyperx:3x4,bandwidth=4GB/s,bandwidth.y=half,latency.x=2us",
        "hyperx:3x4,nodes=2,hosts=free",
        "hypercube:1",
        "hypercube:5",
        "hypercube:3,nodes=2,order=1:2:0",
        "hypercube:3,cards=2,bandwidth.host=half",
        "ring:1",
        "ring:2",
        "ring:5",
        "ring:12,rings=2,transfers=3",
        "ring:6,ties=plus,bandwidth=2GB/s,latency=1us",
        "twisted:1",
        "twisted:4x3",
        "twisted:2x2,twist.x=0:1",
        "twisted:1x9,twist.x=0:2",
        "twisted:3x4x2,twist.z=1:2:0,nodes=2",
        "twisted:4x3,nodes=2,hosts=free",
        "twisted:2x2x4,twist.x=0:0:2,twist.y=0:0:2",
        "twisted:4x2x3,twist.x=0:1:2,twist.y=0:0:1",
        "twisted:4x4x8,twist.x=0:0:4,bandwidth=2GB/s,bandwidth.z-=half,latency.x=2us",
        "rails:1:1:1",
        "rails:4:1:1",
        "rails:4:3:1",
        "rails:2:2:3",
        "rails:4:2:2,rails=2",
        "rails:3:2:1,cross=spine",
        "rails:4:2:2,rails=2,cross=spine,spines=3",
        "rails:4:2:1,host=2",
        "rails:2:2:2,spines=5,bandwidth=50GB/s,bandwidth.nvlink=450GB/s,latency.rail=1us",
        "dragonfly:1x1",
        "dragonfly:1x4,nodes=2",
        "dragonfly:1x2x3",
        "dragonfly:2x1",
        "dragonfly:4x1,nodes=3",
        "dragonfly:3x2,arrangement=palmtree",
        "dragonfly:9x4,global=2,nodes=2",
        "dragonfly:9x4,global=2,arrangement=palmtree,routing=valiant",
        "dragonfly:3x4,global=2,bandwidth=9GB/s,bandwidth.global=half,latency.local=1us",
        "dragonfly:2x3,global=2,arrangement=palmtree,routing=valiant",
        "dragonfly:3x5x2,arrangement=direct,bandwidth=2GB/s,bandwidth.row=double,bandwidth.global=9GB/s",
        "dragonfly:4x2x2,global=2,routing=valiant,nodes=2",
        "dragonfly:5x2x3,global=2,arrangement=palmtree,routing=ugal",
        "dragonfly:6x3,arrangement=direct,routing=ugal",
        "dragonfly:5x4,nodes=2,cards=4,bandwidth=25GB/s,latency=1us,latency.host=200ns",
        "dragonfly:5x3,nodes=2,hosts=free",
        "dragonfly:2x5x13",
        "dragonflyplus:1x1x1",
        "dragonflyplus:1x3x2,nodes=2",
        "dragonflyplus:2x1x1,nodes=2",
        "dragonflyplus:5x2x2,nodes=2,bandwidth=9GB/s,bandwidth.global=half,latency.local=1us",
        "dragonflyplus:4x3x2,global=3,nodes=2,cards=2",
        "dragonflyplus:3x2x4,global=2,hosts=free,nodes=2",
        "graph:1",
        "graph:3+1:0-3,1-3,2-3,forward=no",
        "graph:4+3:0-4,1-4,2-5,3-5,4-6,5-6,forward=no",
        "graph:5+4:0-5,0-8,1-5,2-6,3-7,4-8,5-6,6-7,7-8,forward=no",
        "graph:2:0-1",
        "graph:5:0-1,1-2,2-3,3-4,4-0",
        "graph:4+1:0-4,1-4,2-4,3-4@half,bandwidth=2GB/s,latency=1us",
        "graph:4+3:0-4,1-4,2-5,3-5,4-6,5-6",
        "graph:5:0>1,1>2,2>3,3>4,4>0",
        "graph:4:0-1,1-2,2-3,3-0,route=0>3>2>1,route=2>3>0",
        "graph:5:0-1,1-2,2-3,3-4,4-0,0-2,routing=ecmp",
        "graph:4:0-1,1-2,2-3,3-0,route=0>3>2>1,routing=ecmp",
        "graph:4+5:0-4,1-4,2-5,3-5,4-6,4-7@3B/s,4-8,5-6,5-7@half,5-8,forward=no,routing=ecmp",
        random_graph(12, 9, 4) + ",routing=ecmp",
        two_leaves_text(),
        clockwise_ring_text(),
        "torus:4x4+down:5",
        "torus:4x3,nodes=2+down:0,1,7,3-4",
        "torus:5x4,ties=split+down:0-1,6>7,v13",
        "mesh:3x3x2+down:4-5,0>1",
        "tree:2:3:2+down:3,11",
        "fattree:4:3:2,up=1:2:2+down:2,v31,v35",
        "fattree:2:5,up=4:2,routing=random+down:0-10",
        "hyperx:3x4,nodes=2+down:0-4,v7,9",
        "hypercube:4+down:3,0-1",
        "ring:6+down:2-3",
        "twisted:4x4x8,twist.x=0:0:4+down:17,0-1",
        "rails:4:2:2,rails=2+down:3,0-16",
        "graph:4:0-1,1-2,2-3,3-0,route=0>3>2>1+down:3-2",
        "graph:5+4:0-5,0-8,1-5,2-6,3-7,4-8,5-6,6-7,7-8,forward=no+down:0",
        "graph:4+5:0-4,1-4,2-5,3-5,4-6,4-7@3B/s,4-8,5-6,5-7@half,5-8,forward=no,routing=ecmp+down:3,4-8",
        random_graph(12, 9, 5) + ",routing=ecmp+down:1",
        "dragonfly:5x4,nodes=2+down:3,0-1,v9",
        "dragonfly:5x4,nodes=2,cards=2+down:3,0-1,v9,22>1,50-15",
        "dragonfly:5x4,nodes=2,hosts=free+down:3,0-1,v9",
        "torus:4x3,nodes=2,hosts=free+down:0,1,7,3-4",
        "dragonflyplus:5x2x2,nodes=2+down:3,v11",
        two_leaves_text() + ",routing=ecmp+down:4-8",
        clockwise_ring_text() + "+down:1-2",
        random_graph(12, 0, 1),
        random_graph(9, 7, 2),
        random_graph(40, 5, 3),
    };
    if (!is_sanitized) return texts;
    std::vector<std::string> some;
    for (std::size_t i = 0; i < texts.size(); i += 3) some.push_back(texts[i]);
    return some;
}

/// All machine texts, and further ones with several slots per node, distances between node levels, and
/// distances to the network port.
inline std::vector<std::string> machine_texts_with_node_levels() {
    std::vector<std::string> texts = machine_texts();
    for (const char* text :
         {"torus:3x3+node:2:2", "torus:3x3+node:2:2,distance=1:4:10",
          "tree:3:2,distance=5:9+node:4,distance=1", "graph:4:0-1,1-2,2-3,3-0+node:3",
          "torus:1+node:2:3:2,distance=1:2:3", "torus:3x3+node:2:2,port=0:3",
          "torus:3x2+node:4,distance=2:5,port=7:0:0:1", "torus:1+node:2:2,distance=1:2,port=0:5",
          "graph:4:0-1,1-2,2-3,3-0,route=0>3>2>1+node:2:2,distance=1:2,port=4:0"}) {
        texts.emplace_back(text);
    }
    return texts;
}

/// Calls law(machine, topology) for every machine; failures name the machine.
template <class Law>
void for_each_topology(const Law& law) {
    for (const std::string& text : machine_texts()) {
        CAPTURE(text);
        const topoloom::Machine machine = topoloom::make_machine(text);
        topoloom::with_topology(machine, [&](const auto& topology) { law(machine, topology); });
    }
}

/// Whether a link is up: always, unless the topology has failures.
template <class T>
bool is_up(const T& topology, topoloom::Link link) {
    if constexpr (requires { topology.is_up(link); }) {
        return topology.is_up(link);
    } else {
        return true;
    }
}

/// All nodes that are up, in a topology or a geometry.
template <class T>
std::vector<typename T::Point> all_points(const topoloom::Machine& machine, const T& topology) {
    std::vector<typename T::Point> points;
    for (const topoloom::Node node : machine.usable_nodes()) points.push_back(topology.point(node));
    return points;
}

/// A random nonempty subset of the items, in their order.
template <class Item>
std::vector<Item> random_subset(const std::vector<Item>& items, topoloom::Rng& rng) {
    std::vector<Item> some;
    for (const Item& item : items) {
        if (rng.below(2) == 0) some.push_back(item);
    }
    if (some.empty()) some.push_back(items[rng.below(static_cast<std::uint32_t>(items.size()))]);
    return some;
}
