"""What Dinero IV counts, by a model of its rules. Not Dinero itself: its licence keeps it out of this repository.

Written after reading ref.c and misc.c of the fork atos-tools/dineroIV (ref.c at 00cc8f62, misc.c at 35527f40); no code is taken
from there. It has never been compared with a run of Dinero, so a misreading would go unseen. Shares no code with model.py, but has
the same author. Rules:

- A reference is cut at a line boundary; the rest waits on a stack until all that the first piece causes is done.
- What a piece causes goes on the same stack in this order: the write-back of the victim, the write-through store, the
  fetch. So they are done in the reverse order: fetch, store, write-back.
- A store that covers its whole line (one sub-block here) fetches nothing.
- A store that misses without allocation changes nothing and goes on.
- The next level sees a write-back as a store: it allocates only where stores do, and fetches only where it does not cover
  its line.
- A hit moves the line to the top under LRU, not under FIFO. An extra, empty node at the bottom of each stack takes the new
  line, and the old bottom line becomes the empty one: that is a plain LRU or FIFO list of `ways` lines.
- The program, not the library, ends with a copy-back of all caches, innermost first; lines stay, clean. Within a cache the
  last set's least recent line goes first (the stack again).
"""

from collections import Counter


class Memory:
    def __init__(self):
        self.counts = Counter()

    def refer(self, kind, addr, size):
        self.counts["reads" if kind == "r" else "writes"] += 1

    def copy_back(self):
        pass


class Cache:
    def __init__(self, name, sets, ways, line, policy, back, allocate, downstream):
        self.name, self.sets, self.ways, self.line = name, sets, ways, line
        self.lru, self.back, self.allocate, self.downstream = policy == "lru", back, allocate, downstream
        self.stacks = {}
        self.counts = Counter()
        self.pending = []

    def refer(self, kind, addr, size):
        """kind r or w."""
        block = addr - addr % self.line
        mine = min(size, block + self.line - addr)
        if mine < size:
            self.pending.append(("self", kind, block + self.line, size - mine))
        stack = self.stacks.setdefault(block // self.line % self.sets, [])
        node = next((n for n in stack if n["block"] == block), None)
        missed, write = node is None, kind == "w"
        self.counts[{"r": "reads", "w": "writes"}[kind]] += 1
        if missed:
            self.counts[{"r": "read_misses", "w": "write_misses"}[kind]] += 1
        written_back = False
        if not missed or not write or self.allocate:
            if missed:
                node = {"block": block, "dirty": False}
                stack.insert(0, node)
            elif self.lru:
                stack.remove(node)
                stack.insert(0, node)
            if write and self.back:
                node["dirty"] = written_back = True
            if len(stack) > self.ways:
                out = stack.pop()
                if out["dirty"]:
                    self.write_back(out)
        if write and not written_back:
            self.pending.append(("down", "w", addr, mine))
        if missed and (not write or (self.allocate and mine != self.line)):
            self.pending.append(("down", "r", block, self.line))
        self.run()

    def write_back(self, node):
        node["dirty"] = False
        self.counts["writebacks"] += 1
        self.pending.append(("down", "w", node["block"], self.line))

    def run(self):
        while self.pending:
            where, *what = self.pending.pop()
            (self if where == "self" else self.downstream).refer(*what)

    def copy_back(self):
        for number in sorted(self.stacks):
            for node in self.stacks[number]:
                if node["dirty"]:
                    self.write_back(node)
        self.run()
        self.downstream.copy_back()


def build(levels):
    """Caches of model.read_cache's levels, innermost first, then memory."""
    chain = [Memory()]
    for level in reversed(levels):
        chain.insert(
            0,
            Cache(level.name, level.sets, level.ways, level.line, level.policy, level.back, level.allocate, chain[0]),
        )
    return chain


def play(levels, references, flush):
    """Counters of each level by name, then of memory."""
    chain = build(levels)
    for kind, addr, size in references:
        for part in {"R": "r", "W": "w", "M": "rw"}[kind]:
            chain[0].refer(part, addr, size)
    if flush:
        chain[0].copy_back()
    return [c.counts for c in chain]
