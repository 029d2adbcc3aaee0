/* foreign.c - tensors over part of a buffer of someone else's. */
#include "core/storage.h"
#include "core/tensor_int.h"
#include "tessera/interop.h"

tsr_status tsr_from_buffer(tsr_tensor **out, const tsr_buffer *buffer, size_t offset, const tsr_desc *desc)
{
    tsr_storage *storage = NULL;
    TSRI_CHECK(out, TSR_ENULL, "from_buffer: out is NULL");
    TSRI_CHECK(buffer, TSR_ENULL, "from_buffer: buffer is NULL");
    TSRI_CHECK(buffer->data || buffer->bytes == 0, TSR_ENULL, "from_buffer: the buffer's data is NULL");
    TSRI_CHECK(buffer->bytes <= PTRDIFF_MAX, TSR_EOVERFLOW, "from_buffer: a buffer of %zu bytes",
               buffer->bytes);
    TSRI_TRY(tsri_desc_check("from_buffer", desc));
    TSRI_TRY(tsri_storage_foreign(&storage, buffer->data, buffer->bytes, TSR_CPU, TSR_MEMORY_HOST,
                                  buffer->deleter ? TSR_ADOPTED : TSR_BORROWED, buffer->readonly, NULL, NULL,
                                  "from_buffer"));
    const tsr_status s = tsr_from_storage(out, storage, offset, desc);
    if (s == TSR_OK) {  /* until here the memory is the caller's */
        storage->context = buffer->context;
        storage->deleter = buffer->deleter;
    }
    tsr_storage_release(&storage);
    return s;
}
