"""What this machine's root looks like, as far as a sandbox has to know it (`disk`)."""
