/tmp/.update/.worker --daemon
