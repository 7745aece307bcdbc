"""Writes a gem5 packet trace with Google's protobuf library: python3 make_gem5.py FILE

The messages are those of gem5's src/proto/packet.proto, the framing that of its src/base/protoio. Fifty turns of two CPUs: a fetch of
64 bytes, a read of 8, a write of 4, and in every tenth turn a writeback (command 7) and a packet without an address.
"""

import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

F = descriptor_pb2.FieldDescriptorProto
FILE = descriptor_pb2.FileDescriptorProto(name="packet.proto", package="ProtoMessage", syntax="proto2")


def message(name, *fields):
    made = FILE.message_type.add(name=name)
    for number, field, kind, label, *of in fields:
        made.field.add(name=field, number=number, type=kind, label=label, type_name=of[0] if of else None)


message("IdString", (1, "key", F.TYPE_UINT32, F.LABEL_REQUIRED), (2, "value", F.TYPE_STRING, F.LABEL_REQUIRED))
message("PacketHeader",
        (1, "obj_id", F.TYPE_STRING, F.LABEL_REQUIRED), (2, "ver", F.TYPE_UINT32, F.LABEL_OPTIONAL),
        (3, "tick_freq", F.TYPE_UINT64, F.LABEL_REQUIRED),
        (4, "id_strings", F.TYPE_MESSAGE, F.LABEL_REPEATED, ".ProtoMessage.IdString"))
message("Packet",
        (1, "tick", F.TYPE_UINT64, F.LABEL_REQUIRED), (2, "cmd", F.TYPE_UINT32, F.LABEL_REQUIRED),
        (3, "addr", F.TYPE_UINT64, F.LABEL_OPTIONAL), (4, "size", F.TYPE_UINT32, F.LABEL_OPTIONAL),
        (5, "flags", F.TYPE_UINT32, F.LABEL_OPTIONAL), (6, "pkt_id", F.TYPE_UINT64, F.LABEL_OPTIONAL),
        (7, "pc", F.TYPE_UINT64, F.LABEL_OPTIONAL))
pool = descriptor_pool.DescriptorPool()
pool.Add(FILE)
Header, Packet = (message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ProtoMessage.{name}"))
                  for name in ("PacketHeader", "Packet"))

with open(sys.argv[1], "wb") as out:
    def put(made):
        data = made.SerializeToString()
        length = len(data)
        while length > 0x7F:
            out.write(bytes([length & 0x7F | 0x80]))
            length >>= 7
        out.write(bytes([length]) + data)

    out.write(b"gem5")
    header = Header(obj_id="system.monitor", ver=0, tick_freq=10**12)
    for key, name in enumerate(["writebacks", "system.cpu0.inst", "system.cpu0.data", "system.cpu1.inst", "system.cpu1.data"]):
        header.id_strings.add(key=key, value=name)
    put(header)
    for i in range(50):
        cpu = i % 2
        pc = 0x80000000 + 4 * i
        put(Packet(tick=500 * i, cmd=1, addr=0x80000000 + 64 * (i // 16), size=64, flags=0x100, pkt_id=1 + 2 * cpu))
        put(Packet(tick=500 * i + 1, cmd=1, addr=0xFFFF800000001000 + 8 * i, size=8, flags=0, pkt_id=2 + 2 * cpu, pc=pc))
        put(Packet(tick=500 * i + 2, cmd=4, addr=0x90000000 + 4 * i, size=4, pkt_id=2 + 2 * cpu, pc=pc))
        if i % 10 == 9:
            put(Packet(tick=500 * i + 3, cmd=7, addr=0x90000000, size=64, pkt_id=0))
            put(Packet(tick=500 * i + 4, cmd=1))
