find ./build -name '*.o' -delete
