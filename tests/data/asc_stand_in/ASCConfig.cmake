# Stands in for the ASC package of a CANN toolkit: the language ASC is compiled by the host toolchain.
#
#     cmake -DASC_DIR=<this folder>
#
# HOSTCC is the command of the host toolchain's compiler, as a list; HOST_LIBRARY the folder of its runtime.
if(NOT DEFINED ENV{HOSTCC} OR NOT DEFINED ENV{HOST_LIBRARY})
    message(FATAL_ERROR "the stand-in for ASC needs HOSTCC and HOST_LIBRARY")
endif()
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")

# The toolkit's libraries: one library of the host toolchain has what they have.
foreach(library ascendsk acl_rt acl_rtc ascendcl ascend_dump runtime error_manager c_sec unified_dlog ascendc_runtime profapi
                profimpl msprofiler)
    add_library(${library} INTERFACE IMPORTED)
endforeach()
set_property(TARGET ascendsk PROPERTY INTERFACE_LINK_LIBRARIES
    "-L$ENV{HOST_LIBRARY}" skrules_host "-Wl,-rpath,$ENV{HOST_LIBRARY}")
