/* nearest.c - edit distances between names, in memory of their own. */
#include "nearest.h"
#include "core/mem.h"

enum { LONGEST = 128 };

static int least(int a, int b) { return a < b ? a : b; }

/* Of what is left when equal ends are gone. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][LONGEST + 1];
    for (size_t j = 0; j <= nb; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], higher[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

int tsri_name_distance(const char *a, const char *b, int most)
{
    while (*a && *a == *b) { a++; b++; }
    size_t na = tsri_strlen(a), nb = tsri_strlen(b);
    while (na && nb && a[na - 1] == b[nb - 1]) { na--; nb--; }
    const size_t apart = na > nb ? na - nb : nb - na;
    if (na > LONGEST || nb > LONGEST || apart >= (size_t)most) return most;
    return least(distance(a, na, b, nb), most);
}
