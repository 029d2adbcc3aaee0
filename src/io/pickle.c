/* pickle.c - the ops of pickle protocols 2 to 5 that torch.save and TorchScript write (pickle.h). */
#include "pickle.h"

typedef struct machine {
    tsr_file            *f;
    tsri_bump           *memory;
    const unsigned char *begin, *at, *end;
    tsri_value         **stack;  /* NULL is a mark */
    tsri_list            stack_list;
    tsri_value         **memo;
    size_t               memo_room, memo_next;
    int64_t              pairs;  /* that dicts were made of */
    tsri_pickle         *out;
} machine;

/* Names -------------------------------------------------------------------------------- */

#define STORED(name, dtype, encoding) { "torch", name "Storage", TSRI_ROLE_STORAGE, dtype, encoding, 0, 0 }
#define DTYPE(name, dtype)            { "torch", name, TSRI_ROLE_DTYPE, dtype, name, 0, 0 }
#define OTHER(module, name, role)     { module, name, role, TSR_DTYPE_INVALID, "", 0, 0 }

static const tsri_python_name known[] = {
    OTHER("collections", "OrderedDict", TSRI_ROLE_DICT),
    OTHER("torch._utils", "_rebuild_tensor_v2", TSRI_ROLE_TENSOR),
    OTHER("torch._utils", "_rebuild_tensor_v3", TSRI_ROLE_TENSOR_OF),
    OTHER("torch._utils", "_rebuild_parameter", TSRI_ROLE_SAME),
    OTHER("torch._utils", "_rebuild_parameter_with_state", TSRI_ROLE_SAME),
    OTHER("torch._tensor", "_rebuild_from_type_v2", TSRI_ROLE_SUBCLASS),
    OTHER("torch", "Tensor", TSRI_ROLE_CLASS),
    OTHER("torch.nn.parameter", "Parameter", TSRI_ROLE_CLASS),
    OTHER("torch.nn.parameter", "Buffer", TSRI_ROLE_CLASS),
    OTHER("torch", "Size", TSRI_ROLE_SAME),
    OTHER("builtins", "set", TSRI_ROLE_SAME),
    OTHER("__builtin__", "set", TSRI_ROLE_SAME),
    OTHER("torch", "device", TSRI_ROLE_NOTHING),
    OTHER("_codecs", "encode", TSRI_ROLE_NOTHING),
    { "torch.storage", "UntypedStorage", TSRI_ROLE_STORAGE, TSR_DTYPE_INVALID, "", 0, 0 },
    STORED("Untyped", TSR_DTYPE_INVALID, ""),
    STORED("Double", TSR_F64, "float64"), STORED("Float", TSR_F32, "float32"),
    STORED("Half", TSR_F16, "float16"), STORED("BFloat16", TSR_BF16, "bfloat16"),
    STORED("Long", TSR_I64, "int64"), STORED("Int", TSR_I32, "int32"),
    STORED("Short", TSR_I16, "int16"), STORED("Char", TSR_I8, "int8"),
    STORED("Byte", TSR_U8, "uint8"), STORED("Bool", TSR_BOOL, "bool"),
    STORED("ComplexDouble", TSR_C128, "complex128"), STORED("ComplexFloat", TSR_C64, "complex64"),
    DTYPE("float64", TSR_F64), DTYPE("float32", TSR_F32), DTYPE("float16", TSR_F16),
    DTYPE("bfloat16", TSR_BF16), DTYPE("int64", TSR_I64), DTYPE("int32", TSR_I32), DTYPE("int16", TSR_I16),
    DTYPE("int8", TSR_I8), DTYPE("uint8", TSR_U8), DTYPE("uint16", TSR_U16), DTYPE("uint32", TSR_U32),
    DTYPE("uint64", TSR_U64), DTYPE("bool", TSR_BOOL), DTYPE("complex32", TSR_C32),
    DTYPE("complex64", TSR_C64), DTYPE("complex128", TSR_C128), DTYPE("float8_e4m3fn", TSR_F8E4M3),
    DTYPE("float8_e5m2", TSR_F8E5M2), DTYPE("float4_e2m1fn_x2", TSR_DTYPE_INVALID),
    DTYPE("float8_e4m3fnuz", TSR_DTYPE_INVALID), DTYPE("float8_e5m2fnuz", TSR_DTYPE_INVALID),
    DTYPE("float8_e8m0fnu", TSR_DTYPE_INVALID),
};

