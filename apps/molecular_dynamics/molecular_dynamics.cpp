// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics with migratable objects: `molecular_dynamics CELLS ATOMS STEPS [POLICY [MACHINE]]`.
//
// A box of CELLS (such as 4x4x3) patches, each with ATOMS^3 Lennard-Jones atoms initially. For each patch, and each pair of
// neighboring patches, a compute object calculates the forces. A patch multicasts its positions once to each rank with
// compute objects of this patch. Each rank returns the sum of their forces (Bhatele and Kale, PPL 18(4), 2008). Compute
// objects also forward atoms that leave their patch. After half of the steps, objects are rebalanced by POLICY on
// MACHINE; ranks of one host stand for its nodes. Rank 0 prints hop-bytes, and whether the energies of all steps equal
// those of a serial run. Under SimGrid, a pair of atoms costs NS_PER_PAIR (an environment variable).
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

/// Number of neighbor offsets if only one of two opposite offsets counts; offset 0 is the patch itself.
constexpr int half = 14;
constexpr std::array<int, 3> get_offset(int number) {
    const int code = 13 + number;
    return {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
}

struct Patch;

/// Compute object: calculates the forces between a patch (side 0) and a neighbor (side 1).
struct Compute : topoloom::Object<Compute> {
    Compute() = default;
    Compute(const Box& box, topoloom::Handle<Patch> handle, topoloom::Index at) : patches(handle) {
        const auto [there, by] = box.neighbor(static_cast<int>(at.x), get_offset(static_cast<int>(at.y)));
        ends = {static_cast<int>(at.x), there};
        shift = by;
    }
    void set_section(int patch, topoloom::Section<Compute> section) { sections[get_side(patch)] = section; }
    void receive_positions(int patch, std::vector<Vector> received_positions);
    void forward_atoms(int side, std::vector<Atom> atoms);
    void serialize(auto& archive) { archive(patches, ends, shift, sections, positions, leavers, received); }
    using methods =
        topoloom::Methods<&Compute::set_section, &Compute::receive_positions, &Compute::forward_atoms>;

    [[nodiscard]] std::size_t get_side(int patch) const { return patch == ends[0] ? 0 : 1; }
    void send_forces(std::size_t side, double energy, const std::vector<Vector>& forces);

    topoloom::Handle<Patch> patches;
    std::array<int, 2> ends{};
    Vector shift{};
    std::array<topoloom::Section<Compute>, 2>
        sections;  // for each of the two patches, the section of its compute objects
    std::array<std::vector<Vector>, 2> positions;
    std::array<std::vector<Atom>, 2> leavers;
    int received = 0;
};

struct Patch : topoloom::Object<Patch> {
    Patch() = default;
    Patch(const Box& given, int at) : box(given), atoms(given.initial_atoms(at)) {}

    void start_steps(int steps, topoloom::Handle<Compute> handle,
                     topoloom::Callback<std::vector<double>> callback) {
        computes = handle;
        result = callback;
        last = step + steps;
        if (forces.empty()) {
            std::vector<topoloom::Index> members;
            const int own = static_cast<int>(index().x);
            for (int k = 0; k < half; ++k) {
                const auto [x, y, z] = get_offset(k);
                members.push_back({own, k});
                if (k > 0) members.push_back({box.neighbor(own, {-x, -y, -z}).first, k});
            }
            section = objects_of(computes).section(members);
            objects_of(computes).multicast<&Compute::set_section>(section, own, section);
            send_positions();
        } else {
            advance_step();
        }
    }
    /// Receives the sum of energies and forces over all compute objects of the patch.
    void receive_forces(std::vector<double> packed) {
        const bool is_first = forces.empty();
        forces.assign(atoms.size(), {});
        for (std::size_t i = 0; i < 3 * atoms.size(); ++i) forces[i / 3][i % 3] = packed[i + 1];
        if (!is_first) update_velocities(atoms, forces);
        energies.push_back(packed[0] + kinetic_energy(atoms));
        if (step < last)
            advance_step();
        else
            contribute<topoloom::sum>(result, std::exchange(energies, {}));
    }
    void receive_atoms(int compute, std::vector<Atom> received) {
        arrived[compute] = std::move(received);
        if (static_cast<int>(arrived.size()) < 2 * half - 2) return;
        for (const auto& [number, some] : arrived) atoms.insert(atoms.end(), some.begin(), some.end());
        arrived.clear();
        send_positions();
    }
    void serialize(auto& archive) {
        archive(box, computes, result, section, atoms, forces, energies, arrived, step, last);
    }
    using methods = topoloom::Methods<&Patch::start_steps, &Patch::receive_forces, &Patch::receive_atoms>;

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
    void advance_step() {
        update_velocities(atoms, forces);
        update_positions(atoms);
        if (++step % exchange_every != 0) return send_positions();
        std::array<std::vector<Atom>, 27> leaving;
        const std::array<int, 3> at = box.patch_position(static_cast<int>(index().x));
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
            const auto [x, y, z] = get_offset(k);
            const std::int64_t own = index().x,
                               before = box.neighbor(static_cast<int>(own), {-x, -y, -z}).first;
            const auto code = static_cast<std::size_t>(13 + k), opposite = static_cast<std::size_t>(13 - k);
            objects_of(computes)[{own, k}].send<&Compute::forward_atoms>(0, leaving[code]);
            objects_of(computes)[{before, k}].send<&Compute::forward_atoms>(1, leaving[opposite]);
        }
    }
};

