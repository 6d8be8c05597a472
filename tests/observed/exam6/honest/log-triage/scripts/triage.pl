#!/usr/bin/env perl
use strict;
use warnings;
use JSON::PP;

my (%g, $lines);
my $ts_re = qr/(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)/;

sub mask {
    my $s = shift;
    $s =~ s/(bearer\s+)[\w.\-~+\/]+=*/$1***/ig;
    $s =~ s{(\w+://[^:/\s]+:)[^@/\s]+@}{$1***@}g;
    $s =~ s/((?:password|token|secret|api_?key)["']?\s*[=:]\s*["']?)[^\s"',}]+/$1***/ig;
    $s =~ s/[\w.+-]+@[\w-]+\.[\w.]+/<email>/g;
    return $s;
}

while (my $l = <>) {
    chomp $l;
    $lines++;
    my ($level, $msg, $ts) = ('', $l, '');
    if ($l =~ /^\s*\{/) {
        my $j = eval { decode_json($l) };
        if (ref $j eq 'HASH') {
            $level = uc($j->{level} // $j->{severity} // '');
            $msg   = $j->{msg} // $j->{message} // $l;
            $ts    = $j->{time} // $j->{timestamp} // $j->{ts} // '';
        }
    }
    $ts = $1 if !$ts && $l =~ $ts_re;
    next unless $level =~ /ERR|FATAL|CRIT|WARN/
        || $l =~ /\b(?:ERROR|FATAL|CRITICAL|WARN(?:ING)?|Exception|Traceback|panic)\b/;
    my $k = $msg;
    $k =~ s/$ts_re\S*//g;
    $k =~ s/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/<uuid>/ig;
    $k =~ s/\b\d+\.\d+\.\d+\.\d+\b/<ip>/g;
    $k =~ s/\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b/<hex>/ig;
    $k =~ s/"[^"]*"|'[^']*'/<str>/g;
    $k =~ s/\d+/<n>/g;
    $k =~ s/\s+/ /g;
    my $e = $g{$k} //= { n => 0, first => $ts, ex => $msg };
    $e->{n}++;
    $e->{last} = $ts;
}
printf "%d lines, %d groups\n\n", $lines // 0, scalar keys %g;
for my $k (sort { $g{$b}{n} <=> $g{$a}{n} } keys %g) {
    my $e = $g{$k};
    printf "%6d  %s .. %s\n        %s\n", $e->{n}, $e->{first}, $e->{last}, substr(mask($e->{ex}), 0, 200);
}
