/* rename.h - names of tensors: chosen by patterns, changed by regular expressions. */
#ifndef TSR_CLI_RENAME_H
#define TSR_CLI_RENAME_H

#include <stdbool.h>

/* Does a name match a pattern of the shell's kind: '*', '?', [a-z]? Commas separate patterns. */
bool matches_patterns(const char *patterns, const char *name);

/* One rule "REGEX=NEW": the first match of an extended regular expression becomes NEW, in which
 * \1 .. \9 stand for what the groups matched. '\=' is an equals sign in the expression. */
typedef struct rename_rule rename_rule;

/* NULL after a complaint. */
rename_rule *rename_read(const char *command_name, const char *text);
void         rename_free(rename_rule *r);

/* The new name, in room of its own. */
char *rename_apply(const rename_rule *r, const char *name);

#endif
