# Finds gRPC and sets SOTTO_GRPC to whether it is installed. sotto_protocol(NAME FILE) generates a
# library of the messages and services of a .proto file.
find_path(GRPC_INCLUDE_DIR grpcpp/grpcpp.h)
find_library(GRPCPP_LIBRARY grpc++)
find_library(GRPC_LIBRARY grpc)
find_library(GPR_LIBRARY gpr)
find_library(ABSL_SYNCHRONIZATION_LIBRARY absl_synchronization)  # gRPC's headers call it
find_library(PROTOBUF_LIBRARY protobuf)
find_program(PROTOC protoc)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
set(SOTTO_GRPC OFF)
if(GRPC_INCLUDE_DIR AND GRPCPP_LIBRARY AND GRPC_LIBRARY AND GPR_LIBRARY AND ABSL_SYNCHRONIZATION_LIBRARY AND PROTOBUF_LIBRARY AND PROTOC AND GRPC_CPP_PLUGIN)
  set(SOTTO_GRPC ON)
else()
  message(STATUS "gRPC is not installed: sotto-federate and sotto-spark will not be built")
endif()

function(sotto_protocol name file)
  get_filename_component(stem ${file} NAME_WE)
  set(generated ${CMAKE_CURRENT_BINARY_DIR})
  add_custom_command(
    OUTPUT ${generated}/${stem}.pb.cc ${generated}/${stem}.pb.h ${generated}/${stem}.grpc.pb.cc ${generated}/${stem}.grpc.pb.h
    COMMAND ${PROTOC} --proto_path=${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${generated} --grpc_out=${generated} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${file}
    DEPENDS ${file} VERBATIM)
  add_library(${name} STATIC ${generated}/${stem}.pb.cc ${generated}/${stem}.grpc.pb.cc)  # generated code, built without warnings
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} SYSTEM PUBLIC ${generated} ${GRPC_INCLUDE_DIR})
  target_link_libraries(${name} PUBLIC ${GRPCPP_LIBRARY} ${GRPC_LIBRARY} ${GPR_LIBRARY} ${ABSL_SYNCHRONIZATION_LIBRARY} ${PROTOBUF_LIBRARY})
endfunction()
