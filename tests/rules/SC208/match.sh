A=cu; B=rl
$A$B -s https://example.net/x
