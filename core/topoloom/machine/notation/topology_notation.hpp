// SPDX-License-Identifier: BSD-3-Clause
// The notation of topologies in machine text. Parser, TOML, help, completion, docs and pictures are derived
// from it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace topoloom {

struct Section;
class TextPiece;

/// The syntax of an option's value.
enum class OptionForm : std::uint8_t {
    count,                 ///< 4: an integer, 1 or more
    number,                ///< 4: an integer, 0 or more
    counts,                ///< 1:4:4: integers, 1 or more, one per level
    distances,             ///< 0:3: integers, 0 or more
    word,                  ///< one of TopologyOption::words
    axis_flags,            ///< 110: a digit per axis
    axis_order,            ///< 2:0:1: every axis once
    axis_shifts,           ///< twist.AXIS=0:0:4: an integer per axis, for one of the axes
    route,                 ///< 0>2>1: vertices; may be repeated
    table,                 ///< 8:2ab-: the entries of a vertex's forwarding table; may be repeated
    quantity,              ///< 5GB/s or 1us, for all links
    level_quantities,      ///< for all links, or one per level: 1us:2us
    axis_quantities,       ///< for all links, and by axis: bandwidth.y=half
    direction_quantities,  ///< also by direction: bandwidth.y+=half
    class_quantities  ///< for all links, and by class of links, which are the option's words: bandwidth.rail=50GB/s
};

/// The name of a form, such as "axis_order".
[[nodiscard]] std::string_view form_name(OptionForm form);

struct TopologyOption {
    std::string_view name;
    OptionForm form;
    std::string_view help;
    std::span<const std::string_view> words{};
};

constexpr TopologyOption bandwidth_option(OptionForm form, std::span<const std::string_view> classes = {}) {
    return {"bandwidth", form, "of links, with unit, or half, double or quarter of the default", classes};
}
constexpr TopologyOption latency_option(OptionForm form, std::span<const std::string_view> classes = {}) {
    return {"latency", form, "of links, with unit", classes};
}
inline constexpr TopologyOption nodes_option{"nodes", OptionForm::count, "nodes per router"};
inline constexpr TopologyOption order_option{"order", OptionForm::axis_order,
                                             "axes in the order in which routes correct them"};
inline constexpr TopologyOption cards_option{"cards", OptionForm::count,
                                             "network cards per node, with bandwidth.host and latency.host"};
inline constexpr std::array<std::string_view, 1> free_hosts{"free"};
inline constexpr TopologyOption hosts_option{"hosts", OptionForm::word,
                                             "free: nodes have no links to their router", free_hosts};
/// Whether the key is an option of host links: cards, hosts, bandwidth.host or latency.host.
[[nodiscard]] bool is_host_option(const TextPiece& key);

/// How pictures arrange the vertices of a topology.
enum class Drawing : std::uint8_t {
    links,              ///< by their links
    grid,               ///< by coordinates
    rings,              ///< by coordinates; a machine with one axis that wraps around is a circle
    joined_axes,        ///< by coordinates; any two vertices on a line are joined
    cube,               ///< the corners of a hypercube
    circle,             ///< in their order on a circle
    groups,             ///< one circle per group
    leaf_spine_groups,  ///< one circle per group; leaves are numbered before spines
    gpu_domains         ///< network switches above the GPUs, NVLink switches below
};

/// The name of a drawing, such as "joined_axes".
[[nodiscard]] std::string_view drawing_name(Drawing drawing);

/// The syntax of a section of machine text, `name:body,option=value,...`.
struct SectionForm {
    std::string_view name;
    std::string_view summary;
    std::string_view example;  ///< a machine
    std::string_view body;     ///< the key of the body in TOML; empty if TOML has several keys
    /// Separator of numbers in the body; empty if the body is not a list of numbers.
    std::string_view separator;
    std::span<const TopologyOption> options{};
    Drawing drawing = Drawing::links;
    bool lists_links = false;  ///< whether items without '=' may follow the body
};

/// One kind of topology in machine text. `Made` is the topology type that read() returns, or a variant of
/// several types.
template <class Made>
struct TopologyNotation {
    SectionForm form;
    Made (*read)(const Section&);
};

/// Throws Error for options and items that the form does not have.
void check_section(const Section& section, const SectionForm& form);

}  // namespace topoloom