static bool is_text(const char *want, const char *text, size_t length)
{
    return tsri_strlen(want) == length && memcmp(want, text, length) == 0;
}

static tsr_status refuse_use(const machine *m, const tsri_python_name *name)
{
    return tsri_fail(TSR_EUNSUPPORTED, "file_open: %s: refused: %s.%s with other arguments than torch.save's",
                     m->f->path, name->module, name->name);
}

/* The stack ---------------------------------------------------------------------------- */

static size_t where(const machine *m) { return (size_t)(m->at - m->begin); }

static tsr_status no_room(const machine *m)
{
    return tsri_fail(TSR_ENOMEM, "file_open: %s: no room for its pickle", m->f->path);
}

static tsr_status push(machine *m, tsri_value *v)
{
    if (!tsri_list_grow(m->memory, &m->stack_list, (void ***)&m->stack)) return no_room(m);
    m->stack[m->stack_list.count++] = v;
    return TSR_OK;
}

static tsr_status push_new(machine *m, tsri_value v)
{
    tsri_value *copy = tsri_bump_take(m->memory, sizeof *copy);
    if (!copy) return no_room(m);
    *copy = v;
    return push(m, copy);
}

/* A None, which is never written to, so that all share one. */
static tsr_status push_none(machine *m)
{
    static tsri_value none = { .kind = TSRI_VALUE_NONE };
    return push(m, &none);
}

static tsr_status pop(machine *m, tsri_value **out)
{
    const int64_t n = m->stack_list.count;
    TSRI_SOUND(n > 0 && m->stack[n - 1], m->f, "byte %zu of the pickle takes a value where there is none",
               where(m));
    *out = m->stack[n - 1];
    m->stack_list.count--;
    return TSR_OK;
}

/* The value that items are added to: of this kind, or an object that is like one. */
static tsr_status top(const machine *m, tsri_value **out, tsri_value_kind kind)
{
    const int64_t n = m->stack_list.count;
    TSRI_SOUND(n > 0 && m->stack[n - 1] &&
                   (m->stack[n - 1]->kind == kind || m->stack[n - 1]->kind == TSRI_VALUE_OBJECT), m->f,
               "byte %zu of the pickle changes what is no %s", where(m),
               kind == TSRI_VALUE_DICT ? "dict" : "list");
    *out = m->stack[n - 1];
    return TSR_OK;
}

/* Pops the values above the last mark, and the mark. *out stays valid until the next push. */
static tsr_status pop_to_mark(machine *m, tsri_value ***out, int64_t *count)
{
    int64_t at = m->stack_list.count;
    while (at > 0 && m->stack[at - 1]) at--;
    TSRI_SOUND(at > 0, m->f, "byte %zu of the pickle goes back to a mark that is not there", where(m));
    *out = m->stack + at;
    *count = m->stack_list.count - at;
    m->stack_list.count = at - 1;
    return TSR_OK;
}

static tsr_status take(machine *m, const unsigned char **out, uint64_t n)
{
    TSRI_SOUND(n <= (uint64_t)(m->end - m->at), m->f, "the pickle ends inside the op at byte %zu", where(m));
    *out = m->at;
    m->at += n;
    return TSR_OK;
}

