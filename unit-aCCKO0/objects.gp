!<arch>
x.o/            0           0     0     644     3         `
abc
