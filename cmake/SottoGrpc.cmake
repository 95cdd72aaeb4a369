# gRPC, where it is: SOTTO_GRPC says so, and sotto_protocol(NAME FILE) makes a library of a protocol's messages and services.
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
  message(STATUS "no gRPC: there is no sotto-federate and no sotto-spark")
endif()

function(sotto_protocol name file)
  get_filename_component(stem ${file} NAME_WE)
  set(made ${CMAKE_CURRENT_BINARY_DIR})
  add_custom_command(
    OUTPUT ${made}/${stem}.pb.cc ${made}/${stem}.pb.h ${made}/${stem}.grpc.pb.cc ${made}/${stem}.grpc.pb.h
    COMMAND ${PROTOC} --proto_path=${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${made} --grpc_out=${made} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${file}
    DEPENDS ${file} VERBATIM)
  add_library(${name} STATIC ${made}/${stem}.pb.cc ${made}/${stem}.grpc.pb.cc)  # generated: without our warnings
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} SYSTEM PUBLIC ${made} ${GRPC_INCLUDE_DIR})
  target_link_libraries(${name} PUBLIC ${GRPCPP_LIBRARY} ${GRPC_LIBRARY} ${GPR_LIBRARY} ${ABSL_SYNCHRONIZATION_LIBRARY} ${PROTOBUF_LIBRARY})
endfunction()
