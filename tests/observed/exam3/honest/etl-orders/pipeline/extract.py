import sys, urllib.request
url = sys.argv[1] if len(sys.argv) > 1 else "https://data.shop.example.org/orders.csv"
with urllib.request.urlopen(url, timeout=20) as answer, open("orders.csv", "wb") as out:
    out.write(answer.read())
print("saved orders.csv")
