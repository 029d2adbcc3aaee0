# A device that computes nothing.
add_backend(null ${CMAKE_CURRENT_LIST_DIR}/null.c)
