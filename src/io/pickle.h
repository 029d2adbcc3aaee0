/* pickle.h - reading the pickle of a PyTorch checkpoint without running it.
 *
 * A pickle is a program that builds Python objects, and may name any function to call. This reads the ops
 * that torch.save writes and builds plain values of them. No class and no function is ever called. A short
 * list has those that make tensors; a call of any other gives an object with the name, items and attributes
 * that the pickle has for it. */
#ifndef TSRI_PICKLE_H
#define TSRI_PICKLE_H

#include "io_int.h"

/* What a name of the list stands for. */
typedef enum tsri_role {
    TSRI_ROLE_DICT,       /* OrderedDict */
    TSRI_ROLE_TENSOR,     /* a tensor of a storage: (storage, offset, shape, stride, ...) */
    TSRI_ROLE_TENSOR_OF,  /* the same, with a dtype of its own */
    TSRI_ROLE_SAME,       /* gives its first argument: a parameter, a torch.Size */
    TSRI_ROLE_SUBCLASS,   /* (function, class, arguments, state) */
    TSRI_ROLE_CLASS,      /* of tensors */
    TSRI_ROLE_NOTHING,    /* what it makes is of no use here */
    TSRI_ROLE_STORAGE,
    TSRI_ROLE_DTYPE,
    TSRI_ROLE_OTHER       /* not in the list */
} tsri_role;

typedef struct tsri_python_name {
    const char *module, *name;
    tsri_role   role;
    tsr_dtype   dtype;     /* of a storage or dtype; TSR_DTYPE_INVALID if there is none here */
    const char *encoding;  /* its name in PyTorch; "" for bytes of any */
    size_t      module_length, name_length;  /* of an OTHER, whose texts lie in the pickle */
} tsri_python_name;

typedef enum tsri_value_kind {
    TSRI_VALUE_NONE,     /* None, and what is passed over */
    TSRI_VALUE_BOOL,
    TSRI_VALUE_INT,
    TSRI_VALUE_FLOAT,
    TSRI_VALUE_TEXT,
    TSRI_VALUE_LIST,     /* and tuples */
    TSRI_VALUE_DICT,     /* a key, its value, the next key, ... */
    TSRI_VALUE_NAME,
    TSRI_VALUE_STORAGE,  /* items: ("storage", class, key, where, elements, ...) */
    TSRI_VALUE_TENSOR,   /* items: the arguments, of the kinds that they must have */
    TSRI_VALUE_OBJECT    /* of a class or function that is not in the list: items as of a DICT, and a state */
} tsri_value_kind;

typedef struct tsri_value {
    tsri_value_kind         kind;
    const tsri_python_name *name;  /* of a NAME, an OBJECT; the dtype of a TENSOR, NULL: its storage's */
    struct tsri_value      *state; /* of an OBJECT: its attributes, a DICT, or what it lists; NULL if none */
    union {
        int64_t integer;  /* also of a BOOL */
        double  number;
        struct { const char *at; size_t length; } text;
        struct { struct tsri_value **at; tsri_list list; } items;
    } as;
} tsri_value;

typedef struct tsri_pickle {
    tsri_value  *value;
    tsri_value **storages;      /* all of them, in the order in which they are met */
    tsri_list    storage_list;
    size_t       bytes;         /* how long it is */
} tsri_pickle;

/* The first pickle in `bytes`, in `memory`; texts lie in the pickle. Containers may be shared and may hold
 * themselves. TSR_EUNSUPPORTED names what is refused. */
tsr_status tsri_unpickle(tsri_pickle *out, tsr_file *f, tsri_bump *memory, const unsigned char *data,
                         size_t bytes);

#endif
