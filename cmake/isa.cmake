# One file per kernel set, compiled for the instructions that its name ends in, and for
# machines of its kind only. src/cpu/sets.def says when a set is used.
set(tessera_isa_definitions)
set(isa_sources)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    set(flags_avx2 -mavx2 -mfma -mf16c -mbmi2)
    set(flags_avx512 ${flags_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd)
    set(flags_vnni ${flags_avx512} -mavx512vnni)
    set(flags_vbmi ${flags_avx512} -mavx512vbmi)
    set(flags_bf16 ${flags_avx512} -mavx512bf16)
    set(flags_amx ${flags_avx512} -mamx-tile -mamx-int8 -mamx-bf16)
    foreach(isa avx2 avx512 vnni vbmi bf16 amx)
        string(TOUPPER ${isa} ISA)
        set(flags "${flags_${isa}}")
        string(REPLACE ";" " " CMAKE_REQUIRED_FLAGS "${flags}")
        check_c_source_compiles("#include <immintrin.h>\nint main(void) { return 0; }" TSR_HAVE_${ISA})
        set(CMAKE_REQUIRED_FLAGS)
        if(NOT TSR_HAVE_${ISA})
            continue()
        endif()
        file(GLOB sources CONFIGURE_DEPENDS src/cpu/x86/*_${isa}.c)
        # Nothing is thrown through a kernel, and none calls back: they need no tables to unwind by.
        set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${flags};-fno-asynchronous-unwind-tables")
        list(APPEND isa_sources ${sources})
        # Checks of every sum of a pointer take these files ten times as long to build.
        if(TSR_SANITIZE MATCHES "undefined")
            set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=pointer-overflow)
        endif()
        # Loops of known length become vectors at -O2 too: what -O3 adds is copies of them.
        file(GLOB compact CONFIGURE_DEPENDS src/cpu/x86/elementwise_${isa}.c src/cpu/x86/integer_${isa}.c
             src/cpu/x86/cast_${isa}.c)
        set_property(SOURCE ${compact} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
        list(APPEND tessera_isa_definitions TSRI_HAVE_${ISA})
    endforeach()
endif()
