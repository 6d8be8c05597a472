grep -rn 'secret' src
