python3 run.py -c config.toml
