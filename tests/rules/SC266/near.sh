rm -f *.pyc
