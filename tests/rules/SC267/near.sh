mkfs.ext4 disk.img