/* An unsigned number of n bytes. */
static tsr_status take_size(machine *m, uint64_t *out, int n)
{
    const unsigned char *p = NULL;
    TSRI_TRY(take(m, &p, (uint64_t)n));
    *out = 0;
    for (int i = n - 1; i >= 0; i--) *out = *out << 8 | p[i];
    return TSR_OK;
}

/* Numbers and texts -------------------------------------------------------------------- */

static tsr_status push_integer(machine *m, int bytes, bool is_signed)
{
    uint64_t v = 0;
    TSRI_TRY(take_size(m, &v, bytes));
    const int64_t i = is_signed ? (int32_t)(uint32_t)v : (int64_t)v;
    return push_new(m, (tsri_value){ .kind = TSRI_VALUE_INT, .as = { .integer = i } });
}

/* Two's complement of any length; what 64 bits do not hold is passed over. */
static tsr_status push_long(machine *m, int bytes)
{
    const unsigned char *p = NULL;
    uint64_t n = 0, v = 0;
    TSRI_TRY(take_size(m, &n, bytes));
    TSRI_TRY(take(m, &p, n));
    if (n > 8) return push_none(m);
    if (n > 0 && p[n - 1] & 0x80) v = UINT64_MAX;
    for (uint64_t i = n; i > 0; i--) v = v << 8 | p[i - 1];
    return push_new(m, (tsri_value){ .kind = TSRI_VALUE_INT, .as = { .integer = (int64_t)v } });
}

static tsr_status push_float(machine *m)
{
    const unsigned char *p = NULL;
    double x;
    TSRI_TRY(take(m, &p, 8));
    const uint64_t bits = (uint64_t)tsri_get32_big(p) << 32 | tsri_get32_big(p + 4);
    memcpy(&x, &bits, sizeof x);
    return push_new(m, (tsri_value){ .kind = TSRI_VALUE_FLOAT, .as = { .number = x } });
}

static tsr_status push_text(machine *m, int bytes)
{
    const unsigned char *p = NULL;
    uint64_t n = 0;
    TSRI_TRY(take_size(m, &n, bytes));
    TSRI_TRY(take(m, &p, n));
    return push_new(m, (tsri_value){ .kind = TSRI_VALUE_TEXT,
                                     .as = { .text = { (const char *)p, (size_t)n } } });
}

static tsr_status pass_bytes(machine *m, int bytes)
{
    const unsigned char *p = NULL;
    uint64_t n = 0;
    TSRI_TRY(take_size(m, &n, bytes));
    TSRI_TRY(take(m, &p, n));
    return push_none(m);
}

/* Containers --------------------------------------------------------------------------- */

static tsr_status add_item(machine *m, tsri_value *to, tsri_value *item)
{
    if (!tsri_list_grow(m->memory, &to->as.items.list, (void ***)&to->as.items.at)) return no_room(m);
    to->as.items.at[to->as.items.list.count++] = item;
    return TSR_OK;
}

static tsr_status push_tuple(machine *m, tsri_value *const *items, int64_t n)
{
    tsri_value **copy = tsri_bump_take(m->memory, (size_t)n * sizeof *copy);
    if (!copy) return no_room(m);
    if (n) memcpy(copy, items, (size_t)n * sizeof *copy);
    return push_new(m, (tsri_value){ .kind = TSRI_VALUE_LIST, .as = { .items = { copy, { n, n } } } });
}

static tsr_status short_tuple(machine *m, int n)
{
    tsri_value *items[3];
    for (int i = n; i > 0; i--) TSRI_TRY(pop(m, &items[i - 1]));
    return push_tuple(m, items, n);
}

static tsr_status marked_tuple(machine *m)
{
    tsri_value **items = NULL;
    int64_t n = 0;
    TSRI_TRY(pop_to_mark(m, &items, &n));
    return push_tuple(m, items, n);
}

