// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The rules AM01 to AM11 on one function, and how they report.
#pragma once

#include "analysis/Lint/Contract.h"
#include "analysis/LintAMDGCN/Order.h"
#include "analysis/ScopeModel/Finding.h"

#include <map>
#include <set>

namespace interlock::lint::gcn {

/// What is known of the memory behind a pointer.
struct Facts {
  std::optional<Scope> distance; ///< of the furthest agent that accesses it, by contract
  bool readOnly = false;         ///< nobody writes it while the kernel runs
  bool signal = false;           ///< stores to it announce other data
};

class Judge {
public:
  Judge(const amdgcn::Module &module, const amdgcn::Function &function, const amdgcn::Kernel *kernel, Family family,
        const Contract &contract);

  std::vector<scope::Finding> run();

private:
  /// Why a store is taken for a signal.
  enum class Evidence : uint8_t {
    none,
    scoped,   ///< it has a scope, which plain data does not need
    released, ///< it stands right behind a write-back
    ticket,   ///< a counter whose old value is acted on behind an invalidate: the last one speaks for the others
    polled,   ///< this function waits for the same memory
    contract,
  };
  struct Publish {
    Scope distance = Scope::thread;
    Evidence evidence = Evidence::none;
  };

  Facts factsOf(uint32_t base) const;
  std::vector<Poll> meantPolls() const;
  void addFirstTries(std::vector<Poll> &polls) const;
  void addTickets(std::vector<Poll> &polls) const;
  std::vector<uint32_t> decidedBy(uint32_t instruction) const;
  bool counts(uint32_t instruction) const;
  void followTickets();
  bool sumsUp(uint32_t wait, uint32_t load) const;
  Demand demand(Scope distance) const;
  Publish publishOf(uint32_t instruction, const OrderState &state) const;
  bool polledPlace(uint32_t instruction) const;
  bool isTicket(uint32_t instruction) const;
  bool isData(const StoreSite &site) const;

  void judgeStore(uint32_t instruction, const OrderState &state);
  void judgeRelease(uint32_t instruction, const OrderState &state, const Publish &publish);
  void judgeReach(uint32_t instruction, Scope distance, bool wait);
  void judgeReturnBit(uint32_t instruction, const OrderState &state, const Publish &publish);
  void judgeLoad(uint32_t instruction, const OrderState &state);
  void judgeWaitOf(uint32_t load, const WaitSite &site, const WaitState &state, const OrderState &all);
  void judgeScalarLoad(uint32_t instruction, const OrderState &state);
  void judgeLds(uint32_t instruction, const OrderState &state);
  void judgeClusterDrain(uint32_t load, const OrderState &state);
  void judgePolls();
  void judgeLoopCost(const Poll &poll, const std::vector<uint32_t> &blocks);

  std::optional<Scope> distanceOf(const WaitSite &site) const;
  bool actsForOthers(uint32_t barrier, uint32_t publish) const;
  bool someStayBehind(uint32_t barrier, uint32_t publish) const;
  bool looksVolatile(uint32_t instruction) const;
  bool resultIsRead(uint32_t instruction) const;
  bool invalidatesLater(const WaitSite &site) const;
  bool reachesInvalidate(const WaitSite &site) const;
  bool storedHere(uint32_t base) const;

  scope::Place placeOf(uint32_t instruction) const;
  std::string nameOf(uint32_t instruction) const { return pointers.base(pointers.place(instruction).base).str(); }
  std::string describe(uint32_t instruction) const;
  struct Related {
    std::string_view says;
    uint32_t instruction;
  };
  void report(std::string_view rule, scope::Severity severity, uint32_t instruction, std::string message,
              std::string fix, std::initializer_list<Related> related);

  const amdgcn::Kernel *kernel;
  const std::map<uint32_t, ParamContract> *params = nullptr, *kernargs = nullptr;
  const Code code;
  const Graph graph;
  const Pointers pointers;
  const std::vector<Poll> polls;
  bool workgroupMode = false; ///< gfx11 and gfx12: a workgroup may span two compute units
  const Order order;
  struct Ticket {
    std::set<uint32_t> stored;   ///< bases that data was stored to before it
    std::vector<bool> elsewhere; ///< by instruction: a load whose address is not made of the ticket
    std::vector<uint32_t> sides; ///< blocks that a branch which it decides leads to
  };
  std::map<uint32_t, Ticket> tickets; ///< by the site of the wait
  std::vector<scope::Finding> findings;
  std::map<std::pair<std::string_view, uint32_t>, size_t> reported;
  mutable std::map<std::pair<uint32_t, uint32_t>, bool> actsMemo; ///< barrier and signal
  mutable std::map<uint32_t, bool> laterMemo;                     ///< by the instruction of the wait
};

} // namespace interlock::lint::gcn
