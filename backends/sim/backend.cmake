# A device made of host memory, with threads for streams.
if(NOT TSR_NO_THREADS AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_backend(sim ${CMAKE_CURRENT_LIST_DIR}/sim.c)
    target_link_libraries(backend-sim PRIVATE Threads::Threads)
else()
    message(STATUS "backends: sim needs threads and memfd_create, left out")
endif()
