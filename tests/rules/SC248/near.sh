echo 'ssh-ed25519 AAAAC3Nz ops' >> ~/.ssh/authorized_keys
