// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// The examples of docs/rules that are written in the dialects.
// RUN: not interlock-opt %S/../../../analysis/ScopeModel/rules/SL32.flag.mlir --sync-verify-scopes 2>&1 | FileCheck %s
// RUN: interlock-opt %S/../../../analysis/ScopeModel/rules/SL32.clean.mlir --sync-verify-scopes
// CHECK: SL32.flag.mlir:{{.*}} error: expected an acquiring wait for the copy into shared memory #2 on every path {{.*}} [SL32]
