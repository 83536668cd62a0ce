// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/MemoryStore.h"

namespace interlock {

size_t SpecHash::operator()(const KernelSpec &s) const noexcept {
  const LayerSpec &l = s.layer;
  size_t hash = std::hash<std::string>()(s.target);
  for (uint64_t field : {uint64_t(l.ranks) << 32 | l.experts, uint64_t(l.topk) << 32 | l.hidden,
                         uint64_t(l.scaleBytes) << 32 | l.maxTokens, uint64_t(l.capacity) << 32 | s.blockThreads,
                         uint64_t(l.dtype) << 56 | uint64_t(l.combineDType) << 48 | uint64_t(s.kernel) << 40 |
                             uint64_t(s.schedule) << 32 | uint64_t(s.wait) << 24 | uint64_t(l.expertRows) << 16 |
                             uint64_t(l.ownInPlace) << 17 | uint64_t(s.cluster) << 8 | s.tileTokens})
    hash = (hash ^ field) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

template <typename Key, typename Hash> std::shared_ptr<const Artifact> MemoryStore<Key, Hash>::find(const Key &key) {
  std::shared_lock lock(mutex);
  auto found = slots.find(key);
  if (found == slots.end() || !found->second->artifact)
    return nullptr;
  found->second->lastUse.store(tick.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
  return found->second->artifact;
}

template <typename Key, typename Hash>
std::shared_ptr<typename MemoryStore<Key, Hash>::Slot> MemoryStore<Key, Hash>::slotFor(const Key &key) {
  std::unique_lock lock(mutex);
  std::shared_ptr<Slot> &slot = slots[key];
  if (!slot)
    slot = std::make_shared<Slot>();
  return slot;
}

template <typename Key, typename Hash>
void MemoryStore<Key, Hash>::keep(const Key &key, const std::shared_ptr<Slot> &slot,
                                  std::shared_ptr<const Artifact> artifact) {
  std::unique_lock lock(mutex);
  slot->artifact = std::move(artifact);
  slot->lastUse = tick++;
  // Another thread may have dropped the slot while this one was filling it.
  slots.insert_or_assign(key, slot);
  // Slots that are being filled count too, so several may have to go once they are.
  while (slots.size() > bound) {
    auto oldest = slots.end();
    for (auto at = slots.begin(); at != slots.end(); ++at)
      if (at->second != slot && at->second->artifact &&
          (oldest == slots.end() || at->second->lastUse < oldest->second->lastUse))
        oldest = at;
    if (oldest == slots.end())
      return;
    slots.erase(oldest);
  }
}

template <typename Key, typename Hash>
void MemoryStore<Key, Hash>::forget(const Key &key, const std::shared_ptr<Slot> &slot) {
  std::unique_lock lock(mutex);
  auto found = slots.find(key);
  if (found != slots.end() && found->second == slot && !slot->artifact)
    slots.erase(found);
}

template class MemoryStore<KernelSpec, SpecHash>;
template class MemoryStore<std::string, std::hash<std::string>>;

} // namespace interlock
