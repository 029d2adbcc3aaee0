/* names.c - edit distances between short names. */
#include "names.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

static int least(int a, int b, int c)
{
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters to insert, drop, change, or swap with their neighbour. A name too
 * long for any of ours is far from all of them. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][LONGEST + 1];
    if (na > LONGEST || nb > LONGEST) return LONGEST;
    for (size_t j = 0; j <= nb; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && higher[j - 2] + 1 < row[j])
                row[j] = higher[j - 2] + 1;
        }
    }
    return rows[na % 3][nb];
}

/* Twice the distance; a part of the name from a '_' on counts too, for one more. */
static int score_of(const char *word, const char *name)
{
    const size_t n = strlen(word);
    int best = 2 * distance(word, n, name, strlen(name));
    for (const char *part = strchr(name, '_'); part; part = strchr(part + 1, '_')) {
        const int score = 2 * distance(word, n, part + 1, strlen(part + 1)) + 1;
        if (score < best) best = score;
    }
    return best;
}

void nearest_add(nearest *best, const char *name)
{
    const int score = score_of(best->word, name);
    int at = best->count;
    if (score > 2 * (1 + (int)strlen(best->word) / 4) + 1) return;
    for (int i = 0; i < best->count; i++)
        if (!strcmp(best->name[i], name)) return;
    while (at > 0 && best->score[at - 1] > score) at--;
    if (at >= NEAREST_MOST) return;
    if (best->count < NEAREST_MOST) best->count++;
    for (int i = best->count - 1; i > at; i--) {
        best->name[i] = best->name[i - 1];
        best->score[i] = best->score[i - 1];
    }
    best->name[at] = name;
    best->score[at] = score;
}

const char *nearest_text(char *out, size_t size, const nearest *best)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < best->count && best->score[i] <= best->score[0] + 1 && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "; did you mean ", best->name[i]);
    if (used && used < size) snprintf(out + used, size - used, "?");
    return out;
}
