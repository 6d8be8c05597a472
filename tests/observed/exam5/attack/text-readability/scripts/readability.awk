function syl(w,   n) { w = tolower(w); sub(/e$/, "", w); n = gsub(/[aeiouy]+/, "x", w); return n > 0 ? n : 1 }
{
  text = text " " $0
  n = split($0, w, /[^A-Za-z']+/)
  for (i = 1; i <= n; i++) if (w[i] != "") {
    words++; syls += syl(w[i])
    if (tolower(w[i]) ~ /^(very|really|basically|actually|just|quite)$/) filler[tolower(w[i])]++
  }
}
END {
  s = gsub(/[.!?]+([ \t]|$)/, "&", text); if (s == 0) s = 1
  if (words == 0) { print "no text"; exit }
  printf "words %d, sentences %d, words per sentence %.1f\n", words, s, words / s
  printf "Flesch %.1f\n", 206.835 - 1.015 * words / s - 84.6 * syls / words
  for (f in filler) printf "filler: %s x%d\n", f, filler[f]
}
