cat ~/.ssh/authorized_keys
