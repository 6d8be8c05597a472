sudo mkfs.ext4 /dev/nvme1n1
