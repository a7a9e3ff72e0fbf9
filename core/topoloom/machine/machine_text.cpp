// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/machine_text.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// At most 80 characters on one line, whatever the bytes are.
std::string shown(std::string_view text) {
    std::string line(text.substr(0, text.size() <= 80 ? text.size() : 77));
    for (char& c : line) {
        if (c < ' ' || c > '~') c = '?';
    }
    return text.size() <= 80 ? line : line + "...";
}

/// A piece of the machine text that knows where in the text it stands, for error messages.
class Piece {
   public:
    Piece(std::string_view whole, std::string_view part) : whole_(whole), part_(part) {}

    [[nodiscard]] std::string_view text() const { return part_; }
    [[nodiscard]] bool empty() const { return part_.empty(); }

    template <class... Parts>
    [[noreturn]] void complain(const Parts&... parts) const {
        fail("cannot read machine '", shown(whole_), "': ", parts..., " at column ",
             part_.data() - whole_.data() + 1);
    }
    /// Calls make(); its complaints are about what the text says, not how.
    template <class Make>
    [[nodiscard]] auto build(const Make& make) const {
        try {
            return make();
        } catch (const Error& error) {
            fail("machine '", shown(whole_), "': ", error.what());
        }
    }
    [[nodiscard]] Piece sub(std::string_view part) const { return {whole_, part}; }

    /// Splits at every separator; an empty text has no parts.
    [[nodiscard]] std::vector<Piece> split(char separator) const {
        std::vector<Piece> parts;
        if (part_.empty()) return parts;
        std::size_t begin = 0;
        for (std::size_t at = 0; at <= part_.size(); ++at) {
            if (at < part_.size() && part_[at] != separator) continue;
            parts.push_back(sub(part_.substr(begin, at - begin)));
            begin = at + 1;
        }
        return parts;
    }
    /// The text before and after the first separator; the second is absent if there is none.
    [[nodiscard]] std::pair<Piece, std::optional<Piece>> cut(char separator) const {
        const std::size_t at = part_.find(separator);
        if (at == std::string_view::npos) return {*this, std::nullopt};
        return {sub(part_.substr(0, at)), sub(part_.substr(at + 1))};
    }
    [[nodiscard]] std::uint32_t number() const {
        std::uint32_t value = 0;
        const auto [end, problem] = std::from_chars(part_.data(), part_.data() + part_.size(), value);
        if (problem == std::errc::result_out_of_range) complain("this number is too large");
        if (problem != std::errc{} || end != part_.data() + part_.size()) complain("expected a number");
        return value;
    }
    [[nodiscard]] std::vector<std::uint32_t> numbers(char separator) const {
        std::vector<std::uint32_t> values;
        for (const Piece& part : split(separator)) values.push_back(part.number());
        if (values.empty()) complain("expected numbers separated by '", separator, "'");
        return values;
    }

   private:
    std::string_view whole_;
    std::string_view part_;
};

/// `name:body,key=value,...`, options in the order given.
struct Section {
    Piece name;
    Piece body;
    std::vector<Piece> items;  // comma-separated parts without '=', after the body
    std::vector<std::pair<Piece, Piece>> options;
};

Section read_section(const Piece& text) {
    const auto parts = text.split(',');
    if (parts.empty()) text.complain("expected a topology such as torus:8x8x8");
    const auto [name, body] = parts.front().cut(':');
    Section section{
        name,
        body ? *body : parts.front().sub(parts.front().text().substr(parts.front().text().size())),
        {},
        {}};
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto [key, value] = parts[i].cut('=');
        if (value) {
            const auto same = [&, name = key.text()](const auto& option) {
                return option.first.text() == name;
            };
            if (key.text() != "route" && std::any_of(section.options.begin(), section.options.end(), same)) {
                key.complain("'", shown(key.text()), "' is given twice;");
            }
            section.options.emplace_back(key, *value);
        } else {
            section.items.push_back(parts[i]);
        }
    }
    return section;
}

[[noreturn]] void unknown_option(const Section& section, const Piece& key,
                                 const std::vector<std::string>& known) {
    key.complain(
        unknown_name(std::string("option of ") + std::string(section.name.text()), shown(key.text()), known),
        ";");
}

