#!/usr/bin/env python3
"""Makes the fonts of this folder from Inter 3.19 (pip install fonttools).

    curl -O https://registry.npmjs.org/inter-ui/-/inter-ui-3.19.3.tgz && tar xzf inter-ui-3.19.3.tgz
    python3 make.py package

Each Inter-WEIGHT.ttf has Latin, Greek and Cyrillic letters, marks over them, and signs. Its sign for a letter that it does not have is
a box.

Boxes.ttf has a box for each letter of a script that is written from right to left. A line is shaped in runs of one font. If these
boxes were in Inter, a run would hold the digits and brackets beside them too, and all of it would be turned around: `[100]` would be
read `[001]`.
"""
import sys

from fontTools import subset
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

# Units of 1/2816 em, Inter's own.
EM = 2816
ADVANCE, SIDE, LOW, HIGH, WIDTH = 1700, 200, 0, 2048, 160
LETTERS = [
    (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x1E00, 0x1EFF), (0x2000, 0x245F), (0x2500, 0x2BFF),
]
# As in src/overlay/fonts.rs.
RIGHT_TO_LEFT = [(0x590, 0x8FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFC), (0x10800, 0x10FFF), (0x1E800, 0x1EFFF)]


def box():
    pen = TTGlyphPen(None)
    left, right = SIDE, ADVANCE - SIDE
    for x0, y0, x1, y1, turned in [
        (left, LOW, right, HIGH, False),
        (left + WIDTH, LOW + WIDTH, right - WIDTH, HIGH - WIDTH, True),
    ]:
        corners = [(x0, y0), (x0, y1), (x1, y1), (x1, y0)]
        corners = corners[::-1] if turned else corners
        pen.moveTo(corners[0])
        for corner in corners[1:]:
            pen.lineTo(corner)
        pen.closePath()
    return pen.glyph()


for weight in ["Regular", "Medium", "SemiBold"]:
    font = TTFont(f"{sys.argv[1]}/Inter (web)/Inter-{weight}.woff", recalcTimestamp=False)
    options = subset.Options()
    # Without `calt`, which makes a multiplication sign of the x between two digits.
    options.layout_features = ["kern", "mark", "ccmp"]
    options.hinting = False
    options.name_IDs = [0, 1, 2, 6]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in LETTERS for code in range(first, last + 1)])
    subsetter.subset(font)
    assert font["head"].unitsPerEm == EM
    font["glyf"][".notdef"] = box()
    font["hmtx"][".notdef"] = (ADVANCE, SIDE)
    font.flavor = None
    font.save(f"Inter-{weight}.ttf")

# A table of codes takes little room where codes and glyphs go up together: 256 boxes, of which all but one repeat that one.
builder = FontBuilder(EM, isTTF=True)
names = [f"box{n}" for n in range(256)]
builder.setupGlyphOrder([".notdef", *names])
builder.setupCharacterMap({code: names[code % 256] for first, last in RIGHT_TO_LEFT for code in range(first, last + 1)})
glyphs = {".notdef": box(), "box0": box()}
for name in names[1:]:
    pen = TTGlyphPen({"box0": None})
    pen.addComponent("box0", (1, 0, 0, 1, 0, 0))
    glyphs[name] = pen.glyph()
builder.setupGlyf(glyphs)
builder.setupHorizontalMetrics({name: (ADVANCE, SIDE) for name in [".notdef", *names]})
inter = TTFont("Inter-Regular.ttf")
builder.setupHorizontalHeader(ascent=inter["hhea"].ascent, descent=inter["hhea"].descent)
builder.setupOS2(sTypoAscender=inter["OS/2"].sTypoAscender, sTypoDescender=inter["OS/2"].sTypoDescender)
builder.setupNameTable({"familyName": "Orrery Boxes", "styleName": "Regular"})
builder.setupPost(keepGlyphNames=False)
builder.font.recalcTimestamp = False
builder.font["head"].created = builder.font["head"].modified = 0
builder.save("Boxes.ttf")
