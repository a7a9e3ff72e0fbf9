// SPDX-License-Identifier: BSD-3-Clause
// Must not compile: an object without serialize (NOT_SERIALIZED), an unlisted method (NOT_LISTED),
// or a message value that cannot be serialized.
#include <memory>
#include <topoloom_objects.hpp>

struct Cell : topoloom::Object<Cell> {
    void take(std::unique_ptr<int>) {}
    void other(int) {}
#ifdef NOT_SERIALIZED
    using methods = topoloom::Methods<&Cell::other>;
#elif defined(NOT_LISTED)
    void serialize(auto&) {}
    using methods = topoloom::Methods<>;
#else
    void serialize(auto&) {}
    using methods = topoloom::Methods<&Cell::take, &Cell::other>;
#endif
};

int main() {
    topoloom::Scheduler scheduler(MPI_COMM_WORLD);
    topoloom::Objects<Cell> cells(scheduler, {4}, [](topoloom::Index) { return Cell(); });
    cells[0].send<&Cell::other>(1);
}
