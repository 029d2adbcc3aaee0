/* words.h - the words of a column, each with a code: 0, 1, ... as they first come. */
#ifndef TSRI_WORDS_H
#define TSRI_WORDS_H

#include "bump.h"

/* Zeroed, it is empty. A table of a power of two, at most half full, of codes + 1. */
typedef struct tsri_words {
    const char **texts;   /* by code */
    tsri_list    list;
    int64_t     *table;
    size_t       room;
} tsri_words;

/* A word as it stands in a table; doubled: it contains quotes, each written twice. */
typedef struct tsri_word { const char *text; size_t length; bool doubled; } tsri_word;

/* The code of a word; -1 if it has none. */
int64_t tsri_words_find(const tsri_words *words, tsri_word word);

/* Adds a copy of the word with the next code, unless it has one. False when there is no memory. */
bool tsri_words_add(tsri_words *words, tsri_bump *memory, tsri_word word);

/* A copy with single quotes and a 0 after it; NULL when there is no memory. */
char *tsri_word_copy(tsri_bump *memory, tsri_word word);

#endif