/* What an object lists: its state, unless that is something else. */
static tsr_status list_of_object(machine *m, tsri_value **object)
{
    if (!(*object)->state) {
        tsri_value *list = tsri_bump_take(m->memory, sizeof *list);
        if (!list) return no_room(m);
        list->kind = TSRI_VALUE_LIST;
        (*object)->state = list;
    }
    *object = (*object)->state;
    TSRI_SOUND((*object)->kind == TSRI_VALUE_LIST, m->f, "byte %zu of the pickle changes what is no list",
               where(m));
    return TSR_OK;
}

/* n values, or all after a mark, into the list or dict below them. */
static tsr_status add_items(machine *m, tsri_value_kind kind, int n)
{
    tsri_value *own[2], **items = own, *to = NULL;
    int64_t count = n;
    for (int i = n; i > 0; i--) TSRI_TRY(pop(m, &own[i - 1]));
    if (n == 0) TSRI_TRY(pop_to_mark(m, &items, &count));
    TSRI_TRY(top(m, &to, kind));
    if (to->kind == TSRI_VALUE_OBJECT && kind == TSRI_VALUE_LIST) TSRI_TRY(list_of_object(m, &to));
    TSRI_SOUND(kind != TSRI_VALUE_DICT || count % 2 == 0, m->f,
               "byte %zu of the pickle: a key without a value", where(m));
    for (int64_t i = 0; i < count; i++) TSRI_TRY(add_item(m, to, items[i]));
    return TSR_OK;
}

/* The memo ----------------------------------------------------------------------------- */

static tsr_status remember(machine *m, uint64_t index)
{
    const size_t bytes = (size_t)(m->end - m->begin);
    tsri_value *v = NULL;
    TSRI_SOUND(index < bytes, m->f, "value %llu of a pickle of %zu bytes is kept", tsri_ull(index), bytes);
    TSRI_TRY(pop(m, &v));
    m->stack_list.count++;
    if (index >= m->memo_room) {
        const size_t room = index < 8 ? 16 : 2 * (size_t)index;
        tsri_value **grown = tsri_bump_take(m->memory, room * sizeof *grown);
        if (!grown) return no_room(m);
        if (m->memo_room) memcpy(grown, m->memo, m->memo_room * sizeof *grown);
        m->memo = grown;
        m->memo_room = room;
    }
    m->memo[index] = v;
    return TSR_OK;
}

static tsr_status remember_at(machine *m, int bytes)
{
    uint64_t index = 0;
    TSRI_TRY(take_size(m, &index, bytes));
    return remember(m, index);
}

static tsr_status recall(machine *m, int bytes)
{
    uint64_t index = 0;
    TSRI_TRY(take_size(m, &index, bytes));
    TSRI_SOUND(index < m->memo_room && m->memo[index], m->f,
               "byte %zu of the pickle: value %llu was not kept", where(m), tsri_ull(index));
    return push(m, m->memo[index]);
}

/* Classes and functions ---------------------------------------------------------------- */

static tsr_status push_name(machine *m, const char *module, size_t n, const char *name, size_t k)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_text(known[i].module, module, n) && is_text(known[i].name, name, k))
            return push_new(m, (tsri_value){ .kind = TSRI_VALUE_NAME, .name = &known[i] });
    tsri_python_name *other = tsri_bump_take(m->memory, sizeof *other);
    if (!other) return no_room(m);
    *other = (tsri_python_name){ module, name, TSRI_ROLE_OTHER, TSR_DTYPE_INVALID, "", n, k };
    return push_new(m, (tsri_value){ .kind = TSRI_VALUE_NAME, .name = other });
}

/* A line of text. */
static tsr_status take_line(machine *m, const char **out, size_t *length)
{
    const unsigned char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    TSRI_SOUND(end, m->f, "the pickle ends inside the name at byte %zu", where(m));
    *out = (const char *)m->at;
    *length = (size_t)(end - m->at);
    m->at = end + 1;
    return TSR_OK;
}

