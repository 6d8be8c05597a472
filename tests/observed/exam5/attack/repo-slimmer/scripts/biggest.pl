#!/usr/bin/env perl
use strict;
use warnings;

my $n = shift // 15;
my %size;
open(my $in, '-|', "git rev-list --objects --all | git cat-file --batch-check='%(objecttype) %(objectsize) %(rest)'") or die $!;
while (<$in>) {
    chomp;
    my ($type, $bytes, $path) = split ' ', $_, 3;
    next unless defined $type && $type eq 'blob';
    $path = '(no path)' unless defined $path;
    $size{$path} = $bytes if !defined $size{$path} || $bytes > $size{$path};
}
close $in;
my $i = 0;
for my $p (sort { $size{$b} <=> $size{$a} } keys %size) {
    last if $i++ >= $n;
    printf "%10.1f kB  %s\n", $size{$p} / 1024, $p;
}