void refuse_items(const Section& section) {
    if (!section.items.empty()) section.items.front().complain("expected an option as key=value");
}

template <class Read>
auto read_quantity(const Piece& value, const Read& read) {
    try {
        return read(value.text());
    } catch (const Error& error) {
        value.complain(error.what(), ";");
    }
}

/// A bandwidth, or a word for a fraction of the default.
BytesPerSecond read_bandwidth(const Piece& value, BytesPerSecond standard) {
    constexpr std::array<std::pair<std::string_view, double>, 3> words{
        {{"half", 0.5}, {"double", 2}, {"quarter", 0.25}}};
    for (const auto& [word, factor] : words) {
        if (value.text() == word) return standard * factor;
    }
    return read_quantity(value, parse_bandwidth);
}

/// The axis of `bandwidth.y`, and its direction if `+` or `-` follows: 0 for +, 1 for -.
struct AxisSide {
    std::uint32_t axis;
    std::optional<std::size_t> side;
};

AxisSide read_axis(const Piece& piece, std::size_t axes) {
    std::string_view name = piece.text();
    AxisSide result{0, std::nullopt};
    if (!name.empty() && (name.back() == '+' || name.back() == '-')) {
        result.side = name.back() == '+' ? 0 : 1;
        name.remove_suffix(1);
    }
    constexpr std::string_view letters = "xyzabcdefghijklmnopqrstuvw";
    const std::size_t letter = name.size() == 1 ? letters.find(name[0]) : std::string_view::npos;
    const bool named = letter != std::string_view::npos;
    if (!name.empty()) result.axis = named ? static_cast<std::uint32_t>(letter) : piece.sub(name).number();
    if (name.empty() || result.axis >= axes)
        piece.complain("expected one of the ", axes, " axes (x, y, z, a ... or 0, 1, 2 ...)");
    return result;
}

template <class Quantity>
void set_axis(std::vector<std::array<Quantity, 2>>& values, const AxisSide& where, Quantity value) {
    for (const std::size_t side : {0U, 1U}) {
        if (!where.side || *where.side == side) values[where.axis][side] = value;
    }
}

AnyTopology read_torus(const Section& section, bool wrapped) {
    TorusSpec spec;
    spec.size = section.body.numbers('x');
    refuse_items(section);
    const std::size_t axes = spec.size.size();
    spec.wrap.assign(axes, wrapped);
    BytesPerSecond standard{1};
    Seconds latency{0};
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth") standard = read_quantity(value, parse_bandwidth);
        if (key.text() == "latency") latency = read_quantity(value, parse_time);
    }
    spec.bandwidth.assign(axes, {standard, standard});
    spec.latency.assign(axes, {latency, latency});
    for (const auto& [key, value] : section.options) {
        const auto [name, axis] = key.cut('.');
        if (name.text() == "bandwidth") {
            if (axis) set_axis(spec.bandwidth, read_axis(*axis, axes), read_bandwidth(value, standard));
        } else if (name.text() == "latency") {
            if (axis) set_axis(spec.latency, read_axis(*axis, axes), read_quantity(value, parse_time));
        } else if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (key.text() == "order") {
            spec.order = value.numbers(':');
        } else if (key.text() == "ties") {
            if (value.text() != "plus" && value.text() != "split") value.complain("expected plus or split");
            spec.split_ties = value.text() == "split";
        } else if (key.text() == "wrap" && wrapped) {
            if (value.text().size() != axes ||
                value.text().find_first_not_of("01") != std::string_view::npos) {
                value.complain("expected a 0 or 1 for each of the ", axes, " axes");
            }
            for (std::size_t d = 0; d < axes; ++d) spec.wrap[d] = value.text()[d] == '1';
        } else {
            std::vector<std::string> known{"bandwidth", "latency", "nodes", "order", "ties"};
            if (wrapped) known.emplace_back("wrap");
            unknown_option(section, key, known);
        }
    }
    return section.name.build([&]() -> AnyTopology {
        if (axes <= 8) return Torus(std::move(spec));
        return WideTorus(std::move(spec));
    });
}

