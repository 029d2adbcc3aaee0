/* tree.h - an expression, read.
 *
 * Python's grammar of expressions, as far as arrays need it: names, numbers, texts, lists and
 * tuples, calls with keywords, attributes, subscripts, and operators with Python's precedence:
 *
 *     **                  binds most, to the right; -x ** 2 is -(x ** 2), 2 ** -1 is as it looks
 *     + - ~               before an operand
 *     * / // % @
 *     + -
 *     << >>
 *     &
 *     ^
 *     |
 *     == != < <= > >=     one at a time
 */
#ifndef TSR_CLI_TREE_H
#define TSR_CLI_TREE_H

#include "fault.h"
#include "tessera/scalar.h"

typedef enum node_kind {
    NODE_NUMBER,
    NODE_TEXT,
    NODE_NAME,
    NODE_LIST,      /* children are the members */
    NODE_UNARY,     /* name is the op: "neg" */
    NODE_BINARY,    /* "add" */
    NODE_CALL,      /* the function, then arguments; keyword[i] is NULL or the name of child i */
    NODE_DOT,       /* child 0 . name */
    NODE_INDEX,     /* what is indexed, then the parts */
    NODE_RANGE,     /* a part: start, stop, step; each may be NULL */
    NODE_REST       /* ... */
} node_kind;

typedef struct node {
    node_kind     kind;
    size_t        at, length;  /* where to point: the operator, the name, the bracket */
    size_t        keyword_at;  /* of an argument with a keyword */
    char         *name;        /* of names and ops; the text of a text */
    tsr_scalar    number;
    int           count;
    struct node **child;
    char        **keyword;
    struct node  *next;        /* of all nodes of the tree, for freeing them */
} node;

typedef struct tree {
    node *root, *all;
} tree;

/* False, with a fault, if the text is no expression. The tree is to be freed either way. */
bool tree_read(tree *out, const char *text, fault *f);
void tree_free(tree *t);

#endif
