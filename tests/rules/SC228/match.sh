pbpaste > clip.txt
