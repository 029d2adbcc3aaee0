/* rename.c - patterns and POSIX regular expressions. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#include <regex.h>
#endif

#include "rename.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "room.h"

/* Patterns --------------------------------------------------------------------------- */

/* Is c in the set at *p, "[a-z]" or "[!a-z]"? Moves *p behind it. */
static bool in_set(const char **p, const char *end, char c)
{
    const char *q = *p + 1;
    const bool negated = q < end && (*q == '!' || *q == '^');
    bool found = false;
    if (negated) q++;
    for (const char *first = q; q < end && (*q != ']' || q == first); q++) {
        if (q + 2 < end && q[1] == '-' && q[2] != ']') {
            found = found || (q[0] <= c && c <= q[2]);
            q += 2;
        } else {
            found = found || *q == c;
        }
    }
    *p = q < end ? q + 1 : end;
    return found != negated;
}

/* One pattern p .. end. After a mismatch, the latest '*' takes one character more. */
static bool matches(const char *p, const char *end, const char *name)
{
    const char *star = NULL, *resume = NULL;
    while (*name || p < end) {
        if (p < end && *p == '*') {
            star = ++p;
            resume = name;
            continue;
        }
        const char *next = p < end ? p + 1 : end;
        bool ok = p < end && *name && (*p == '?' || *p == *name);
        if (p < end && *name && *p == '[' && memchr(p, ']', (size_t)(end - p))) {
            next = p;
            ok = in_set(&next, end, *name);
        }
        if (ok) {
            p = next;
            name++;
        } else if (star && *resume) {
            p = star;
            name = ++resume;
        } else {
            return false;
        }
    }
    return true;
}

bool matches_patterns(const char *patterns, const char *name)
{
    for (const char *p = patterns;;) {
        const char *end = p + strcspn(p, ",");
        if (matches(p, end, name)) return true;
        if (!*end) return false;
        p = end + 1;
    }
}

/* Regular expressions ------------------------------------------------------------------ */

#if !defined(_WIN32)

struct rename_rule {
    regex_t regex;
    char   *to;
};

rename_rule *rename_read(const char *command_name, const char *text)
{
    char *from = copy_of_text(text), *w = from, why[200];
    const char *r = text;
    for (; *r && *r != '='; r++) {
        if (r[0] == '\\' && r[1] == '=') r++;
        else if (r[0] == '\\' && r[1]) *w++ = *r++;
        *w++ = *r;
    }
    *w = '\0';
    if (*r != '=') {
        complain_usage(command_name, "--rename takes REGEX=NEW, not '%s'", text);
        free(from);
        return NULL;
    }
    rename_rule *rule = room_for(1, sizeof *rule);
    const int wrong = regcomp(&rule->regex, from, REG_EXTENDED);
    free(from);
    if (wrong) {
        regerror(wrong, &rule->regex, why, sizeof why);
        complain_usage(command_name, "--rename %s: %s", text, why);
        free(rule);
        return NULL;
    }
    rule->to = copy_of_text(r + 1);
    return rule;
}

void rename_free(rename_rule *r)
{
    if (!r) return;
    regfree(&r->regex);
    free(r->to);
    free(r);
}

/* Writes the new text to out, if there is one; returns its length. */
static size_t fill_in(char *out, const rename_rule *r, const char *name, const regmatch_t *groups)
{
    size_t n = 0;
    for (const char *p = r->to; *p; p++) {
        if (*p == '\\' && p[1] >= '0' && p[1] <= '9') {
            const regmatch_t *g = &groups[*++p - '0'];
            const size_t length = g->rm_so < 0 ? 0 : (size_t)(g->rm_eo - g->rm_so);
            if (out && length) memcpy(out + n, name + g->rm_so, length);
            n += length;
            continue;
        }
        if (*p == '\\' && p[1]) p++;
        if (out) out[n] = *p;
        n++;
    }
    return n;
}

char *rename_apply(const rename_rule *r, const char *name)
{
    regmatch_t groups[10];
    if (regexec(&r->regex, name, 10, groups, 0) != 0) return copy_of_text(name);
    const size_t before = (size_t)groups[0].rm_so, length = fill_in(NULL, r, name, groups);
    char *out = room_for(strlen(name) + length + 1, 1);
    memcpy(out, name, before);
    fill_in(out + before, r, name, groups);
    strcpy(out + before + length, name + groups[0].rm_eo);
    return out;
}

#else

struct rename_rule { int none; };
rename_rule *rename_read(const char *command_name, const char *text)
{
    complain_usage(command_name, "--rename %s: there are no regular expressions on this system", text);
    return NULL;
}
void  rename_free(rename_rule *r) { (void)r; }
char *rename_apply(const rename_rule *r, const char *name) { (void)r; return copy_of_text(name); }

#endif
