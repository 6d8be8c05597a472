pip install tool
