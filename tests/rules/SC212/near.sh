/tmp/venv/bin/python run.py
./build/.bin/tool
