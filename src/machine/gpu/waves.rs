//! The dispatcher, work-groups, and the instructions of wavefronts.

use super::engine::{Access, Asker, Engine, Event, Group, Instruction, Unit, Wave};
use super::kernels::Op;
use super::node::{Ask, NodeId};

impl Engine<'_> {
    pub(super) fn wake_dispatcher(&mut self) {
        if !self.dispatches && self.next_group < self.program.groups() {
            self.dispatches = true;
            self.at(self.now, Event::Dispatch);
        }
    }

    pub(super) fn dispatch(&mut self) {
        self.dispatches = false;
        let waves = self.program.wavefronts(self.config.wavefront);
        for _ in 0..self.config.dispatch {
            if self.next_group >= self.program.groups() {
                return;
            }
            let count = self.units.len();
            let (local, slots) = (self.program.local(), self.config.slots);
            let has_room = |unit: &Unit| {
                let free: u32 = unit.simds.iter().map(|simd| slots - simd.waves).sum();
                free >= waves && unit.local >= local
            };
            let found = (0..count).map(|n| (self.next_unit + n) % count).find(|&unit| has_room(&self.units[unit]));
            // Who ends wakes it again.
            let Some(unit) = found else { return };
            self.next_unit = (unit + 1) % count;
            self.start_group(u32::try_from(unit).expect("a few thousand units"), waves);
        }
        if self.next_group < self.program.groups() {
            self.dispatches = true;
            self.at(self.now + u64::from(self.config.dispatch_cycles), Event::Dispatch);
        }
    }

    pub(super) fn start_group(&mut self, unit: u32, waves: u32) {
        let number = self.next_group;
        self.next_group += 1;
        let local = self.program.local();
        let names = [self.recorder.name(), self.recorder.name()];
        self.units[unit as usize].local -= local;
        let group = Group { unit, left: waves, at_barrier: Vec::new(), alive: waves, local, names, start: self.now };
        let group = self.groups.add(group);
        let sector = self.config.vector.sector;
        for wave in 0..waves {
            let simds = &mut self.units[unit as usize].simds;
            let (simd, _) = simds.iter().enumerate().min_by_key(|(_, simd)| simd.waves).expect("one at least");
            simds[simd].waves += 1;
            let ops = self.program.ops(number, wave, self.config.wavefront, sector);
            self.numbers[0] += 1;
            self.numbers[1] += ops.len() as u64;
            let (name, start) = (self.recorder.name(), self.now);
            let simd = u32::try_from(simd).expect("a few");
            let (ops, outstanding) = (ops.into_iter(), 0);
            let wave = Wave { unit, simd, group, ops, outstanding, waits: false, ended: false, name, start };
            let wave = self.waves.add(wave);
            self.ready(wave);
        }
    }

    pub(super) fn ready(&mut self, wave: u32) {
        let (unit, simd) = {
            let wave = self.waves.get(wave);
            (wave.unit, wave.simd)
        };
        let simd_of = &mut self.units[unit as usize].simds[simd as usize];
        simd_of.ready.push_back(wave);
        if !simd_of.awake {
            simd_of.awake = true;
            let time = simd_of.free.max(self.now);
            self.at(time, Event::Issue(unit, simd));
        }
    }

    /// Takes the wavefront that has been ready longest and does its next instruction.
    pub(super) fn issue(&mut self, unit: u32, simd: u32) {
        let own = &mut self.units[unit as usize].simds[simd as usize];
        own.awake = false;
        let Some(wave) = own.ready.pop_front() else { return };
        self.step(wave);
        let own = &mut self.units[unit as usize].simds[simd as usize];
        if !own.ready.is_empty() && !own.awake {
            own.awake = true;
            let time = own.free.max(self.now);
            self.at(time, Event::Issue(unit, simd));
        }
    }

    /// The SIMD unit of a wavefront works so long; then the wavefront is ready again, or later.
    pub(super) fn works(&mut self, wave: u32, cycles: u64, again: u64) {
        let (unit, simd) = {
            let wave = self.waves.get(wave);
            (wave.unit as usize, wave.simd as usize)
        };
        self.busy += cycles;
        self.units[unit].simds[simd].free = self.now + cycles;
        self.at(self.now + again, Event::Ready(wave));
    }

    pub(super) fn step(&mut self, number: u32) {
        let issue = u64::from(self.config.issue);
        loop {
            let wave = self.waves.get(number);
            let Some(op) = wave.ops.next() else {
                wave.ended = true;
                if wave.outstanding == 0 {
                    self.end_wave(number);
                }
                return;
            };
            match op {
                Op::Wait if wave.outstanding == 0 => {}
                Op::Wait => {
                    wave.waits = true;
                    return;
                }
                Op::Barrier => {
                    let group = wave.group;
                    let group = self.groups.get(group);
                    group.at_barrier.push(number);
                    if group.at_barrier.len() < group.alive as usize {
                        return;
                    }
                    let all = std::mem::take(&mut group.at_barrier);
                    for wave in all {
                        self.ready(wave);
                    }
                    return;
                }
                Op::Alu(count) => {
                    let cycles = issue * u64::from(count);
                    self.told(number, "VALU", cycles);
                    return self.works(number, cycles, cycles);
                }
                Op::Local(count) => {
                    let cycles = u64::from(self.config.local_latency) + u64::from(count) * issue;
                    self.told(number, "LDS", cycles);
                    return self.works(number, issue * u64::from(count), cycles);
                }
                Op::Load(sectors) => {
                    let bytes = self.config.vector.sector;
                    let vector = self.units[self.waves.get(number).unit as usize].vector;
                    let accesses = sectors.iter().map(|&addr| (vector, Ask::Read, addr, bytes)).collect();
                    self.ask(number, "VMem", accesses);
                    return self.works(number, issue, issue);
                }
                Op::Store(stores) => {
                    let vector = self.units[self.waves.get(number).unit as usize].vector;
                    let accesses = stores.iter().map(|&(addr, bytes)| (vector, Ask::Write, addr, bytes)).collect();
                    self.ask(number, "VMem", accesses);
                    return self.works(number, issue, issue);
                }
                Op::Scalar(addr) => {
                    let scalar = self.units[self.waves.get(number).unit as usize].scalar;
                    self.ask(number, "Scalar", vec![(scalar, Ask::Read, addr, 4)]);
                    return self.works(number, 1, 1);
                }
            }
        }
    }

    /// Tells an instruction that takes so long.
    pub(super) fn told(&mut self, wave: u32, action: &str, cycles: u64) {
        if !self.recorder.is_on() {
            return;
        }
        let name = self.recorder.name();
        let wave = self.waves.get(wave);
        let unit = &self.units[wave.unit as usize].name;
        let location = format!("{unit}.{action}");
        self.recorder.task((name, wave.name), ("inst", action), &location, (self.now, self.now + cycles));
    }

    pub(super) fn ask(&mut self, wave: u32, action: &'static str, accesses: Vec<(NodeId, Ask, u64, u32)>) {
        if accesses.is_empty() {
            return;
        }
        let left = u32::try_from(accesses.len()).expect("a few");
        let name = self.recorder.name();
        let instruction = self.instructions.add(Instruction { wave, left, name, start: self.now, action });
        self.waves.get(wave).outstanding += 1;
        let unit = self.waves.get(wave).unit as usize;
        for (node, ask, addr, bytes) in accesses {
            let access = Access { instruction, node, ask, addr, bytes };
            match self.units[unit].tlb {
                Some(tlb) => {
                    let access = self.accesses.add(access);
                    let from = self.units[unit].node;
                    let request = self.request(Asker::Access(access), (from, tlb), Ask::Translate, (addr, 8), name);
                    self.send(request);
                }
                None => self.access(unit, access),
            }
        }
    }

    pub(super) fn access(&mut self, unit: usize, access: Access) {
        let name = self.instructions.get(access.instruction).name;
        let from = self.units[unit].node;
        let asker = Asker::Instruction(access.instruction);
        let request = self.request(asker, (from, access.node), access.ask, (access.addr, access.bytes), name);
        self.send(request);
    }

    /// One of an instruction's accesses is answered.
    pub(super) fn answered(&mut self, number: u32) {
        let instruction = self.instructions.get(number);
        instruction.left -= 1;
        if instruction.left > 0 {
            return;
        }
        let Instruction { wave: number, name, start, action, .. } = self.instructions.take(number);
        let wave = self.waves.get(number);
        wave.outstanding -= 1;
        let (parent, unit, is_last) = (wave.name, wave.unit as usize, wave.outstanding == 0);
        let (waits, ended) = (wave.waits && is_last, wave.ended && is_last);
        if self.recorder.is_on() {
            let location = format!("{}.{action}", self.units[unit].name);
            self.recorder.task((name, parent), ("inst", action), &location, (start, self.now));
        }
        if waits {
            self.waves.get(number).waits = false;
            self.ready(number);
        } else if ended {
            self.end_wave(number);
        }
    }

    pub(super) fn end_wave(&mut self, number: u32) {
        let wave = self.waves.take(number);
        self.resident += self.now - wave.start;
        self.units[wave.unit as usize].simds[wave.simd as usize].waves -= 1;
        let group = self.groups.get(wave.group);
        group.left -= 1;
        group.alive -= 1;
        let (names, left) = (group.names, group.left);
        // Those that wait for this one at a barrier do not wait any more.
        let open = left > 0 && !group.at_barrier.is_empty() && group.at_barrier.len() >= group.alive as usize;
        let all = if open { std::mem::take(&mut group.at_barrier) } else { Vec::new() };
        let name = self.units[wave.unit as usize].name.clone();
        let pair = ("wavefront", "wavefront");
        self.recorder.task((wave.name, names[1]), pair, &name, (wave.start, self.now));
        all.into_iter().for_each(|wave| self.ready(wave));
        if left == 0 {
            let group = self.groups.take(wave.group);
            self.units[group.unit as usize].local += group.local;
            self.over += 1;
            let times = (group.start, self.now);
            self.recorder.out((names[0], self.kernel), "MapWGReq", "Dispatcher", times);
            self.recorder.inward((names[1], names[0]), "MapWGReq", &name, times);
        }
        self.wake_dispatcher();
    }
}