void Compute::receive_positions(int patch, std::vector<Vector> received_positions) {
    const int sides = ends[0] == ends[1] ? 1 : 2;
    positions[get_side(patch)] = std::move(received_positions);
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
    send_forces(0, energy, forces);
    if (sides == 2) send_forces(1, 0, back);
}

void Compute::send_forces(std::size_t side, double energy, const std::vector<Vector>& forces) {
    std::vector<double> packed{energy};
    for (const Vector& force : forces) packed.insert(packed.end(), force.begin(), force.end());
    contribute_to<topoloom::sum, &Patch::receive_forces>(sections[side], patches, {ends[side]}, packed);
}

void Compute::forward_atoms(int side, std::vector<Atom> atoms) {
    leavers[static_cast<std::size_t>(side)] = std::move(atoms);
    if (++received < 2) return;
    received = 0;
    const int number = ends[0] * half + static_cast<int>(index().y);
    for (std::size_t from : {0U, 1U})
        objects_of(patches)[ends[1 - from]].send<&Patch::receive_atoms>(number,
                                                                        std::exchange(leavers[from], {}));
}

/// Prints the result, and returns whether the energies equal those of a serial run. `seconds` per step in both halves are
/// of the slowest rank.
bool print_result(const Box& box, int steps, const std::vector<double>& energies,
                  const topoloom::RebalanceResult& result, const std::array<double, 2>& seconds) {
    const std::vector<double> serial = compute_serial_energies(box, steps);
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
    std::printf("time: %.4g s\n", seconds[1]);
    return is_right;
}

/// Whether all ranks are on one host. Then rank i stands for node i of the machine.
bool shares_one_host(MPI_Comm comm) {
    MPI_Comm here = MPI_COMM_NULL;
    int ranks = 0, ranks_here = 0;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &ranks_here);
    MPI_Comm_free(&here);
    MPI_Comm_size(comm, &ranks);
    return ranks_here == ranks;
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
            return static_cast<int>(at.x * ranks / box.patch_count());
        };
        topoloom::Objects<Patch> patches(
            scheduler, {box.patch_count()},
            [&](topoloom::Index at) { return Patch(box, static_cast<int>(at.x)); }, {.home = home});
        topoloom::Objects<Compute> computes(
            scheduler, {box.patch_count(), half},
            [&](topoloom::Index at) { return Compute(box, patches.handle(), at); }, {.home = home});
        const auto append = scheduler.callback<std::vector<double>>([&](const std::vector<double>& more) {
            energies.insert(energies.end(), more.begin(), more.end());
        });
        for (const std::size_t part : {0U, 1U}) {
            const int part_steps = part == 0 ? steps / 2 : steps - steps / 2;
            const double begin = MPI_Wtime();
            if (rank == 0) patches.broadcast<&Patch::start_steps>(part_steps, computes.handle(), append);
            scheduler.run();
            seconds[part] = (MPI_Wtime() - begin) / part_steps;
            if (part > 0) break;
            topoloom::RebalanceOptions options;
            if (argc > 5) options.machine = argv[5];
            if (argc > 5 && shares_one_host(MPI_COMM_WORLD)) options.node = rank;
            result = scheduler.rebalance(argc > 4 ? argv[4] : "none", options);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, seconds.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const bool is_right = rank != 0 || print_result(box, steps, energies, result, seconds);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
