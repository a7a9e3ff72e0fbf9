// SPDX-License-Identifier: BSD-3-Clause
// Non-owning references to callables.
#pragma once

namespace topoloom {

/// Non-owning reference to a callable, like std::function_ref.
template <class... Arguments>
class Visitor {
   public:
    template <class Visit>
    explicit Visitor(const Visit& visit)
        : visit_(&visit), call_([](const void* target, Arguments... arguments) {
              (*static_cast<const Visit*>(target))(arguments...);
          }) {}
    void operator()(Arguments... arguments) const { call_(visit_, arguments...); }

   private:
    const void* visit_;
    void (*call_)(const void*, Arguments...);
};

}  // namespace topoloom
