/* parse.c - tokens to a tree, by precedence. */
#include <stdlib.h>
#include <string.h>

#include "../room.h"
#include "lex.h"
#include "tree.h"

enum { DEEPEST = 200, UNARY = 8, POWER = 9 };

typedef struct parser {
    const char *text;
    token       now;
    tree       *tree;
    fault      *f;
    int         depth;
} parser;

static const struct binary {
    const char *sign, *op;
    int         binds;
} binaries[] = {
    { "==", "eq", 1 },         { "!=", "ne", 1 },          { "<", "lt", 1 },
    { "<=", "le", 1 },         { ">", "gt", 1 },           { ">=", "ge", 1 },
    { "|", "bitwise_or", 2 },  { "^", "bitwise_xor", 3 },  { "&", "bitwise_and", 4 },
    { "<<", "shift_left", 5 }, { ">>", "shift_right", 5 }, { "+", "add", 6 },
    { "-", "sub", 6 },         { "*", "mul", 7 },          { "/", "div", 7 },
    { "//", "floor_div", 7 },  { "%", "remainder", 7 },    { "@", "matmul", 7 },
    { "**", "pow", POWER },
};

static node *parse_binary(parser *p, int binds);

/* Nodes -------------------------------------------------------------------------------- */

static node *new_node(parser *p, node_kind kind, size_t at, size_t length)
{
    node *n = room_for(1, sizeof *n);
    *n = (node){ .kind = kind, .at = at, .length = length, .next = p->tree->all };
    p->tree->all = n;
    return n;
}

/* A NULL keyword: none. */
static void add_child(node *n, node *child, char *keyword)
{
    n->child = room_for_more(n->child, (size_t)n->count, sizeof *n->child);
    n->keyword = room_for_more(n->keyword, (size_t)n->count, sizeof *n->keyword);
    n->child[n->count] = child;
    n->keyword[n->count++] = keyword;
}

void tree_free(tree *t)
{
    while (t->all) {
        node *n = t->all;
        t->all = n->next;
        for (int i = 0; i < n->count; i++) free(n->keyword[i]);
        free(n->keyword);
        free(n->child);
        free(n->name);
        free(n);
    }
    t->root = NULL;
}

/* Tokens ------------------------------------------------------------------------------- */

static bool advance(parser *p) { return lex_next(&p->now, p->text, p->now.at + p->now.length, p->f); }
static bool is_sign(const parser *p, const char *sign)
{
    return p->now.kind == TOKEN_SIGN && !strcmp(p->now.sign, sign);
}

static node *wrong(parser *p, const char *what)
{
    const token *t = &p->now;
    if (t->kind == TOKEN_END)
        fault_set(p->f, EXIT_USAGE, t->at, 1, "the expression ends where %s is expected", what);
    else fault_set(p->f, EXIT_USAGE, t->at, t->length, "here %s is expected, not '%.*s'", what,
                   (int)(t->length < 60 ? t->length : 60), p->text + t->at);
    return NULL;
}

static bool expect(parser *p, const char *sign)
{
    char what[8] = { '\'', sign[0], '\'', '\0' };
    if (is_sign(p, sign)) return advance(p);
    wrong(p, what);
    return false;
}

static bool is_word(const parser *p, const char *word)
{
    return p->now.kind == TOKEN_NAME && p->now.length == strlen(word) &&
           !strncmp(p->text + p->now.at, word, p->now.length);
}

/* and, or, not and if are Python's words for single truths. */
static bool refuse_words(parser *p)
{
    static const char *const words[][2] = { { "and", "&" },
                                            { "or", "|" },
                                            { "not", "~" },
                                            { "if", "where(...)" },
                                            { "else", "where(...)" },
                                            { "in", "isin(...)" },
                                            { "lambda", "an expression" } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(p, words[i][0])) {
            fault_set(p->f, EXIT_USAGE, p->now.at, p->now.length, "'%s' is not for arrays: use %s",
                      words[i][0], words[i][1]);
            return false;
        }
    return true;
}

/* Atoms -------------------------------------------------------------------------------- */