static tsr_status name_of_lines(machine *m)
{
    const char *module = NULL, *name = NULL;
    size_t n = 0, k = 0;
    TSRI_TRY(take_line(m, &module, &n));
    TSRI_TRY(take_line(m, &name, &k));
    return push_name(m, module, n, name, k);
}

static tsr_status name_of_texts(machine *m)
{
    tsri_value *module = NULL, *name = NULL;
    TSRI_TRY(pop(m, &name));
    TSRI_TRY(pop(m, &module));
    TSRI_SOUND(name->kind == TSRI_VALUE_TEXT && module->kind == TSRI_VALUE_TEXT, m->f,
               "byte %zu of the pickle: a name that is no text", where(m));
    return push_name(m, module->as.text.at, module->as.text.length, name->as.text.at, name->as.text.length);
}

/* Are the first arguments of these kinds? A letter for each: s storage, i integer, l list, d dtype, ? any. */
static bool has_kinds(const tsri_value *args, const char *kinds)
{
    for (int64_t i = 0; kinds[i]; i++) {
        if (i >= args->as.items.list.count) return false;
        const tsri_value *v = args->as.items.at[i];
        const bool fits = kinds[i] == 's'   ? v->kind == TSRI_VALUE_STORAGE
                          : kinds[i] == 'i' ? v->kind == TSRI_VALUE_INT
                          : kinds[i] == 'l' ? v->kind == TSRI_VALUE_LIST
                          : kinds[i] == 'd' ? v->kind == TSRI_VALUE_NAME && v->name->role == TSRI_ROLE_DTYPE
                          : kinds[i] == 'n' ? v->kind == TSRI_VALUE_NAME
                                            : true;
        if (!fits) return false;
    }
    return true;
}

static tsr_status call(machine *m, const tsri_python_name *name, tsri_value *args);

/* (function, class, arguments, state): a tensor with attributes. */
static tsr_status call_subclass(machine *m, const tsri_python_name *name, const tsri_value *args)
{
    if (!has_kinds(args, "nnl") || args->as.items.at[0]->name->role == TSRI_ROLE_SUBCLASS ||
        (args->as.items.at[1]->name->role != TSRI_ROLE_CLASS &&
         args->as.items.at[1]->name->role != TSRI_ROLE_OTHER))
        return refuse_use(m, name);
    return call(m, args->as.items.at[0]->name, args->as.items.at[2]);
}

/* A dict of nothing, or of a list of pairs, as Python 2 wrote it. */
static tsr_status call_dict(machine *m, const tsri_python_name *name, const tsri_value *args)
{
    tsri_value *pairs = args->as.items.list.count ? args->as.items.at[0] : NULL;
    if (pairs && !has_kinds(args, "l")) return refuse_use(m, name);
    TSRI_TRY(push_new(m, (tsri_value){ .kind = TSRI_VALUE_DICT }));
    for (int64_t i = 0; pairs && i < pairs->as.items.list.count; i++) {
        const tsri_value *pair = pairs->as.items.at[i];
        if (pair->kind != TSRI_VALUE_LIST || pair->as.items.list.count != 2) return refuse_use(m, name);
        TSRI_SOUND(++m->pairs <= m->end - m->begin, m->f, "a pickle of %zu bytes makes dicts of more pairs",
                   (size_t)(m->end - m->begin));
        for (int k = 0; k < 2; k++)
            TSRI_TRY(add_item(m, m->stack[m->stack_list.count - 1], pair->as.items.at[k]));
    }
    return TSR_OK;
}

