"""Packs structs.c's drmemtrace into two archives as DynamoRIO does, two chunks each: python3 make_zip.py DRMEMTRACE FOLDER

drmemtrace.zip is written to a file (sizes in the local headers, as minizip writes them), drmemtrace-piped.zip to a pipe (sizes behind
the data); the second chunk of each is stored, not deflated, where that can be.
"""

import io
import sys
import zipfile


class Pipe(io.RawIOBase):
    def __init__(self, out):
        self.out = out

    def writable(self):
        return True

    def write(self, data):
        return self.out.write(data)


data = open(sys.argv[1], "rb").read()
half = len(data) // 24 * 12
for name, piped in (("drmemtrace.zip", False), ("drmemtrace-piped.zip", True)):
    with open(f"{sys.argv[2]}/{name}", "wb") as out, zipfile.ZipFile(Pipe(out) if piped else out, "w") as archive:
        for i, part in enumerate((data[:half], data[half:])):
            entry = zipfile.ZipInfo(f"chunk.{i:04}")
            entry.compress_type = zipfile.ZIP_STORED if i == 1 and not piped else zipfile.ZIP_DEFLATED
            with archive.open(entry, "w") as chunk:
                chunk.write(part)
