history | tail