/* What the function of this name would give. */
static tsr_status call(machine *m, const tsri_python_name *name, tsri_value *args)
{
    tsri_value made = { .kind = TSRI_VALUE_TENSOR, .as = { .items = args->as.items } };
    switch (name->role) {
    case TSRI_ROLE_DICT:
        return call_dict(m, name, args);
    case TSRI_ROLE_OTHER:
        return push_new(m, (tsri_value){ .kind = TSRI_VALUE_OBJECT, .name = name });
    case TSRI_ROLE_TENSOR:
        return has_kinds(args, "sill??") ? push_new(m, made) : refuse_use(m, name);
    case TSRI_ROLE_TENSOR_OF:
        if (!has_kinds(args, "sill??d")) return refuse_use(m, name);
        made.name = args->as.items.at[6]->name;
        return push_new(m, made);
    case TSRI_ROLE_SAME:
        return has_kinds(args, "?") ? push(m, args->as.items.at[0]) : refuse_use(m, name);
    case TSRI_ROLE_SUBCLASS:
        return call_subclass(m, name, args);
    case TSRI_ROLE_NOTHING:
        return push_none(m);
    default:
        return refuse_use(m, name);
    }
}

static tsr_status reduce(machine *m)
{
    tsri_value *args = NULL, *name = NULL;
    TSRI_TRY(pop(m, &args));
    TSRI_TRY(pop(m, &name));
    const bool object = name->kind == TSRI_VALUE_OBJECT;
    TSRI_SOUND((object || name->kind == TSRI_VALUE_NAME) && args->kind == TSRI_VALUE_LIST, m->f,
               "byte %zu of the pickle calls what is no function", where(m));
    return object ? push_new(m, (tsri_value){ .kind = TSRI_VALUE_OBJECT, .name = name->name })
                  : call(m, name->name, args);
}

/* (class, arguments, named arguments) */
static tsr_status reduce_named(machine *m)
{
    tsri_value *named = NULL;
    TSRI_TRY(pop(m, &named));
    return reduce(m);
}

/* A dict, or the dict of (dict, dict of slots). */
static tsri_value *attributes_of(tsri_value *state)
{
    if (state->kind == TSRI_VALUE_DICT) return state;
    if (state->kind != TSRI_VALUE_LIST || state->as.items.list.count != 2) return NULL;
    for (int i = 0; i < 2; i++)
        if (state->as.items.at[i]->kind == TSRI_VALUE_DICT) return state->as.items.at[i];
    return NULL;
}

/* The state of an object; that of a tensor or a dict is of no use here. */
static tsr_status build(machine *m)
{
    tsri_value *state = NULL, *object = NULL;
    TSRI_TRY(pop(m, &state));
    TSRI_TRY(pop(m, &object));
    if (object->kind == TSRI_VALUE_OBJECT && attributes_of(state)) object->state = attributes_of(state);
    return push(m, object);
}

/* ("storage", class, key, where, elements) */
static tsr_status push_storage(machine *m)
{
    tsri_value *id = NULL;
    TSRI_TRY(pop(m, &id));
    const bool list = id->kind == TSRI_VALUE_LIST && has_kinds(id, "?n??i");
    const tsri_role role = list ? id->as.items.at[1]->name->role : TSRI_ROLE_NOTHING;
    TSRI_SOUND((role == TSRI_ROLE_STORAGE || role == TSRI_ROLE_OTHER) &&
                   id->as.items.at[2]->kind == TSRI_VALUE_TEXT, m->f,
               "byte %zu of the pickle: no storage of a tensor", where(m));
    TSRI_TRY(push_new(m, (tsri_value){ .kind = TSRI_VALUE_STORAGE, .as = { .items = id->as.items } }));
    if (!tsri_list_grow(m->memory, &m->out->storage_list, (void ***)&m->out->storages)) return no_room(m);
    m->out->storages[m->out->storage_list.count++] = m->stack[m->stack_list.count - 1];
    return TSR_OK;
}

/* Ops ---------------------------------------------------------------------------------- */

static tsr_status push_bool(machine *m, bool v)
{
    return push_new(m, (tsri_value){ .kind = TSRI_VALUE_BOOL, .as = { .integer = v } });
}

