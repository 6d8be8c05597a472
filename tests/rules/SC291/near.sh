pip list
