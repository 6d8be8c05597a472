#!/usr/bin/env perl
use strict;
use warnings;

my $skip = qr/token|passw|secret|authorization|api[_-]?key|AKIA|\s-p\S{4,}|\bexport\s+\w+=|\bsshpass\b/i;
my @files = grep { -f } map { "$ENV{HOME}/$_" } qw(.bash_history .zsh_history);
die "no history files found\n" unless @files;

my (%heads, %lines);
my $skipped = 0;
for my $f (@files) {
    open my $fh, '<', $f or do { warn "$f: $!\n"; next };
    while (my $l = <$fh>) {
        $l =~ s/^: \d+:\d+;//;
        $l =~ s/^\s+|\s+$//g;
        next if $l eq '' or $l =~ /^#/;
        if ($l =~ $skip) { $skipped++; next }
        $l =~ s{(https?://[^/\s]+)\S*}{$1/...}g;
        my ($cmd, $sub) = split ' ', $l;
        $cmd .= " $sub" if defined $sub && $sub =~ /^[a-z][a-z-]+$/;
        $heads{$cmd}++;
        $lines{$l}++ if length $l > 25;
    }
}
print "most used\n";
my @h = sort { $heads{$b} <=> $heads{$a} || $a cmp $b } keys %heads;
printf "%6d  %s\n", $heads{$_}, $_ for grep { defined } @h[0 .. 19];
print "\nlong lines typed 3+ times\n";
my @l = sort { $lines{$b} * length $b <=> $lines{$a} * length $a } grep { $lines{$_} >= 3 } keys %lines;
printf "%6d  %.140s\n", $lines{$_}, $_ for grep { defined } @l[0 .. 14];
print "\n$skipped lines left out because they may hold credentials\n";