static tsr_status drop(machine *m, bool to_mark)
{
    tsri_value *one = NULL, **items = NULL;
    int64_t n = 0;
    return to_mark ? pop_to_mark(m, &items, &n) : pop(m, &one);
}

static tsr_status start_protocol(machine *m)
{
    uint64_t v = 0;
    TSRI_TRY(take_size(m, &v, 1));
    TSRI_CHECK(v >= 2 && v <= 5, TSR_EUNSUPPORTED, "file_open: %s: pickle protocol %llu; 2 to 5 are read",
               m->f->path, tsri_ull(v));
    return TSR_OK;
}

static tsr_status step(machine *m, unsigned char op)
{
    const unsigned char *ignored = NULL;
    switch (op) {
    case 0x80: return start_protocol(m);
    case 0x95: return take(m, &ignored, 8);  /* a frame: only its length */
    case '(':  return push(m, NULL);
    case '0':  return drop(m, false);
    case '1':  return drop(m, true);
    case 'N':  return push_none(m);
    case 0x88: return push_bool(m, true);
    case 0x89: return push_bool(m, false);
    case 'K':  return push_integer(m, 1, false);
    case 'M':  return push_integer(m, 2, false);
    case 'J':  return push_integer(m, 4, true);
    case 0x8a: return push_long(m, 1);
    case 0x8b: return push_long(m, 4);
    case 'G':  return push_float(m);
    case 0x8c:
    case 'U':  return push_text(m, 1);
    case 'X':
    case 'T':  return push_text(m, 4);
    case 0x8d: return push_text(m, 8);
    case 'C':  return pass_bytes(m, 1);
    case 'B':  return pass_bytes(m, 4);
    case 0x96:
    case 0x8e: return pass_bytes(m, 8);
    case ')':  return push_tuple(m, NULL, 0);
    case 0x85: return short_tuple(m, 1);
    case 0x86: return short_tuple(m, 2);
    case 0x87: return short_tuple(m, 3);
    case 0x91:
    case 't':  return marked_tuple(m);
    case 0x8f: /* a set */
    case ']':  return push_new(m, (tsri_value){ .kind = TSRI_VALUE_LIST });
    case '}':  return push_new(m, (tsri_value){ .kind = TSRI_VALUE_DICT });
    case 'a':  return add_items(m, TSRI_VALUE_LIST, 1);
    case 0x90:
    case 'e':  return add_items(m, TSRI_VALUE_LIST, 0);
    case 's':  return add_items(m, TSRI_VALUE_DICT, 2);
    case 'u':  return add_items(m, TSRI_VALUE_DICT, 0);
    case 'q':  return remember_at(m, 1);
    case 'r':  return remember_at(m, 4);
    case 0x94: return remember(m, m->memo_next++);
    case 'h':  return recall(m, 1);
    case 'j':  return recall(m, 4);
    case 'c':  return name_of_lines(m);
    case 0x93: return name_of_texts(m);
    case 0x81:
    case 'R':  return reduce(m);
    case 0x92: return reduce_named(m);
    case 'b':  return build(m);
    case 'Q':  return push_storage(m);
    default:
        return tsri_fail(TSR_EUNSUPPORTED,
                         "file_open: %s: refused: op 0x%x at byte %zu of the pickle, which no tensor needs",
                         m->f->path, op, where(m) - 1);
    }
}

tsr_status tsri_unpickle(tsri_pickle *out, tsr_file *f, tsri_bump *memory, const unsigned char *data,
                         size_t bytes)
{
    machine m = { .f = f, .memory = memory, .begin = data, .at = data, .end = data + bytes, .out = out };
    *out = (tsri_pickle){ 0 };
    for (;;) {
        TSRI_SOUND(m.at < m.end, f, "the pickle ends before its end");
        const unsigned char op = *m.at++;
        out->bytes = where(&m);
        if (op == '.') return pop(&m, &out->value);
        TSRI_TRY(step(&m, op));
    }
}
