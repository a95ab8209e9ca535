# A lesson (examples/cpp/*.cpp) as its reader starts it, or, with -v complete=1, as it is when all exercises are done: what
# stands between `//> Exercise …` and `//<` is what is left to the reader.
/^ *\/\/>/ { sub(/\/\/>/, "//"); print; left_out = !complete; next }
/^ *\/\/</ { left_out = 0; next }
!left_out
