pip install git+https://github.com/example/tool.git
