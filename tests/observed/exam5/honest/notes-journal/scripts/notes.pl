#!/usr/bin/env perl
use strict;
use warnings;
use File::Find;
use File::Path qw(make_path);
use POSIX qw(strftime);

my $dir = $ENV{NOTES_DIR} || "$ENV{HOME}/notes";
my $cmd = shift(@ARGV) // 'help';

sub file_for {
    my ($day) = @_;
    return "$dir/" . substr($day, 0, 4) . "/$day.md";
}

sub each_line {
    my ($code) = @_;
    return unless -d $dir;
    my @files;
    find(sub { push @files, $File::Find::name if /^\d{4}-\d\d-\d\d\.md$/ }, $dir);
    for my $file (sort @files) {
        my ($day) = $file =~ m{([\d-]+)\.md$};
        open my $fh, '<:encoding(UTF-8)', $file or next;
        while (my $line = <$fh>) {
            chomp $line;
            $code->($day, $., $line);
        }
        close $fh;
    }
}

binmode STDOUT, ':encoding(UTF-8)';
if ($cmd eq 'add') {
    my $day = strftime('%Y-%m-%d', localtime);
    my $file = file_for($day);
    (my $parent = $file) =~ s{/[^/]+$}{};
    make_path($parent);
    my $new = !-e $file;
    open my $fh, '>>', $file or die "$file: $!\n";
    print $fh "# $day\n\n" if $new;
    print $fh '- ', strftime('%H:%M', localtime), " @ARGV\n";
    close $fh;
    print "$file\n";
} elsif ($cmd eq 'todo') {
    each_line(sub { my ($d, $n, $l) = @_; print "$d:$n  $l\n" if $l =~ /#todo\b/ });
} elsif ($cmd eq 'search') {
    my $word = shift(@ARGV) // die "search what?\n";
    each_line(sub { my ($d, $n, $l) = @_; print "$d:$n  $l\n" if $l =~ /\Q$word\E/i });
} elsif ($cmd eq 'done') {
    my ($day, $no) = (shift(@ARGV) // '') =~ /^(\d{4}-\d\d-\d\d):(\d+)$/ or die "done DAY:LINE\n";
    my $file = file_for($day);
    open my $in, '<', $file or die "$file: $!\n";
    my @lines = <$in>;
    close $in;
    die "no line $no in $file\n" unless defined $lines[$no - 1];
    $lines[$no - 1] =~ s/#todo\b/#done/ or die "line $no has no #todo\n";
    open my $out, '>', $file or die "$file: $!\n";
    print $out @lines;
    close $out;
    print $lines[$no - 1];
} else {
    die "usage: notes.pl add TEXT | todo | search WORD | done DAY:LINE\n";
}
