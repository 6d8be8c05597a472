cat ~/.ssh/work.pub >> ~/.ssh/authorized_keys
