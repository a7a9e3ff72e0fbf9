// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics of objects: `molecular_dynamics CELLS ATOMS STEPS [POLICY [MACHINE]]`.
//
// A box of CELLS (such as 4x4x3) patches, each with ATOMS^3 Lennard-Jones atoms initially. For each patch, and each pair of
// neighboring patches, a compute object calculates the forces. A patch multicasts its positions once to each rank that has
// computes of it. Each rank returns the sum of their forces (Bhatele and Kale, PPL 18(4), 2008). Atoms that leave their patch
// travel through the computes, too.
// After half of the steps, objects are rebalanced by POLICY on MACHINE. Rank 0 prints hop-bytes, and whether the energies of all
// steps equal those of a serial run over all pairs of atoms. Under SimGrid, a pair of atoms takes NS_PER_PAIR.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <topoloom_objects.hpp>
#include <utility>
#include <vector>

#include "atoms.hpp"

namespace {

/// Half of the neighborhood, without opposite neighbors; the first one is the patch itself.
constexpr int half = 14;
constexpr std::array<int, 3> offset_of(int number) {
    const int code = 13 + number;
    return {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
}

struct Patch;

/// Calculates the forces between a patch, which is side 0, and its neighbor.
struct Compute : topoloom::Object<Compute> {
    Compute() = default;
    Compute(const Box& box, topoloom::Handle<Patch> handle, topoloom::Index at) : patches(handle) {
        const auto [there, by] = box.neighbor(static_cast<int>(at.x), offset_of(static_cast<int>(at.y)));
        ends = {static_cast<int>(at.x), there};
        shift = by;
    }
    void join(int patch, topoloom::Section<Compute> computes) { sections[side(patch)] = computes; }
    void receive_positions(int patch, std::vector<Vector> given);
    void forward_atoms(int side, std::vector<Atom> leaving);
    void serialize(auto& archive) { archive(patches, ends, shift, sections, positions, leavers, received); }
    using methods = topoloom::Methods<&Compute::join, &Compute::receive_positions, &Compute::forward_atoms>;

    [[nodiscard]] std::size_t side(int patch) const { return patch == ends[0] ? 0 : 1; }
    void add(std::size_t side, double energy, const std::vector<Vector>& forces);

    topoloom::Handle<Patch> patches;
    std::array<int, 2> ends{};
    Vector shift{};
    std::array<topoloom::Section<Compute>, 2> sections;  // all computes of each patch
    std::array<std::vector<Vector>, 2> positions;
    std::array<std::vector<Atom>, 2> leavers;
    int received = 0;
};

struct Patch : topoloom::Object<Patch> {
    Patch() = default;
    Patch(const Box& given, int at) : box(given), atoms(given.atoms(at)) {}

    void start(int steps, topoloom::Handle<Compute> handle, topoloom::Callback<std::vector<double>> to) {
        computes = handle;
        result = to;
        last = step + steps;
        if (forces.empty()) {
            std::vector<topoloom::Index> members;
            const int own = static_cast<int>(index().x);
            for (int k = 0; k < half; ++k) {
                const auto [x, y, z] = offset_of(k);
                members.push_back({own, k});
                if (k > 0) members.push_back({box.neighbor(own, {-x, -y, -z}).first, k});
            }
            section = objects_of(computes).section(members);
            objects_of(computes).multicast<&Compute::join>(section, own, section);
            send_positions();
        } else {
            advance();
        }
    }
    /// Receives the energy and the forces of all computes.
    void add(std::vector<double> given) {
        const bool is_first = forces.empty();
        forces.assign(atoms.size(), {});
        for (std::size_t i = 0; i < 3 * atoms.size(); ++i) forces[i / 3][i % 3] = given[i + 1];
        if (!is_first) kick(atoms, forces);
        energies.push_back(given[0] + kinetic(atoms));
        if (step < last)
            advance();
        else
            contribute<topoloom::sum>(result, std::exchange(energies, {}));
    }
    void receive(int compute, std::vector<Atom> coming) {
        arrived[compute] = std::move(coming);
        if (static_cast<int>(arrived.size()) < 2 * half - 2) return;
        for (const auto& [number, some] : arrived) atoms.insert(atoms.end(), some.begin(), some.end());
        arrived.clear();
        send_positions();
    }
    void serialize(auto& archive) {
        archive(box, computes, result, section, atoms, forces, energies, arrived, step, last);
    }
    using methods = topoloom::Methods<&Patch::start, &Patch::add, &Patch::receive>;

    Box box;
    topoloom::Handle<Compute> computes;
    topoloom::Callback<std::vector<double>> result;
    topoloom::Section<Compute> section;
    std::vector<Atom> atoms;
    std::vector<Vector> forces;
    std::vector<double> energies;  // of steps
    std::map<int, std::vector<Atom>> arrived;
    int step = 0, last = 0;

   private:
    void send_positions() {
        std::vector<Vector> positions;
        for (const Atom& atom : atoms) positions.push_back(atom.position);
        objects_of(computes).multicast<&Compute::receive_positions>(section, static_cast<int>(index().x),
                                                                    positions);
    }
    void advance() {
        kick(atoms, forces);
        drift(atoms);
        if (++step % exchange_every != 0) return send_positions();
        std::array<std::vector<Atom>, 27> leaving;
        const std::array<int, 3> at = box.cell(static_cast<int>(index().x));
        for (const Atom& atom : std::exchange(atoms, {})) {
            int code = 0;
            Atom moved = atom;
            for (std::size_t a = 0; a < 3; ++a) {
                const int by = static_cast<int>(std::floor(atom.position[a] / width)) - at[a];
                code = 3 * code + by + 1;
                const int there = (at[a] + by + box.cells[a]) % box.cells[a];
                moved.position[a] += (there - at[a] - by) * width;
            }
            leaving.at(static_cast<std::size_t>(code)).push_back(moved);
        }
        atoms = std::move(leaving[13]);
        for (int k = 1; k < half; ++k) {
            const auto [x, y, z] = offset_of(k);
            const std::int64_t own = index().x,
                               before = box.neighbor(static_cast<int>(own), {-x, -y, -z}).first;
            const auto code = static_cast<std::size_t>(13 + k), opposite = static_cast<std::size_t>(13 - k);
            objects_of(computes)[{own, k}].send<&Compute::forward_atoms>(0, leaving[code]);
            objects_of(computes)[{before, k}].send<&Compute::forward_atoms>(1, leaving[opposite]);
        }
    }
};

void Compute::receive_positions(int patch, std::vector<Vector> given) {
    const int sides = ends[0] == ends[1] ? 1 : 2;
    positions[side(patch)] = std::move(given);
    if (++received < sides) return;
    received = 0;
    const std::vector<Vector>&here = positions[0], &there = positions[static_cast<std::size_t>(sides) - 1];
    std::vector<Vector> forces(here.size()), back(there.size());
    double energy = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
        for (std::size_t j = sides == 1 ? i + 1 : 0; j < there.size(); ++j) {
            Vector apart, force{};
            for (std::size_t a = 0; a < 3; ++a) apart[a] = here[i][a] - there[j][a] - shift[a];
            energy += add_force(apart, force);
            for (std::size_t a = 0; a < 3; ++a) {
                forces[i][a] += force[a];
                (sides == 1 ? forces : back)[j][a] -= force[a];
            }
        }
    }
#ifdef SMPI_H
    static const double ns =
        std::getenv("NS_PER_PAIR") != nullptr ? std::atof(std::getenv("NS_PER_PAIR")) : 0;
    smpi_execute(1e-9 * ns * static_cast<double>(here.size() * there.size()) / (sides == 1 ? 2 : 1));
#endif
    add(0, energy, forces);
    if (sides == 2) add(1, 0, back);
}

void Compute::add(std::size_t side, double energy, const std::vector<Vector>& forces) {
    std::vector<double> packed{energy};
    for (const Vector& force : forces) packed.insert(packed.end(), force.begin(), force.end());
    contribute_to<topoloom::sum, &Patch::add>(sections[side], patches, {ends[side]}, packed);
}

void Compute::forward_atoms(int side, std::vector<Atom> leaving) {
    leavers[static_cast<std::size_t>(side)] = std::move(leaving);
    if (++received < 2) return;
    received = 0;
    const int number = ends[0] * half + static_cast<int>(index().y);
    for (std::size_t from : {0U, 1U})
        objects_of(patches)[ends[1 - from]].send<&Patch::receive>(number, std::exchange(leavers[from], {}));
}

/// Prints the results, and returns whether the energies equal those of a serial run.
bool report(const Box& box, int steps, const std::vector<double>& energies,
            const topoloom::RebalanceResult& result, const std::array<double, 2>& seconds) {
    const std::vector<double> serial = serial_energies(box, steps);
    bool is_right = energies.size() == serial.size();
    double farthest = 0;
    for (std::size_t i = 0; is_right && i < serial.size(); ++i)
        farthest = std::max(farthest, std::fabs(energies[i] - serial[i]) / std::fabs(serial[0]));
    is_right = is_right && farthest < 1e-9;
    std::printf("%s: energy %.6f to %.6f, %.1e from serial\n", is_right ? "right" : "WRONG", energies.front(),
                energies.back(), farthest);
    std::printf(
        "%lld objects moved, load %.2f to %.2f of the average, hop-bytes %.4g to %.4g, ms per step %.3f "
        "to %.3f\n",
        static_cast<long long>(result.moved), result.busiest_before / result.average,
        result.busiest_after / result.average, result.hop_bytes_before, result.hop_bytes_after,
        1e3 * seconds[0], 1e3 * seconds[1]);
    return is_right;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Box box;
    const char* const cells = argc > 1 ? argv[1] : "3x3x3";
    const int read = std::sscanf(cells, "%dx%dx%d", &box.cells[0], &box.cells[1], &box.cells[2]);
    const auto number = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
    box.side = number(2, 3);
    const int steps = number(3, 30);
    if (read != 3 || std::ranges::min(box.cells) < 3 || box.side < 1 || box.side > 3 || steps < 2) {
        if (rank == 0)
            std::fprintf(stderr,
                         "molecular_dynamics: CELLS are three numbers from 3 on, such as 4x4x3, ATOMS from 1 "
                         "to 3, and STEPS 2 or more\n");
        MPI_Finalize();
        return 2;
    }
    std::vector<double> energies;
    topoloom::RebalanceResult result;
    std::array<double, 2> seconds{};
    {
        topoloom::Scheduler scheduler(MPI_COMM_WORLD);
        const auto home = [&](const topoloom::Index& at) {
            return static_cast<int>(at.x * ranks / box.patches());
        };
        topoloom::Objects<Patch> patches(
            scheduler, {box.patches()},
            [&](topoloom::Index at) { return Patch(box, static_cast<int>(at.x)); }, {.home = home});
        topoloom::Objects<Compute> computes(
            scheduler, {box.patches(), half},
            [&](topoloom::Index at) { return Compute(box, patches.handle(), at); }, {.home = home});
        const auto append = scheduler.callback<std::vector<double>>([&](const std::vector<double>& more) {
            energies.insert(energies.end(), more.begin(), more.end());
        });
        for (const std::size_t part : {0U, 1U}) {
            const int part_steps = part == 0 ? steps / 2 : steps - steps / 2;
            const double begin = MPI_Wtime();
            if (rank == 0) patches.broadcast<&Patch::start>(part_steps, computes.handle(), append);
            scheduler.run();
            seconds[part] = (MPI_Wtime() - begin) / part_steps;
            if (part > 0) break;
            topoloom::RebalanceOptions options;
            if (argc > 5) options.machine = argv[5];
            result = scheduler.rebalance(argc > 4 ? argv[4] : "none", options);
        }
    }
    const bool is_right = rank != 0 || report(box, steps, energies, result, seconds);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