/* Members up to a closing bracket; *comma tells if there was a comma. */
static bool parse_members(parser *p, node *list, const char *close, bool *comma)
{
    *comma = false;
    while (!is_sign(p, close)) {
        node *member = parse_binary(p, 0);
        if (!member) return false;
        add_child(list, member, NULL);
        if (!is_sign(p, ",")) break;
        *comma = true;
        if (!advance(p)) return false;
    }
    return expect(p, close);
}

static node *parse_bracketed(parser *p, const char *close)
{
    bool comma = false;
    node *list = new_node(p, NODE_LIST, p->now.at, 1);
    if (!advance(p) || !parse_members(p, list, close, &comma)) return NULL;
    if (close[0] == ')' && list->count == 1 && !comma) return list->child[0];
    return list;
}

static node *parse_atom(parser *p)
{
    const token t = p->now;
    node *n = NULL;
    if (is_sign(p, "(")) return parse_bracketed(p, ")");
    if (is_sign(p, "[")) return parse_bracketed(p, "]");
    if (is_sign(p, "...")) n = new_node(p, NODE_REST, t.at, t.length);
    if (t.kind == TOKEN_NUMBER) {
        n = new_node(p, NODE_NUMBER, t.at, t.length);
        n->number = t.number;
    } else if (t.kind == TOKEN_TEXT) {
        n = new_node(p, NODE_TEXT, t.at, t.length);
        n->name = copy_of(p->text + t.at + 1, t.length - 2);
    } else if (t.kind == TOKEN_NAME) {
        if (!refuse_words(p)) return NULL;
        n = new_node(p, NODE_NAME, t.at, t.length);
        n->name = copy_of(p->text + t.at, t.length);
    }
    if (!n) return wrong(p, "a number, a name or '('");
    return advance(p) ? n : NULL;
}

/* Calls, subscripts, attributes -------------------------------------------------------- */

/* name= before an argument. NULL if there is none. */
static char *parse_keyword(parser *p)
{
    token next;
    fault quiet = { 0 };
    if (p->now.kind != TOKEN_NAME) return NULL;
    if (!lex_next(&next, p->text, p->now.at + p->now.length, &quiet)) return NULL;
    if (next.kind != TOKEN_SIGN || strcmp(next.sign, "=")) return NULL;
    char *keyword = copy_of(p->text + p->now.at, p->now.length);
    p->now = next;
    if (advance(p)) return keyword;
    free(keyword);
    return NULL;
}

static node *parse_call(parser *p, node *function)
{
    node *call = new_node(p, NODE_CALL, function->at, function->length);
    add_child(call, function, NULL);
    if (!advance(p)) return NULL;
    while (!is_sign(p, ")")) {
        const size_t keyword_at = p->now.at;
        char *keyword = parse_keyword(p);
        node *argument = p->f->found ? NULL : parse_binary(p, 0);
        if (!argument) {
            free(keyword);
            return NULL;
        }
        argument->keyword_at = keyword_at;
        add_child(call, argument, keyword);
        if (!is_sign(p, ",")) break;
        if (!advance(p)) return NULL;
    }
    return expect(p, ")") ? call : NULL;
}

static bool ends_part(const parser *p) { return is_sign(p, ":") || is_sign(p, ",") || is_sign(p, "]"); }

/* An index, or start:stop:step. */
static node *parse_part(parser *p)
{
    const size_t at = p->now.at;
    node *bounds[3] = { NULL, NULL, NULL };
    int colons = 0;
    while (true) {
        if (!ends_part(p)) {
            bounds[colons] = parse_binary(p, 0);
            if (!bounds[colons]) return NULL;
        }
        if (!is_sign(p, ":")) break;
        if (++colons == 3) return wrong(p, "',' or ']'");
        if (!advance(p)) return NULL;
    }
    if (colons == 0) return bounds[0] ? bounds[0] : wrong(p, "an index");
    node *range = new_node(p, NODE_RANGE, at, p->now.at > at ? p->now.at - at : 1);
    for (int i = 0; i < 3; i++) add_child(range, bounds[i], NULL);
    return range;
}

