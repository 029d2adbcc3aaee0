/* live.h - which pointers are handles of this library, and of what kind, so that a destroyed handle or
 * another pointer is an error and not a crash. A lookup takes no lock. */
#ifndef COMPAT_INFINIOP_LIVE_H
#define COMPAT_INFINIOP_LIVE_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

namespace face {

/* Kinds are not 0. Entries of what was removed are used again, and never freed: a reader may stand on one. */
class Live {
public:
    uint32_t kind(const void *p) const
    {
        for (const Entry *e = first(p).load(std::memory_order_acquire); e; e = e->next)
            if (e->pointer.load(std::memory_order_acquire) == p)
                return e->kind.load(std::memory_order_relaxed);
        return 0;
    }

    bool add(const void *p, uint32_t kind) /* false without memory */
    {
        const std::lock_guard<std::mutex> guard(lock_);
        std::atomic<Entry *> &head = first(p);
        Entry *e = head.load(std::memory_order_relaxed);
        while (e && e->pointer.load(std::memory_order_relaxed)) e = e->next;
        const bool is_new = !e;
        if (is_new) e = new (std::nothrow) Entry{};
        if (!e) return false;
        e->kind.store(kind, std::memory_order_relaxed);
        e->pointer.store(p, std::memory_order_release);
        if (!is_new) return true;
        e->next = head.load(std::memory_order_relaxed);
        head.store(e, std::memory_order_release);
        return true;
    }

    /* True for the one caller that removes it. */
    bool remove(const void *p, uint32_t kind)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        for (Entry *e = first(p).load(std::memory_order_relaxed); e; e = e->next) {
            if (e->pointer.load(std::memory_order_relaxed) != p) continue;
            if (e->kind.load(std::memory_order_relaxed) != kind) return false;
            e->pointer.store(nullptr, std::memory_order_release);
            return true;
        }
        return false;
    }

private:
    struct Entry {
        std::atomic<const void *> pointer;
        std::atomic<uint32_t>     kind;
        Entry                    *next;
    };
    enum { BITS = 12 };

    std::atomic<Entry *> &first(const void *p) const
    {
        const uint64_t mixed = ((uint64_t)(uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u;
        return heads_[mixed >> (64 - BITS)];
    }

    mutable std::atomic<Entry *> heads_[1 << BITS] = {};
    std::mutex lock_;
};

} // namespace face

#endif
