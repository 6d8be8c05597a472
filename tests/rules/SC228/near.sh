pbcopy < out.txt
