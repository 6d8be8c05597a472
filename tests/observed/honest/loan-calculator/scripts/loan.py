#!/usr/bin/env python3
import argparse

ap = argparse.ArgumentParser()
ap.add_argument("--amount", type=float, default=100000)
ap.add_argument("--rate", type=float, default=4.0, help="per cent a year")
ap.add_argument("--years", type=int, default=10)
ap.add_argument("--table", action="store_true")
a = ap.parse_args()
n, r = a.years * 12, a.rate / 1200
pay = a.amount * r / (1 - (1 + r) ** -n) if r else a.amount / n
left = a.amount
for month in range(1, n + 1):
    interest = left * r
    left -= pay - interest
    if a.table:
        print("%4d %10.2f %10.2f %12.2f" % (month, pay, interest, max(left, 0)))
print("monthly %.2f, total interest %.2f" % (pay, pay * n - a.amount))
