/* lex.h - the words of an expression. */
#ifndef TSR_CLI_LEX_H
#define TSR_CLI_LEX_H

#include "fault.h"
#include "tessera/scalar.h"

typedef enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_TEXT, TOKEN_SIGN } token_kind;

typedef struct token {
    token_kind kind;
    size_t     at, length;
    tsr_scalar number;
    char       sign[4];  /* "+", "**", "..." */
} token;

/* The token at or behind `from`. False with a fault if there is none. A text's quotes are the
 * first and the last of its characters. */
bool lex_next(token *out, const char *text, size_t from, fault *f);

#endif
