import colorsys
import sys


def rgb(h):
    h = h.lstrip("#")
    return tuple(int(h[i:i + 2], 16) / 255 for i in (0, 2, 4))


def hexa(c):
    return "#" + "".join(f"{round(x * 255):02x}" for x in c)


def lum(c):
    f = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in c]
    return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]


def contrast(a, b):
    x, y = sorted((lum(a), lum(b)), reverse=True)
    return (x + 0.05) / (y + 0.05)


def schemes(base):
    h, l, s = colorsys.rgb_to_hls(*rgb(base))
    for name, turns in (("complement", (0, .5)), ("triad", (0, 1/3, 2/3)), ("analog", (-1/12, 0, 1/12)),
                        ("split", (0, 5/12, 7/12)), ("square", (0, .25, .5, .75))):
        yield name, [hexa(colorsys.hls_to_rgb((h + t) % 1, l, s)) for t in turns]


if __name__ == "__main__":
    for name, cols in schemes(sys.argv[1]):
        print(f"{name:12}", " ".join(f"{c} ({contrast(rgb(c), (1, 1, 1)):.1f})" for c in cols))
