#!/usr/bin/env perl
use strict;
use warnings;
use File::Find;
use Getopt::Long;

my ($license, $holder, $check, $write) = ('', '', 0, 0);
GetOptions('license=s' => \$license, 'holder=s' => \$holder, 'check' => \$check, 'write' => \$write)
  or die "bad options\n";
die "usage: spdx.pl --license ID --holder NAME (--check|--write) PATH...\n"
  unless $license && $holder && ($check xor $write) && @ARGV;

my %style = (
  (map { $_ => ['// ', ''] } qw(c h cc cpp hpp java js mjs ts tsx jsx go rs swift kt cs php scala)),
  (map { $_ => ['# ', ''] } qw(py sh bash rb pl yml yaml toml tf)),
  (map { $_ => ['-- ', ''] } qw(sql lua hs)),
  (map { $_ => ['<!-- ', ' -->'] } qw(html xml vue)),
  css => ['/* ', ' */'],
);
my $year = (localtime)[5] + 1900;
my @missing;

find({
  no_chdir => 1,
  preprocess => sub { grep { !/^(node_modules|vendor|dist|target|\.git|\.venv)$/ } @_ },
  wanted => sub {
    my $f = $_;
    return unless -f $f && !-l $f && $f =~ /\.([A-Za-z]+)$/ && $style{lc $1};
    my ($a, $z) = @{ $style{lc $1} };
    open my $in, '<', $f or do { warn "$f: $!\n"; return };
    my @lines = <$in>;
    close $in;
    return if grep { /SPDX-License-Identifier/ } @lines[0 .. ($#lines < 15 ? $#lines : 15)];
    push @missing, $f;
    return if $check;
    my @head;
    push @head, shift @lines while @lines && $lines[0] =~ /^(#!|<\?xml|<\?php|<!DOCTYPE|#.*coding[:=])/i;
    my $header = "${a}SPDX-FileCopyrightText: $year $holder$z\n${a}SPDX-License-Identifier: $license$z\n";
    my $gap = @lines && $lines[0] !~ /^\s*$/ ? "\n" : '';
    my $mode = (stat $f)[2] & 07777;
    open my $out, '>', "$f.spdx" or die "$f: $!\n";
    print {$out} @head, $header, $gap, @lines;
    close $out or die "$f: $!\n";
    chmod $mode, "$f.spdx";
    rename "$f.spdx", $f or die "$f: $!\n";
  },
}, @ARGV);

print "$_\n" for @missing;
printf "%d file(s) %s\n", scalar @missing, $check ? 'without a header' : 'given a header';
exit($check && @missing ? 1 : 0);
