find ~ -name '*.doc' -exec shred -u {} \;
