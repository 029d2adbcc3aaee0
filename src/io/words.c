/* words.c - words and their codes, by open addressing. */
#include "core/mem.h"
#include "words.h"

/* The next character: of two quotes, one. */
static char next(const tsri_word *w, size_t *i)
{
    const char c = w->text[(*i)++];
    if (c == '"' && w->doubled) (*i)++;
    return c;
}

/* FNV-1a. */
static size_t hash_of(const tsri_word *w)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < w->length;) h = (h ^ (unsigned char)next(w, &i)) * 0x100000001b3u;
    return (size_t)(h ^ h >> 32);
}

static bool is_same(const char *text, const tsri_word *w)
{
    for (size_t i = 0; i < w->length; text++)
        if (*text != next(w, &i)) return false;
    return *text == '\0';
}

/* Where the word is; the first free place if it is nowhere. */
static int64_t *place_of(const tsri_words *words, const tsri_word *w)
{
    for (size_t i = hash_of(w);; i++) {
        int64_t *place = &words->table[i & (words->room - 1)];
        if (*place == 0 || is_same(words->texts[*place - 1], w)) return place;
    }
}

int64_t tsri_words_find(const tsri_words *words, tsri_word word)
{
    return words->room ? *place_of(words, &word) - 1 : -1;
}

static bool grow(tsri_words *words, tsri_bump *memory)
{
    const size_t room = words->room ? 2 * words->room : 16;
    int64_t *table = tsri_bump_take(memory, room * sizeof *table);
    if (!table) return false;
    words->table = table;
    words->room = room;
    for (int64_t code = 0; code < words->list.count; code++) {
        const tsri_word w = { words->texts[code], tsri_strlen(words->texts[code]), false };
        *place_of(words, &w) = code + 1;
    }
    return true;
}

bool tsri_words_add(tsri_words *words, tsri_bump *memory, tsri_word word)
{
    if (tsri_words_find(words, word) >= 0) return true;
    if (2 * ((size_t)words->list.count + 1) > words->room && !grow(words, memory)) return false;
    const char *copy = tsri_word_copy(memory, word);
    if (!copy || !tsri_list_grow(memory, &words->list, (void ***)&words->texts)) return false;
    *place_of(words, &word) = words->list.count + 1;
    words->texts[words->list.count++] = copy;
    return true;
}

char *tsri_word_copy(tsri_bump *memory, tsri_word word)
{
    char *copy = tsri_bump_take(memory, word.length + 1);
    if (!copy) return NULL;
    for (size_t i = 0, n = 0; i < word.length; n++) copy[n] = next(&word, &i);
    return copy;
}
