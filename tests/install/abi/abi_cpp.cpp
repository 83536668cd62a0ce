#include "abi.inc"

#include <interlock/handles.hpp>

static_assert(sizeof(interlock::c::Driver) == sizeof(void *), "a handle is a pointer");