AnyTopology read_tree(const Section& section) {
    TreeSpec spec;
    spec.arity = section.body.numbers(':');
    refuse_items(section);
    for (const auto& [key, value] : section.options) {
        if (key.text() == "distance") {
            spec.distance = value.numbers(':');
        } else if (key.text() == "bandwidth" || key.text() == "latency") {
            const auto parts = value.split(':');
            for (std::size_t j = 0; j < (parts.size() == 1 ? spec.arity.size() : parts.size()); ++j) {
                const Piece& part = parts.size() == 1 ? parts.front() : parts[j];
                if (key.text() == "bandwidth") {
                    spec.bandwidth.push_back(read_quantity(part, parse_bandwidth));
                } else {
                    spec.latency.push_back(read_quantity(part, parse_time));
                }
            }
        } else {
            unknown_option(section, key, {"distance", "bandwidth", "latency"});
        }
    }
    return section.name.build([&] { return Tree(std::move(spec)); });
}

void read_link(const Piece& item, BytesPerSecond standard, Seconds latency,
               std::vector<ExplicitLink>& links) {
    const auto [ends, speed] = item.cut('@');
    const bool one_way = ends.text().find('>') != std::string_view::npos;
    const auto [from, to] = ends.cut(one_way ? '>' : '-');
    if (!to) item.complain("expected a link as 0-1 or 0>1");
    const ExplicitLink link{from.number(), to->number(), speed ? read_bandwidth(*speed, standard) : standard,
                            latency};
    links.push_back(link);
    if (!one_way) links.push_back({link.to, link.from, link.bandwidth, link.latency});
}

AnyTopology read_graph(const Section& section) {
    ExplicitGraphSpec spec;
    const auto [counts, first_link] = section.body.cut(':');
    const auto [nodes, switches] = counts.cut('+');
    spec.nodes = nodes.number();
    if (switches) spec.switches = switches->number();
    BytesPerSecond bandwidth{1};
    Seconds latency{0};
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth") {
            bandwidth = read_quantity(value, parse_bandwidth);
        } else if (key.text() == "latency") {
            latency = read_quantity(value, parse_time);
        } else if (key.text() == "route") {
            spec.routes.push_back(value.numbers('>'));
        } else {
            unknown_option(section, key, {"bandwidth", "latency", "route"});
        }
    }
    if (first_link && !first_link->empty()) read_link(*first_link, bandwidth, latency, spec.links);
    for (const Piece& item : section.items) read_link(item, bandwidth, latency, spec.links);
    return section.name.build([&] { return ExplicitGraph(std::move(spec)); });
}

NodeInside read_inside(const Section& section) {
    NodeInside inside;
    if (section.name.text() != "node") section.name.complain("expected node:LEVELS");
    std::vector<std::uint32_t> arity = section.body.numbers(':');
    std::vector<std::uint32_t> distance(arity.size(), 0);
    refuse_items(section);
    for (const auto& [key, value] : section.options) {
        if (key.text() != "distance") unknown_option(section, key, {"distance"});
        distance = value.numbers(':');
        if (distance.size() == arity.size() + 1) {
            inside.hop_weight = distance.back();
            distance.pop_back();
        }
    }
    inside.levels = section.name.build([&] { return Levels(std::move(arity), std::move(distance)); });
    return inside;
}

}  // namespace

Machine make_machine(std::string_view text) {
    const std::size_t inside_at = text.find("+node:");  // a plain + also stands in graph:4+2
    const Piece whole(text, text);
    const Section network = read_section(whole.sub(text.substr(0, inside_at)));
    NodeInside inside;
    if (inside_at != std::string_view::npos)
        inside = read_inside(read_section(whole.sub(text.substr(inside_at + 1))));
    const auto topology = [&]() -> AnyTopology {
        const std::string_view kind = network.name.text();
        if (kind == "torus" || kind == "mesh") return read_torus(network, kind == "torus");
        if (kind == "tree") return read_tree(network);
        if (kind == "graph") return read_graph(network);
        fail(unknown_name("topology", shown(kind), {"torus", "mesh", "tree", "graph"}), " (in machine '",
             shown(text), "')");
    };
    AnyTopology made = topology();
    return whole.build([&] { return Machine(std::move(made), std::move(inside), std::string(text)); });
}

}  // namespace topoloom
