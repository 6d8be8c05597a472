git clone https://github.com/example/tool.git
