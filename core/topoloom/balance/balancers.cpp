// SPDX-License-Identifier: BSD-3-Clause
// The table of balancers. To add a balancer, add its file and its name here.
#include <algorithm>
#include <string>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/target_loads.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom {

// Each function is defined in the file of its balancer.
Balancer auto_balancer();
Balancer alias_balancer();
Balancer sweep_balancer();
Balancer curve_balancer();
Balancer transport_balancer();
Balancer two_pointer_balancer();
Balancer diffusion_balancer();
Balancer integer_diffusion_balancer();
Balancer laplacian_balancer();

const std::vector<Balancer>& balancers() {
    static const std::vector<Balancer> table{
        auto_balancer(),     alias_balancer(),     sweep_balancer(),     two_pointer_balancer(),
        curve_balancer(),    transport_balancer(), diffusion_balancer(), integer_diffusion_balancer(),
        laplacian_balancer()};
    return table;
}

namespace {

struct BalancerWithOptions {
    const Balancer& entry;
    MakePlan make;
};

BalancerWithOptions find_balancer(std::string_view method) {
    const auto [name, values] = read_named_options("balancer", method);
    const auto found = std::ranges::find(balancers(), name, &Balancer::name);
    if (found == balancers().end()) {
        std::vector<std::string> known;
        for (const Balancer& one : balancers()) known.emplace_back(one.name);
        throw Error(unknown_name_message("balancer", name, known));
    }
    return {*found, found->make(name, values)};
}

}  // namespace

bool forwards_tasks(std::string_view method) { return find_balancer(method).entry.forwards_tasks; }

Plan balance(const BalanceProblem& problem, std::string_view method) {
    const BalancerWithOptions found = find_balancer(method);
    static_cast<void>(compute_even_load(problem.loads));
    if (found.entry.needs_machine && problem.machine == nullptr)
        fail("balancer '", found.entry.name, "' requires a machine; give one");
    if (problem.machine != nullptr && problem.slots.size() != problem.loads.size())
        fail("there are loads of ", problem.loads.size(), " ranks, but ", problem.slots.size(),
             " are placed");
    return found.make(problem);
}

}  // namespace topoloom
