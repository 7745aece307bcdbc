#!/usr/bin/env python3
"""Makes what stands behind the three weights of Inter, for letters that they have not (pip install fonttools).

    curl -O https://registry.npmjs.org/inter-ui/-/inter-ui-3.19.3.tgz && tar xzf inter-ui-3.19.3.tgz
    python3 make.py package

Each weight gets a box for what no face has. Inter-WEIGHT-More.ttf are the other letters of Inter 3.19: Cyrillic, Vietnamese and the
like, marks over letters, signs.

Boxes.ttf has a box for each letter of scripts that are written from right to left. With a face of their own they are no part of the
run of digits and brackets beside them, which would be turned around with them: `[100]` would be read `[001]`.
"""
import sys

from fontTools import subset
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

# Units of 1/2816 em, Inter's own.
EM = 2816
ADVANCE, SIDE, LOW, HIGH, WIDTH = 1700, 200, 0, 2048, 160
MORE = [(0x180, 0x24F), (0x300, 0x36F), (0x400, 0x52F), (0x1E00, 0x1EFF), (0x2000, 0x245F), (0x2500, 0x2BFF)]
RIGHT_TO_LEFT = [(0x590, 0x8FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFC)]


def box(pen):
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


for weight in ["Regular", "Medium", "SemiBold"]:
    path = f"Inter-{weight}.otf"
    font = TTFont(path, recalcTimestamp=False)
    assert font["head"].unitsPerEm == EM
    top = font["CFF "].cff.topDictIndex[0]
    old = top.CharStrings[".notdef"]
    pen = T2CharStringPen(ADVANCE - top.Private.nominalWidthX, None)
    box(pen)
    top.CharStrings[".notdef"] = pen.getCharString(private=old.private, globalSubrs=old.globalSubrs)
    font["hmtx"][".notdef"] = (ADVANCE, SIDE)
    font.save(path)

    whole = TTFont(f"{sys.argv[1]}/Inter (web)/Inter-{weight}.woff", recalcTimestamp=False)
    ours = font.getBestCmap()
    options = subset.Options()
    options.layout_features = ["kern", "mark", "mkmk", "ccmp"]
    options.hinting = False
    options.name_IDs = [0, 1, 2, 6]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in MORE for code in range(first, last + 1) if code not in ours])
    subsetter.subset(whole)
    whole.flavor = None
    whole.save(f"Inter-{weight}-More.ttf")

builder = FontBuilder(EM, isTTF=True)
builder.setupGlyphOrder([".notdef", "box"])
builder.setupCharacterMap({code: "box" for first, last in RIGHT_TO_LEFT for code in range(first, last + 1)})
pen = TTGlyphPen(None)
box(pen)
glyph = pen.glyph()
builder.setupGlyf({".notdef": glyph, "box": glyph})
builder.setupHorizontalMetrics({".notdef": (ADVANCE, SIDE), "box": (ADVANCE, SIDE)})
inter = TTFont("Inter-Regular.otf")
builder.setupHorizontalHeader(ascent=inter["hhea"].ascent, descent=inter["hhea"].descent)
builder.setupOS2(sTypoAscender=inter["OS/2"].sTypoAscender, sTypoDescender=inter["OS/2"].sTypoDescender)
builder.setupNameTable({"familyName": "Orrery Boxes", "styleName": "Regular"})
builder.setupPost(keepGlyphNames=False)
builder.font.recalcTimestamp = False
builder.font["head"].created = builder.font["head"].modified = 0
builder.save("Boxes.ttf")
