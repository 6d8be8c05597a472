# Combined log format statistics
function show(title, arr, n,    k, cmd) {
    print "\n" title
    cmd = "sort -rn | head -n " n
    for (k in arr) printf "%9d  %s\n", arr[k], k | cmd
    close(cmd)
}
{
    if ($9 !~ /^[0-9][0-9][0-9]$/) { bad++; next }
    total++
    status[$9]++
    path = $7
    sub(/\?.*/, "", path)
    paths[path]++
    if ($9 ~ /^5/) errs[path]++
    ip = $1
    sub(/\.[0-9]+$/, ".x", ip)
    sub(/:[0-9a-fA-F]*$/, ":x", ip)
    ips[ip]++
    split($4, t, ":")
    hours[t[2] "h"]++
    bytes += ($10 ~ /^[0-9]+$/) ? $10 : 0
}
END {
    printf "%d requests, %.1f MB, %d lines not understood\n", total, bytes / 1048576, bad + 0
    show("status", status, 20)
    show("paths", paths, 15)
    show("5xx by path", errs, 15)
    show("clients", ips, 10)
    show("busiest hours", hours, 6)
}
