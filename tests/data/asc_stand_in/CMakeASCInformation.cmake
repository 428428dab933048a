# What the toolkit's own file does to a command line: the arch goes to compiler and linker, C++17 is the default.
include(CMakeCommonLanguageInclude)
set(CMAKE_ASC_OUTPUT_EXTENSION .o)
set(CMAKE_INCLUDE_FLAG_ASC "-I")
set(CMAKE_ASC_FLAGS_RELEASE_INIT "-O1")
cmake_initialize_per_config_variable(CMAKE_ASC_FLAGS "Flags used by the ASC compiler")
if(CMAKE_ASC_ARCHITECTURES)
    string(APPEND CMAKE_ASC_FLAGS " --npu-arch=${CMAKE_ASC_ARCHITECTURES}")
endif()
set(CMAKE_ASC_COMPILE_OBJECT
    "<CMAKE_ASC_COMPILER> -std=c++17 <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c -x asc <SOURCE>")
set(CMAKE_ASC_LINK_EXECUTABLE
    "<CMAKE_ASC_COMPILER> <FLAGS> <CMAKE_ASC_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
set(CMAKE_ASC_INFORMATION_LOADED 1)
