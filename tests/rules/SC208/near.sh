PYTHON=python3
$PYTHON run.py
\ls -la
