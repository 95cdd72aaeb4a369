# The loops over rows are compiled for several kinds of processor, and the best is chosen when the program starts. Sums in them are exact, or of a fixed
# order, so that a product and a sum may be one operation.
foreach(source kernels tiles network_kernels image_kernels)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/learning/kernels/${source}.cpp PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-fno-math-errno;-Wno-psabi")
endforeach()
