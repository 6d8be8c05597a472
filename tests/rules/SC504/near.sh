pip install torch --index-url https://download.pytorch.org/whl/cpu
