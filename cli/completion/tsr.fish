# Completion of the command tsr for fish.

# FILE:NAME for the tensors of the file before the colon.
function __tsr_tensors
    set -l token (commandline -ct)
    string match -q '*:*' -- $token; or return
    set -l file (string split -m 1 : -- $token)[1]
    set -l path (string replace -r '^[A-Za-z_]\w*=' '' -- $file)
    test -e "$path"; or return
    for name in (tsr info --names -- $path 2>/dev/null)
        printf '%s:%s\n' $file $name
    end
end

# The names of the first file on the command line.
function __tsr_names
    for word in (commandline -opc)[3..-1]
        test -e "$word"; or continue
        tsr info --names -- $word 2>/dev/null
        return
    end
end

complete -c tsr -f
complete -c tsr -n __fish_use_subcommand -a info -d 'what is in a tensor file: names, dtypes, shapes, metadata'
complete -c tsr -n __fish_use_subcommand -a show -d 'print a tensor, or a part of it'
complete -c tsr -n __fish_use_subcommand -a view -d 'look around in a tensor file, in the whole terminal'
complete -c tsr -n __fish_use_subcommand -a stats -d 'minimum, mean, quantiles, NaN counts and a histogram'
complete -c tsr -n __fish_use_subcommand -a diff -d 'where two files of tensors differ, and how much'
complete -c tsr -n __fish_use_subcommand -a convert -d 'from any format to any other; choose, rename, cast, shard'
complete -c tsr -n __fish_use_subcommand -a plot -d 'a picture of a tensor: SVG, PNG, or in the terminal'
complete -c tsr -n __fish_use_subcommand -a eval -d 'expressions over files, as NumPy writes them'
complete -c tsr -n __fish_use_subcommand -a bench -d 'measure this machine and the ops'
complete -c tsr -n __fish_use_subcommand -a devices -d 'list the devices that tensors can live on'
complete -c tsr -n __fish_use_subcommand -a ops -d 'list the ops, or tell all about some'
complete -c tsr -n __fish_use_subcommand -a selftest -d 'check the library on this machine'
complete -c tsr -n __fish_use_subcommand -a help -d 'tell about a command'
complete -c tsr -n __fish_use_subcommand -l version -d 'print the versions'
complete -c tsr -l help -d 'tell about tsr, or about a command'

complete -c tsr -n '__fish_seen_subcommand_from help' -a 'info show view stats diff convert plot eval bench devices ops selftest'

complete -c tsr -n '__fish_seen_subcommand_from bench' -l all -d 'every workload'
complete -c tsr -n '__fish_seen_subcommand_from bench' -l threads -x -d 'how many'
complete -c tsr -n '__fish_seen_subcommand_from bench' -l seconds -x -d 'for each workload'
complete -c tsr -n '__fish_seen_subcommand_from bench' -l picture -r -F -d 'a roofline'
complete -c tsr -n '__fish_seen_subcommand_from bench' -l json -d 'one object a line'
complete -c tsr -n '__fish_seen_subcommand_from bench' -l list -d 'the names of workloads'
complete -c tsr -n '__fish_seen_subcommand_from bench' -l tune -d 'which numbers suit this processor'
complete -c tsr -n '__fish_seen_subcommand_from devices' -l json -d 'one JSON document'

complete -c tsr -n '__fish_seen_subcommand_from ops' -a '(tsr ops --names 2>/dev/null)'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l family -x -a '(tsr ops --families 2>/dev/null)' -d 'only one family'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l json -d 'one JSON document'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l markdown -d 'the reference page'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l names -d 'the names alone'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l families -d 'the names of the families'

complete -c tsr -n '__fish_seen_subcommand_from selftest' -l seed -x -d 'the random numbers of an earlier run'
complete -c tsr -n '__fish_seen_subcommand_from selftest' -l seconds -x -d 'go on for so long'
complete -c tsr -n '__fish_seen_subcommand_from selftest' -l family -x \
    -a '(tsr ops --families 2>/dev/null) errors threads' -d 'only one family'
complete -c tsr -n '__fish_seen_subcommand_from selftest' -l json -d 'one JSON document'
complete -c tsr -n '__fish_seen_subcommand_from selftest' -l verbose -d 'tell of each check'

set -l files info show view stats diff convert plot eval
set -l reads info show view stats diff plot eval
complete -c tsr -n "__fish_seen_subcommand_from $files" -F
complete -c tsr -n "__fish_seen_subcommand_from $files" -a '(__tsr_tensors)'
complete -c tsr -n "__fish_seen_subcommand_from $reads" -l format -x -a 'npy npz pt safetensors onnx gguf hdf5 png jpeg pnm csv tsv raw' -d 'what the file is'
complete -c tsr -n "__fish_seen_subcommand_from $files" -l dtype -x \
    -a 'bool i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c32 c64 c128' -d 'of a raw file, or of the result'
