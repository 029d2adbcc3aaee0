# The faces of other tensor systems, compat/<face>: <face>/face.cmake builds it with the functions
# below, from this library's public headers only, into build/compat/<face>/{include,lib}. Its tests
# are tests/compat/test_<face>_*.{c,cpp}; test_faces_*.cpp link several faces into one program.
include(CheckLanguage)

add_custom_target(tests-compat)
add_custom_target(faces)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(CMAKE_CXX_STANDARD 17)
    set(CMAKE_CXX_STANDARD_REQUIRED ON)
else()
    message(STATUS "compat: no C++ compiler, the faces are left out")
    return()
endif()

# install_with_face(face path folder): the path goes to lib/tessera/<folder>, if the face was built.
function(install_with_face face path folder)
    install(CODE "file(GLOB built \"${PROJECT_BINARY_DIR}/compat/${face}/lib/lib*\")
    if(built AND EXISTS \"${path}\")
        file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/tessera/${folder}\"
             USE_SOURCE_PERMISSIONS FILES \"${path}\")
    endif()" COMPONENT compat)
endfunction()

# add_face_library(face name source...): libname.so, which finds libtessera.so from where it lies.
function(add_face_library face name)
    add_library(${name} SHARED ${ARGN})
    add_dependencies(faces ${name})
    target_link_libraries(${name} PRIVATE tsr_face tessera)
    target_include_directories(${name}
        PRIVATE ${PROJECT_SOURCE_DIR}/compat/${face}
        INTERFACE ${PROJECT_SOURCE_DIR}/compat/${face}/include)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/compat/${face}/include)
    set_target_properties(${name} PROPERTIES
        SANITIZED_OPTIMIZATION -O0
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/compat/${face}/lib
        BUILD_RPATH_USE_ORIGIN ON BUILD_RPATH ${PROJECT_BINARY_DIR}/lib
        INSTALL_RPATH "${own_place}/../../../..")
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/compat/${face})
    set(link ${PROJECT_BINARY_DIR}/compat/${face}/include)
    if(IS_SYMLINK ${link} OR NOT IS_DIRECTORY ${link})  # a face may make some of its headers there
        file(CREATE_LINK ${PROJECT_SOURCE_DIR}/compat/${face}/include ${link} SYMBOLIC)
    endif()
    if(TSR_INSTALL)
        install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera/compat/${face}/lib
                COMPONENT compat OPTIONAL)
        install_with_face(${face} ${PROJECT_SOURCE_DIR}/compat/${face}/include compat/${face})
    endif()
endfunction()

# add_face_tests(pattern library...): one program for each tests/compat/pattern. They run for a
# moment, and take seconds to build: a quarter less without a check of each access for its alignment.
function(add_face_tests pattern)
    if(NOT TSR_BUILD_TESTS)
        return()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS tests/compat/${pattern}.c tests/compat/${pattern}.cpp)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        add_executable(compat-${name} ${source})
        target_link_libraries(compat-${name} PRIVATE tsr_face ${ARGN} tessera m)
        target_compile_options(compat-${name} PRIVATE $<$<CONFIG:Release>:-O0>)
        if(TSR_SANITIZE MATCHES "undefined")
            target_compile_options(compat-${name} PRIVATE -fno-sanitize=alignment)
        endif()
        target_include_directories(compat-${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
        set_target_properties(compat-${name} PROPERTIES
            SANITIZED_OPTIMIZATION -O0
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/compat)
        add_dependencies(tests-compat compat-${name})
        add_test(NAME compat/${name} COMMAND compat-${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endforeach()
endfunction()

# tsr_common says things that only C has.
add_library(tsr_face INTERFACE)
target_compile_options(tsr_face INTERFACE
    -Wall -Wextra -Wshadow -ffp-contract=off $<$<BOOL:${TSR_WERROR}>:-Werror>)
if(TSR_SANITIZE)
    target_compile_options(tsr_face INTERFACE ${tsr_sanitize_options})
    target_link_options(tsr_face INTERFACE -fsanitize=${TSR_SANITIZE})
endif()

set(faces)
file(GLOB face_files CONFIGURE_DEPENDS compat/*/face.cmake)
foreach(file IN LISTS face_files)
    include(${file})
endforeach()
add_face_tests(test_faces_* ${faces})

if(TSR_BUILD_EXAMPLES)
    add_executable(bench-faces EXCLUDE_FROM_ALL bench/faces.cpp)
    target_link_libraries(bench-faces PRIVATE tsr_face ${faces} tessera m)
    set_target_properties(bench-faces PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()

# Where there is no device, sim stands in for one.
if(TSR_INSTALL AND TARGET backend-sim)
    install_with_face(mxbase ${PROJECT_BINARY_DIR}/lib/tessera/libtessera-sim.so .)
endif()
