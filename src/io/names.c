/* names.c - a set of texts, by open addressing. */
#include "core/mem.h"
#include "names.h"

static const char removed[] = "";  /* by its address */

/* FNV-1a. */
static size_t hash_of(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return (size_t)(h ^ h >> 32);
}

/* Where the name is; the first free place if it is nowhere. */
static const char **find(const tsri_names *names, const char *name)
{
    for (size_t i = hash_of(name);; i++) {
        const char **place = &names->table[i & (names->room - 1)];
        if (!*place || (*place != removed && tsri_streq(*place, name))) return place;
    }
}

static bool grow(tsri_names *names, tsri_bump *memory)
{
    const tsri_names old = *names;
    const size_t room = old.room ? 2 * old.room : 16;
    const char **table = tsri_bump_take(memory, room * sizeof *table);
    if (!table) return false;
    *names = (tsri_names){ .table = table, .room = room };
    for (size_t i = 0; i < old.room; i++) {
        if (!old.table[i] || old.table[i] == removed) continue;
        *find(names, old.table[i]) = old.table[i];
        names->used++;
    }
    return true;
}

bool tsri_names_have(const tsri_names *names, const char *name) { return names->room && *find(names, name); }

bool tsri_names_add(tsri_names *names, tsri_bump *memory, const char *name)
{
    if (2 * (names->used + 1) > names->room && !grow(names, memory)) return false;
    *find(names, name) = name;
    names->used++;
    return true;
}

void tsri_names_remove(tsri_names *names, const char *name)
{
    if (!names->room) return;
    const char **place = find(names, name);
    if (*place) *place = removed;
}
