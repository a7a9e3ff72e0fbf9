// SPDX-License-Identifier: BSD-3-Clause
// Routing functions that are appended to BookSim 2's routefunc.cpp: its own routes, with classes of virtual
// channels as in topoloom::Paths. Rings are cut at position 0, dragonflies after a global link.

namespace {

// `held`: previous class; -1 if the packet enters the ring or dragonfly. rise: this turn crosses the cut;
// ahead: the cut is still ahead.
void add_classed(OutputSet* outputs, int out_port, int held, bool rise, bool ahead) {
    const int lowest = held < 0 ? 0 : held + (rise ? 1 : 0), highest = ahead ? 0 : 1;
    assert(lowest <= highest);
    outputs->AddRange(out_port, lowest * gNumVCs / 2, (highest + 1) * gNumVCs / 2 - 1);
}

int class_of(const Flit* f) { return f->vc < gNumVCs / 2 ? 0 : 1; }

void classed_torus(const Router* r, const Flit* f, int in_channel, OutputSet* outputs, bool inject) {
    outputs->Clear();
    int out_port = -1;
    if (!inject) dor_next_torus(r->GetID(), f->dest, in_channel, &out_port, NULL, false);
    if (inject || out_port == 2 * gN) {
        outputs->AddRange(out_port, 0, gNumVCs - 1);
        return;
    }
    int cur = r->GetID(), dest = f->dest;
    for (int dim = 0; dim < out_port / 2; ++dim) {
        cur /= gK;
        dest /= gK;
    }
    cur %= gK;
    dest %= gK;
    const bool follows = in_channel / 2 == out_port / 2;
    const bool ahead = out_port % 2 == 0 ? cur > dest && dest != 0 : cur < dest && cur != 0;
    add_classed(outputs, out_port, follows ? class_of(f) : -1, cur == 0, ahead);
}

void classed_dragonfly(const Router* r, const Flit* f, int in_channel, OutputSet* outputs, bool inject) {
    outputs->Clear();
    const int out_port = inject ? -1 : dragonfly_port(r->GetID(), f->src, f->dest);
    if (out_port < gP) {
        outputs->AddRange(out_port, 0, gNumVCs - 1);
        return;
    }
    const int router = r->GetID(), first_global = gP + gA - 1;
    const int group = router / gA, to = f->dest / (gA * gP);
    const int entered = to * gA + (to > group ? group : group - 1) / gP;
    const bool ahead = group != to && f->dest / gP != entered;
    add_classed(outputs, out_port, in_channel < gP ? -1 : class_of(f), in_channel >= first_global, ahead);
}

}  // namespace

void add_classed_routes() {
    gRoutingFunctionMap["classed_torus"] = &classed_torus;
    gRoutingFunctionMap["classed_dragonflynew"] = &classed_dragonfly;
}