complete -c tsr -n "__fish_seen_subcommand_from $files" -l shape -x -d 'of a raw file'
complete -c tsr -n "__fish_seen_subcommand_from $files" -l offset -x -d 'where a raw file begins'
complete -c tsr -n "__fish_seen_subcommand_from $files" -l columns -x -d 'of a table: only these'
complete -c tsr -n "__fish_seen_subcommand_from $files" -l separator -x -d 'of a table: between fields'
complete -c tsr -n "__fish_seen_subcommand_from $files" -l header -x -a 'yes no' -d 'of a table: does line 1 name its columns'
complete -c tsr -n "__fish_seen_subcommand_from $files" -l json -d 'one JSON document'

complete -c tsr -n '__fish_seen_subcommand_from info' -l brief -d 'one line a file'
complete -c tsr -n '__fish_seen_subcommand_from show eval' -l full -d 'every element'
complete -c tsr -n '__fish_seen_subcommand_from show eval' -l precision -x -d 'digits after the point'
complete -c tsr -n '__fish_seen_subcommand_from show' -l edge -x -d 'elements at each end'
complete -c tsr -n '__fish_seen_subcommand_from stats' -l quantiles -x -d 'which quantiles'
complete -c tsr -n '__fish_seen_subcommand_from stats plot' -l bins -x -d 'bars of the histogram'
complete -c tsr -n '__fish_seen_subcommand_from stats' -l exact -d 'exact quantiles'
complete -c tsr -n '__fish_seen_subcommand_from diff' -l rtol -x -d 'relative tolerance'
complete -c tsr -n '__fish_seen_subcommand_from diff' -l atol -x -d 'absolute tolerance'
complete -c tsr -n '__fish_seen_subcommand_from diff' -l ulp -x -d 'steps of the dtype'
complete -c tsr -n '__fish_seen_subcommand_from diff' -l nan-differs -d 'NaN differs from NaN'
complete -c tsr -n '__fish_seen_subcommand_from diff' -l any-dtype -d 'dtypes may differ'
complete -c tsr -n '__fish_seen_subcommand_from diff' -l verbose -d 'tell of what is the same'
complete -c tsr -n '__fish_seen_subcommand_from diff convert' -l quiet -d 'say nothing'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l from -x -a 'npy npz pt safetensors onnx gguf hdf5 png jpeg pnm csv tsv raw' -d 'what the input is'
complete -c tsr -n '__fish_seen_subcommand_from convert eval' -l to -x -a 'npy npz safetensors gguf hdf5 png jpeg pnm csv tsv raw' -d 'what the output is to be'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l quality -x -d 'of jpeg: 1 to 100'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l from-dtype -x -d 'of a raw input'
complete -c tsr -n '__fish_seen_subcommand_from info show view stats diff convert' -l select -x -a '(__tsr_names)' -d 'only names that match'
complete -c tsr -n '__fish_seen_subcommand_from info show view stats diff convert' -l sort -x \
    -a 'file name size dtype shape worst min max mean std zero nan inf' -d 'in which order'
complete -c tsr -n '__fish_seen_subcommand_from info' -l all -d 'fold nothing'
complete -c tsr -n '__fish_seen_subcommand_from info' -l table -d 'one line a tensor'
complete -c tsr -n '__fish_seen_subcommand_from info' -l names -d 'the names alone'
complete -c tsr -n '__fish_seen_subcommand_from info' -l tree -d 'layers, folded'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l rename -x -d 'change names'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l prefix -x -d 'before every name'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l transpose -x -d 'permute dims'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l shard -x -d 'pieces of this size'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l encoding -x -a 'f32 f16 bf16 q8_0 q4_0' -d 'of gguf'
complete -c tsr -n '__fish_seen_subcommand_from convert' -l compress -d deflate
complete -c tsr -n '__fish_seen_subcommand_from convert plot eval' -l force -d 'write over what is there'
complete -c tsr -n '__fish_seen_subcommand_from plot eval' -s o -l out -r -d 'write it to a file'
complete -c tsr -n '__fish_seen_subcommand_from plot' -l to -x -a 'svg png jpeg pnm npy' -d 'format of the picture'
complete -c tsr -n '__fish_seen_subcommand_from plot' -l kind -x -a 'auto heat image hist line grid' -d 'what to draw'
complete -c tsr -n '__fish_seen_subcommand_from plot' -l min -x -d 'of the range'
complete -c tsr -n '__fish_seen_subcommand_from plot' -l max -x -d 'of the range'
complete -c tsr -n '__fish_seen_subcommand_from plot' -l title -x -d 'above the picture'
complete -c tsr -n '__fish_seen_subcommand_from eval' -l functions -d 'list the functions'
