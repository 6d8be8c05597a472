docker run --rm -it -v /:/host alpine chroot /host
