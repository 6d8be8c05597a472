#!/usr/bin/env perl
use strict;
use warnings;
use File::Basename;

my $main = shift or die "usage: words.pl main.tex\n";
my $dir = dirname($main);

sub slurp {
    my ($f, $depth) = @_;
    return '' if $depth > 10;
    $f .= '.tex' unless $f =~ /\.\w+$/;
    my $path = -e $f ? $f : "$dir/$f";
    open my $h, '<:encoding(UTF-8)', $path or do { warn "cannot read $path\n"; return '' };
    local $/;
    my $t = <$h>;
    $t =~ s/(?<!\\)%.*$//mg;
    $t =~ s/\\(?:input|include)\{([^}]+)\}/slurp($1, $depth + 1)/ge;
    return $t;
}

my %budget;
if (open my $b, '<', 'budget.txt') {
    while (<$b>) { $budget{$1} = $2 if /^\s*(.+?)\s*=\s*(\d+)/ }
}

my $t = slurp($main, 0);
$t =~ s/^.*?\\begin\{document\}//s;
$t =~ s/\\begin\{(equation|align|table|tabular|figure|lstlisting|verbatim|thebibliography)(\*?)\}.*?\\end\{\1\2\}/ /gs;
$t =~ s/\$\$.*?\$\$|\\\[.*?\\\]|\$[^\$]*\$/ /gs;

binmode STDOUT, ':utf8';
my ($total, $chap, $chapname) = (0, 0, '');
my @out;
for my $part (split /(?=\\(?:chapter|section)\*?\{)/, $t) {
    my ($kind, $title) = ('', '(front matter)');
    ($kind, $title) = ($1, $2) if $part =~ s/^\\(chapter|section)\*?\{([^}]*)\}//;
    $part =~ s/\\(?:cite\w*|ref|label|cref|autoref|url|includegraphics)\*?(?:\[[^\]]*\])*\{[^}]*\}/ /g;
    $part =~ s/\\[a-zA-Z]+\*?(?:\[[^\]]*\])?/ /g;
    my $n = () = $part =~ /[\p{L}\p{N}][\p{L}\p{N}'’-]*/g;
    push @out, [$kind, $title, $n];
    $total += $n;
}
for my $i (0 .. $#out) {
    my ($kind, $title, $n) = @{ $out[$i] };
    if ($kind eq 'chapter') {
        my $sum = $n;
        for my $j ($i + 1 .. $#out) { last if $out[$j][0] eq 'chapter'; $sum += $out[$j][2] }
        my $d = exists $budget{$title} ? sprintf('  (budget %d, %+d)', $budget{$title}, $sum - $budget{$title}) : '';
        printf "%7d  %s%s\n", $sum, $title, $d;
    } else {
        printf "%7d    %s\n", $n, $title;
    }
}
printf "%7d  TOTAL\n", $total;
