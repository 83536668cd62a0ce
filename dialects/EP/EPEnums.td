// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The enumerations of the ep dialect, apart so that none of the sync dialect's are generated with them.
#ifndef INTERLOCK_DIALECTS_EP_ENUMS
#define INTERLOCK_DIALECTS_EP_ENUMS

include "mlir/IR/EnumAttr.td"

class EP_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::interlock::ep";
}
def EP_Schedule : EP_Enum<"Schedule", "where a cluster takes its next tile from",
                          [I32EnumAttrCase<"grid_stride", 0>, I32EnumAttrCase<"claimed", 1>,
                           I32EnumAttrCase<"clc", 2>]>;
def EP_CombineMode : EP_Enum<"CombineMode", "who moves the experts' rows", [I32EnumAttrCase<"gather", 0>]>;

#endif // INTERLOCK_DIALECTS_EP_ENUMS
