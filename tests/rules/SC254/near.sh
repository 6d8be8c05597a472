docker run --rm -v $PWD:/work alpine ls /work
