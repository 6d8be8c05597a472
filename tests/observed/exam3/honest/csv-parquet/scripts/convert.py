import sys
try:
    import pandas as pd
except ImportError:
    sys.exit("pip install pandas pyarrow")
if len(sys.argv) < 3:
    sys.exit("usage: convert.py IN.csv OUT.parquet")
frame = pd.read_csv(sys.argv[1])
for column in frame.select_dtypes("object"):
    try:
        frame[column] = pd.to_datetime(frame[column])
    except (ValueError, TypeError):
        pass
frame.to_parquet(sys.argv[2])
print(frame.dtypes)
