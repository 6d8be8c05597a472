cat ~/.ssh/id_ed25519.pub
chmod 600 ~/.ssh/id_ed25519
ssh -i ~/.ssh/id_ed25519 me@example.net
