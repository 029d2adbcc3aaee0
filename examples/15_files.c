/* 15_files.c - tensors in files: write, list, read, read a part.
 *
 * The end of the name tells the format; the calls are the same for all of them. */
#include <stdio.h>
#include <tessera/tessera.h>

static tsr_status list(const tsr_file *f)
{
    for (int64_t i = 0; i < tsr_file_count(f); i++) {
        tsr_file_entry e;
        char desc[80];
        TSR_TRY(tsr_file_list(&e, f, i));
        (void)tsr_desc_to_string(desc, sizeof desc, &e.desc);
        printf("%-8s %-6s %-20s %4d bytes, %s\n", e.name, e.encoding, desc, (int)e.bytes,
               e.mapped ? "mapped" : "copied");
    }
    return TSR_OK;
}

int main(void)
{
    TSR_AUTO tsr_tensor *weight = NULL, *bias = NULL, *part = NULL, *image = NULL;
    tsr_writer *w = NULL;
    tsr_file *f = NULL;
    tsr_meta author;
    tsr_status s;

    TSR_GO(tsr_arange(&weight, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(12), TSR_SCALAR(1)));
    TSR_GO(tsr_view(&weight, weight, TSR_SHAPE(3, 4)));
    TSR_GO(tsr_ones(&bias, TSR_F16, TSR_SHAPE(4)));

    /* Many tensors, with a text. Nothing is where the name says until finish: then all of it is. */
    TSR_GO(tsr_writer_create(&w, "model.safetensors", NULL));
    TSR_GO(tsr_writer_text(w, "author", "an example"));
    TSR_GO(tsr_writer_add(w, "weight", weight, NULL));
    TSR_GO(tsr_writer_add(w, "bias", bias, NULL));
    TSR_GO(tsr_writer_finish(&w));

    /* Opening reads the list; a tensor's bytes are read when they are touched. */
    TSR_GO(tsr_file_open(&f, "model.safetensors", NULL));
    TSR_GO(tsr_file_find_meta(&author, f, "author"));
    printf("%s of %s:\n", tsr_file_format(f), author.text);
    TSR_GO(list(f));

    /* weight[1:, ::-2] */
    TSR_GO(tsr_file_read_slice(&part, f, "weight", 2,
                              (tsr_file_range[]){ { 1, TSR_NONE, 1 }, { TSR_NONE, TSR_NONE, -2 } }));
    TSR_GO(tsr_print(part, &(tsr_print_opts){ .name = "a part of weight" }));
    if (tsr_file_read(&part, f, "wieght") != TSR_OK) printf("%s\n", tsr_last_error());

    /* One tensor, one call. */
    TSR_GO(tsr_cast(&image, weight, TSR_U8));
    TSR_GO(tsr_file_save("image.png", image));
    TSR_GO(TSR_REPLACE(&image, tsr_file_load, "image.png", NULL));
    TSR_GO(tsr_print(image, &(tsr_print_opts){ .name = "image.png" }));

done: /* TSR_GO comes here at the first failure */
    if (s != TSR_OK) fprintf(stderr, "%s\n", tsr_last_error());
    tsr_writer_cancel(&w);
    tsr_file_close(&f);
    return s != TSR_OK;
}

/* Output:
safetensors of an example:
weight   F32    f32(3, 4 | 4, 1)       48 bytes, mapped
bias     F16    f16(4 | 1)              8 bytes, mapped
a part of weight: f32(2, 2 | 4, -2)
[[ 7.  5.]
 [11.  9.]]
file_read: model.safetensors has no tensor "wieght" among its 2; did you mean "weight"?
image.png: u8(3, 4 | 4, 1)
[[ 0  1  2  3]
 [ 4  5  6  7]
 [ 8  9 10 11]]
*/
