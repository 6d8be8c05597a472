#!/usr/bin/env perl
use strict;
use warnings;

my %drop = map { $_ => 1 } qw(abstract file keywords);
my %need = (
    article       => [qw(author title journal year)],
    inproceedings => [qw(author title booktitle year)],
    book          => [qw(title publisher year)],
);

local $/;
my $src = <>;
die "usage: tidy.pl refs.bib\n" unless defined $src;

my (@head, %entry, %bydoi, %bytitle);
pos($src) = 0;
while ($src =~ /\@(\w+)\s*\{/g) {
    my ($type, $start) = (lc $1, pos $src);
    my ($depth, $i) = (1, $start);
    while ($depth && $i < length $src) {
        my $c = substr $src, $i++, 1;
        $depth++ if $c eq '{';
        $depth-- if $c eq '}';
    }
    my $body = substr $src, $start, $i - $start - 1;
    pos($src) = $i;
    if ($type =~ /^(string|comment|preamble)$/) { push @head, "\@$type\{$body}\n"; next; }
    unless ($body =~ /\A\s*([^,\s]+)\s*,(.*)\z/s) { warn "cannot parse an entry near offset $start\n"; next; }
    my ($key, $rest) = ($1, $2);
    my %f;
    while ($rest =~ /\G\s*,?\s*([\w-]+)\s*=\s*/gc) {
        my $name = lc $1;
        my $val;
        if    ($rest =~ /\G(\{(?:[^{}]++|(?1))*\})/gc) { $val = $1 }
        elsif ($rest =~ /\G("[^"]*")/gc)               { $val = $1 }
        elsif ($rest =~ /\G([^,\s]+)/gc)               { $val = $1 }
        else                                           { last }
        next if $drop{$name} || $name =~ /^mendeley/;
        $val =~ s/\s+/ /g;
        if ($name eq 'title') { $val =~ s/(?<![{\w])(\w*[A-Z]\w*[A-Z]\w*)(?![}\w])/{$1}/g }
        $f{$name} = $val;
    }
    warn "duplicate key $key\n" if exists $entry{$key};
    for my $n (@{ $need{$type} || [] }) { warn "$key: missing $n\n" unless $f{$n} }
    if (my $d = lc($f{doi} // '')) {
        $d =~ s/[{}"]//g;
        warn "$key and $bydoi{$d} share DOI $d\n" if $bydoi{$d};
        $bydoi{$d} = $key;
    }
    (my $t = lc($f{title} // '')) =~ s/[^a-z0-9]//g;
    if ($t) {
        warn "$key and $bytitle{$t} have the same title\n" if $bytitle{$t};
        $bytitle{$t} = $key;
    }
    $entry{$key} = [ $type, \%f ];
}
print for @head;
for my $key (sort { lc $a cmp lc $b } keys %entry) {
    my ($type, $f) = @{ $entry{$key} };
    print "\@$type\{$key,\n";
    print join(",\n", map { sprintf "  %-10s = %s", $_, $f->{$_} } sort keys %$f), "\n}\n\n";
}