static node *parse_subscript(parser *p, node *of)
{
    node *n = new_node(p, NODE_INDEX, p->now.at, 1);
    add_child(n, of, NULL);
    if (!advance(p)) return NULL;
    do {
        node *part = parse_part(p);
        if (!part) return NULL;
        add_child(n, part, NULL);
        if (!is_sign(p, ",")) break;
        if (!advance(p)) return NULL;
    } while (!is_sign(p, "]"));
    return expect(p, "]") ? n : NULL;
}

static node *parse_attribute(parser *p, node *of)
{
    if (!advance(p)) return NULL;
    if (p->now.kind != TOKEN_NAME) return wrong(p, "a name");
    node *n = new_node(p, NODE_DOT, p->now.at, p->now.length);
    n->name = copy_of(p->text + p->now.at, p->now.length);
    add_child(n, of, NULL);
    return advance(p) ? n : NULL;
}

static node *parse_postfix(parser *p)
{
    node *n = parse_atom(p);
    int length = 0;
    while (n) {
        if (!is_sign(p, "(") && !is_sign(p, "[") && !is_sign(p, ".")) break;
        if (++length > DEEPEST) { /* each is one level of the tree */
            fault_set(p->f, EXIT_USAGE, p->now.at, 1, "the expression is nested too deeply");
            return NULL;
        }
        n = is_sign(p, "(")   ? parse_call(p, n)
            : is_sign(p, "[") ? parse_subscript(p, n)
                              : parse_attribute(p, n);
    }
    return n;
}

/* Operators ---------------------------------------------------------------------------- */

static node *parse_unary(parser *p)
{
    static const char *const unaries[][2] = { { "-", "neg" }, { "~", "bitwise_not" }, { "+", "positive" } };
    for (int i = 0; i < 3; i++) {
        if (!is_sign(p, unaries[i][0])) continue;
        node *n = new_node(p, NODE_UNARY, p->now.at, p->now.length);
        n->name = copy_of_text(unaries[i][1]);
        if (!advance(p)) return NULL;
        node *operand = parse_binary(p, UNARY);
        if (!operand) return NULL;
        add_child(n, operand, NULL);
        return n;
    }
    return parse_postfix(p);
}

static const struct binary *find_binary(const parser *p)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries && p->now.kind == TOKEN_SIGN; i++)
        if (!strcmp(p->now.sign, binaries[i].sign)) return &binaries[i];
    return NULL;
}

/* Operators that bind more than `binds`, which is one level of precedence. */
static node *parse_operators(parser *p, int binds)
{
    node *left = parse_unary(p);
    int chain = 0;
    for (const struct binary *b = find_binary(p); left && b && b->binds > binds; b = find_binary(p)) {
        node *n = new_node(p, NODE_BINARY, p->now.at, p->now.length);
        n->name = copy_of_text(b->op);
        if (++chain > DEEPEST) {
            fault_set(p->f, EXIT_USAGE, n->at, n->length,
                      "there are too many operators in a row: use brackets");
            return NULL;
        }
        if (!advance(p)) return NULL;
        node *right =
            parse_binary(p, b->binds == POWER ? UNARY - 1 : b->binds); /* 2 ** -x, and to the right */
        if (!right) return NULL;
        add_child(n, left, NULL);
        add_child(n, right, NULL);
        left = n;
        if (b->binds == 1 && find_binary(p) && find_binary(p)->binds == 1) {
            fault_set(p->f, EXIT_USAGE, p->now.at, p->now.length,
                      "comparisons do not chain: write (a < b) & (b < c)");
            return NULL;
        }
    }
    return left;
}

static node *parse_binary(parser *p, int binds)
{
    if (++p->depth > DEEPEST) {
        fault_set(p->f, EXIT_USAGE, p->now.at, 1, "the expression is nested too deeply");
        return NULL;
    }
    node *n = parse_operators(p, binds);
    p->depth--;
    return n;
}

bool tree_read(tree *out, const char *text, fault *f)
{
    parser p = { .text = text, .tree = out, .f = f };
    *out = (tree){ NULL, NULL };
    if (!lex_next(&p.now, text, 0, f)) return false;
    out->root = parse_binary(&p, 0);
    if (out->root && p.now.kind != TOKEN_END) {
        if (refuse_words(&p)) wrong(&p, "an operator or the end");
        out->root = NULL;
    }
    return out->root != NULL && !f->found;
}
