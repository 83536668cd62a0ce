// A template with a parameter that no preamble has.
func.func @ep_dispatch() attributes {ep.kernel} {
  %x = arith.constant #no_such_alias
  return
}
