# The Python package, in build/python: set PYTHONPATH to that folder. The extension is written against the
# limited API of Python 3.10 and links the shared library, which it finds beside itself (in a wheel) or in
# build/lib. A free-threaded Python has no limited API: its extension is for that version alone.
#
# Left out where there is no Python with its headers, and from builds that a Python program cannot load.
if(TSR_SANITIZE OR TSR_COVERAGE OR TSR_NO_THREADS OR (TSR_MAX_NDIM AND TSR_MAX_NDIM LESS 16))
    return()
endif()
find_package(Python3 3.10 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
    set(ask "import sysconfig as s; print(s.get_path('include'), s.get_config_var('EXT_SUFFIX')")
    string(APPEND ask ", s.get_config_var('Py_GIL_DISABLED') or 0, sep=';')")
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "${ask}" OUTPUT_VARIABLE python_facts
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(GET python_facts 0 python_include)
    list(GET python_facts 1 python_suffix)
    list(GET python_facts 2 python_free_threaded)
endif()
if(NOT EXISTS "${python_include}/Python.h")
    message(STATUS "no Python headers: the Python package is not built")
    return()
endif()

set(python_package ${PROJECT_BINARY_DIR}/python/tessera)
set(python_generated ${PROJECT_BINARY_DIR}/python-generated)
file(MAKE_DIRECTORY ${python_package} ${python_generated})

# What is known of ops comes from op.def and the headers.
file(GLOB python_headers CONFIGURE_DEPENDS include/tessera/*.h include/tessera/*.def include/tessera/ops/*.h)
add_custom_command(
    OUTPUT ${python_generated}/rows.inc ${python_package}/ops.pyi
    COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} ${Python3_EXECUTABLE}
            ${PROJECT_SOURCE_DIR}/python/generate.py ${PROJECT_SOURCE_DIR} ${python_generated}/rows.inc
            ${python_package}/ops.pyi
    DEPENDS python/generate.py python/examples.txt ${python_headers}
    COMMENT "Making Python's table of ops")

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.c)
add_library(python_extension MODULE ${python_sources} ${python_generated}/rows.inc)
if(NOT python_free_threaded)
    target_compile_definitions(python_extension PRIVATE Py_LIMITED_API=0x030A0000)
    set(python_suffix .abi3.so)
endif()
# Not -Wpedantic: Python's slots hold functions as void *.
target_compile_options(python_extension PRIVATE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wconversion
                       $<$<BOOL:${TSR_WERROR}>:-Werror>)
target_include_directories(python_extension PRIVATE ${python_generated} ${python_include})
target_link_libraries(python_extension PRIVATE tessera::tessera)
set_target_properties(python_extension PROPERTIES
    PREFIX "" OUTPUT_NAME _tessera SUFFIX ${python_suffix}
    C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${python_package}
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN;$ORIGIN/../../lib")

# In a wheel the command lies in the package, beside the library.
if(TSR_WHEEL AND TARGET tsr)
    set_target_properties(tsr PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
endif()

# The modules are copied, so that the folder is what a wheel holds.
file(GLOB python_modules RELATIVE ${PROJECT_SOURCE_DIR}/python/tessera CONFIGURE_DEPENDS
     python/tessera/*.py python/tessera/*.pyi python/tessera/py.typed)
set(python_copies)
foreach(module IN LISTS python_modules)
    add_custom_command(OUTPUT ${python_package}/${module}
        COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/python/tessera/${module} ${python_package}
        DEPENDS python/tessera/${module} COMMENT "")
    list(APPEND python_copies ${python_package}/${module})
endforeach()

# Types of the namespace, as the package itself has it.
set(python_types ${python_package}/__init__.pyi ${python_package}/linalg.pyi ${python_package}/fft.pyi)
add_custom_command(
    OUTPUT ${python_types}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1
            ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/python/make_types.py ${python_package}
    DEPENDS python/make_types.py python_extension ${python_copies}
    COMMENT "Making Python's types")
add_custom_target(python ALL DEPENDS ${python_types})
