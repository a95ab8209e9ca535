# TargetAddMarchExtensions(<target>): enables instructions of x86-64-v3, if the compiler knows them
# and the option GCCS_MARCH_EXTENSIONS is on.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-march=x86-64-v3 GCCS_HAS_X86_64_V3)

function(TargetAddMarchExtensions target)
  if(GCCS_HAS_X86_64_V3 AND GCCS_MARCH_EXTENSIONS)
    target_compile_options(${target} PRIVATE -march=x86-64-v3)
  endif()
endfunction()
option(GCCS_MARCH_EXTENSIONS "compile for processors with x86-64-v3" OFF)
