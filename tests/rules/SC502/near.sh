pip install ./tool-1.0.tar.gz
