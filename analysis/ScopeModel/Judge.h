// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the rules share: the program with its facts, and how they report. Each group of rules is one function.
#pragma once

#include "analysis/ScopeModel/Actors.h"
#include "analysis/ScopeModel/Flow.h"

#include <map>
#include <string>

namespace interlock::scope {

/// "and what would do, and where else to look", of one finding.
struct Advice {
  std::string fix;
  std::vector<std::pair<std::string, uint32_t>> related; ///< what is said, and the event
};

class Judge {
public:
  explicit Judge(const Program &program);

  const Program &program;
  const Sites sites;
  const Flow flow;
  std::vector<Finding> findings;

  /// One finding a rule and place; a graver one takes the place of a milder one.
  void report(std::string_view rule, Severity severity, uint32_t event, std::string message, Advice advice);
  bool reported(std::string_view rule, uint32_t event) const { return at.count({rule, program.events[event].origin}); }

  const Event &eventOf(Site s) const { return program.events[sites.list[s].event]; }
  const Actor &actorOf(Site s) const { return program.blocks[sites.list[s].block].actor; }
  const Object &object(const Access &access) const { return program.objects[access.object]; }
  bool wider(const Actor &a, const Actor &b) const { return scope::wider(a, b, program.warpWidth); }
  bool surelyTwo(const Actor &a, const Actor &b) const { return scope::surelyTwo(a, b, program.warpWidth); }
  /// "buf", or "memory" where it is not known.
  std::string nameOf(const Access &access) const;
  /// cta if there are no clusters of more than one CTA.
  Scope clusterDistance() const { return program.clusterSize == 1 ? Scope::cta : Scope::cluster; }

private:
  std::map<std::pair<std::string_view, uint32_t>, size_t> at;
};

/// The two are known not to overlap.
bool apart(const Access &x, const Access &y);
/// The instruction as it should be: "st.release.gpu", "mbarrier.try_wait.acquire.cluster".
std::string spell(const Event &event, Order order, Scope scope);
/// How often a barrier is arrived at when all threads of a CTA that come to this arrive have executed it.
std::optional<uint32_t> arrivalsMade(const Program &program, uint32_t block, uint32_t arrive);
/// "this store of flag": what the event is, for messages.
std::string describe(const Judge &judge, uint32_t event);

// The rules.
void judgePairs(Judge &judge);          ///< SL01–SL08, SL10–SL13, SL15, SL17, SL18, SL24: between two threads
void judgeOwnThread(Judge &judge);      ///< SL10–SL12, SL16, SL25, SL29: on one path
void judgeBarriers(Judge &judge);       ///< SL09, SL14, SL22
void judgePhases(Judge &judge);         ///< SL22: phases that overtake each other
void judgeLifetime(Judge &judge);       ///< SL23
void judgeDeviceScopes(Judge &judge);   ///< SL18, where one side alone tells
void judgeAccesses(Judge &judge);       ///< SL19, SL20
void judgeProgress(Judge &judge);       ///< SL26, SL27
void judgeSpins(Judge &judge);          ///< SL27: waits for what comes behind them
void judgeCost(Judge &judge);           ///< SL28
void judgeFences(Judge &judge);         ///< SL28: fences of which a part is for nothing
void judgeRaces(Judge &judge);          ///< SL30, and SL03 of what is announced for others
void judgeNarrowAccesses(Judge &judge); ///< SL31
void judgeRings(Judge &judge);          ///< SL32: slots that bulk copies fill or empty
void judgeCertain(Judge &judge);        ///< SL30 and SL32 in programs of which not everything is in sight

} // namespace interlock::scope
