!<arch>
populus.o/      0           0     0     644     0         `
