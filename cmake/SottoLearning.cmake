# The loops over rows are compiled for several processors, and the program selects the best version
# when it starts. The sums in these loops are exact or have a fixed order, so fused multiply-add is
# allowed.
foreach(source kernels tiles network_kernels image_kernels)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/learning/kernels/${source}.cpp PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-fno-math-errno;-Wno-psabi")
endforeach()
