// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From a launch to waves, for the part of the engine that all chips share.
#pragma once

#include "analysis/Emulator/AMDGCN/Image.h"

namespace interlock::emu {
class Engine;
struct Cta;
struct Grid;
} // namespace interlock::emu

namespace interlock::emu::gcn {

/// Refuses a launch that cannot be.
Result<void> checkLaunch(const Kernel &kernel, const LaunchConfig &config, size_t paramBytes,
                         const MachineOptions &options, const Target &target);
/// Makes the memory that a grid's waves find their arguments in. False, and the engine has failed, if there is none.
bool prepare(Engine &engine, Grid &grid);
/// A grid has ended: what it stored is in memory.
void finish(Engine &engine, Grid &grid);
/// Gives a workgroup its waves.
void startWaves(Engine &engine, Cta &cta);

} // namespace interlock::emu::gcn
