#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace halo {

template <typename Signature>
class FunctionRef;

/// Refers to something callable that outlives it, for parameters: unlike std::function it never allocates.
template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  /// Refers to nothing.
  FunctionRef() = default;
  template <typename Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
           std::is_invocable_r_v<Result, Callable&, Arguments...>)
      FunctionRef(Callable&& callable)  // NOLINT(google-explicit-constructor): passed as std::function is
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::add_pointer_t<Callable>>(object))(std::forward<Arguments>(arguments)...);
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* object_ = nullptr;
  Result (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace halo
